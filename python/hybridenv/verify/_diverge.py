"""From a difference to what a person can use: the shortest way there, a test, one-step errors."""

from collections.abc import Sequence

import numpy as np

from hybridenv.verify._compare import Difference, largest_errors
from hybridenv.verify._plan import Pair
from hybridenv.verify._record import Play, Trajectory, plain
from hybridenv.verify._regression import write_test
from hybridenv.verify._results import Anchored, Divergence
from hybridenv.verify._shrink import shrink


def divergence_of(pair: Pair, source: str, play: Play, difference: Difference) -> Divergence:
    """Look into a difference.

    Args:
        pair: Both sides.
        source: Who chose the actions.
        play: The play that shows it.
        difference: The difference.

    Returns:
        What there is to know, with a short way there unless `Settings.shrink` is false.
    """
    actions = list(play.actions[: difference.step])
    shrunk, words = None, None
    if pair.settings.shrink:
        short = shrink(pair, play.seed, actions)
        if short is not None:
            shrunk, words = tuple(plain(a) for a in short.actions), str(short.difference)
    shown = shrunk if shrunk is not None else tuple(plain(a) for a in actions)
    return Divergence(
        source=source,
        seed=play.seed,
        step=difference.step,
        column=difference.column,
        index=difference.index,
        reference=plain(difference.reference),
        candidate=plain(difference.candidate),
        error=difference.error,
        actions=tuple(plain(a) for a in actions),
        shrunk=shrunk,
        shrunk_difference=words,
        test=write_test(pair, play.seed, shown, words or str(difference)),
    )


def measure_anchored(pair: Pair, led: Sequence[tuple[Play, Trajectory]]) -> Anchored:
    """Measure how much of the errors is made in one step, and how much is growth.

    Args:
        pair: Both sides.
        led: Plays with anchors, and what the reference showed.
    """
    plays = [play for play, _ in led]
    free = [Play(p.seed, p.actions, p.restarts, p.start, p.tape) for p in plays]
    one_step, growing = (_errors(led, pair.follow(kind)) for kind in (plays, free))
    longest = max((len(curve) for curve in one_step[1]), default=0)
    places = sorted({int(i) for i in np.linspace(0, max(longest - 1, 0), min(longest, 200))})
    curve = tuple(
        (place, _largest_at(one_step[1], place), _largest_at(growing[1], place)) for place in places
    )
    return Anchored(
        episodes=len(led),
        steps=sum(ours.steps for _, ours in led),
        one_step=one_step[0],
        free=growing[0],
        curve=curve,
    )


def _largest_at(curves: Sequence[Sequence[float]], place: int) -> float:
    return max((curve[place] for curve in curves if place < len(curve)), default=0.0)


def _errors(
    led: Sequence[tuple[Play, Trajectory]], followed: Sequence[Trajectory]
) -> tuple[dict[str, float], list[list[float]]]:
    """Largest error by column, and largest over all columns at each row of each episode."""
    largest: dict[str, float] = {}
    curves = []
    for (_, ours), theirs in zip(led, followed, strict=True):
        errors = largest_errors(ours, theirs)
        for name, values in errors.items():
            largest[name] = max(largest.get(name, 0.0), float(values.max(initial=0.0)))
        if errors:
            curves.append(np.max(list(errors.values()), axis=0).tolist())
    return largest, curves
