"""Many battles in one program: begun with teams of a pool, begun anew where they are over.

Example:
    ```python
    words = jnp.asarray(teams.random_battle().words)
    battles = begin(words, jax.random.bits(key, (DRAWS, n), "uint32"))
    battles = engine.step(battles, random_actions(battles, jax.random.bits(key, (2, n), "uint32")))
    battles = restart(battles, words, jax.random.bits(key, (DRAWS, room), "uint32"))
    ```
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from hybridenv.envs.pokemon import engine
from hybridenv.envs.pokemon.lanes import Lanes
from hybridenv.envs.pokemon.policies import at_random
from hybridenv.envs.pokemon.prng import scale
from hybridenv.envs.pokemon.state import FIELD, State, Winner, unpack
from hybridenv.envs.pokemon.teams import party

DRAWS = 4
"""Random words that a new battle takes: both teams, both halves of the generator."""


def begin(words: Array, bits: Any) -> State:
    """Begin battles.

    Args:
        words: int32[...], `teams.Pool.words`: at most 2**16 teams.
        bits: uint32[DRAWS, ...], chance.

    Returns:
        Battles of the pool's teams, all equally likely.
    """
    chosen = [scale(bits[side], words.shape[1]) for side in (0, 1)]
    sides = tuple(party(words[:, number]) for number in chosen)
    return engine.start((bits[2], bits[3]), sides)


def over(battles: State) -> Array:
    """Which battles are over."""
    ended: Array = unpack(FIELD, battles.field).winner != Winner.NONE
    return ended


def restart(battles: State, words: Array, bits: Array) -> State:
    """Begin anew where battles are over.

    Args:
        battles: Battles in one axis.
        words: As `begin` takes them.
        bits: uint32[DRAWS, room]: for at most so many battles; others that are over wait.

    Returns:
        The battles.
    """
    ended = over(battles)
    (places,) = jnp.nonzero(ended, size=bits.shape[1], fill_value=len(ended))
    fresh = begin(words, bits)
    result: State = jax.tree.map(
        lambda old, new: old.at[places].set(new, mode="drop"), battles, fresh
    )
    return result


def random_actions(battles: State, bits: Any) -> tuple[Lanes, Lanes]:
    """Choose among legal actions, all equally likely.

    Args:
        battles: Battles.
        bits: uint32[2, ...], chance.

    Returns:
        An action of each player; 0 of who waits.
    """
    return at_random(battles, 0, bits[0]), at_random(battles, 1, bits[1])
