"""Short written battles, a mechanic each: `scenarios/*.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("scenarios")

#: ``Chansey L50 dv 15/14/13/12 ev 0: Soft-Boiled, Pound``; DVs of attack, defence, speed, special.
_POKEMON = re.compile(
    r"(?P<species>[\w.' -]+?)(?: L(?P<level>\d+))?(?: dv (?P<dvs>\d+/\d+/\d+/\d+))?"
    r"(?: ev (?P<ev>\d+))?: (?P<moves>.+)"
)
_TURN = re.compile(r"(?P<p1>[^|]+)\|(?P<p2>[^|*]+)(?:\*\s*(?P<times>\d+))?")


class ScenarioError(ValueError):
    """A written battle cannot be read."""


@dataclass(frozen=True)
class Scenario:
    """A written battle.

    Attributes:
        name: Its name.
        about: The rule that it shows.
        teams: Both teams, as the oracle takes them.
        choices: What each player chooses at each step, ``None`` for one who waits.
        says: Patterns of Showdown's messages that appear in this order.
        never: Patterns of which none appears.
    """

    name: str
    about: str
    teams: tuple[list[dict[str, Any]], list[dict[str, Any]]]
    choices: list[tuple[str | None, str | None]]
    says: list[str]
    never: list[str]


def _pokemon(text: str, where: str) -> dict[str, Any]:
    found = _POKEMON.fullmatch(text)
    if found is None:
        raise ScenarioError(f"{where}: got {text!r}, expected 'Species [L50] [dv ...]: Move, Move'")
    made: dict[str, Any] = {
        "species": found["species"],
        "moves": [move.strip() for move in found["moves"].split(",")],
    }
    if found["level"]:
        made["level"] = int(found["level"])
    if found["ev"]:
        made["ev"] = int(found["ev"])
    if found["dvs"]:
        values = map(int, found["dvs"].split("/"))
        made["dvs"] = dict(zip(("atk", "def", "spe", "spa"), values, strict=True))
    return made


def _choice(text: str) -> str | None:
    text = text.strip()
    if text in ("first", "-"):
        return None if text == "-" else text
    return text if text.startswith("switch ") else f"move {text}"


def _choices(turns: list[str], where: str) -> Iterator[tuple[str | None, str | None]]:
    for turn in turns:
        found = _TURN.fullmatch(turn)
        if found is None:
            raise ScenarioError(f"{where}: got {turn!r}, expected 'choice | choice [* times]'")
        for _ in range(int(found["times"] or 1)):
            yield _choice(found["p1"]), _choice(found["p2"])


def load_scenarios() -> list[Scenario]:
    """Read all written battles.

    Raises:
        ScenarioError: One is malformed, or two have the same name.
    """
    made: dict[str, Scenario] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for name, given in tomllib.loads(path.read_text(encoding="utf-8")).items():
            where = f"{path.name}, {name}"
            if name in made:
                raise ScenarioError(f"{where}: there is another of this name")
            strange = given.keys() - {"about", "p1", "p2", "turns", "says", "never"}
            if strange or not given.get("says"):
                raise ScenarioError(
                    f"{where}: got {sorted(given)}, expected what it says, and so on"
                )
            made[name] = Scenario(
                name,
                given["about"],
                (
                    [_pokemon(text, where) for text in given["p1"]],
                    [_pokemon(text, where) for text in given["p2"]],
                ),
                list(_choices(given["turns"], where)),
                given["says"],
                given.get("never", []),
            )
    return list(made.values())
