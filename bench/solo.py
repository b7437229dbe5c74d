"""The Rust program of `bench/solo.rs`: the emulation of a step without the batch around it."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.cases import ROOT, Buttons, Game, Work
from bench.measure import SideFailedError


def build() -> Path:
    """Build the program with optimisation and return its path.

    Raises:
        SideFailedError: It does not build.
    """
    command = ["cargo", "build", "--release", "--quiet", "-p", "gb-core", "--example", "solo"]
    target = ROOT / "target" / "solo"
    try:
        subprocess.run([*command, "--target-dir", str(target)], cwd=ROOT, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SideFailedError(f"the Rust floor does not build: {error}") from None
    return target / "release" / "examples" / "solo"


def arguments(game: Game, work: Work) -> list[str]:
    """Return what the program is called with."""
    return [str(game.path), str(work.machines), str(work.frame_skip)]


def block(masks: Sequence[Sequence[int]]) -> bytes:
    """Return the input for a block of steps, given their masks as ``[step][machine]``."""
    return struct.pack("<I", len(masks)) + b"".join(map(bytes, masks))


class Solo:
    """The program, running.

    Args:
        game: What it plays.
        work: Machines and frames a step.
        seed: Seed of the buttons.

    Raises:
        SideFailedError: It does not build.
    """

    def __init__(self, game: Game, work: Work, seed: int) -> None:
        self._work = work
        self._buttons = Buttons(seed, work.machines)
        self._process = subprocess.Popen(
            [str(build()), *arguments(game, work)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.play(work.warm_up)

    def play(self, steps: int) -> float:
        """Play ``steps`` steps; the seconds of CPU that they took.

        Raises:
            SideFailedError: The program ended.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise SideFailedError("the Rust floor has no pipes")
        self._process.stdin.write(block(self._buttons.take(steps, self._work.frame_skip)))
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SideFailedError(f"the Rust floor ended with status {self._process.wait()}")
        return float(line)

    def close(self) -> None:
        """End the program."""
        self._process.communicate()
