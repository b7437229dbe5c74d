"""Write the tables of generation 1 from Pokémon Showdown's package: ``make pokemon-tables``.

`bench/pokemon_tables.js` prints what the package knows; this checks it and writes what
`hybridenv.envs.pokemon.tables` loads. Development only: the package needs neither node nor
Showdown. Data, no code of Showdown's.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
DATA = ROOT / "python" / "hybridenv" / "envs" / "pokemon" / "data"
PACKAGE = ROOT / "tests" / "oracle" / "showdown" / "node_modules" / "pokemon-showdown"
VERSION = "0.11.11"
TEAMS = 4096


class UnexpectedError(Exception):
    """The package says something that the rules do not know."""


def require(condition: bool, what: str) -> None:
    """Refuse what the rules do not know."""
    if not condition:
        raise UnexpectedError(what)


def check(read: dict[str, Any]) -> None:
    """Check that the rules know all that there is."""
    require(read["source"]["version"] == VERSION, f"version {read['source']['version']}")
    require([m["num"] for m in read["moves"]] == list(range(1, 166)), "other moves")
    require([s["num"] for s in read["species"]] == list(range(1, 152)), "other species")
    for move in read["moves"]:
        parts = [move["boosts"], *[part.get("boosts") for part in move["secondaries"]]]
        for boosts in filter(None, parts):
            one = boosts.get("spa") == boosts.get("spd")
            require(one, f"{move['id']} changes one half of Special: {boosts}")
        require(len(move["secondaries"]) <= 1, f"{move['id']} has several secondary effects")
    for member in [m for team in read["teams"] for m in team]:
        require(member["stats"][3] == member["special"], "two halves of Special")


def one_line_each(name: str, rows: list[Any]) -> str:
    """Write a list of JSON with a row a line."""
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    return f' "{name}": [\n{lines}\n ]'


def main(package: Path = PACKAGE) -> None:
    """Read the package and write the tables."""
    require(package.is_dir(), f"no package at {package}: run npm ci in tests/oracle/showdown")
    script = ROOT / "bench" / "pokemon_tables.js"
    run = ["node", str(script), str(package), str(TEAMS)]
    read = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    check(read)
    DATA.mkdir(parents=True, exist_ok=True)
    head = f' "source": {json.dumps(read["source"])},\n "types": {json.dumps(read["types"])}'
    rows = [one_line_each(name, read[name]) for name in ("chart", "moves", "species")]
    (DATA / "gen1.json").write_text("{\n" + ",\n".join([head, *rows]) + "\n}\n", "utf-8")
    teams = read["teams"]
    padded = [[[*m["moves"], 0, 0, 0][:4] for m in team] for team in teams]
    np.savez_compressed(
        DATA / "teams.npz",
        species=np.array([[m["species"] for m in team] for team in teams], np.uint8),
        level=np.array([[m["level"] for m in team] for team in teams], np.uint8),
        moves=np.array(padded, np.uint8),
        stats=np.array([[m["stats"] for m in team] for team in teams], np.int16),
        haste=np.array([[m["haste"] for m in team] for team in teams], np.uint8),
    )
    (DATA / "LICENSE.txt").write_text((package / "LICENSE").read_text("utf-8"), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
