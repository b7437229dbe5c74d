"""Battles of a pool: begun, and begun anew where they are over and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridenv.envs.pokemon import battles, engine, teams
from hybridenv.envs.pokemon.state import FIELD, MON, Request, State, Winner, pack, unpack

COUNT, ROOM = 24, 6
begin, restart = jax.jit(battles.begin), jax.jit(battles.restart)


@pytest.fixture(scope="module")
def words() -> jax.Array:
    return jnp.asarray(teams.random_battle().words)


def bits(seed: int, count: int) -> jax.Array:
    return jax.random.bits(jax.random.key(seed), (battles.DRAWS, count), "uint32")


def ended(state: State, places: list[int]) -> State:
    """The state with some battles over."""
    field = unpack(FIELD, state.field)
    mask = np.isin(np.arange(COUNT), places)
    field.winner = jnp.where(mask, Winner.TIE, field.winner)
    field.request0 = jnp.where(mask, Request.NONE, field.request0)
    return replace(state, field=pack(field))


def test_battles_begin_with_teams_of_the_pool(words: jax.Array) -> None:
    state = begin(words, bits(0, COUNT))
    field = unpack(FIELD, state.field)
    assert (field.turn == 1).all()
    assert not battles.over(state).any()
    species = np.stack([unpack(MON, mon).species for mon in state.party[0]], 1)
    pool = {tuple(team) for team in teams.random_battle().species.tolist()}
    assert {tuple(team) for team in species.tolist()} <= pool
    assert len({tuple(team) for team in species.tolist()}) > COUNT // 2
    ours, theirs = battles.random_actions(state, bits(1, COUNT)[:2])
    for mask, action in zip(engine.legal(state), (ours, theirs), strict=True):
        assert ((mask >> action) & 1 == 1).all()
        assert len(set(action.tolist())) > 5


@pytest.mark.parametrize("places", [[], [0], [3, 7, 23], list(range(9))])
def test_only_what_is_over_begins_anew(words: jax.Array, places: list[int]) -> None:
    state = ended(begin(words, bits(2, COUNT)), places)
    after = restart(state, words, bits(3, ROOM))
    fresh = begin(words, bits(3, ROOM))
    begun = places[:ROOM]
    for old, new, first in zip(*map(jax.tree.leaves, (state, after, fresh)), strict=True):
        expected = np.array(old)
        expected[begun] = first[: len(begun)]
        assert np.array_equal(new, expected)
    assert int(battles.over(after).sum()) == len(places) - len(begun)
