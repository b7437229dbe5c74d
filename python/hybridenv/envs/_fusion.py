"""Telling XLA what to compute once."""

from collections.abc import Callable
from typing import TypeVar

import jax.numpy as jnp
from jax import lax

Result = TypeVar("Result")


def once(function: Callable[..., Result], *operands: object) -> Result:
    """Compute something once on a CPU, where several values need it.

    On a CPU, XLA merges elementwise operations into one loop for each array that comes out, and
    each loop computes anew whatever several of them need; a step with ten results is computed ten
    times. It never merges across a conditional, though, so this puts the function behind one that
    always takes the same way. Elsewhere the function is simply called.

    Use it for a value that costs more than reading it back from memory and that at least three
    results depend on. Floats may come out one rounding apart from an unmarked program's, since
    compilers merge a multiplication with an addition where they stand in one loop.

    Args:
        function: Takes the operands and returns a pytree of arrays.
        *operands: Pytrees of arrays; whatever else the function needs it may close over, as long
            as that is no array that is traced.

    Returns:
        What the function returns.

    Source: measured with jaxlib 0.10.2 on Pong, twice the steps a second; `bench/pong.py`.
    """

    def behind_a_conditional(*operands: object) -> Result:
        # XLA would see through a constant, and through branches of which it knows one is empty.
        always = lax.optimization_barrier(jnp.array(True))  # type: ignore[no-untyped-call]
        result: Result = lax.cond(always, function, function, *operands)
        return result

    result: Result = lax.platform_dependent(*operands, cpu=behind_a_conditional, default=function)
    return result
