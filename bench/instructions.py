"""Host instructions for each emulated one: a measure of speed that no other program disturbs.

Valgrind's callgrind counts what `bench/solo.rs` executes in a short and in a longer run; the
difference is the emulation of the steps between them, without start-up and warm-up. The emulated
instructions of the same steps are counted one by one, idle loops included, which the emulator may
skip: so games that wait in loops can come out below one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from bench import solo
from bench.cases import HOLD_FRAMES, Buttons, Game, Work
from bench.measure import SideFailedError

#: What is counted: the same frames under the same buttons, with every frame rendered and with
#: every 24th.
RENDER_LAST = Work(machines=4, frame_skip=HOLD_FRAMES, steps=40, warm_up=25)
RENDER_EVERY = Work(machines=4, frame_skip=1, steps=40 * HOLD_FRAMES, warm_up=25 * HOLD_FRAMES)

_TOTAL = re.compile(r"^(?:summary|totals): (\d+)", re.MULTILINE)


def measure(game: Game, seed: int) -> dict[str, float]:
    """Count host and emulated instructions of a game.

    Args:
        game: The game.
        seed: Seed of the buttons.

    Returns:
        ``emulated_per_frame``, ``host_per_frame_r24`` and ``_r1``, ``host_per_emulated_r24`` and
        ``_r1``.

    Raises:
        SideFailedError: Valgrind is not installed or fails, or the program does not build.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise SideFailedError("valgrind is not installed")
    program = solo.build()
    emulated = emulated_instructions(game.path, RENDER_LAST, seed) / RENDER_LAST.frames
    result = {"emulated_per_frame": emulated}
    for kind, work in (("r24", RENDER_LAST), ("r1", RENDER_EVERY)):
        masks = Buttons(seed, work.machines).take(work.warm_up + work.steps, work.frame_skip)
        command = [str(program), *solo.arguments(game, work)]
        short = _host_instructions(valgrind, command, solo.block(masks[: work.warm_up]))
        long = _host_instructions(valgrind, command, solo.block(masks))
        result[f"host_per_frame_{kind}"] = (long - short) / work.frames
        result[f"host_per_emulated_{kind}"] = result[f"host_per_frame_{kind}"] / emulated
    return result


def _host_instructions(valgrind: str, command: list[str], given: bytes) -> int:
    """Return how many instructions a program executes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "callgrind")
        options = ["--tool=callgrind", f"--callgrind-out-file={file}"]
        done = subprocess.run(
            [valgrind, *options, *command], input=given, capture_output=True, check=False
        )
        counted = _TOTAL.search(file.read_text(errors="replace")) if file.is_file() else None
    if done.returncode or counted is None:
        words = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise SideFailedError(f"valgrind ended with status {done.returncode}: {words}")
    return int(counted[1])


def emulated_instructions(rom: Path, work: Work, seed: int) -> int:
    """Count the instructions that the machines execute in the steps after the warm-up.

    Args:
        rom: ROM file.
        work: Machines, frames a step and steps.
        seed: Seed of the buttons.
    """
    import hybridenv

    masks = Buttons(seed, work.machines).take(work.warm_up + work.steps, work.frame_skip)
    counted = 0
    with hybridenv.GameBoyBatch(rom, work.machines, frame_skip=1, num_threads=1) as batch:
        batch.reset()
        for step, row in enumerate(masks):
            for _ in range(work.frame_skip):
                if step >= work.warm_up:
                    counted += sum(
                        len(batch.trace_frame(machine, mask)) - 1
                        for machine, mask in enumerate(row)
                    )
                batch.step(np.array(row, np.uint8))
    return counted
