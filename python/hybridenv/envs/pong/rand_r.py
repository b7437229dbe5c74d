"""The generator `rand_r` of the C library, as far as Pong needs it: on uint32 of any shape.

One number takes three steps of the generator x -> 1103515245 x + 12345 and is put together from
the upper halves of all three. Three steps are one step of another such generator.

Source: POSIX `rand_r` as glibc computes it; a test compares with the C library's own.
"""

import jax.numpy as jnp
from jax import Array

_A, _C = 1103515245, 12345
_A3 = pow(_A, 3, 2**32)
_C3 = _C * (_A * _A + _A + 1) % 2**32


def advance(rng: Array) -> Array:
    """Go on by one number.

    Args:
        rng: uint32, states of generators.

    Returns:
        uint32, the states after one call of `rand_r` each.
    """
    return jnp.add(jnp.multiply(rng, jnp.uint32(_A3)), jnp.uint32(_C3))


def parity(rng: Array) -> Array:
    """Return the lowest bit of the number that a call of `rand_r` ending in this state gave."""
    return (jnp.right_shift(rng, 16) & 1).astype(jnp.int32)
