"""Teams as battles take them: from Showdown's sets, or from the pool of random-battle teams.

A team is up to six members; what the rules need of one is its species, level, moves and six numbers
that follow from its species, DVs and stat experience.

Source: `statModify` and `calculatePP` of sim/battle, Pokémon Showdown 0.11.11.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridenv.envs.pokemon import tables
from hybridenv.envs.pokemon.lanes import Lanes
from hybridenv.envs.pokemon.state import MON, MOVES, TEAM, Words, pack, unpack
from hybridenv.errors import ArgumentError

_STATS = ("hp", "atk", "def", "spa", "spe")
_PP_UPS = 3


@dataclass(frozen=True)
class Pool:
    """Many teams: arrays of teams and members.

    Attributes:
        species: int32[teams, 6], numbers of the national dex; 0 where there is no member.
        level: int32[teams, 6].
        moves: int32[teams, 6, 4], numbers of moves; 0 where there is none.
        stats: int32[teams, 6, 5], most hit points, attack, defence, special, speed.
        haste: int32[teams, 6], DVs and a quarter of stat experience in speed.
    """

    species: NDArray[np.int32]
    level: NDArray[np.int32]
    moves: NDArray[np.int32]
    stats: NDArray[np.int32]
    haste: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.species)

    @property
    def words(self) -> NDArray[np.int32]:
        """The teams as `party` takes them: int32[6 x words of `MON`, teams]."""
        rows: list[NDArray[np.int32]] = []
        for place in range(TEAM):
            rows += _words(
                self.species[:, place],
                self.level[:, place],
                self.moves[:, place],
                self.stats[:, place],
                self.haste[:, place],
                place,
            )
        return np.stack(rows)


def _words(
    species: NDArray[np.int32],
    level: NDArray[np.int32],
    moves: NDArray[np.int32],
    stats: NDArray[np.int32],
    haste: NDArray[np.int32],
    place: int,
) -> Words:
    zero = np.zeros(len(species), np.int32)
    mon = unpack(MON, (zero,) * len(MON))
    mon.species, mon.level, mon.slot = species, level, zero + place
    mon.hp = mon.max_hp = stats[:, 0]
    mon.atk, mon.dfn, mon.spc, mon.spe = (stats[:, i] for i in range(1, 5))
    kind = unpack(tables.SPECIES, tables.look_up(tables.species(), species))
    mon.ghost = ((kind.type0 == tables.GHOST) | (kind.type1 == tables.GHOST)) & (species > 0)
    mon.haste = haste
    for slot in range(MOVES):
        setattr(mon, f"move{slot}", moves[:, slot])
        setattr(mon, f"pp{slot}", most_pp()[moves[:, slot]])
    return pack(mon)


@cache
def most_pp() -> NDArray[np.int32]:
    """PP of all moves by number, with three PP Ups: int32[`tables.ROWS`]."""
    pp = np.zeros(tables.ROWS, np.int32)
    for move in tables.read()["moves"]:
        raised = move["pp"] * (5 + _PP_UPS) // 5
        pp[move["num"]] = raised - _PP_UPS if move["pp"] == 40 else raised
    pp[tables.STRUGGLE] = 10
    return pp


@cache
def random_battle() -> Pool:
    """Teams of Showdown's `gen1randombattle`, as its generator made them."""
    file = files("hybridenv.envs.pokemon").joinpath("data/teams.npz")
    with file.open("rb") as stream, np.load(stream) as arrays:
        return Pool(**{name: arrays[name].astype(np.int32) for name in arrays.files})


def party(words: Lanes) -> tuple[Words, ...]:
    """Take columns of `Pool.words` apart into what `engine.start` takes for one side.

    Args:
        words: int32[6 x words of `MON`, ...].

    Returns:
        For each position the words of `MON`.
    """
    size = len(MON)
    return tuple(tuple(words[place * size + i] for i in range(size)) for place in range(TEAM))


def pool(teams: Sequence[Sequence[Mapping[str, Any]]]) -> Pool:
    """Make a pool of teams written as Showdown's sets.

    Args:
        teams: Each a list of up to six members: `species`, `moves` (one to four names), and as far
            as they are not 100, all 30 or all 255: `level`, `ivs` (twice the DVs) and `evs`, by
            `hp`, `atk`, `def`, `spa`, `spe`.

    Returns:
        The pool.

    Raises:
        ArgumentError: A team or a member is not what it should be.
    """
    _demand(teams, Sequence, "teams", "a list of teams")
    if not teams:
        raise ArgumentError("teams: got none, expected at least one")
    rows: dict[str, list[Any]] = {name: [] for name in Pool.__dataclass_fields__}
    for number, team in enumerate(teams):
        where_ = f"teams[{number}]"
        _demand(team, Sequence, where_, "a list of members")
        if not 1 <= len(team) <= TEAM:
            raise ArgumentError(f"{where_}: got {len(team)} members, expected 1 to {TEAM}")
        members = [_member(member, f"{where_}[{i}]") for i, member in enumerate(team)]
        members += [_NOBODY] * (TEAM - len(members))
        for name, values in rows.items():
            values.append([member[name] for member in members])
    return Pool(**{name: np.array(values, np.int32) for name, values in rows.items()})


_NOBODY: Mapping[str, Any] = {
    "species": 0,
    "level": 0,
    "moves": [0] * MOVES,
    "stats": [0] * len(_STATS),
    "haste": 0,
}


def _member(member: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    _demand(member, Mapping, place, "a dict with species and moves")
    kinds, moves = _by_name("species"), _by_name("moves")
    kind = kinds.get(_plain(member.get("species", "")))
    if kind is None:
        raise ArgumentError(f"{place}: got species {member.get('species')!r}, expected one of 151")
    given = member.get("moves", ())
    _demand(given, Sequence, f"{place} moves", "a list of names")
    if not 1 <= len(given) <= MOVES or len(set(map(_plain, given))) != len(given):
        raise ArgumentError(f"{place}: got moves {list(given)}, expected 1 to {MOVES} different")
    for name in given:
        if _plain(name) not in moves or _plain(name) == "struggle":
            raise ArgumentError(f"{place}: got move {name!r}, expected one of generation 1")
    level = _whole(member.get("level", 100), 1, 100, f"{place} level")
    ivs = _numbers(member.get("ivs", {}), 30, 31, f"{place} ivs")
    evs = _numbers(member.get("evs", {}), 255, 255, f"{place} evs")
    stats = []
    for name in _STATS:
        worth = 2 * kind["base"][name] + ivs[name] + evs[name] // 4
        extra = 100 if name == "hp" else 0
        stats.append((worth + extra) * level // 100 + (10 if name == "hp" else 5))
    numbers = [moves[_plain(name)]["num"] for name in given]
    return {
        "species": kind["num"],
        "level": level,
        "moves": [*numbers, *[0] * (MOVES - len(numbers))],
        "stats": stats,
        "haste": ivs["spe"] + evs["spe"] // 4,
    }


def _demand(value: object, kind: type, place: str, expected: str) -> None:
    if isinstance(value, str | bytes) or not isinstance(value, kind):
        raise ArgumentError(f"{place}: got {type(value).__name__}, expected {expected}")


def _plain(name: object) -> str:
    return "".join(c for c in str(name).lower() if c.isalnum())


@cache
def _by_name(what: str) -> Mapping[str, Mapping[str, Any]]:
    return {row["id"]: row for row in tables.read()[what]}


def _whole(value: Any, least: int, most: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ArgumentError(f"{what}: got {value!r}, expected a whole number {least} to {most}")
    return value


def _numbers(given: Mapping[str, Any], usual: int, most: int, what: str) -> Mapping[str, int]:
    _demand(given, Mapping, what, f"a dict of {', '.join(_STATS)}")
    special = given.get("spd", given.get("spa", usual))
    if unknown := sorted(map(str, set(given) - {*_STATS, "spd"})):
        raise ArgumentError(f"{what}: got {', '.join(unknown)}, expected {', '.join(_STATS)}")
    if special != given.get("spa", usual):
        raise ArgumentError(f"{what}: got spa and spd apart, expected one number for Special")
    return {name: _whole(given.get(name, usual), 0, most, f"{what} {name}") for name in _STATS}
