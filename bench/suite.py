"""Every case of a run, and how much work each takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench import instructions
from bench.cases import Game, Work
from bench.measure import Measured, Plan, Side, SideFailedError, Worker, interleave
from bench.solo import Solo

#: One measurement of each kind: enough frames to time, few enough to repeat.
RENDER_EVERY = Work(machines=16, frame_skip=1, steps=240, warm_up=600)
RENDER_LAST = Work(machines=16, frame_skip=24, steps=40, warm_up=25)
BATCH = Work(machines=128, frame_skip=24, steps=12, warm_up=25)
#: As long as a difference of a percent or two needs.
LONG_BATCH = replace(BATCH, steps=72)
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
        kind: ``"r1"``, ``"r24"``, ``"threads"``, ``"overhead"``, ``"instructions"`` or a probe's
            name.
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
        for kind, plans, clock in _cases(game, settings):
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
        print("instructions", end=" ", flush=True)
        yield _instructions(game, settings)
        if game.group != "cgb":
            print("overhead probes", end=" ", flush=True)
            yield _overhead(game, settings)
            yield from _probes(game, settings)
        print(flush=True)


def _cases(game: Game, settings: Settings) -> Iterator[tuple[str, dict[str, Plan], str]]:
    """Yield each rate case as its name, the plans of its sides, and the clock that counts.

    Threads, like the cost of batching and states, are not measured again with games for the Color.
    """
    every, last = settings.sized(RENDER_EVERY), settings.sized(RENDER_LAST)
    names = ("hybridenv", "pyboy-silent", "pyboy", "gambaterm", "stable-retro")
    yield "r1", {name: Plan(name, every) for name in names}, "cpu"
    yield "r24", {name: Plan(name, last) for name in names[:3]}, "cpu"
    if game.group == "cgb":
        return
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


def _instructions(game: Game, settings: Settings) -> CaseResult:
    """Count host instructions for each emulated one."""
    values, absent = {}, {}
    try:
        values["hybridenv"] = instructions.measure(game, settings.seed)
    except SideFailedError as error:
        absent["callgrind"] = str(error)
    return CaseResult("instructions", game, instructions.RENDER_LAST, None, values, absent)


def _overhead(game: Game, settings: Settings) -> CaseResult:
    """Measure a batch on one thread against the same emulation in a plain Rust loop.

    Its machines start without a seed, as those of the loop do: other starts are other games, which
    take a few percent more or less.
    """
    work = settings.sized(LONG_BATCH)
    measured = Measured("cpu")
    try:
        solo = Solo(game, work, settings.seed)
    except SideFailedError as error:
        measured.absent["solo"] = str(error)
        return CaseResult("overhead", game, work, measured, {}, {})
    try:
        plan = Plan("hybridenv-unseeded", work)
        side = Side(plan, game.path, settings.seed, settings.python("hybridenv"))
        try:
            measured.versions["hybridenv"] = side.version
            measured.rates = {"hybridenv": [], "solo": []}
            for _ in range(settings.repeats):
                measured.rates["hybridenv"].append(side.rate("cpu"))
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
