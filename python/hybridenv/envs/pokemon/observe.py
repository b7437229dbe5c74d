"""What players see of a battle: all of it, or what was shown to them.

`fields` is everything, number by number. `known` is what a player knows on Showdown: its own team
and its request, and of the foe whatever the battle has shown so far. `vector` puts what is known in
one array of floats for a network, `full_vector` that and what is hidden. `player` is a number of
Python, 0 or 1; both see a battle as if they were the first player.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hybridenv.envs.pokemon import engine, tables
from hybridenv.envs.pokemon.choice import ACTIONS
from hybridenv.envs.pokemon.state import (
    ACTIVE,
    FIELD,
    MON,
    MOVES,
    TEAM,
    Fields,
    Request,
    State,
    unpack,
)

TYPES = 15
STAGES = ("boost_atk", "boost_dfn", "boost_spc", "boost_spe", "boost_acc", "boost_eva")
SIGNS = (
    *("light_screen", "reflect", "mist", "focus", "seeded", "recharge", "away", "rage", "bide"),
    *("thrashing", "charging", "toxic", "transformed"),
)
"""Conditions of the one in battle that both players know of, and that are yes or no."""
COUNTED = ("confusion", "disable", "substitute")
"""Conditions of which both know that they are there, but not how long for, or how strong."""
_LAST_MOVES = tables.STRUGGLE


@dataclass(frozen=True)
class Part:
    """A part of the vector.

    Attributes:
        name: What it is.
        start: Its first entry.
        size: How many entries.
    """

    name: str
    start: int
    size: int


@partial(jax.jit, static_argnames="player")
def fields(state: State, player: int) -> dict[str, Array]:
    """Everything there is to know of a battle, as integers.

    Args:
        state: Battles.
        player: Whose sight it is, 0 or 1; the other one is the foe.

    Returns:
        int32[...] by name: `turn`, `winner` (of the players, so 1 is the first, whoever looks),
        `last_damage`, and of both sides (`own_`, `foe_`) `request`, `legal` (a bit an action),
        `active_*` (see `state.ACTIVE`) and for positions 0 to 5 `mon0_*` to `mon5_*` (`state.MON`).
        Words of the generator are left out; they are `state.seed`.
    """
    field = unpack(FIELD, state.field)
    result = {"turn": field.turn, "winner": field.winner, "last_damage": field.last_damage}
    for prefix, side in (("own", player), ("foe", 1 - player)):
        result[f"{prefix}_request"] = getattr(field, f"request{side}")
        result[f"{prefix}_legal"] = getattr(field, f"legal{side}")
        for name, value in _named(unpack(ACTIVE, state.active[side])):
            result[f"{prefix}_active_{name}"] = value
        for place, words in enumerate(state.party[side]):
            for name, value in _named(unpack(MON, words)):
                result[f"{prefix}_mon{place}_{name}"] = value
    return {name: jnp.asarray(value).astype(jnp.int32) for name, value in result.items()}


@partial(jax.jit, static_argnames="player")
def known(state: State, player: int) -> dict[str, Array]:
    """What a player knows of a battle, as integers.

    Args:
        state: Battles.
        player: Whose sight it is, 0 or 1.

    Returns:
        int32 by name, with trailing axes as said:

        - `turn`; `winner`: 0 going on, 1 the player, 2 the foe, 3 neither; `request`, see
          `state.Request`; `legal` [10], 1 where an action is.
        - For both sides (`own_`, `foe_`), by position of the team, the first in battle: `species`,
          `level`, `hp`, `status` [6]; `moves`, `pp` [6, 4]; `seen` [6], whether the foe of that
          side has seen it. `own_stats` [6, 5]: most hit points, attack, defence, special, speed.
        - Of the one in battle: `types` [2]; `stages` [6], -6 to 6; `signs` [17], see `SIGNS` and
          `COUNTED`, and last whether it looks trapped; `last_move`; `shape`, its species, or the
          one that it turned into.

        Of the foe: members that were never in battle are 0 throughout; `foe_hp` is in hundredths,
        as Showdown tells it, `foe_moves` are those that were used (0 elsewhere), `foe_pp` is what
        is left of these.
    """
    field = unpack(FIELD, state.field)
    winner = field.winner
    if player == 1:
        winner = jnp.where(winner == 1, 2, jnp.where(winner == 2, 1, winner))
    legal = engine.legal(state)[player]
    result = {
        "turn": field.turn,
        "winner": winner,
        "request": getattr(field, f"request{player}"),
        "legal": _stack([(legal >> action) & 1 for action in range(ACTIONS)]),
    }
    own = [unpack(MON, words) for words in state.party[player]]
    foe = [unpack(MON, words) for words in state.party[1 - player]]
    result |= {f"own_{name}": value for name, value in _team(own).items()}
    result["own_stats"] = jnp.stack(
        [_stack([mon.max_hp, mon.atk, mon.dfn, mon.spc, mon.spe]) for mon in own], -2
    )
    result |= {f"foe_{name}": value for name, value in _shown(_team(foe), foe).items()}
    for prefix, side in (("own", player), ("foe", 1 - player)):
        active = unpack(ACTIVE, state.active[side])
        result |= {f"{prefix}_{name}": value for name, value in _in_battle(active).items()}
        if prefix == "own":  # what it uses and has left, where it has turned into another
            result |= _instead(result, active)
    return {name: jnp.asarray(value).astype(jnp.int32) for name, value in result.items()}


def _named(found: Fields) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in vars(found).items() if not name.startswith("_")]


def _stack(values: Sequence[Any]) -> Array:
    return jnp.stack([jnp.asarray(value) for value in values], -1)


def _slots(found: Fields, name: str) -> Array:
    return _stack([getattr(found, f"{name}{slot}") for slot in range(MOVES)])


def _team(team: Sequence[Fields]) -> dict[str, Array]:
    one = {
        name: _stack([jnp.asarray(getattr(mon, name)).astype(jnp.int32) for mon in team])
        for name in ("species", "level", "hp", "status", "seen")
    }
    return one | {
        "moves": jnp.stack([_slots(mon, "move") for mon in team], -2),
        "pp": jnp.stack([_slots(mon, "pp") for mon in team], -2),
    }


def _shown(team: dict[str, Array], mons: Sequence[Fields]) -> dict[str, Array]:
    """What a player knows of a foe's team.

    Source: `getHealth` of sim/pokemon, with `HP Percentage Mod`.
    """
    most = _stack([mon.max_hp for mon in mons])
    hundredths = (100 * team["hp"] + most - 1) // jnp.maximum(most, 1)
    hundredths = jnp.where((hundredths == 100) & (team["hp"] < most), 99, hundredths)
    used = jnp.stack(
        [_stack([(mon.seen_moves >> slot) & 1 for slot in range(MOVES)]) for mon in mons], -2
    )
    seen = team["seen"]
    shown = {**team, "hp": hundredths}
    result = {name: value * seen for name, value in shown.items() if name not in ("moves", "pp")}
    return result | {name: team[name] * used * seen[..., None] for name in ("moves", "pp")}


def _in_battle(active: Fields) -> dict[str, Array]:
    signs = [getattr(active, name) for name in SIGNS]
    counted = [getattr(active, name) > 0 for name in COUNTED]
    # Nobody is told when a trap lets go, see `choice.unaware`.
    counted.append((active.trapped > 0) | (active.freed > 0))
    last = active.used
    return {
        "types": _stack([active.type0, active.type1]),
        "stages": _stack([getattr(active, name) - 6 for name in STAGES]),
        "signs": _stack([jnp.asarray(sign).astype(jnp.int32) for sign in (*signs, *counted)]),
        "last_move": jnp.where((last >= 1) & (last <= _LAST_MOVES), last, 0),
        "shape": active.species,
    }


def _instead(result: Mapping[str, Any], active: Fields) -> dict[str, Array]:
    """Moves and PP of the own one in battle, which Transform and Mimic change."""
    return {
        f"own_{name}": jnp.asarray(result[f"own_{name}"]).at[..., 0, :].set(_slots(active, part))
        for name, part in (("moves", "move"), ("pp", "pp"))
    }


# -- vectors: what is divided is divided by powers of two, which every program does alike ---------


@cache
def _species() -> NDArray[np.float32]:
    """Of each species its types (15, yes or no) and its five base stats (of 256)."""
    data = tables.read()
    table = np.zeros((152, TYPES + 5), np.float32)
    for row in data["species"]:
        for name in row["types"]:
            table[row["num"], data["types"].index(name)] = 1
        base = row["base"]
        table[row["num"], TYPES:] = [base[k] / 256 for k in ("hp", "atk", "def", "spa", "spe")]
    return table


_FIXED_POWER = 60
"""What moves whose damage is no matter of strength are shown as."""
MOVE_PARTS = (
    *("there", "power", "accuracy", "attack", "special", "status", "sleep", "paralysis"),
    *("other_status", "raises", "recovers", "explodes", "two_turns"),
)
"""What the vector says of a move, before its PP and what its type does to the one in battle."""


@cache
def _moves() -> NDArray[np.float32]:
    """Of each move the numbers of `MOVE_PARTS`: float32[`tables.ROWS`, 13], 0 to 1."""
    table = np.zeros((tables.ROWS, len(MOVE_PARTS)), np.float32)
    words = tables.moves()
    row = tables.move_fields(words)
    power = np.where(row.fixed > 0, _FIXED_POWER, row.power)
    recovers = (row.effect == tables.Effect.RECOVER) | (row.effect == tables.Effect.REST)
    columns = (
        *(np.ones(tables.ROWS), power / 256, np.where(row.sure, 256, row.accuracy) / 256),
        *(row.category > 0, row.category == tables.SPECIAL, row.category == 0),
        *(row.status == tables.SLP, row.status == tables.PAR, row.status > tables.SLP),
        *((row.boosts > 0) & row.self & (row.stages > 3), recovers, row.explodes),
        row.charges | row.tires,
    )
    for i, column in enumerate(columns):
        table[:, i] = column
    table[0] = 0
    return table


@cache
def _chart() -> NDArray[np.float32]:
    """What a move does to types, of four: float32[`tables.ROWS`, 16, 16]."""
    factors = np.array([0, 0.5, 1, 2], np.float32)
    word = tables.moves()[3]
    single = factors[(word[:, None] >> 2 * np.arange(16)) & 3]
    both = single[:, :, None] * single[:, None, :]
    both[:, np.arange(16), np.arange(16)] = single
    both[_moves()[:, 1] == 0] = 0
    return np.asarray(both / 4, np.float32)


def _side(seen: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    """Parts of the vector about a team, each float32[..., n]."""
    foe = "foe" if prefix == "own" else "own"
    species, hp = seen[f"{prefix}_species"], seen[f"{prefix}_hp"]
    there = species > 0
    most = seen["own_stats"][..., 0] if prefix == "own" else jnp.full_like(hp, 100)
    status = seen[f"{prefix}_status"]
    kinds = jnp.asarray(_species())[species]
    team = [
        there,
        (128 * hp // jnp.maximum(most, 1)) / 128,
        there & (hp == 0),
        seen[f"{prefix}_level"] / 128,
        seen[f"{prefix}_seen"],
        *[status == number for number in range(1, len(tables.STATUSES))],
    ]
    moves, pp = seen[f"{prefix}_moves"], seen[f"{prefix}_pp"]
    target = seen[f"{foe}_types"]
    first, second = target[..., 0][..., None, None], target[..., 1][..., None, None]
    does = jnp.asarray(_chart())[moves, first, second]
    rows = jnp.asarray(_moves())[moves[..., 0, :]]
    use = jnp.stack([does[..., 0, :], pp[..., 0, :] / 64], -1)
    strength = jnp.asarray(_moves()[:, 1] * _moves()[:, 2])[moves]
    bench = jnp.stack([moves > 0, strength, does], -1)[..., 1:, :, :]
    types = seen[f"{prefix}_types"][..., None]
    return {
        f"{prefix}_team": _flat(_stack(team), 2),
        f"{prefix}_kinds": _flat(kinds, 2),
        f"{prefix}_moves": _flat(jnp.concatenate([rows, use], -1), 2),
        f"{prefix}_bench": _flat(bench, 3),
        f"{prefix}_types": jnp.any(types == jnp.arange(TYPES), -2),
        f"{prefix}_stages": seen[f"{prefix}_stages"] / 8,
        f"{prefix}_signs": seen[f"{prefix}_signs"],
        f"{prefix}_last_move": jnp.asarray(_moves())[seen[f"{prefix}_last_move"]],
    }


def _flat(values: Array, axes: int) -> Array:
    return values.reshape(*values.shape[: values.ndim - axes], -1)


def _parts(state: State, player: int) -> dict[str, Array]:
    """The vector in parts, in order."""
    seen = known(state, player)
    waits = jnp.arange(ACTIONS) == 0  # whoever waits says 0, see `env.legal`
    legal = jnp.where(jnp.any(seen["legal"] > 0, -1)[..., None], seen["legal"], waits)
    asked = [seen["request"] == kind for kind in (Request.ACT, Request.REPLACE, Request.WAIT)]
    parts = {
        "legal": legal,
        "request": _stack(asked),
        "turn": (seen["turn"] / 1024)[..., None],
        **_side(seen, "own"),
        "own_stats": _flat(seen["own_stats"], 2) / 1024,
        **_side(seen, "foe"),
    }
    return {name: part.astype(jnp.float32) for name, part in parts.items()}


def _hidden(state: State, player: int) -> dict[str, Array]:
    """What `vector` does not say, in parts: the foe's vector and counters of both sides."""
    theirs = {f"their_{name}": part for name, part in _parts(state, 1 - player).items()}
    counters = []
    for side in (player, 1 - player):
        active = unpack(ACTIVE, state.active[side])
        counters += [
            *[getattr(active, name) / 1024 for name in ("atk", "dfn", "spc", "spe")],
            active.confusion / 8,
            active.disable / 16,
            active.substitute / 512,
            active.thrash / 4,
            active.bide_left / 4,
            active.trap_left / 8,
            jnp.minimum(active.toxic_count, 16) / 16,
            *[unpack(MON, words).sleep / 8 for words in state.party[side]],
        ]
    return {**theirs, "counters": _stack(counters).astype(jnp.float32)}


@partial(jax.jit, static_argnames="player")
def vector(state: State, player: int) -> Array:
    """What a player knows, for a network.

    Args:
        state: Battles.
        player: Whose sight it is, 0 or 1.

    Returns:
        float32[..., `size(False)`], -1 to 1; `layout` names the parts. The first ten are 1 where an
        action is legal; only the very first where the player waits, and after the end.
    """
    return jnp.concatenate(list(_parts(state, player).values()), -1)


@partial(jax.jit, static_argnames="player")
def full_vector(state: State, player: int) -> Array:
    """All of a battle but the generator, for a network.

    Args:
        state: Battles.
        player: Whose sight it is, 0 or 1.

    Returns:
        float32[..., `size(True)`], -1 to 1: `vector`, the same of the foe, and what is
        hidden from both; `layout` names the parts.
    """
    parts = [*_parts(state, player).values(), *_hidden(state, player).values()]
    return jnp.concatenate(parts, -1)


@cache
def layout(full: bool) -> tuple[Part, ...]:
    """Say what is where in a vector.

    Args:
        full: Of `full_vector` rather than of `vector`.

    Returns:
        The parts, in order.
    """
    word, half = np.zeros((), np.int32), np.zeros((), np.uint32)
    side, team = (word,) * len(ACTIVE), ((word,) * len(MON),) * TEAM
    state = State((half, half), (word,) * len(FIELD), (side, side), (team, team))

    def parts_of(state: State) -> list[Array]:
        parts = _parts(state, 0) | (_hidden(state, 0) if full else {})
        names.extend(parts)
        return list(parts.values())

    names: list[str] = []
    parts = jax.eval_shape(parts_of, state)
    result, start = [], 0
    for name, part in zip(names, parts, strict=True):
        result.append(Part(name, start, part.shape[-1]))
        start += part.shape[-1]
    return tuple(result)


def size(full: bool) -> int:
    """Say how long a vector is, see `layout`."""
    last = layout(full)[-1]
    return last.start + last.size
