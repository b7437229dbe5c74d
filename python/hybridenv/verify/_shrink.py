"""The shortest sequence of actions that still tells two sides apart.

Delta debugging: parts are left out, first halves, then ever smaller ones down to single actions, as
long as something differs; then actions are made as plain as possible. What is left is 1-minimal:
no single action of it can go.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from hybridenv.verify._compare import Difference, first_difference
from hybridenv.verify._plan import Pair
from hybridenv.verify._record import STOP, Play, Trajectory, plain

MOST_TRIALS = 20_000
MOST_SECONDS = 60.0


@dataclass(frozen=True)
class Short:
    """A short sequence of actions.

    Attributes:
        actions: The actions.
        difference: What differs after them.
        trials: How many sequences were tried.
    """

    actions: list[Any]
    difference: Difference
    trials: int


def shrink(
    pair: Pair,
    seed: int,
    actions: Sequence[Any],
    *,
    seconds: float = MOST_SECONDS,
    trials: int = MOST_TRIALS,
) -> Short | None:
    """Shorten a sequence of actions after which two sides differ.

    Args:
        pair: Both sides.
        seed: Seed of the episode.
        actions: The actions, up to the difference.
        seconds: When to be content with what there is.
        trials: Likewise, in sequences tried.

    Returns:
        The shortest sequence found; `None` where the difference does not show again.
    """
    search = _Search(pair, seed, time.monotonic() + seconds, trials)
    best = search.attempt(actions)
    if best is None:
        return None
    best = search.without_parts(best)
    best = search.plainer(best)
    return Short(best[0], best[1], search.tried)


_Found = tuple[list[Any], Difference]


class _Search:
    """Sequences tried so far."""

    def __init__(self, pair: Pair, seed: int, until: float, trials: int) -> None:
        self.pair, self.seed, self.until, self.most = pair, seed, until, trials
        self.tried = 0
        self.failed: set[bytes] = set()
        self.simplest = _simplest(pair.reference.action_space)

    @property
    def over(self) -> bool:
        """Whether it has taken long enough."""
        return self.tried >= self.most or time.monotonic() > self.until

    def attempts(self, sequences: Sequence[Sequence[Any]]) -> list[_Found | None]:
        """Play sequences on both sides: what differs in each, with the actions that lead there."""
        found: list[_Found | None] = [None] * len(sequences)
        led: list[tuple[int, bytes, Play, Trajectory]] = []
        for i, actions in enumerate(sequences):
            key = repr(plain(actions)).encode()
            if key in self.failed or self.over:
                continue
            self.tried += 1
            self.failed.add(key)
            legal = _Legal(actions)
            play, ours = self.pair.lead(self.seed, legal.choose, anchors=self.pair.settings.anchor)
            if not legal.broken:
                led.append((i, key, play, ours))
        followed = self.pair.follow([play for _, _, play, _ in led]) if led else []
        for (i, key, _, ours), theirs in zip(led, followed, strict=True):
            difference = first_difference(ours, theirs, self.pair.settings.rules)
            if difference is not None:
                self.failed.discard(key)
                found[i] = (list(sequences[i][: difference.step]), difference)
        return found

    def attempt(self, actions: Sequence[Any]) -> _Found | None:
        """Play one sequence on both sides."""
        return self.attempts([actions])[0]

    def without_parts(self, best: _Found) -> _Found:
        """Leave out parts as long as any can go."""
        size = max(1, len(best[0]) // 2)
        while best[0] and not self.over:
            at, went = 0, False
            while at < len(best[0]):
                actions = best[0]
                places = range(at, len(actions), size)[: self.pair.candidate.batch]
                shorter = [actions[:i] + actions[i + size :] for i in places]
                for place, found in zip(places, self.attempts(shorter), strict=True):
                    if found is not None and len(found[0]) < len(actions):
                        best, went, at = found, True, place
                        break
                else:
                    at = places[-1] + size
            if size == 1 and not went:
                break
            size = max(1, size // 2)
        return best

    def plainer(self, best: _Found) -> _Found:
        """Replace actions by the simplest one where that changes nothing."""
        if self.simplest is None:
            return best
        at = 0
        while at < len(best[0]) and not self.over:
            actions = best[0]
            if not np.array_equal(actions[at], self.simplest):
                found = self.attempt([*actions[:at], self.simplest, *actions[at + 1 :]])
                if found is not None and len(found[0]) <= len(actions):
                    best = found
            at += 1
        return best


class _Legal:
    """Chooses the actions of a list, and notes where one of them is not legal."""

    def __init__(self, actions: Sequence[Any]) -> None:
        self.actions = actions
        self.broken = False

    def choose(self, obs: Any, mask: NDArray[Any] | None, step: int) -> Any:
        del obs
        if step >= len(self.actions):
            return STOP
        action = self.actions[step]
        if mask is not None and np.ndim(action) == 0 and not mask[int(action)]:
            self.broken = True
            return STOP
        return action


def _simplest(space: gymnasium.Space[Any]) -> Any:
    """The plainest action: the first one, or the one of zeros."""
    if isinstance(space, gymnasium.spaces.Discrete):
        return space.start
    if isinstance(space, gymnasium.spaces.MultiDiscrete | gymnasium.spaces.MultiBinary):
        return np.zeros(space.shape, space.dtype)
    if isinstance(space, gymnasium.spaces.Box):
        return np.clip(np.zeros(space.shape, space.dtype), space.low, space.high)
    return None
