"""Thousands of new battles beside Pokémon Showdown: ``python -m tests.envs.pokemon.parity``.

Battles are played by Showdown and replayed by the engine in chunks, one process each; nothing is
left out of the count. A battle that Showdown itself cannot finish is compared as far as it went and
counted apart. What takes long can be divided: ``--seconds`` ends a run early, and ``--resume`` goes
on where it ended.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.envs.pokemon.harness import Difference, Result, compare
from tests.envs.pokemon.oracle import Oracle, missing, running
from tests.envs.pokemon.player import Player
from tests.envs.pokemon.schema import load_schema

from bench import report

#: Numbers below are those of recorded battles.
FIRST = 1_000_000

CHUNK = 200

#: Battles of the command, by where their teams come from; those of `movesets` have a million steps.
BATTLES = {"gen1randombattle": 10_000, "movesets": 11_000, "mirrors": 500}

#: Version of the file of counts.
SCHEMA = 1


@dataclass(frozen=True)
class Chunk:
    """Battles that one process plays.

    Attributes:
        source: Where their teams come from.
        first: Number of the first.
        count: How many.
    """

    source: str
    first: int
    count: int


def chunks(source: str, battles: int, first: int = FIRST, size: int = CHUNK) -> Iterator[Chunk]:
    """Divide battles into chunks.

    Args:
        source: Where their teams come from.
        battles: How many.
        first: Number of the first.
        size: Battles of a chunk; the last one may have fewer.
    """
    for begin in range(0, battles, size):
        yield Chunk(source, first + begin, min(size, battles - begin))


def check(chunk: Chunk, oracle: Oracle | None = None) -> Result:
    """Play a chunk with Showdown and replay it.

    Args:
        chunk: The battles.
        oracle: A running one; without it one is started for the chunk.
    """
    if oracle is None:
        with running() as own:
            return check(chunk, own)
    numbers = range(chunk.first, chunk.first + chunk.count)
    traces = [
        oracle.play(f"{chunk.source} {number}", teams=chunk.source, number=number, partial=True)
        for number in numbers
    ]
    return compare(traces, Player())


def check_all(work: Sequence[Chunk], processes: int) -> Generator[Result, None, None]:
    """Check chunks, a few at a time; their results in order."""
    if not work:
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(check, work)


def counted(result: Result) -> dict[str, Any]:
    """Return what a comparison found, as the file of counts has it."""
    return {
        "battles": result.battles,
        "exact": result.exact,
        "steps": result.steps,
        "columns": len(result.compared),
        "unfinished": [asdict(one) for one in result.unfinished],
        "differences": [asdict(one) for one in result.differences],
    }


def earlier(path: Path, first: int) -> dict[str, Result]:
    """Read the counts of the runs before.

    Args:
        path: The file of counts.
        first: Number of the first battle.

    Returns:
        What they found, by where teams come from.

    Raises:
        ValueError: They were counted otherwise or of another tree, so that no sum would make sense.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    now = report.origin(SCHEMA)
    wanted = {"schema": SCHEMA, "commit": now["commit"], "first": first}
    for name, value in wanted.items():
        if found.get(name) != value:
            raise ValueError(f"{path}: {name}: got {found.get(name)!r}, expected {value!r}")
    columns = ("generator", *load_schema().columns)
    return {
        source: Result(
            count["battles"],
            count["steps"],
            columns,
            differences=[Difference(**one) for one in count["differences"]],
            unfinished=[Difference(**one) for one in count["unfinished"]],
        )
        for source, count in found["counts"].items()
    }


def main(arguments: list[str] | None = None) -> int:
    """Compare, print what was found, and return the exit status: 0 unless something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    for source, battles in BATTLES.items():
        parser.add_argument(f"--{source}", type=int, default=battles, metavar="BATTLES")
    parser.add_argument("--first", type=int, default=FIRST, help="number of the first battle")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, help="file for the counts, JSON")
    parser.add_argument("--seconds", type=float, help="begin to end after so many")
    parser.add_argument("--resume", action="store_true", help="go on where --output ended")
    options = parser.parse_args(arguments)
    if (reason := missing()) is not None:
        parser.error(reason)
    if options.resume and options.output is None:
        parser.error("--resume: expected --output, the file to go on from")
    try:
        results = earlier(options.output, options.first) if options.resume else {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"--resume: {error}")
    end = time.monotonic() + options.seconds if options.seconds else float("inf")
    for source in BATTLES:
        wanted, total = getattr(options, source), results.get(source, Result())
        left = wanted - total.battles if time.monotonic() < end else 0
        work = list(chunks(source, left, options.first + total.battles))
        with closing(check_all(work, options.processes)) as checked:
            for result in checked:
                total += result
                sys.stderr.write(f"\r{source}: {total.exact} of {total.battles} exact")
                sys.stderr.flush()
                if time.monotonic() > end:
                    break
        results[source] = total
        sys.stdout.write(f"\n{source}: {total}\n")
    if options.output is not None:
        counts = {source: counted(result) for source, result in results.items()}
        origin = {**report.origin(SCHEMA), "showdown": load_schema().showdown}
        report.write({**origin, "first": options.first, "counts": counts}, options.output)
    return int(any(result.differences for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
