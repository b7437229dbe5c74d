"""Showdown's gen-5 generator: x -> 0x5D588B656C078965 x + 0x269EC3 modulo 2**64, in lanes.

A number in [0, n) is floor(h n / 2**32) of the upper half h of the new state. Draws that only some
battles make leave the others' state alone, so every place of the rules where chance enters is one
`Chance.draw` with the mask of those battles and a name, the *site*.

Source: `sim/prng.ts` of Pokémon Showdown 0.11.11 (`Gen5RNG`); compared in tests.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from hybridenv.envs.pokemon.lanes import Lanes, Mask, any_of, flag, is_numpy, most, where
from hybridenv.envs.pokemon.phases import phase, while_any

_HIGH, _LOW = 0x5D588B65, 0x6C078965
_ADD = 0x269EC3


@dataclass(frozen=True)
class Draw:
    """One draw, as the log has it.

    Attributes:
        site: Name of the place in the rules.
        n: How many numbers were possible.
        mask: bool, the battles that drew.
        value: int32, what they drew.
    """

    site: str
    n: Any
    mask: Any
    value: Any


_logs: list[list[Draw]] = []


@contextmanager
def logged() -> Iterator[list[Draw]]:
    """Write down every draw made meanwhile, in order; for battles played in NumPy.

    Yields:
        The list that fills.
    """
    log: list[Draw] = []
    _logs.append(log)
    try:
        yield log
    finally:
        _logs.pop()


def _multiply_high(a: Lanes, b: int) -> Lanes:
    """Upper word of the product of a uint32 and a constant below 2**32."""
    low, high = np.uint32(b & 0xFFFF), np.uint32(b >> 16)
    a_low, a_high = a & np.uint32(0xFFFF), a >> np.uint32(16)
    first = a_low * low
    second = a_high * low + (first >> np.uint32(16))
    third = a_low * high + (second & np.uint32(0xFFFF))
    return a_high * high + (second >> np.uint32(16)) + (third >> np.uint32(16))


def advance(high: Lanes, low: Lanes) -> tuple[Lanes, Lanes]:
    """Go on by one number.

    Args:
        high: uint32, upper words of states.
        low: uint32, lower words.

    Returns:
        The next states' words.
    """
    new_low = low * np.uint32(_LOW)
    new_high = _multiply_high(low, _LOW) + high * np.uint32(_LOW) + low * np.uint32(_HIGH)
    total = new_low + np.uint32(_ADD)
    return new_high + (total < np.uint32(_ADD)).astype(np.uint32), total


def scale(word: Lanes, n: int | Lanes) -> Lanes:
    """Return floor(word n / 2**32) as int32, for a uint32 and n of at most 2**16."""
    n = np.uint32(n) if isinstance(n, int) else n.astype(np.uint32)
    half = (word & np.uint32(0xFFFF)) * n
    return (((word >> np.uint32(16)) * n + (half >> np.uint32(16))) >> np.uint32(16)).astype(
        np.int32
    )


@partial(jax.tree_util.register_dataclass, data_fields=["count"], meta_fields=["name"])
@dataclass(frozen=True)
class Ties:
    """Things that are put in order by draws, though nothing depends on the order.

    Attributes:
        count: int32, how many; n of them take n - 1 draws.
        name: Of the site, for the log.
    """

    count: Lanes
    name: str


def pair(mask: Mask, name: str) -> Ties:
    """Two things that tie where the mask holds."""
    return Ties(2 * flag(mask), name)


@dataclass(frozen=True)
class Site:
    """A place in the rules where some battles draw.

    Attributes:
        mask: bool, the battles.
        n: Of how many numbers.
        name: For the log.
        least: The smallest of them.
    """

    mask: Mask
    n: int | Lanes
    name: str
    least: int = 0


@dataclass
class Chance:
    """The generators of many battles while a step is played.

    Attributes:
        high: uint32, upper words of their states.
        low: uint32, lower words.
    """

    high: Lanes
    low: Lanes

    def draw(self, mask: Mask, n: int | Lanes, site: str, least: int = 0) -> Lanes:
        """Draw a number in some battles.

        Args:
            mask: The battles.
            n: Of how many numbers, at most 2**16.
            site: Name of the place in the rules, for the log.
            least: The smallest of them.

        Returns:
            int32; in other battles some number without a meaning.
        """
        high, low = advance(self.high, self.low)
        value = scale(high, n) + least
        self.high, self.low = where(mask, high, self.high), where(mask, low, self.low)
        if _logs and is_numpy(high):
            for log in _logs:
                log.append(Draw(site, n, mask, value))
        return value

    def one_of(self, sites: Sequence["Site"]) -> Lanes:
        """Draw at one of several sites, of which each battle is at one at most.

        Args:
            sites: The sites.

        Returns:
            int32; in battles that are at none some number without a meaning.
        """
        mask, n, least = sites[0].mask, sites[0].n, sites[0].least
        for site in sites[1:]:
            mask = mask | site.mask
            n, least = where(site.mask, site.n, n), where(site.mask, site.least, least)
        high, low = advance(self.high, self.low)
        value = scale(high, n) + least
        self.high, self.low = where(mask, high, self.high), where(mask, low, self.low)
        if _logs and is_numpy(high):
            for log in _logs:
                log.extend(Draw(site.name, site.n, site.mask, value) for site in sites)
        return value

    def settle(self, ties: Sequence[Ties]) -> None:
        """Draw for ties, one after the other."""
        counts = tuple(most(tie.count - 1, 0) for tie in ties)
        names = [tie.name for tie in ties]

        def one(state: tuple[Lanes, Lanes, tuple[Lanes, ...]]) -> Any:
            high, low, left = state
            chance = Chance(high, low)
            sites, before, rest = [], None, []
            for name, number in zip(names, left, strict=True):
                here = number > 0 if before is None else (number > 0) & before
                sites.append(Site(here, number + 1, name))
                before = number == 0 if before is None else before & (number == 0)
                rest.append(number - flag(here))
            chance.one_of(sites)
            return chance.high, chance.low, tuple(rest)

        wanted = (self.high, self.low, counts)
        state = while_any(
            lambda state: any_of(*(n > 0 for n in state[2])),
            lambda state: phase(one, state),
            wanted,
        )
        self.high, self.low, _ = state

    def less(self, mask: Mask, threshold: int | Lanes, n: int, site: str) -> Mask:
        """Draw in some battles whether a number from [0, n) is below a threshold."""
        return mask & (self.draw(mask, n, site) < threshold)
