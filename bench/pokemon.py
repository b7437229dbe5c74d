"""Pokémon battles beside Showdown and poke-env: ``python -m bench.pokemon [--quick]``.

Steps a second; a step is one time that both players have chosen. Writes
``bench/results/pokemon.json``, from which `bench.readme_table` makes the README's table.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from bench import report, tables
from bench.cases import ROOT
from bench.locomotion import least
from bench.measure import Opened, Worker, take_turns
from bench.pong import Compiled, Found, Plan, parse, publish

#: The file that the README's table is generated from.
RESULTS = ROOT / "bench" / "results" / "pokemon.json"
SCHEMA = 1

BATTLES, STEPS = 2_048, 64

#: Rows of the table: a family of sides (the first word of their names), and its title.
FAMILIES = {
    "all": "hybridenv, all cores",
    "core": "hybridenv, on one core",
    "showdown": "Showdown in its own process, messages off, on one core",
    "poke-env": "poke-env over a local server¹",
}


class Rival:
    """The worker of somebody else's side.

    Args:
        side: Key of `bench.pokemon_rivals.RIVALS`.
        cores: Cores that it may use; 0 for all.
        python: Interpreter to run it with.

    Attributes:
        version: What plays.

    Raises:
        SideFailedError: It cannot be opened.
    """

    def __init__(self, side: str, cores: int, python: Path) -> None:
        self._worker = Worker(python, "bench.pokemon_rivals")
        try:
            self._worker.send("open", side=side, cores=cores)
            self.version: str = self._worker.answer()["version"]
        except BaseException:
            self.close()
            raise

    def rate(self, clock: str) -> float:
        """Play one measurement; steps a second."""
        self._worker.send("play")
        answer = self._worker.answer()
        rate: float = answer["steps"] / answer[clock]
        return rate

    def close(self) -> None:
        """End the worker."""
        self._worker.close()


def rivals(quick: bool, peer_python: Path) -> dict[str, Callable[[], Opened]]:
    """Return what opens each rival, by its name in the record."""
    ours = Path(sys.executable)
    sides: dict[str, Callable[[], Opened]] = {"showdown": partial(Rival, "showdown", 1, ours)}
    if not quick:
        for battles in (1, 10):
            side = f"poke-env-{battles}"
            sides[f"poke-env {battles} at a time"] = partial(Rival, side, 0, peer_python)
            sides[f"poke-env {battles} at a time on one core"] = partial(
                Rival, side, 1, peer_python
            )
    return sides


def plans(cores: int) -> dict[str, Plan]:
    """Return how our own sides play."""
    return {
        "core": Plan("pokemon", 1, games=BATTLES, length=STEPS, cores=1),
        "all": Plan("pokemon", cores, games=BATTLES * cores, length=STEPS),
    }


def measure(
    plans: Mapping[str, Plan],
    rivals: Mapping[str, Callable[[], Opened]],
    repeats: int,
    peer_python: Path,
) -> Found:
    """Measure ours and theirs, one after the other in each repeat."""
    found = Found()

    def start(name: str, plan: Plan) -> Compiled:
        side = Compiled(plan, peer_python)
        found.compiled[name] = side.seconds
        return side

    sides: dict[str, Callable[[], Opened]] = {
        name: partial(start, name, plan) for name, plan in plans.items()
    }
    take_turns(found, {**sides, **rivals}, repeats=repeats)
    return found


def record(found: Found, repeats: int, quick: bool) -> report.Record:
    """Return everything that a run found, with where and how it was found."""
    case = found.record("core", "all")
    goals = [
        ("times Showdown in its own process, core for core, at least", 150, 300, "showdown"),
        ("times poke-env over a local server, at least", 1_000, None, "poke-env"),
    ]
    return {
        **report.origin(SCHEMA),
        "load_average": os.getloadavg()[0],
        "settings": {
            "quick": quick,
            "repeats": repeats,
            "battles": BATTLES,
            "steps_a_call": STEPS,
        },
        "cases": {"random": case},
        "goals": [
            *(
                report.judged(goal, bound, least(case, "core", family), stretch=stretch)
                for goal, bound, stretch, family in goals
            ),
            report.judged("seconds to compile, at most", 15, found.compiled.get("core"), stretch=8),
        ],
    }


def block(result: report.Record) -> str:
    """Return the generated text of the README for a record."""
    settings, rates = result["settings"], result["cases"]["random"]["steps_per_second"]
    rows = []
    for family, title in FAMILIES.items():
        own = {name: rate for name, rate in rates.items() if name.split()[0] == family}
        best = max(own, key=lambda name: own[name]["median"], default=None)
        ratio = least(result["cases"]["random"], "core", family)
        rows.append(
            [
                title,
                "–" if best is None else f"{own[best]['median']:,.0f}",
                "" if ratio is None or family == "all" else f"**{ratio:,.0f}×**",
            ]
        )
    head = ["Generation 1, random battles", "steps a second", "our core is"]
    intro = (
        "Pokémon battles, steps a second of all battles together "
        f"({settings['battles']:,} of ours a core): both players uniform over what is legal, new "
        "battles for those that end, choices made inside of what is timed:"
    )
    note = (
        "¹ At its fastest of one and ten battles at a time, on one core and on all. "
        f"{tables.provenance(result, 'pokemon')}"
    )
    return "\n\n".join([intro, tables.table(head, rows), tables.goal_table(result), note])


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, and write the JSON file; the exit status."""
    options = parse("pokemon", __doc__, "poke-env", RESULTS, arguments)
    cores = len(os.sched_getaffinity(0))
    found = measure(
        plans(cores),
        rivals(options.quick, options.peer_python),
        options.repeats,
        options.peer_python,
    )
    result = record(found, options.repeats, options.quick)
    publish(result, block(result), options.output, {"random": found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
