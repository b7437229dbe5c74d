"""Counts of equal frames, checked in: ``python -m tests.oracle.ratchet --update`` rewrites them.

The lockstep tests fail when a count got worse, and also when it got better and the file was not
updated, so the file always says how far the two sides agree.
"""

# ruff: noqa: T201 - a command line

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.cases import shared_folder
from hybridenv.oracle.lockstep import KINDS, Report, run, script

ROOT = Path(__file__).resolve().parent.parent.parent
FILE = Path(__file__).with_name("ratchet.json")


@dataclass(frozen=True)
class Game:
    """A game of the ratchet.

    Attributes:
        name: Title.
        path: The ROM.
        screens: Percentage of frames whose picture has to be equal, whatever the ratchet says.
        counts: Recorded numbers of equal frames, by kind and for ``"all"`` kinds together.
        sha256: Hash of the ROM that they were counted with.
    """

    name: str
    path: Path
    screens: float
    counts: dict[str, int]
    sha256: str


def read() -> dict[str, Any]:
    """Return the ratchet file."""
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def games(content: dict[str, Any]) -> list[Game]:
    """Return the games of the ratchet file."""
    folders = {"shared": shared_folder() / "data" / "gameboy" / "games", "here": ROOT}
    return [
        Game(
            name=name,
            path=folders[entry["in"]] / entry["path"],
            screens=entry["screens"],
            counts=entry.get("equal", {}),
            sha256=entry.get("sha256", ""),
        )
        for name, entry in content["games"].items()
    ]


def counts(report: Report) -> dict[str, int]:
    """Return the numbers that the ratchet keeps of a report."""
    return {kind: report.equal[kind] for kind in KINDS} | {"all": report.equal_all}


def hash_of(rom: bytes) -> str:
    """Return the hash that the ratchet identifies a ROM by."""
    return hashlib.sha256(rom).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how far every game agrees, and record it with ``--update``.

    Returns:
        The exit status: 1 if the file has other counts than were found and is left as it is.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.ratchet", description=__doc__)
    parser.add_argument("--update", action="store_true", help="rewrite the file")
    parser.add_argument("--game", help="only games whose title contains this")
    options = parser.parse_args(arguments)
    content = read()
    changed = False
    for game in games(content):
        if options.game and options.game.lower() not in game.name.lower():
            continue
        if not game.path.is_file():
            print(f"{game.name}: {game.path} is missing; left as it is")
            continue
        rom = game.path.read_bytes()
        report = run(rom, script(content["seed"], content["frames"]))
        print(f"{game.name}: {report}", flush=True)
        entry = content["games"][game.name]
        new = {"sha256": hash_of(rom), "equal": counts(report)}
        changed |= any(entry.get(key) != value for key, value in new.items())
        entry.update(new)
    if changed and options.update:
        FILE.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        print(f"{FILE.name} updated")
    elif changed:
        print(f"{FILE.name} has other counts; if these are better, run with --update")
    return int(changed and not options.update)


if __name__ == "__main__":
    sys.exit(main())
