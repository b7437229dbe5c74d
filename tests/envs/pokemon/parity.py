"""Thousands of new battles beside Pokémon Showdown: ``python -m tests.envs.pokemon.parity``.

Battles are played by Showdown and replayed by the engine in chunks, one process each; nothing is
left out of the count.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.envs.pokemon.harness import Result, compare
from tests.envs.pokemon.oracle import Oracle, missing, running
from tests.envs.pokemon.player import Player
from tests.envs.pokemon.schema import load_schema

from bench import report

#: Numbers below are those of recorded battles.
FIRST = 1_000_000

CHUNK = 200

#: Battles of the command, by where their teams come from.
BATTLES = {"gen1randombattle": 10_000, "movesets": 2_000, "mirrors": 500}

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
        oracle.play(f"{chunk.source} {number}", teams=chunk.source, number=number)
        for number in numbers
    ]
    return compare(traces, Player())


def check_all(work: Iterable[Chunk], processes: int) -> Iterator[Result]:
    """Check chunks, a few at a time; their results as they come."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(check, work)


def main(arguments: list[str] | None = None) -> int:
    """Compare, print what was found, and return the exit status: 0 if all battles are exact."""
    parser = argparse.ArgumentParser(description=__doc__)
    for source, battles in BATTLES.items():
        parser.add_argument(f"--{source}", type=int, default=battles, metavar="BATTLES")
    parser.add_argument("--first", type=int, default=FIRST, help="number of the first battle")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, help="file for the counts, JSON")
    options = parser.parse_args(arguments)
    reason = missing()
    if reason is not None:
        parser.error(reason)
    counts: dict[str, dict[str, int]] = {}
    for source in BATTLES:
        begin, total = time.monotonic(), Result()
        work = list(chunks(source, getattr(options, source), options.first))
        for result in check_all(work, options.processes):
            total += result
            sys.stderr.write(
                f"\r{source}: {total.exact} of {total.battles} exact, "
                f"{time.monotonic() - begin:.0f} s"
            )
            sys.stderr.flush()
        sys.stderr.write("\n")
        sys.stdout.write(f"{source}: {total}\n")
        counts[source] = {
            "battles": total.battles,
            "exact": total.exact,
            "steps": total.steps,
            "columns": len(total.compared),
        }
    if options.output is not None:
        found = {**report.origin(SCHEMA), "showdown": load_schema().showdown, "counts": counts}
        report.write(found, options.output)
    return 0 if all(count["exact"] == count["battles"] for count in counts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
