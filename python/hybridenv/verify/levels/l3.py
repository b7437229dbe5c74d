"""L3: whole episodes under the same seeds and actions, compared at every step."""

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hybridenv.verify._actions import Source
from hybridenv.verify._compare import first_difference, largest_errors
from hybridenv.verify._diverge import divergence_of, measure_anchored
from hybridenv.verify._plan import Pair, Tick, Work
from hybridenv.verify._record import Play, Trajectory
from hybridenv.verify._results import (
    Anchored,
    Check,
    Divergence,
    L3Result,
    SourceResult,
    Status,
)
from hybridenv.verify.levels import independent

ANCHORED_EPISODES = 10
"""Episodes whose one-step errors are measured, of all sources together."""


@dataclass
class _Tally:
    """What was seen of one source so far."""

    name: str
    episodes: int = 0
    steps: int = 0
    terminated: int = 0
    truncated: int = 0
    cut: int = 0
    different: int = 0
    largest: dict[str, float] = field(default_factory=dict)

    def add(self, ours: Trajectory, theirs: Trajectory, differs: bool) -> None:
        """Note an episode of both sides, step by step where `Settings.anchor` says so."""
        self.episodes += 1
        self.steps += min(ours.steps, theirs.steps)
        self.different += differs
        terminated, truncated = (bool(ours.columns[n][-1]) for n in ("terminated", "truncated"))
        self.terminated += terminated
        self.truncated += truncated and not terminated
        self.cut += not (terminated or truncated)
        for name, errors in largest_errors(ours, theirs).items():
            self.largest[name] = max(self.largest.get(name, 0.0), float(errors.max(initial=0.0)))

    def result(self) -> SourceResult:
        return SourceResult(
            self.name,
            self.episodes,
            self.steps,
            self.terminated,
            self.truncated,
            self.cut,
            self.different,
            self.largest,
        )


def run(pair: Pair, work: Work, tick: Tick) -> L3Result:
    """Play all episodes of all sources.

    Args:
        pair: Both sides.
        work: The sources of actions.
        tick: Told of every episode.

    Returns:
        The result. Ctrl-C ends it early with what was measured.
    """
    if pair.settings.chance == "independent":
        return independent.run(pair, work, tick)
    level = _Level(pair, max(1, ANCHORED_EPISODES // max(1, len(work.sources))))
    try:
        for source in work.sources:
            level.play(source, tick)
    except KeyboardInterrupt:
        return level.result(interrupted=True)
    return level.result()


class _Level:
    """The episodes played so far."""

    def __init__(self, pair: Pair, measured: int) -> None:
        self.pair = pair
        self.measured = measured
        self.tallies: list[_Tally] = []
        self.seeds: dict[str, list[int]] = {}
        self.found: Divergence | None = None
        self.anchored: Anchored | None = None
        self.spent = {"reference": 0.0, "candidate": 0.0}
        self._anchor_plays: list[tuple[Play, Trajectory]] = []

    def play(self, source: Source, tick: Tick) -> None:
        """Play all episodes of a source; the first that differs is looked into."""
        pair, settings = self.pair, self.pair.settings
        tally = _Tally(source.name)
        self.tallies.append(tally)
        seeds = settings.episode_seeds(source.name)
        self.seeds[source.name] = seeds
        # Lanes of a vector environment restart by themselves, so that is compared too.
        restarts = int(pair.candidate.vector or pair.reference.vector)
        left = self.measured if pair.anchorable else 0
        for chunk in _chunks(seeds, pair.candidate.batch):
            keep = settings.anchor or left > 0
            begin = time.perf_counter()
            led = [
                pair.lead(seed, source.start(seed), restarts=restarts, anchors=keep)
                for seed in chunk
            ]
            middle = time.perf_counter()
            self._anchor_plays += led[:left]
            left -= len(led[:left])
            plays = [play for play, _ in led]
            followed = pair.follow(
                plays if settings.anchor else [_without_anchors(play) for play in plays]
            )
            self.spent["reference"] += middle - begin
            self.spent["candidate"] += time.perf_counter() - middle
            for (play, ours), theirs in zip(led, followed, strict=True):
                difference = first_difference(ours, theirs, settings.rules)
                tally.add(ours, theirs, difference is not None)
                if difference is not None and self.found is None:
                    self.found = divergence_of(pair, source.name, play, difference)
                tick(1)

    def result(self, interrupted: bool = False) -> L3Result:
        """Sum up."""
        if self._anchor_plays and not interrupted:
            self.anchored = measure_anchored(self.pair, self._anchor_plays)
        sources = tuple(tally.result() for tally in self.tallies)
        steps = sum(source.steps for source in sources)
        episodes = sum(source.episodes for source in sources)
        different = sum(source.different for source in sources)
        status = Status.PASSED
        if different:
            status, words = (
                Status.FAILED,
                f"{different} of {episodes} episodes differ; {self.found}",
            )
        elif interrupted or not episodes:
            status = Status.INTERRUPTED if interrupted else Status.NOT_SHOWN
            words = f"{episodes} episodes ({steps:,} steps) equal before it was stopped"
        else:
            words = f"{episodes} episodes, {steps:,} steps: equal{_under(self.pair)}"
        return L3Result(
            status,
            words,
            tuple(_check(source) for source in sources),
            counts={"episodes": episodes, "steps": steps, "different": different},
            sources=sources,
            divergence=self.found,
            anchored=self.anchored,
            seeds=self.seeds,
            throughput={side: steps / spent for side, spent in self.spent.items() if spent > 0},
        )


def _check(source: SourceResult) -> Check:
    ends = f"{source.terminated} terminated, {source.truncated} truncated, {source.cut} cut off"
    detail = f"{source.episodes} episodes ({ends}), {source.steps:,} steps"
    if source.different:
        return Check(source.name, Status.FAILED, f"{detail}; {source.different} differ")
    return Check(source.name, Status.PASSED, detail)


def _under(pair: Pair) -> str:
    """What equal means here, in words."""
    rules = pair.settings.rules
    given = [f"{name} within {value:g}" for name, value in rules.tol.items() if value]
    left = [f"{name} not compared" for name in rules.ignore]
    how = ["one step at a time"] if pair.settings.anchor else []
    return f" ({', '.join([*how, *given, *left])})" if given or left or how else " in every bit"


def _without_anchors(play: Play) -> Play:
    return Play(play.seed, play.actions, play.restarts, play.start, play.tape)


def _chunks(seeds: Sequence[int], size: int) -> Iterator[list[int]]:
    rest = iter(seeds)
    while chunk := list(itertools.islice(rest, size)):
        yield chunk


def amount(pair: Pair, work: Work) -> int:
    """Return how many episodes there are."""
    return len(pair.settings.seeds or range(pair.settings.episodes)) * len(work.sources)
