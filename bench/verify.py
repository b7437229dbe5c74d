"""What the comparison of two environments costs: ``python -m bench.verify``.

Writes ``bench/results/verify.json``, from which `bench.readme_table` makes a table of
``docs/verify.md``. Rates count processor time of all processes, so that other work on the machine
changes them little.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench import report, tables
from bench.cases import ROOT
from bench.measure import spread
from bench.trivial import Counter
from hybridenv.verify import adapt, resolve, verify
from hybridenv.verify._actions import episode_seeds, uniform
from hybridenv.verify._record import Play, drive, listed
from hybridenv.verify._target import Target

#: The file that the table is generated from.
RESULTS = ROOT / "bench" / "results" / "verify.json"
SCHEMA = 1
REPEATS = 7
#: Steps of a trivial pair a second that are promised.
WANTED = 20_000

EPISODES = 20
TWIN = "bench.trivial_twin:Counter"
#: Games of Pong that a JAX candidate plays, and the steps of each: as many as are played at once.
GAMES, GAME_STEPS = 16, 1_024

Rate = Callable[[], float]


def spent() -> float:
    """Return the processor seconds of this process and of those that it has ended."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def timed(work: Callable[[], int]) -> float:
    """Do some work that says how many steps it took; steps a second of processor time."""
    begin = spent()
    steps = work()
    return steps / (spent() - begin)


def compared(candidate: object, episodes: int = EPISODES) -> Rate:
    """Level 3 of the trivial pair."""

    def work() -> int:
        found = verify(Counter, candidate, levels=[3], episodes=episodes)
        if not found.ok:
            raise RuntimeError(f"bench.verify: {found}")
        return found.levels[3].counts["steps"]

    return lambda: timed(work)


def bare() -> float:
    """Both sides of the trivial pair in a plain loop, with nothing recorded or compared."""

    def work() -> int:
        sides = (adapt(Counter()), adapt(Counter()))
        source = uniform(sides[0].action_space)
        for seed in episode_seeds(0, "bare", EPISODES):
            choose = source.start(seed)
            for side in sides:
                side.reset(seed)
            for step in range(1_000):
                action = choose(None, None, step)
                for side in sides:
                    side.step(action)
        return EPISODES * 1_000

    return timed(work)


def pong(batched: bool) -> Rate:
    """Games of Pong in JAX, all at once or step by step, as a candidate plays them."""
    target = resolve("hybridenv:pong/jax")
    rng = np.random.default_rng(0)
    plays = [
        Play(seed, list(rng.integers(0, 3, GAME_STEPS))) for seed in episode_seeds(0, "pong", GAMES)
    ]

    def work() -> int:
        if batched:
            return sum(seen.steps for seen in target.rollouts(plays))
        return sum(one_by_one(target, play) for play in plays[:2])

    work()  # compiles
    return lambda: timed(work)


def one_by_one(target: Target, play: Play) -> int:
    """Play a play as a target without a batch does; the steps."""
    _, seen = drive(target, play.seed, listed(play.actions), max_steps=len(play.actions))
    return seen.steps


CASES: dict[str, tuple[str, Callable[[], Rate]]] = {
    "compared": ("trivial NumPy pair, every step compared", lambda: compared(Counter)),
    "isolated": (
        "the same, candidate in its own process, its start included",
        lambda: compared(TWIN, 5 * EPISODES),
    ),
    "bare": ("both sides in a plain loop, nothing compared", lambda: bare),
    "batched": (f"Pong in JAX as a candidate, {GAMES} games at once", lambda: pong(True)),
    "single": ("Pong in JAX as a candidate, step by step", lambda: pong(False)),
}


def record(rates: dict[str, list[float]]) -> report.Record:
    """Return everything that was found, with where and how it was found."""
    pairs = zip(rates["batched"], rates["single"], strict=True)
    return {
        **report.origin(SCHEMA),
        "load_average": os.getloadavg()[0],
        "settings": {"repeats": len(rates["compared"]), "clock": "cpu"},
        "steps_per_second": {name: spread(found) for name, found in rates.items()},
        "repeats": rates,
        "batched_over_single": spread([a / b for a, b in pairs]),
        "goals": [
            report.judged(
                "trivial pair, steps a second, at least",
                WANTED,
                spread(rates["compared"])["median"],
            )
        ],
    }


def block(result: report.Record) -> str:
    """Return the generated text for a record."""
    rows = [
        [title, *(f"{found[key]:,.0f}" for key in ("median", "min", "max"))]
        for name, (title, _) in CASES.items()
        for found in [result["steps_per_second"][name]]
    ]
    table = tables.table(["Steps a second of processor time", "median", "min", "max"], rows)
    ratio = result["batched_over_single"]["median"]
    words = (
        f"Medians of {result['settings']['repeats']} interleaved repeats; a step is one of both "
        f"sides. Episodes of a JAX candidate in one compiled program are {ratio:.0f} times as fast "
        f"as single steps. {tables.source(result, 'verify', 'bench-verify')}"
    )
    return f"{table}\n\n{words}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, and write the JSON file; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.verify", description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="measurements of each case")
    parser.add_argument("--output", type=Path, default=RESULTS, help="result file")
    options = parser.parse_args(arguments)
    sides = {name: start() for name, (_, start) in CASES.items()}
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(options.repeats):
        for name, rate in sides.items():
            rates[name].append(rate())
    result = record(rates)
    report.write(result, options.output)
    print(block(result))
    print(f"written to {options.output}")
    return int(not all(goal["reached"] for goal in result["goals"]))


if __name__ == "__main__":
    sys.exit(main())
