"""Put the tables of the newest results into their pages: ``python -m bench.readme_table``.

The text between each pair of markers is generated from JSON files; ``--check`` says whether it is
up to date. Most of it is in the README.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import (
    gameboy_transfer,
    learning,
    locomotion,
    pairs,
    pokemon,
    pong,
    ppo,
    profile_training,
    report,
    tables,
    transfer,
    verify,
)
from bench.accuracy import Record
from bench.cases import ROOT

README = ROOT / "README.md"
LOCOMOTION = ROOT / "docs" / "locomotion.md"
TRAINING = ROOT / "docs" / "training.md"
VERIFY = ROOT / "docs" / "verify.md"


@dataclass(frozen=True)
class Part:
    """One generated part of a page.

    Attributes:
        name: Name of its markers, ``<!-- NAME:begin -->`` and ``<!-- NAME:end -->``.
        sources: The records in ``bench/results`` that it is made from: file, and what writes it.
        block: Writes the text from the records, in that order.
        file: The page; `None` stands for the README.
    """

    name: str
    sources: dict[str, str]
    block: Callable[..., str]
    file: Path | None = None

    @property
    def page(self) -> Path:
        """The page that it is part of."""
        return self.file or README

    def is_empty(self, text: str) -> bool:
        """Whether the page has nothing here yet, because nobody has measured it."""
        return f"<!-- {self.name}:begin -->\n<!-- {self.name}:end -->" in text

    def updated(self, text: str, *records: Record) -> str:
        """Return the page's text with this part replaced.

        Raises:
            ValueError: The markers are missing or not in order.
        """
        first, last = f"<!-- {self.name}:begin -->", f"<!-- {self.name}:end -->"
        before, begin, rest = text.partition(first)
        _, end, after = rest.partition(last)
        if not begin or not end:
            raise ValueError(
                f"{self.page.name}: expected the lines {first} and {last}, in this order"
            )
        return f"{before}{first}\n{self.block(*records)}\n{last}{after}"


def block(accuracy: Record, result: report.Record) -> str:
    """Return the generated text for the records of `bench.accuracy` and `bench.report`."""
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
    recorded = (
        f"¹ PyBoy {accuracy['lockstep']['pyboy']} on the same programs, as recorded once; the "
        "counts of hybridenv are those of its tests, which fail when one changes: "
        "[`bench/results/accuracy.json`](bench/results/accuracy.json), `make accuracy`."
    )
    measured = (
        "² Sound off, which is PyBoy's fastest. Ratios are medians of "
        f"{settings['repeats']} interleaved repeats, below with the smallest and the largest. "
        f"Measured on {machine['cpu']} ({machine['cores']} cores) against {peers}, "
        f"{result['created'][:10]}, commit `{result['commit'][:10]}`: "
        "[`bench/results/gameboy.json`](bench/results/gameboy.json), `make bench`."
    )
    intro = (
        "Accuracy and speed side by side. **r24** renders every 24th frame, as training does, "
        "**r1** each one; every side plays the same games with the same random buttons on one core:"
    )
    host = (
        "Host instructions for each emulated one, counted by callgrind; idle loops that are "
        "skipped count as emulated:"
    )
    promises = (
        "What the project promises, and what was found; geometric means are of the monochrome "
        "games, unless they say Color:"
    )
    parts = [intro, tables.side_by_side(accuracy, result), recorded, measured]
    parts += ["Emulated frames a second, r24:", tables.speed_table(result, "r24")]
    parts += ["r1:", tables.speed_table(result, "r1")]
    parts += [host, tables.instruction_table(result)]
    parts += [promises, tables.goal_table(result)]
    return "\n\n".join(parts)


PARTS = (
    Part("bench", {"accuracy.json": "make accuracy", "gameboy.json": "make bench"}, block),
    Part("bench:pong", {"pong.json": "make bench-pong"}, pong.block),
    Part("bench:ppo", {"ppo.json": "make bench-ppo"}, ppo.block),
    Part("bench:profile", {"profile.json": "make bench-profile"}, profile_training.block),
    Part("bench:profile", {"profile.json": "make bench-profile"}, profile_training.guide, TRAINING),
    Part("bench:locomotion", {"locomotion.json": "make bench-locomotion"}, locomotion.block),
    Part("bench:pokemon", {"pokemon.json": "make bench-pokemon"}, pokemon.block),
    Part("bench:learning", {"learning.json": "make bench-learning"}, learning.block, LOCOMOTION),
    Part("bench:transfer", {"transfer.json": "make bench-transfer"}, transfer.block, LOCOMOTION),
    Part("bench:pairs", {"pairs.json": "make verify-pairs"}, pairs.block, VERIFY),
    Part(
        "bench:gameboy-transfer",
        {"gameboy_transfer.json": "make transfer-gameboy"},
        gameboy_transfer.block,
        VERIFY,
    ),
    Part("bench:verify", {"verify.json": "make bench-verify"}, verify.block, VERIFY),
)


def main(arguments: list[str] | None = None) -> int:
    """Write the pages, or with ``--check`` say whether one would change; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.readme_table", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if out of date")
    parser.add_argument("--results", type=Path, default=report.RESULTS.parent, help="folder")
    options = parser.parse_args(arguments)
    old = {page: page.read_text(encoding="utf-8") for page in {part.page for part in PARTS}}
    new = dict(old)
    for part in PARTS:
        missing = [name for name in part.sources if not (options.results / name).is_file()]
        if missing and part.is_empty(old[part.page]):
            continue
        records = []
        for name, command in part.sources.items():
            path = options.results / name
            if not path.is_file():
                print(f"{path}: no results yet; run `{command}`", file=sys.stderr)
                return 1
            records.append(json.loads(path.read_text(encoding="utf-8")))
        new[part.page] = part.updated(new[part.page], *records)
    changed = sorted(page for page in new if new[page] != old[page])
    if options.check:
        for page in changed:
            print(
                f"{page.name}: tables differ from bench/results; run `python -m bench.readme_table`"
            )
        return int(bool(changed))
    for page in changed:
        page.write_text(new[page], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
