"""Command line: ``python -m bench [--quick] [--peer-python PYTHON] [--output FILE]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench import report, tables
from bench.cases import PEERS, ROOT, games
from bench.suite import Settings, run


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a summary, and write the JSON file; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="less work and fewer repeats, under two minutes"
    )
    parser.add_argument("--repeats", type=int, help="measurements of each side (7; quick: 5)")
    parser.add_argument("--game", action="append", help="only games whose title contains this")
    parser.add_argument("--seed", type=int, default=1, help="seed of the buttons")
    parser.add_argument(
        "--peer-python",
        type=Path,
        default=PEERS,
        help="interpreter of the environment that holds gambaterm and stable-retro",
    )
    parser.add_argument("--output", type=Path, help="result file")
    options = parser.parse_args(arguments)
    repeats = options.repeats or (5 if options.quick else 7)
    if repeats < 5:
        parser.error(f"--repeats: got {repeats}, expected at least 5")

    chosen = [
        game
        for game in games()
        if not options.game or any(part.lower() in game.name.lower() for part in options.game)
    ]
    if not chosen:
        parser.error(f"--game: no game's title contains {options.game}")
    settings = Settings(
        quick=options.quick, repeats=repeats, seed=options.seed, peer_python=options.peer_python
    )
    record = report.record(settings, run(chosen, settings))
    default = ROOT / "target" / "bench" / "quick.json" if options.quick else report.RESULTS
    output = options.output or default
    report.write(record, output)
    print(tables.summary(record))
    print(f"written to {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
