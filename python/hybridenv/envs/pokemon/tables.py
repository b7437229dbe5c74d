"""What the rules know of moves, species and types: packed words a row, from `data/gen1.json`.

A move is numbers and flags, not a function: most of what sets moves apart is in its row, and what
a row cannot say is an `Effect`, a name for a small piece of the rules.

Source: Pokémon Showdown 0.11.11, read by `bench/pokemon_tables.py`; MIT, see `data/LICENSE.txt`.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import jax.numpy as jnp
import numpy as np

from hybridenv.envs.pokemon.lanes import Lanes, is_numpy
from hybridenv.envs.pokemon.state import Fields, Layout, unpack

STRUGGLE, NO_MOVE, CANNOT_MOVE = 165, 166, 167
"""Moves that are none: out of PP; none chosen yet; a choice that comes to nothing."""
FISSURE, COUNTER, TRANSFORM, METRONOME, MIRROR_MOVE = 90, 68, 144, 118, 119
BIDE, HYPER_BEAM, PETAL_DANCE = 117, 63, 80
ROWS = 168

STATUSES = ("", "brn", "par", "slp", "frz", "psn", "tox")
BRN, PAR, SLP, FRZ, PSN, TOX = range(1, 7)
GHOST, POISON, GRASS, UNTYPED = 7, 3, 10, 15
STATUS_MOVE, PHYSICAL, SPECIAL = range(3)
STATS = ("atk", "def", "spa", "spe", "accuracy", "evasion")


class Fixed:
    """Damage that is no matter of strength."""

    NONE, TWENTY, FORTY, LEVEL, PSYWAVE, HALF, COUNTER, KNOCK_OUT = range(8)


class Effect:
    """What the rest of a row cannot say."""

    (
        NONE,
        LEECH_SEED,
        LIGHT_SCREEN,
        REFLECT,
        MIST,
        FOCUS_ENERGY,
        DISABLE,
        SUBSTITUTE,
        BIDE,
        HAZE,
        REST,
        RECOVER,
        TRANSFORM,
        CONVERSION,
        MIMIC,
        METRONOME,
        MIRROR_MOVE,
    ) = range(17)


_EFFECTS = {
    "leechseed": Effect.LEECH_SEED,
    "lightscreen": Effect.LIGHT_SCREEN,
    "reflect": Effect.REFLECT,
    "mist": Effect.MIST,
    "focusenergy": Effect.FOCUS_ENERGY,
    "disable": Effect.DISABLE,
    "substitute": Effect.SUBSTITUTE,
    "bide": Effect.BIDE,
    "haze": Effect.HAZE,
    "rest": Effect.REST,
    "recover": Effect.RECOVER,
    "softboiled": Effect.RECOVER,
    "transform": Effect.TRANSFORM,
    "conversion": Effect.CONVERSION,
    "mimic": Effect.MIMIC,
    "metronome": Effect.METRONOME,
    "mirrormove": Effect.MIRROR_MOVE,
}

_KEEPS_DAMAGE = frozenset(
    (
        *("confuseray", "conversion", "counter", "focusenergy", "glare", "haze", "leechseed"),
        *("lightscreen", "mimic", "mist", "poisongas", "poisonpowder", "recover", "reflect"),
        *("rest", "softboiled", "splash", "stunspore", "substitute", "supersonic", "teleport"),
        *("thunderwave", "toxic", "transform"),
    )
)
"""Moves after which Counter and Bide still go by the damage before."""

MOVE: Layout = (
    (
        ("power", 8),
        ("accuracy", 8),
        ("sure", 1),
        ("type", 4),
        ("category", 2),
        ("critical", 1),
        ("self", 1),
        ("keeps_damage", 1),
        ("charges", 1),
        ("leaves", 1),
    ),
    (
        ("hits", 2),
        ("fixed", 3),
        ("recoil", 2),
        ("drains", 1),
        ("explodes", 1),
        ("traps", 1),
        ("thrashes", 1),
        ("enrages", 1),
        ("tires", 1),
        ("any_type", 1),
        ("reaches", 1),
        ("counterable", 1),
        ("crashes", 1),
        ("fails", 1),
        ("dreams", 1),
        ("effect", 5),
    ),
    (
        ("status", 3),
        ("confuses", 1),
        ("boosts", 6),
        ("stages", 3),
        ("chance", 9),
        ("then_status", 3),
        ("then_confuses", 1),
        ("then_flinches", 1),
        ("then_lowers", 4),
    ),
    (("chart", 32),),
)
"""A move. `accuracy`: of 255; `sure`: it asks for none. `self`: its target.
`charges`: in two turns, `leaves`: out of reach meanwhile. `hits`: 0 one, 1 two to five, 2 two.
`recoil`: 1 a quarter, 2 half. `reaches`: even those away. `any_type`: nobody is immune. `boosts`:
a bit a stat, by `stages` - 3. `chance`: of 256, of what follows (`then_*`, by one stage).
`chart`: two bits a type, 0 immune, 1 resisted, 2, 3 weak."""

SPECIES: Layout = ((("type0", 4), ("type1", 4), ("speed", 8)),)


@cache
def read() -> Mapping[str, Any]:
    """The JSON file as it is: source, types, chart, moves and species."""
    text = files("hybridenv.envs.pokemon").joinpath("data/gen1.json").read_text("utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def _pack(layout: Layout, row: Mapping[str, int]) -> list[int]:
    words = []
    for word in layout:
        value, at = 0, 0
        for name, width in word:
            number = int(row.get(name, 0))
            if not 0 <= number < 1 << width:
                raise ValueError(f"{name} is {number}, expected {width} bits")
            value |= number << at
            at += width
        words.append(value)
    return words


def _mask(boosts: Mapping[str, int]) -> int:
    return sum(1 << i for i, stat in enumerate(STATS) if stat in boosts)


def _primary(move: Mapping[str, Any]) -> dict[str, int]:
    boosts = move["boosts"] or {}
    return {
        "status": STATUSES.index(move["status"] or ""),
        "confuses": move["volatile"] == "confusion",
        "boosts": _mask(boosts),
        "stages": max(boosts.values(), default=0, key=abs) + 3,
    }


def _secondary(move: Mapping[str, Any]) -> dict[str, int]:
    if not move["secondaries"]:
        return {}
    (then,) = move["secondaries"]
    confuses = then.get("volatileStatus") == "confusion"
    return {
        "chance": -(-then["chance"] * 256 // 100) - confuses,
        "then_status": STATUSES.index(then.get("status", "")),
        "then_confuses": confuses,
        "then_flinches": then.get("volatileStatus") == "flinch",
        "then_lowers": _mask(then.get("boosts", {})),
    }


def _fixed(move: Mapping[str, Any]) -> int:
    by_damage = {20: Fixed.TWENTY, 40: Fixed.FORTY, "level": Fixed.LEVEL, None: Fixed.NONE}
    by_name = {"psywave": Fixed.PSYWAVE, "superfang": Fixed.HALF, "counter": Fixed.COUNTER}
    if move["ohko"]:
        return Fixed.KNOCK_OUT
    return by_name.get(move["id"], by_damage[move["damage"]])


def _chart_word(move_type: str) -> int:
    data = read()
    codes = {0: 0, 5: 1, 10: 2, 20: 3}
    if move_type not in data["types"]:
        return sum(2 << 2 * i for i in range(16))
    row = data["chart"][data["types"].index(move_type)]
    return sum(codes[part] << 2 * i for i, part in enumerate([*row, 10]))


def _row(move: Mapping[str, Any]) -> dict[str, int]:
    types = [*read()["types"], "???"]
    own = (move["self"] or {}).get("volatileStatus")
    sure = move["accuracy"] is True
    recoil = move["recoil"]
    return {
        "power": move["power"],
        "accuracy": 0 if sure else int(move["accuracy"] * 255 // 100),
        "sure": sure,
        "type": types.index(move["type"]),
        "category": ("Status", "Physical", "Special").index(move["category"]),
        "critical": move["crit"] == 2,
        "self": move["target"] == "self",
        "keeps_damage": move["id"] in _KEEPS_DAMAGE,
        "charges": "charge" in move["flags"],
        "leaves": move["id"] in ("dig", "fly"),
        "hits": {None: 0, 2: 2}.get(move["multihit"], 1) if move["multihit"] != [2, 5] else 1,
        "fixed": _fixed(move),
        "recoil": 0 if recoil is None else {4: 1, 2: 2}[recoil[1] // recoil[0]],
        "drains": move["drain"] is not None,
        "explodes": move["selfdestruct"] is not None,
        "traps": own == "partialtrappinglock",
        "thrashes": own == "lockedmove",
        "enrages": own == "rage",
        "tires": own == "mustrecharge",
        "any_type": _any_type(move),
        "reaches": move["id"] in ("swift", "transform"),
        "counterable": move["power"] > 0 and move["type"] in ("Normal", "Fighting"),
        "crashes": "onMoveFail" in move["callbacks"] and own != "lockedmove",
        "fails": move["id"] == "teleport",
        "dreams": move["id"] == "dreameater",
        "effect": _EFFECTS.get(move["id"], Effect.NONE),
        **_primary(move),
        **_secondary(move),
        "chart": _chart_word(move["type"]),
    }


def _any_type(move: Mapping[str, Any]) -> bool:
    given = move.get("ignoreImmunity")
    return move["category"] == "Status" if given is None else bool(given)


@cache
def moves() -> tuple[np.ndarray, ...]:
    """The words of all moves by number: int32[`ROWS`] for each word of `MOVE`."""
    table = np.zeros((len(MOVE), ROWS), np.uint32)
    for move in read()["moves"]:
        table[:, move["num"]] = _pack(MOVE, _row(move))
    # Whoever never chose a move but is cured attacks with this. Source: `runMove` of mods/gen1.
    nothing = {"power": 102, "accuracy": 80, "type": UNTYPED, "category": SPECIAL}
    table[:, NO_MOVE] = _pack(MOVE, {**nothing, "stages": 3, "chart": _chart_word("???")})
    table[:, CANNOT_MOVE] = _pack(MOVE, {"stages": 3})
    return tuple(table.astype(np.uint32).view(np.int32))


@cache
def species() -> tuple[np.ndarray, ...]:
    """The words of all species by number: int32[152] for each word of `SPECIES`."""
    data = read()
    table = np.zeros((len(SPECIES), 152), np.uint32)
    for row in data["species"]:
        first, last = (data["types"].index(name) for name in (row["types"][0], row["types"][-1]))
        fields = {"type0": first, "type1": last, "speed": row["base"]["spe"]}
        table[:, row["num"]] = _pack(SPECIES, fields)
    return tuple(table.view(np.int32))


@cache
def chart() -> tuple[np.ndarray, ...]:
    """The type chart by attacking type: int32[16], two bits a type that is attacked."""
    words = [_chart_word(name) for name in (*read()["types"], "???")]
    return (np.array(words, np.uint32).view(np.int32),)


@cache
def charging() -> tuple[int, ...]:
    """The moves that take two turns."""
    return tuple(np.flatnonzero(move_fields(moves()).charges).tolist())


@cache
def urgencies() -> Mapping[int, int]:
    """Priorities of the moves that have one."""
    return {move["num"]: move["priority"] for move in read()["moves"] if move["priority"]}


def look_up(table: tuple[np.ndarray, ...], numbers: Lanes) -> tuple[Lanes, ...]:
    """Read rows of `moves()` or `species()`, one a battle; a word of the row an array."""
    if is_numpy(numbers):
        return tuple(word[numbers] for word in table)
    return tuple(jnp.asarray(word).at[numbers].get(mode="promise_in_bounds") for word in table)


def move_fields(words: tuple[Lanes, ...]) -> Fields:
    """Take rows of moves apart."""
    return unpack(MOVE, words)
