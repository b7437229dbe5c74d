"""Every case of a run, and how much work each takes."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.cases import ROOT, Buttons, Game, Work
from bench.measure import Measured, Plan, Side, SideFailedError, Worker, interleave

#: One measurement of each kind: enough frames to time, few enough to repeat.
RENDER_EVERY = Work(machines=16, frame_skip=1, steps=240, warm_up=600)
RENDER_LAST = Work(machines=16, frame_skip=24, steps=40, warm_up=25)
BATCH = Work(machines=128, frame_skip=24, steps=12, warm_up=25)
#: What `--quick` divides the steps by.
QUICK = 3


@dataclass(frozen=True)
class Settings:
    """What a run was asked for.

    Attributes:
        quick: Less work.
        repeats: Measurements of each side.
        seed: Seed of the buttons.
        peer_python: Interpreter for gambaterm and stable-retro.
    """

    quick: bool
    repeats: int
    seed: int
    peer_python: Path

    def sized(self, work: Work) -> Work:
        """Return ``work`` as this run does it."""
        if not self.quick:
            return work
        return replace(work, steps=work.steps // QUICK)

    def python(self, side: str) -> Path:
        """Return the interpreter that runs a side."""
        own = side in ("hybridenv", "pyboy", "pyboy-silent")
        return Path(sys.executable) if own else self.peer_python


@dataclass(frozen=True)
class CaseResult:
    """One case of one game.

    Attributes:
        kind: Which case: ``"r1"``, ``"r24"``, ``"threads"``, ``"overhead"`` or a probe's name.
        game: The game.
        work: The work of one measurement; ``None`` for probes.
        measured: Rates of the sides; ``None`` for probes.
        values: What a probe found, by side.
        absent: Why a side is missing, where ``measured`` is ``None``.
    """

    kind: str
    game: Game
    work: Work | None
    measured: Measured | None
    values: dict[str, dict[str, float]]
    absent: dict[str, str]


def run(games: list[Game], settings: Settings) -> Iterator[CaseResult]:
    """Measure every case of every game; a game whose ROM is missing yields its reason only."""
    for game in games:
        try:
            game.read()
        except (FileNotFoundError, ValueError) as error:
            yield CaseResult("rom", game, None, None, {}, {game.name: str(error)})
            continue
        print(f"{game.name}: ", end="", flush=True)
        for kind, plans, clock in _cases(settings):
            print(kind, end=" ", flush=True)
            measured = interleave(
                plans,
                game.path,
                repeats=settings.repeats,
                clock=clock,
                seed=settings.seed,
                pythons={plan.side: settings.python(plan.side) for plan in plans.values()},
            )
            yield CaseResult(kind, game, next(iter(plans.values())).work, measured, {}, {})
        print("overhead", end=" ", flush=True)
        yield _overhead(game, settings)
        print("probes", flush=True)
        yield from _probes(game, settings)


def _cases(settings: Settings) -> Iterator[tuple[str, dict[str, Plan], str]]:
    """Yield each rate case as its name, the plans of its sides, and the clock that counts."""
    every, last = settings.sized(RENDER_EVERY), settings.sized(RENDER_LAST)
    names = ("hybridenv", "pyboy-silent", "pyboy", "gambaterm", "stable-retro")
    yield "r1", {name: Plan(name, every) for name in names}, "cpu"
    yield "r24", {name: Plan(name, last) for name in names[:3]}, "cpu"
    # PyBoy needs as many frames for a time worth measuring with fewer instances.
    batch, two = settings.sized(BATCH), replace(settings.sized(BATCH), threads=2)
    few = replace(last, threads=2)
    yield (
        "threads",
        {
            "hybridenv-2": Plan("hybridenv", two),
            "hybridenv-1": Plan("hybridenv", batch),
            "pyboy-2-threads": Plan("pyboy", few),
            "pyboy-2-processes": Plan("pyboy", few, processes=2),
            "pyboy-silent-2-threads": Plan("pyboy-silent", few),
            "pyboy-silent-2-processes": Plan("pyboy-silent", few, processes=2),
        },
        "wall",
    )


class _Solo:
    """The Rust program of `bench/solo.rs`: the emulation of a step without the batch around it."""

    def __init__(self, game: Game, work: Work, seed: int) -> None:
        build = ["cargo", "build", "--release", "--quiet", "-p", "gb-core", "--example", "solo"]
        target = ROOT / "target" / "solo"
        try:
            subprocess.run([*build, "--target-dir", str(target)], cwd=ROOT, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SideFailedError(f"the Rust floor does not build: {error}") from None
        self._work = work
        self._buttons = Buttons(seed, work.machines)
        self._process = subprocess.Popen(
            [
                str(target / "release" / "examples" / "solo"),
                str(game.path),
                str(work.machines),
                str(work.frame_skip),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.play(work.warm_up)

    def play(self, steps: int) -> float:
        """Play ``steps`` steps; the seconds of CPU that they took."""
        masks = self._buttons.take(steps, self._work.frame_skip)
        block = struct.pack("<I", steps) + b"".join(map(bytes, masks))
        if self._process.stdin is None or self._process.stdout is None:
            raise SideFailedError("the Rust floor has no pipes")
        self._process.stdin.write(block)
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SideFailedError(f"the Rust floor ended with status {self._process.wait()}")
        return float(line)

    def close(self) -> None:
        """End the program."""
        self._process.communicate()


def _overhead(game: Game, settings: Settings) -> CaseResult:
    """Measure a batch on one thread against the same emulation in a plain Rust loop."""
    work = settings.sized(BATCH)
    measured = Measured("cpu")
    try:
        solo = _Solo(game, work, settings.seed)
    except SideFailedError as error:
        measured.absent["solo"] = str(error)
        return CaseResult("overhead", game, work, measured, {}, {})
    try:
        side = Side(Plan("hybridenv", work), game.path, settings.seed, settings.python("hybridenv"))
        try:
            measured.versions["hybridenv"] = side.version
            measured.rates = {"hybridenv": [], "solo": []}
            for _ in range(settings.repeats):
                measured.rates["hybridenv"].append(work.frames / side.play()["cpu"])
                measured.rates["solo"].append(work.frames / solo.play(work.steps))
        finally:
            side.close()
    except SideFailedError as error:
        measured.rates = {}
        measured.absent["hybridenv"] = str(error)
    finally:
        solo.close()
    return CaseResult("overhead", game, work, measured, {}, {})


def _probes(game: Game, settings: Settings) -> Iterator[CaseResult]:
    """Yield the figures of `bench.probes`, each taken in a process of its own."""
    for kind, sides in (
        ("states", {"hybridenv": "states", "pyboy": "pyboy-states"}),
        ("memory", {"hybridenv": "memory", "pyboy": "pyboy-memory"}),
    ):
        values: dict[str, dict[str, Any]] = {}
        absent: dict[str, str] = {}
        for side, name in sides.items():
            worker = Worker(settings.python(side))
            try:
                worker.send("probe", name=name, rom=str(game.path), seed=settings.seed)
                values[side] = worker.answer()
            except SideFailedError as error:
                absent[side] = str(error)
            finally:
                worker.close()
        yield CaseResult(kind, game, None, None, values, absent)
