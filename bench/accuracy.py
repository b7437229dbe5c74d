"""How accurate the machine is, as data: ``python -m bench.accuracy`` writes the file of counts.

`make accuracy` runs it. The suite of `gb-core` writes how many subjects of each judge pass; the
frames that equal PyBoy's are those of the lockstep's ratchet, which `tests.oracle.ratchet` has just
compared. Nothing is typed by hand but what other people's measurements of PyBoy say, which is
`PYBOY` here and labelled as such wherever it is shown.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.cases import ROOT

#: The file that the tables are generated from; `gb-core`'s suite compares itself with it.
RESULTS = ROOT / "bench" / "results" / "accuracy.json"
#: Counts of equal frames.
RATCHET = ROOT / "tests" / "oracle" / "ratchet.json"
SCHEMA = 1

Record = dict[str, Any]


@dataclass(frozen=True)
class Judge:
    """Somebody else's tests.

    Attributes:
        key: Name of the judge in the file.
        title: What it is and what is counted.
        pyboy: What PyBoy 2.8.1 passes, as recorded once; no part of this measures it.
            Source: PyBoy run on the same programs when the project's goals were set.
    """

    key: str
    title: str
    pyboy: str


JUDGES = (
    Judge("sm83", "SingleStepTests/sm83: instructions with every bus action", "–"),
    Judge("mooneye-dmg", "mooneye, the tests for DMG-ABC", "91 of all 111"),
    Judge("mooneye-cgb", "mooneye, the tests for CGB", "(above)"),
    Judge("dmg-acid2", "dmg-acid2: picture exact", "from the 2nd frame on"),
    Judge("cgb-acid2", "cgb-acid2: picture exact", "from the 2nd frame on"),
    Judge("mealybug", "mealybug-tearoom, DMG: pictures exact", "1 of 24"),
    Judge("samesuite", "SameSuite", "67 of 79"),
    Judge("docboy", "DocBoy's own DMG programs, unattended", "812 of 1,716"),
)


def suite(folder: Path) -> dict[str, dict[str, int]]:
    """Return the counts that `gb-core`'s suite wrote into a folder.

    Raises:
        ValueError: The count of a judge is missing, or there is one that `JUDGES` lacks.
    """
    found = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.json"))
    }
    known = {judge.key for judge in JUDGES}
    if found.keys() != known:
        raise ValueError(
            f"{folder}: got the counts of {sorted(found)}, expected those of {sorted(known)}"
        )
    return {judge.key: {key: found[judge.key][key] for key in ("passed", "of")} for judge in JUDGES}


def lockstep() -> Record:
    """Return the counts of frames that equal PyBoy's."""
    ratchet: Record = json.loads(RATCHET.read_text(encoding="utf-8"))
    return {
        "pyboy": ratchet["pyboy"],
        "seed": ratchet["seed"],
        "games": {
            name: {"equal": game["equal"]["all"], "of": ratchet["frames"]}
            for name, game in ratchet["games"].items()
        },
    }


def run_suite(folder: Path) -> int:
    """Run `gb-core`'s suite, which writes its counts into a folder; the exit status."""
    command = ["cargo", "test", "--release", "-p", "gb-core", "--test", "suite"]
    environment = {**os.environ, "HYBRIDENV_ACCURACY": str(folder)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def read(path: Path = RESULTS) -> Record:
    """Return the record in a file."""
    record: Record = json.loads(path.read_text(encoding="utf-8"))
    return record


def main(arguments: list[str] | None = None) -> int:
    """Run the suite and write the file; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.accuracy", description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        if run_suite(Path(name)):
            print("gb-core's suite fails: nothing is recorded", file=sys.stderr)
            return 1
        try:
            counts = suite(Path(name))
        except ValueError as error:
            print(f"{error}; is the shared data there?", file=sys.stderr)
            return 1
    record = {
        "schema": SCHEMA,
        "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "suite": counts,
        "lockstep": lockstep(),
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
