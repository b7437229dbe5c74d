"""How fast both sides play: the same random actions, at several batch sizes, interleaved."""

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hybridenv.checks import whole
from hybridenv.errors import ArgumentError
from hybridenv.verify._actions import draw, episode_seeds
from hybridenv.verify._record import Play
from hybridenv.verify._target import Target

ROUNDS = 5
"""Times that each side is measured, in turn."""
LENGTH = 256
"""Actions of a play; episodes that end before count as far as they went."""


@dataclass(frozen=True)
class Rate:
    """Steps a second of one side at one batch size.

    Attributes:
        side: `"reference"` or `"candidate"`.
        batch: Plays handed over in one call.
        median: Median of the rounds, in steps a second.
        low: Least of the rounds.
        high: Greatest of the rounds.
    """

    side: str
    batch: int
    median: float
    low: float
    high: float


def bench(
    reference: Target, candidate: Target, sizes: Sequence[int], seconds: float, seed: int = 0
) -> Iterator[tuple[Rate, Rate]]:
    """Measure both sides, in turn, with the same seeds and actions.

    Args:
        reference: One side.
        candidate: The other.
        sizes: Batch sizes: how many episodes are handed over in one call.
        seconds: How long each side is measured at each size, all rounds together.
        seed: Seed of episodes and actions.

    Yields:
        The rates of both sides for each size.

    Raises:
        ArgumentError: A size or time makes no sense.
    """
    if not seconds > 0:
        raise ArgumentError(f"seconds: got {seconds!r}, expected a number above 0")
    for size in sizes:
        plays = _plays(reference, whole("batch", size, 1, 2**20), seed)
        sides = {"reference": reference, "candidate": candidate}
        found: dict[str, list[float]] = {name: [] for name in sides}
        for target in sides.values():
            target.rollouts(plays)  # compiles, and fills caches
        for _ in range(ROUNDS):
            for name, target in sides.items():
                found[name].append(_rate(target, plays, seconds / ROUNDS))
        ours, theirs = (
            Rate(name, size, statistics.median(rates), min(rates), max(rates))
            for name, rates in found.items()
        )
        yield ours, theirs


def _plays(target: Target, count: int, seed: int) -> list[Play]:
    import numpy as np

    rng = np.random.default_rng(seed)
    return [
        Play(one, [draw(target.action_space, rng) for _ in range(LENGTH)])
        for one in episode_seeds(seed, "bench", count)
    ]


def _rate(target: Target, plays: Sequence[Any], seconds: float) -> float:
    steps, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < seconds or not steps:
        steps += sum(seen.steps for seen in target.rollouts(plays))
    return steps / max(spent, 1e-9)
