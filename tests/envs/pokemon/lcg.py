"""The generator of numbers that battles draw from: that of the games of generation 5."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MULTIPLIER = 0x5D588B656C078965
INCREMENT = 0x269EC3
MASK = (1 << 64) - 1


def advance(seed: int, draws: int) -> npt.NDArray[np.uint64]:
    """Return the generator's states after 0, 1, ... ``draws`` draws.

    Args:
        seed: State to begin with, 64 bits.
        draws: How many numbers are drawn.

    Returns:
        uint64[draws + 1].
    """
    states = np.empty(draws + 1, np.uint64)
    for at in range(draws + 1):
        states[at] = seed
        seed = (seed * MULTIPLIER + INCREMENT) & MASK
    return states


def drawn(
    states: npt.NDArray[np.uint64], ranges: npt.NDArray[np.int64], begin: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return what is drawn where the generator comes into the given states.

    Args:
        states: uint64[n], the state after each draw.
        ranges: int64[n], how many values are possible.
        begin: int64[n], the smallest value.

    Returns:
        int64[n], each in ``[begin, begin + ranges)``.
    """
    high = (states >> np.uint64(32)).astype(np.int64)
    return (high * ranges >> 32) + begin
