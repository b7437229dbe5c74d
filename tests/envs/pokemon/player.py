"""The engine as the harness plays it: in NumPy, or compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from tests.envs.pokemon.harness import DrawnIn
from tests.envs.pokemon.schema import load_schema

from hybridenv.envs.pokemon import engine, prng
from hybridenv.envs.pokemon.state import ACTIVE, FIELD, MON, Fields, State, unpack
from hybridenv.envs.pokemon.tables import FISSURE, NO_MOVE, PETAL_DANCE, SLP
from hybridenv.envs.pokemon.teams import Pool, party

Numbers = npt.NDArray[np.int64]

THRASH = 37


class Player:
    """Plays many battles side by side.

    Args:
        jit: Compile the steps; otherwise they run in NumPy and draws are logged.
    """

    def __init__(self, *, jit: bool = False) -> None:
        self._jit = jit
        self._step: Callable[..., State] = jax.jit(engine.step) if jit else engine.step
        self._log: list[prng.Draw] = []
        self.state: State

    def start(self, teams: npt.NDArray[np.int32], seeds: npt.NDArray[np.uint64]) -> None:
        """Begin battles, see `harness.Engine`."""
        words = [pool_of(teams[:, side]).words for side in (0, 1)]
        seed = (seeds >> np.uint64(32)).astype(np.uint32), seeds.astype(np.uint32)
        with prng.logged() as self._log:
            self.state = engine.start(seed, (party(words[0]), party(words[1])))
        if self._jit:
            self.state = jax.tree.map(jnp.asarray, self.state)

    def step(self, actions: npt.NDArray[np.int8]) -> None:
        """Play actions, see `harness.Engine`."""
        both = actions.astype(np.int32)
        with prng.logged() as self._log:
            self.state = self._step(self.state, (both[:, 0], both[:, 1]))

    def states(self) -> npt.NDArray[np.uint64]:
        """Return the generators, uint64[battles]."""
        high, low = (np.asarray(word).astype(np.uint64) for word in self.state.seed)
        return high << np.uint64(32) | low

    def drawn(self) -> DrawnIn | None:
        """Return the draws of the last call, if it ran in NumPy."""
        if not self._log:
            return None
        return DrawnIn(
            [draw.site for draw in self._log],
            np.stack([draw.mask for draw in self._log]),
            np.stack([draw.value for draw in self._log]),
        )

    def columns(self) -> Mapping[str, Numbers]:
        """Return the columns of the schema that the engine has."""
        return columns(self.state)


def pool_of(teams: npt.NDArray[np.int32]) -> Pool:
    """Teams of a trace, int32[battles, 6, header], as a pool."""
    at = {name: number for number, name in enumerate(load_schema().header)}

    def read(*names: str) -> npt.NDArray[np.int32]:
        return np.stack([teams[..., at[name]] for name in names], -1)

    return Pool(
        species=teams[..., at["species"]],
        level=teams[..., at["level"]],
        moves=read("move0", "move1", "move2", "move3"),
        stats=read("hp", "atk", "def", "spc", "spe"),
        haste=2 * teams[..., at["dv_spe"]] + teams[..., at["ev_spe"]] // 4,
    )


def _number(value: Any) -> Numbers:
    return np.asarray(value).astype(np.int64)


def _several(fields: Fields, *names: str) -> Numbers:
    return np.stack([_number(getattr(fields, name)) for name in names], -1)


def _slots(name: str) -> list[str]:
    return [f"{name}{slot}" for slot in range(4)]


def columns(state: State) -> dict[str, Numbers]:
    """A state as the columns of the schema, int64[battles, *shape] each."""
    state = jax.tree.map(np.asarray, state)
    field = unpack(FIELD, state.field)
    actives = [unpack(ACTIVE, words) for words in state.active]
    teams = [[unpack(MON, words) for words in team] for team in state.party]
    result = {
        "turn": _number(field.turn),
        "winner": _number(field.winner),
        "request": _several(field, "request0", "request1"),
        "mask": np.stack([_number(mask) for mask in engine.legal(state)], -1),
        "last_damage": _number(field.last_damage),
    }
    both = [_side(active, team) for active, team in zip(actives, teams, strict=True)]
    return result | {name: np.stack([side[name] for side in both], 1) for name in both[0]}


def _side(active: Fields, team: list[Fields]) -> dict[str, Numbers]:
    slots = np.stack([_number(mon.slot) for mon in team], 1)
    there = np.stack([_number(mon.max_hp) > 0 for mon in team], 1)

    def by_slot(*names: str, first: Fields | None = None) -> Numbers:
        rows = [_several(mon, *names) for mon in team]
        if first is not None:
            rows[0] = _several(first, *names)
        values = np.stack(rows, 1)
        result = np.zeros_like(values)
        np.put_along_axis(result, np.broadcast_to(slots[..., None], values.shape), values, 1)
        return result[..., 0] if len(names) == 1 else result

    asleep = by_slot("status") == SLP
    used = _number(active.used)
    result = {
        "order": np.where(there, slots, -1),
        "hp": by_slot("hp"),
        "status": by_slot("status"),
        "sleep": by_slot("sleep") * asleep,
        "rested": by_slot("rested") * asleep,
        "moves": by_slot(*_slots("move"), first=active),
        "pp": by_slot(*_slots("pp"), first=active),
        "base_pp": _several(team[0], *_slots("pp")),
        "selected_move": _number(active.selected),
        "selected_slot": _number(active.slot),
        "enemy_selected_move": _number(active.foe_selected),
        "enemy_last_move": np.where(used == NO_MOVE, FISSURE, used),
    }
    stands = _number(team[0].hp) > 0
    for name, values in _in_battle(active, team[0]).items():
        result[name] = values * stands.reshape(-1, *[1] * (values.ndim - 1))
    return result


def _in_battle(active: Fields, mon: Fields) -> dict[str, Numbers]:
    stats = ("atk", "dfn", "spe", "spc")
    boosts = [f"boost_{stat}" for stat in (*stats, "acc", "eva")]

    def where(mask: Any, *values: Any) -> Numbers:
        return np.stack([_number(value) for value in values], -1) * _number(mask)[..., None]

    petal = np.where(active.petal, PETAL_DANCE, THRASH)
    return {
        "species": _number(active.species),
        "types": _several(active, "type0", "type1"),
        "base_stats": _several(mon, *stats),
        "stored_stats": _several(active, *[f"base_{stat}" for stat in stats]),
        "stats": _several(active, *stats),
        "boosts": _several(active, *boosts) - 6,
        "speed": _number(active.speed),
        "last_move": _number(active.last_move),
        "volatiles": _volatiles(active),
        "substitute": _number(active.substitute),
        "confusion": _number(active.confusion),
        "toxic": _number(active.toxic) * _number(active.toxic_count),
        "bide": where(active.bide, active.bide_left, active.bide_damage),
        "trapping": where(
            active.trapping,
            active.trap_left,
            active.trap_total,
            active.trap_move,
            active.trap_damage,
            active.trap_prey,
        ),
        "trapped": where(active.trapped > 0, active.trapped, active.trap_shown, active.trapper + 1),
        "fake_trapped": _number(active.freed),
        "thrash": where(active.thrashing, active.thrash, petal, active.thrash_acc),
        "rage": _number(active.rage) * _number(active.rage_acc),
        "charging": _number(active.charging) * _number(active.charge_move),
        "disable": where(active.disable > 0, active.disable, active.disabled_slot, active.disabled),
    }


def _volatiles(active: Fields) -> Numbers:
    present = {
        "confusion": active.confusion,
        "flinch": active.flinch,
        "mustrecharge": active.recharge,
        "substitute": active.substitute,
        "partialtrappinglock": active.trapping,
        "partiallytrapped": active.trapped,
        "fakepartiallytrapped": active.freed,
        "lockedmove": active.thrashing,
        "rage": active.rage,
        "twoturnmove": active.charging,
        "invulnerability": active.away,
        "bide": active.bide,
        "disable": active.disable,
        "leechseed": active.seeded,
        "residualdmg": active.toxic,
        "mist": active.mist,
        "focusenergy": active.focus,
        "lightscreen": active.light_screen,
        "reflect": active.reflect,
        "transformed": active.transformed,
    }
    names = load_schema().volatiles
    return np.stack([_number(_number(present[name]) != 0) for name in names], -1)
