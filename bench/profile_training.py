"""Where the time of training goes: ``python -m bench.profile_training``, in about ten minutes.

How an iteration divides between environment, policy, learning and transfer, for networks of three
sizes, around our environments and around their references. Writes ``bench/results/profile.json``,
from which `bench.readme_table` makes the tables of the README and of the guide to training, and the
guide's picture.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from statistics import median

from bench import report, tables
from bench.cases import ROOT
from bench.measure import SideFailedError, Worker
from hybridenv.cli.train import percent

#: The file that the tables are generated from, and the picture of the same figures.
RESULTS = ROOT / "bench" / "results" / "profile.json"
PICTURE = ROOT / "docs" / "images" / "training-breakdown.png"
SCHEMA = 1

#: Seconds for all repeats of an environment and a network; they take less than 120 if left alone.
PATIENCE = 900.0

#: What an iteration consists of, see `hybridenv.train.breakdown.Breakdown`.
PARTS = ("environment", "forward", "backward", "transfer", "rest")

SIZES = {"2 M": 2_000_000, "20 M": 20_000_000, "200 M": 200_000_000}

#: Each of ours, followed by its reference.
TITLES = {
    "pong": "Pong",
    "pong-python": "Pong in Python, a game an object",
    "half_cheetah": "HalfCheetah",
    "half_cheetah-mujoco": "HalfCheetah on MuJoCo, Gymnasium's `SyncVectorEnv`",
    "gameboy": "Game Boy, the embedded game",
    "gameboy-pyboy": "Game Boy in PyBoy, a thread for each core",
}


def measure_all(
    envs: Iterable[str], sizes: Mapping[str, int], repeats: int
) -> Iterator[dict[str, report.Record]]:
    """Measure environments one after the other with every network, each in a process of its own.

    Args:
        envs: Their names.
        sizes: Sizes of networks, by their names.
        repeats: Measurements of everything.

    Yields:
        After each of them what was found so far. For each environment ``sizes``, the breakdowns by
        the names of their sizes; ``absent``, by the same names, why there is none; and
        ``versions``.
    """
    found: dict[str, report.Record] = {
        env: {"sizes": {}, "absent": {}, "versions": {}} for env in envs
    }
    for name, size in sizes.items():
        for env, case in found.items():
            print(f"{env}, {name}", file=sys.stderr, flush=True)
            try:
                answer = _ask(env, size, repeats)
                case["versions"][env] = answer.pop("version")
                case["sizes"][name] = answer
            except SideFailedError as error:
                case["absent"][name] = str(error)
            yield found


def _ask(env: str, params: int, repeats: int) -> report.Record:
    worker = Worker(Path(sys.executable), "bench.profile_worker")
    try:
        worker.send("measure", env=env, params=params, repeats=repeats)
        return worker.answer(PATIENCE)
    finally:
        worker.close()


def record(
    origin: report.Record, found: Mapping[str, report.Record], load: float, repeats: int
) -> report.Record:
    """Return everything that a run found, with where and how it was found.

    Args:
        origin: As of `report.origin`, from before the first measurement.
        found: As of `measure_all`.
        load: Average load of the machine before the first measurement.
        repeats: Measurements of everything.
    """
    return {
        **origin,
        "load_average": load,
        "settings": {"repeats": repeats},
        "cases": dict(found),
    }


def block(result: report.Record) -> str:
    """Return the README's generated text for a record."""
    sizes = _sizes(result)
    rows = []
    for env, case in result["cases"].items():
        cells = [_share(case["sizes"].get(size), "environment") for size in sizes]
        rows.append([TITLES[env], *cells])
    head = ["The environment's share of training", *(f"{size} parameters" for size in sizes)]
    return "\n\n".join(
        [
            (
                "Where the time of training goes, from small networks to large ones "
                f"([all parts](docs/training.md#where-the-time-goes)). {_work(result)}"
            ),
            tables.table(head, rows),
            tables.provenance(result, "profile"),
        ]
    )


def guide(result: report.Record) -> str:
    """Return the generated text of the guide to training for a record."""
    rows = []
    for env, case in result["cases"].items():
        for size in _sizes(result):
            one = case["sizes"].get(size)
            title = f"{TITLES[env]}, {size}"
            if one is None:
                rows.append([title, *["–"] * (2 + len(PARTS))])
                continue
            steps = one["n_envs"] * one["horizon"] / median(one["iterations"])
            extremes = (percent(one["shares"][PARTS[0]][end]) for end in ("min", "max"))
            shares = [_share(one, part) for part in PARTS]
            rows.append([title, f"{steps:,.0f}", *shares[:1], " to ".join(extremes), *shares[1:]])
    head = ["Environment and network", "steps a second", PARTS[0], "in the repeats", *PARTS[1:]]
    machine = result["machine"]
    note = (
        f"{_work(result)} Shares are medians of {result['settings']['repeats']} repeats. "
        f"Measured on {machine['cpu']} ({machine['cores']} cores), load "
        f"{result['load_average']:.1f}, {result['created'][:10]}, commit "
        f"`{result['commit'][:10]}`; `make bench-profile` measures again."
    )
    picture = f"![How iterations of training divide](images/{PICTURE.name})"
    return "\n\n".join([picture, tables.table(head, rows), note])


def _sizes(result: report.Record) -> list[str]:
    named = {
        size for case in result["cases"].values() for size in (*case["sizes"], *case["absent"])
    }
    return [size for size in SIZES if size in named]


def _work(result: report.Record) -> str:
    """Say what work the shares are of: the same everywhere, which is checked here.

    Raises:
        ValueError: It differs between networks or environments.
    """
    works = {
        (one["n_envs"], one["n_envs"] * one["horizon"] // one["updates"])
        for case in result["cases"].values()
        for one in case["sizes"].values()
    }
    if len(works) != 1:
        raise ValueError(f"profile: got {sorted(works)}, expected the same work everywhere")
    ((n_envs, samples),) = works
    return (
        f"{n_envs} environments, an update for every {samples} steps, each step learned from once, "
        "in every row and column; other numbers give other shares."
    )


def _share(one: report.Record | None, part: str) -> str:
    return "–" if one is None else percent(one["shares"][part]["median"])


def draw(result: report.Record, path: Path) -> None:
    """Draw all that was measured, see `hybridenv.train.breakdown.draw`."""
    from hybridenv.train import breakdown

    known = {field.name for field in fields(breakdown.Breakdown)}
    found = [
        breakdown.Breakdown(**{name: value for name, value in one.items() if name in known})
        for case in result["cases"].values()
        for one in case["sizes"].values()
    ]
    breakdown.draw(found, path)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, and write the JSON file and the picture; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.profile_training", description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="measurements of everything")
    parser.add_argument("--env", action="append", choices=TITLES, help="only these environments")
    parser.add_argument("--size", action="append", choices=SIZES, help="only these networks")
    parser.add_argument("--output", type=Path, default=RESULTS, help="result file")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="picture file")
    options = parser.parse_args(arguments)
    if options.repeats < 3:
        parser.error(f"--repeats: got {options.repeats}, expected at least 3")
    load = os.getloadavg()[0]
    sizes = {name: size for name, size in SIZES.items() if name in (options.size or SIZES)}
    origin = report.origin(SCHEMA)
    for found in measure_all(options.env or TITLES, sizes, options.repeats):
        result = record(origin, found, load, options.repeats)
        report.write(result, options.output)
    draw(result, options.picture)
    print(f"{guide(result)}\n\nwritten to {options.output} and {options.picture}")
    for env, case in result["cases"].items():
        for size, reason in case["absent"].items():
            print(f"not measured: {env}, {size}: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
