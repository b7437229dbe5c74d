"""Integers in lanes: arrays of one shape, of NumPy or of JAX, an entry a battle.

The rules of the game are elementwise functions of such arrays, so the same code plays one battle or
many, is compiled by XLA, and runs in NumPy where somebody wants to look inside. Operators do most;
here is what the two libraries spell differently, and packing of several small numbers in a word.
"""

from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

Lanes: TypeAlias = Any
"""An int32 array of NumPy or JAX; all of one computation have one shape."""
Mask: TypeAlias = Any
"""A bool array of the same shape."""


def is_numpy(*values: object) -> bool:
    """Whether none of the values is JAX's."""
    return all(isinstance(v, np.ndarray | np.generic | int | bool) for v in values)


def where(mask: Mask, yes: Lanes, no: Lanes) -> Lanes:
    """Choose lane by lane."""
    if not is_numpy(mask, yes, no):
        return jnp.where(mask, yes, no)
    result: NDArray[Any] = np.asarray(np.where(mask, yes, no))
    return result.astype(np.int32) if result.dtype == np.int64 else result


def least(a: Lanes, b: Lanes) -> Lanes:
    """The smaller of two numbers."""
    return np.minimum(a, b) if is_numpy(a, b) else jnp.minimum(a, b)


def most(a: Lanes, b: Lanes) -> Lanes:
    """The greater of two numbers."""
    return np.maximum(a, b) if is_numpy(a, b) else jnp.maximum(a, b)


def clip(value: Lanes, low: int, high: int) -> Lanes:
    """The nearest number within limits."""
    return least(most(value, low), high)


def quotient(a: Lanes, b: int) -> Lanes:
    """Divide numbers of at least 0 by a constant and round down."""
    return a // b if is_numpy(a) else lax.div(a, lax.full_like(a, b))


def ratio(a: Lanes, b: Lanes) -> Lanes:
    """Divide numbers below 2**23 by others, both at least 0 and 1, and round down.

    Processors divide floats many at a time but integers one by one. A rounded quotient of floats is
    off by one at most, which the remainder shows.
    """
    if is_numpy(a, b):
        return a // b
    guess = lax.div(a.astype(jnp.float32), b.astype(jnp.float32)).astype(jnp.int32)
    rest = a - guess * b
    return guess + (rest >= b).astype(jnp.int32) - (rest < 0).astype(jnp.int32)


def flag(mask: Mask) -> Lanes:
    """1 where true, 0 elsewhere."""
    return mask.astype(np.int32)


def any_of(*masks: Mask) -> Mask:
    """Whether any of the masks holds."""
    result = masks[0]
    for mask in masks[1:]:
        result = result | mask
    return result


def pick(index: Lanes, options: Any) -> Lanes:
    """Choose among a few values by an index that differs from lane to lane."""
    result = options[0]
    for i, option in enumerate(options[1:], 1):
        result = where(index == i, option, result)
    return result
