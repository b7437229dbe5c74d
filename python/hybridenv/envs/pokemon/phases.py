"""How the rules are compiled: in which pieces, and what is done only where it has to be.

With NumPy arrays everything is simply called. With JAX a phase is one loop of machine code over
all battles, see `hybridenv.envs._fusion.kernel`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from hybridenv.envs._fusion import kernel
from hybridenv.envs.pokemon.lanes import Mask, is_numpy

Result = TypeVar("Result")
Carry = TypeVar("Carry")


def _plain(tree: Any) -> bool:
    return is_numpy(*jax.tree.leaves(tree))


def phase(function: Callable[..., Result], *operands: Any) -> Result:
    """Call an elementwise function of pytrees of arrays of one shape."""
    return function(*operands) if _plain(operands) else kernel(function, *operands)


def while_any(
    wanted: Callable[[Carry], Mask], body: Callable[[Carry], Carry], carry: Carry
) -> Carry:
    """Do something as long as any battle wants it."""
    if _plain(carry):
        while np.any(wanted(carry)):
            carry = body(carry)
        return carry
    result: Carry = lax.while_loop(lambda value: jnp.any(wanted(value)), body, carry)
    return result


def when_any(wanted: Mask, function: Callable[[Any], Mask], operands: Any) -> Mask:
    """Compute a mask where any battle wants it; else it holds nowhere."""
    if _plain((wanted, operands)):
        return wanted & function(operands) if np.any(wanted) else wanted & False
    result: Mask = lax.cond(
        jnp.any(wanted),
        lambda wanted, given: wanted & phase(function, given),
        lambda wanted, _: jnp.zeros_like(wanted),
        wanted,
        operands,
    )
    return result
