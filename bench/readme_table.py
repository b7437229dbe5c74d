"""Put the tables of the newest results into the README: ``python -m bench.readme_table``.

The text between the two markers is generated; ``--check`` says whether it is up to date.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench import report
from bench.cases import ROOT

README = ROOT / "README.md"
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


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


def updated(readme: str, result: report.Record) -> str:
    """Return the README's text with the generated block replaced.

    Raises:
        ValueError: The markers are missing or not in order.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{README.name}: expected the lines {BEGIN} and {END}, in this order")
    return f"{before}{BEGIN}\n{block(result)}\n{END}{after}"


def main(arguments: list[str] | None = None) -> int:
    """Write the README, or with ``--check`` say whether it would change; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.readme_table", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if out of date")
    parser.add_argument("--results", type=Path, default=report.RESULTS)
    options = parser.parse_args(arguments)
    if not options.results.is_file():
        print(f"{options.results}: no results yet; run `make bench`", file=sys.stderr)
        return 1
    old = README.read_text(encoding="utf-8")
    new = updated(old, json.loads(options.results.read_text(encoding="utf-8")))
    if options.check:
        if old != new:
            print("README.md: tables differ from bench/results; run `python -m bench.readme_table`")
        return int(old != new)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
