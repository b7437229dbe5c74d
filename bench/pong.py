"""Pong's steps a second: ``python -m bench.pong [--quick] [--peer-python PYTHON] [--output FILE]``.

Writes ``bench/results/pong.json``, from which `bench.readme_table` makes the README's table.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench import report
from bench.cases import PEERS, ROOT
from bench.jax_worker import peer
from bench.measure import Measured, Worker, spread, take_turns
from bench.tables import provenance, table
from hybridenv.xla import cpu_flags

#: The file that the README's table is generated from.
RESULTS = ROOT / "bench" / "results" / "pong.json"
SCHEMA = 1

GAMES = 4_096
FRAME_SKIPS = (1, 4, 8)
STEPS = 64

#: PufferLib 3.0.0's C environment through its Python binding, one thread, 4,096 games, actions
#: given, on two cores of an AMD EPYC: recorded there once and not measured again, because its
#: build downloads archives and so does not install here.
RECORDED = {1: 45.3e6, 4: 19.6e6, 8: 10.4e6}

#: What the project promises: times the recorded figure at each frame skip, and at best.
GOALS = {1: (3.0, 6.0), 4: (2.5, 5.0), 8: (2.0, 3.0)}

RANDOM_PEERS = ("gymnax-Pong-misc", "gymnax-CartPole-v1", "gymnax-Breakout-MinAtar")


@dataclass(frozen=True)
class Plan:
    """One side of a case.

    Attributes:
        side: Key of `bench.jax_sides.SIDES`.
        devices: XLA devices that share the games.
        flags: Whether `hybridenv.cpu_flags` is set.
        games: Games on all devices together.
        frame_skip: Sub-steps a step.
        length: Steps of each game in one call of the program.
        cores: Cores that the process may use; 0 for all. XLA spreads a program over all cores that
            it may use, even for one device.
        xla_flags: More for `XLA_FLAGS`.
    """

    side: str
    devices: int
    flags: bool = False
    games: int = GAMES
    frame_skip: int = 4
    length: int = STEPS
    cores: int = 0
    xla_flags: str = ""

    @property
    def steps(self) -> int:
        """Steps of all games in one call of the program."""
        return self.games * self.length


@dataclass
class Found(Measured):
    """What a case's sides did: `Measured`, with steps a second of all games.

    Attributes:
        compiled: Seconds that compiling took.
    """

    clock: str = "wall"
    compiled: dict[str, float] = field(default_factory=dict)

    def median(self, side: str) -> float | None:
        """Return a side's rate; `None` where it was not measured."""
        return spread(self.rates[side])["median"] if side in self.rates else None

    def record(self, *over: str) -> report.Record:
        """Return all of it, with the ratios of some sides over each of the others."""
        return {
            "steps_per_second": {name: spread(rates) for name, rates in self.rates.items()},
            "repeats": self.rates,
            "ratios": {
                f"{first}/{name}": self.ratio(first, name)
                for first in over
                for name in self.rates
                if name != first
            },
            "compile_seconds": self.compiled,
            "versions": self.versions,
            "absent": self.absent,
        }


class Compiled:
    """A side's worker, which has compiled its program.

    Args:
        plan: What to play.
        peer_python: Interpreter for the sides of others.

    Attributes:
        version: Versions of the side's package and of JAX.
        seconds: Time that compiling took.

    Raises:
        SideFailedError: The side cannot be opened.
    """

    def __init__(self, plan: Plan, peer_python: Path) -> None:
        self._steps = plan.steps
        others = peer(plan.side) is not None
        python = peer_python if others else Path(sys.executable)
        flags = cpu_flags() if plan.flags else os.environ.get("XLA_FLAGS", "")
        environment = {"XLA_FLAGS": f"{flags} {plan.xla_flags}".strip()}
        if others:
            environment["PYTHONPATH"] = str(ROOT / "python")
        work = {
            "games": plan.games,
            "steps": plan.length,
            "frame_skip": plan.frame_skip,
            "devices": plan.devices,
        }
        self._worker = Worker(python, "bench.jax_worker", environment)
        try:
            self._worker.send("open", side=plan.side, work=work, cores=plan.cores)
            opened = self._worker.answer()
        except BaseException:
            self.close()
            raise
        self.version = f"{opened['version']}, JAX {opened['jax']}"
        self.seconds: float = opened["compile_seconds"]

    def rate(self, clock: str) -> float:
        """Play one measurement; steps a second of all games."""
        self._worker.send("play")
        answer = self._worker.answer()
        rate: float = answer["calls"] * self._steps / answer[clock]
        return rate

    def close(self) -> None:
        """End the worker."""
        self._worker.close()


def cases(cores: int, quick: bool) -> Iterator[tuple[str, dict[str, Plan]]]:
    """Yield each case: its name, and the plans of its sides."""
    for skip in FRAME_SKIPS:
        yield (
            f"given-{skip}",
            {
                "all": Plan("pong", cores, frame_skip=skip),
                "one": Plan("pong", 1, frame_skip=skip),
                "core": Plan("pong", 1, frame_skip=skip, cores=1),
                "flags": Plan("pong", cores, flags=True, frame_skip=skip),
            },
        )
    if not quick:
        sizes = (256, 1_024, 16_384)
        yield "sizes", {f"{games}": Plan("pong", cores, games=games) for games in sizes}
    peers = {name: Plan(name, cores) for name in RANDOM_PEERS}
    yield "random", {"all": Plan("pong-random", cores), **peers}


def measure(plans: Mapping[str, Plan], repeats: int, peer_python: Path) -> Found:
    """Measure the sides of a case, one after the other in each repeat."""
    found = Found()

    def start(name: str, plan: Plan) -> Compiled:
        side = Compiled(plan, peer_python)
        found.compiled[name] = side.seconds
        return side

    sides = {name: partial(start, name, plan) for name, plan in plans.items()}
    take_turns(found, sides, repeats=repeats)
    return found


def measure_all(
    cases: Iterable[tuple[str, Mapping[str, Plan]]], repeats: int, peer_python: Path
) -> dict[str, Found]:
    """Measure case after case, printing their names; what each found, by name."""
    found = {}
    for name, plans in cases:
        print(name, end=" ", flush=True)
        found[name] = measure(plans, repeats, peer_python)
    return found


def publish(result: report.Record, text: str, output: Path, found: Mapping[str, Found]) -> None:
    """Write a record, print the README's text for it, and say which sides are missing, and why."""
    report.write(result, output)
    print(f"\n\n{text}\n\nwritten to {output}")
    for name, case in found.items():
        for side, reason in case.absent.items():
            print(f"not measured: {name}, {side}: {reason}")


def parse(
    name: str,
    about: str | None,
    peer: str,
    results: Path,
    arguments: list[str] | None,
    **switches: str,
) -> argparse.Namespace:
    """Read the options of a benchmark that can be quick, too.

    Args:
        name: Of its module.
        about: What it says of itself.
        peer: What the interpreter of the peers must have.
        results: Where its figures go, if it is not quick.
        arguments: The options; `None` takes those of the process.
        **switches: Further options without a value, by name, and what they say of themselves.

    Returns:
        `quick`, `repeats`, `peer_python`, `output` and the switches.
    """
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=about)
    parser.add_argument("--quick", action="store_true", help="measure less, not for the README")
    parser.add_argument("--repeats", type=int, default=7, help="measurements of each side")
    parser.add_argument("--peer-python", type=Path, default=PEERS, help=f"interpreter with {peer}")
    parser.add_argument("--output", type=Path, help="result file")
    for switch, words in switches.items():
        parser.add_argument(f"--{switch.replace('_', '-')}", action="store_true", help=words)
    options = parser.parse_args(arguments)
    if options.repeats < 5:
        parser.error(f"--repeats: got {options.repeats}, expected at least 5")
    quick = ROOT / "target" / "bench" / f"{name}-quick.json"
    options.output = options.output or (quick if options.quick else results)
    return options


def record(found: Mapping[str, Found], repeats: int, quick: bool) -> report.Record:
    """Return everything that a run found, with where and how it was found."""
    return {
        **report.origin(SCHEMA),
        "load_average": os.getloadavg()[0],
        "settings": {"quick": quick, "repeats": repeats, "games": GAMES, "steps_a_call": STEPS},
        "recorded": {str(skip): rate for skip, rate in RECORDED.items()},
        "cases": {name: case.record(next(iter(case.rates), "")) for name, case in found.items()},
        "goals": [_goal(skip, found.get(f"given-{skip}", Found())) for skip in FRAME_SKIPS],
    }


def _goal(skip: int, case: Found) -> report.Record:
    bound, best = GOALS[skip]
    rate = case.median("all")
    return report.judged(
        f"frame skip {skip}, times PufferLib's recorded figure, at least",
        bound,
        None if rate is None else rate / RECORDED[skip],
        stretch=best,
    )


def block(result: report.Record) -> str:
    """Return the generated text of the README for a record."""
    given = [result["cases"].get(f"given-{skip}") for skip in FRAME_SKIPS]
    recorded = [result["recorded"][str(skip)] for skip in FRAME_SKIPS]
    ours = [_median(case, "all") for case in given]
    times = [
        "–" if rate is None else f"**{rate / theirs:.1f}×**"
        for rate, theirs in zip(ours, recorded, strict=True)
    ]
    rows = [
        ["hybridenv", *map(_millions, ours)],
        ["PufferLib 3.0.0 in C, recorded¹", *map(_millions, recorded)],
        ["times PufferLib", *times],
        ["hybridenv, one XLA device", *[_millions(_median(case, "one")) for case in given]],
        ["hybridenv, on one core", *[_millions(_median(case, "core")) for case in given]],
        ["hybridenv, with `cpu_flags()`", *[_millions(_median(case, "flags")) for case in given]],
    ]
    head = [f"{result['settings']['games']:,} games", *(f"frame skip {s}" for s in FRAME_SKIPS)]
    intro = (
        "Pong, steps a second of all games together, actions given, rewards and observations "
        "handed out at every step:"
    )
    parts = [
        intro,
        table(head, rows),
    ]
    random = result["cases"].get("random")
    if random and random["steps_per_second"]:
        names = {"all": "hybridenv Pong, frame skip 4"}
        rows = [
            [names.get(name, name.replace("gymnax-", "gymnax ")), _millions(rate["median"])]
            for name, rate in random["steps_per_second"].items()
        ]
        inside = "Random actions drawn and observations summed up inside of the program:"
        parts += [
            inside,
            table([f"{GAMES:,} games", "steps a second"], rows),
        ]
    parts.append(
        "¹ One thread, through its Python binding, on the same kind of machine; recorded once, as "
        f"it does not install from the registry. {provenance(result, 'pong')}"
    )
    return "\n\n".join(parts)


def _median(case: report.Record | None, side: str) -> float | None:
    rates = case["steps_per_second"].get(side) if case else None
    return rates["median"] if rates else None


def _millions(rate: float | None) -> str:
    return "–" if rate is None else f"{rate / 1e6:.1f} M"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, and write the JSON file; the exit status."""
    options = parse("pong", __doc__, "gymnax", RESULTS, arguments)
    cores = len(os.sched_getaffinity(0))
    found = measure_all(cases(cores, options.quick), options.repeats, options.peer_python)
    result = record(found, options.repeats, options.quick)
    publish(result, block(result), options.output, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
