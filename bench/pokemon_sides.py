"""Pokémon battles played by chance, many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from bench.jax_sides import JaxSide, Work

#: One battle in so many may begin anew in a step; about one in 65 ends.
ROOM = 20


def pokemon(work: Work, seed: int = 0) -> JaxSide:
    """Ours: both players choose among legal actions, battles begin anew with other teams.

    Hands out after each step the winners, which whoever trains looks at.
    """
    from hybridenv.envs.pokemon import battles, engine, teams
    from hybridenv.envs.pokemon.state import FIELD, unpack

    def words() -> Any:
        return jnp.asarray(teams.random_battle().words)

    def start(key: Any, share: int) -> Any:
        now, rest = jax.random.split(key)
        bits = jax.random.bits(now, (battles.DRAWS, share), "uint32")
        return rest, battles.begin(words(), bits)

    def program(carried: Any) -> Any:
        key, state = carried
        share = state.field[0].shape[0]
        room = max(8, share // ROOM)
        key, for_actions, for_teams = jax.random.split(key, 3)
        choices = jax.random.bits(for_actions, (work.steps, 2, share), "uint32")
        fresh = jax.random.bits(for_teams, (work.steps, battles.DRAWS, room), "uint32")
        pool = words()

        def step(state: Any, now: Any) -> Any:
            bits, anew = now
            state = engine.step(state, battles.random_actions(state, bits))
            winner = unpack(FIELD, state.field).winner.astype(jnp.int8)
            return battles.restart(state, pool, anew), winner

        state, out = jax.lax.scan(step, state, (choices, fresh))
        return (key, state), out

    return JaxSide(start, program, work, seed)


SIDES: dict[str, Callable[[Work], JaxSide]] = {"pokemon": pokemon}
