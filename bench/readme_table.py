"""Put the tables of the newest results into the README: ``python -m bench.readme_table``.

The text between each pair of markers is generated from a JSON file; ``--check`` says whether it is
up to date.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import pong, ppo, report
from bench.cases import ROOT

README = ROOT / "README.md"


@dataclass(frozen=True)
class Table:
    """One generated part of the README.

    Attributes:
        name: Name of its markers, ``<!-- NAME:begin -->`` and ``<!-- NAME:end -->``.
        results: File name of the record in ``bench/results``.
        block: Writes the text from the record.
        command: What measures it.
    """

    name: str
    results: str
    block: Callable[[report.Record], str]
    command: str

    def updated(self, readme: str, result: report.Record) -> str:
        """Return the README's text with this part replaced.

        Raises:
            ValueError: The markers are missing or not in order.
        """
        first, last = f"<!-- {self.name}:begin -->", f"<!-- {self.name}:end -->"
        before, begin, rest = readme.partition(first)
        _, end, after = rest.partition(last)
        if not begin or not end:
            raise ValueError(f"{README.name}: expected the lines {first} and {last}, in this order")
        return f"{before}{first}\n{self.block(result)}\n{last}{after}"


def block(result: report.Record) -> str:
    """Return the generated text for a record of `bench.report.record`."""
    machine, settings = result["machine"], result["settings"]
    versions = result["versions"]
    peers = ", ".join(
        f"{name} {versions[side]}"
        for side, name in (
            ("pyboy", "PyBoy"),
            ("gambaterm", "gambaterm (libgambatte)"),
            ("stable-retro", "stable-retro (gambatte)"),
        )
        if side in versions
    )
    note = (
        "¹ Over the five real games. Ratios are medians of "
        f"{settings['repeats']} interleaved repeats, with the smallest and the largest. "
        f"Measured on {machine['cpu']} ({machine['cores']} cores) against {peers}, "
        f"{result['created'][:10]}, commit `{result['commit'][:10]}`. Raw figures: "
        "[`bench/results/gameboy.json`](bench/results/gameboy.json); measure yourself with "
        "`make bench`."
    )
    intro = (
        "Emulated frames a second on one core; every side plays the same games with the same "
        "random buttons. Every 24th frame rendered, as in training:"
    )
    return "\n\n".join(
        (
            intro,
            report.speed_table(result, "r24"),
            "Every frame rendered:",
            report.speed_table(result, "r1"),
            "What the project promises, and what was found:",
            report.goal_table(result),
            note,
        )
    )


TABLES = (
    Table("bench", "gameboy.json", block, "make bench"),
    Table("bench:pong", "pong.json", pong.block, "make bench-pong"),
    Table("bench:ppo", "ppo.json", ppo.block, "make bench-ppo"),
)


def main(arguments: list[str] | None = None) -> int:
    """Write the README, or with ``--check`` say whether it would change; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.readme_table", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if out of date")
    parser.add_argument("--results", type=Path, default=report.RESULTS.parent, help="folder")
    options = parser.parse_args(arguments)
    old = new = README.read_text(encoding="utf-8")
    for table in TABLES:
        path = options.results / table.results
        if not path.is_file():
            print(f"{path}: no results yet; run `{table.command}`", file=sys.stderr)
            return 1
        new = table.updated(new, json.loads(path.read_text(encoding="utf-8")))
    if options.check:
        if old != new:
            print("README.md: tables differ from bench/results; run `python -m bench.readme_table`")
        return int(old != new)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
