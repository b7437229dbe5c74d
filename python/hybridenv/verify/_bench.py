"""How fast both sides play: the same random actions, at several batch sizes, interleaved."""

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hybridenv.checks import whole
from hybridenv.errors import ArgumentError, TargetError
from hybridenv.verify._actions import episode_seeds, legal_source
from hybridenv.verify._record import Chooser, Play, Trajectory, drive
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
        TargetError: A side raises something, so that there is nothing to measure.
    """
    if not seconds > 0:
        raise ArgumentError(f"seconds: got {seconds!r}, expected a number above 0")
    for size in sizes:
        plays = _plays(reference, whole("batch", size, 1, 2**20), seed)
        sides = {"reference": reference, "candidate": candidate}
        found: dict[str, list[float]] = {name: [] for name in sides}
        for name, target in sides.items():
            _steps(name, target, plays)  # compiles, and fills caches
        for _ in range(ROUNDS):
            for name, target in sides.items():
                found[name].append(_rate(name, target, plays, seconds / ROUNDS))
        ours, theirs = (
            Rate(name, size, statistics.median(rates), min(rates), max(rates))
            for name, rates in found.items()
        )
        yield ours, theirs


def _plays(target: Target, count: int, seed: int) -> list[Play]:
    """Actions drawn evenly, among the legal ones where the reference says which they are."""
    source = legal_source(target)
    seeds = episode_seeds(seed, "bench", count)
    if "mask" not in target.offers:
        return [Play(one, _drawn(source.start(one))) for one in seeds]
    plays = []
    for one in seeds:
        actions, seen = drive(target, one, source.start(one), max_steps=LENGTH)
        _refuse("reference", target, one, seen)
        plays.append(Play(one, actions))
    return plays


def _drawn(choose: Chooser) -> list[Any]:
    return [choose(None, None, step) for step in range(LENGTH)]


def _rate(side: str, target: Target, plays: Sequence[Play], seconds: float) -> float:
    steps, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < seconds or not steps:
        steps += _steps(side, target, plays)
    return steps / max(spent, 1e-9)


def _steps(side: str, target: Target, plays: Sequence[Play]) -> int:
    """Let a side play; how many steps that took."""
    steps = 0
    for play, seen in zip(plays, target.rollouts(plays), strict=True):
        _refuse(side, target, play.seed, seen)
        steps += seen.steps
    return steps


def _refuse(side: str, target: Target, seed: int, seen: Trajectory) -> None:
    if seen.error is not None:
        raise TargetError(
            f"{side} {target.identity.name!r}: fails in the episode with seed {seed} after "
            f"{seen.steps} steps: {seen.error}"
        )
