"""L3 with independent chance: only distributions can be compared.

Kolmogorov-Smirnov tests of returns, lengths and observations, with Holm's correction. A difference
that they find is one; that they find none shows nothing, so the level then ends NOT SHOWN, and only
L4 can say that both sides are worth the same.
"""

import time
from dataclasses import replace

import numpy as np

from hybridenv.errors import TargetError
from hybridenv.verify._actions import Source
from hybridenv.verify._plan import Pair, Tick, Work
from hybridenv.verify._record import Trajectory, drive
from hybridenv.verify._results import Check, L3Result, SourceResult, Status
from hybridenv.verify._statistics import holm, two_sample_p
from hybridenv.verify._target import Target

Samples = dict[str, list[float]]


def run(pair: Pair, work: Work, tick: Tick) -> L3Result:
    """Play episodes of both sides apart and compare what they come to.

    Args:
        pair: Both sides.
        work: The sources of actions.
        tick: Told of every episode.

    Returns:
        The result: `FAILED` or `NOT_SHOWN`, never `PASSED`.

    Raises:
        TargetError: The reference raises something, or a side is gone.
    """
    p_values: dict[str, float] = {}
    sources, seeds = [], {}
    interrupted, raising = False, ""
    spent = {"reference": 0.0, "candidate": 0.0}
    for source in work.sources:
        chosen = pair.settings.episode_seeds(source.name)
        seeds[source.name] = chosen
        ours: Samples = {}
        theirs: Samples = {}
        steps = cut = 0
        try:
            for seed in chosen:
                ended = True
                for side, target, samples in (
                    ("reference", pair.reference, ours),
                    ("candidate", pair.candidate, theirs),
                ):
                    begin = time.perf_counter()
                    seen = _episode(target, source, seed, pair.settings.max_steps)
                    spent[side] += time.perf_counter() - begin
                    steps += seen.steps
                    if seen.error is None:
                        _note(seen, samples)
                        ended &= seen.ended
                        continue
                    raising = (
                        f"{side} {target.identity.name!r}: fails in the episode with seed {seed} "
                        f"({source.name}) after {seen.steps} steps: {seen.error}"
                    )
                    if side == "reference":
                        raise TargetError(raising)
                tick(1)
                cut += not ended
                if raising:
                    break
        except KeyboardInterrupt:
            interrupted = True
        for name in ours:
            if len(theirs.get(name, ())) > 1:
                key = f"{source.name}: {name}"
                p_values[key] = two_sample_p(ours[name], theirs[name])
        episodes = len(theirs.get("return", ()))
        sources.append(SourceResult(source.name, episodes, steps, 0, 0, cut, 0, {}))
        if interrupted or raising:
            break
    result = _result(pair, holm(p_values), tuple(sources), seeds, spent, interrupted)
    if not raising:
        return result
    found = Check("raises nothing", Status.FAILED, raising)
    return replace(result, status=Status.FAILED, summary=raising, checks=(found, *result.checks))


def _result(
    pair: Pair,
    p_values: dict[str, float],
    sources: tuple[SourceResult, ...],
    seeds: dict[str, list[int]],
    spent: dict[str, float],
    interrupted: bool,
) -> L3Result:
    low = {name: p for name, p in p_values.items() if p < pair.settings.alpha}
    steps = sum(source.steps for source in sources)
    if low:
        worst = min(low, key=lambda name: low[name])
        status, words = Status.FAILED, f"distributions differ in {worst} (p = {low[worst]:.2g})"
    else:
        status = Status.INTERRUPTED if interrupted else Status.NOT_SHOWN
        words = (
            f"{len(p_values)} two-sample tests found no difference, which does not show that there "
            "is none"
        )
    checks = tuple(
        Check(name, Status.FAILED if name in low else Status.NOT_SHOWN, f"p = {p:.3g}")
        for name, p in p_values.items()
    )
    return L3Result(
        status,
        words,
        checks,
        counts={"episodes": sum(s.episodes for s in sources), "steps": steps},
        sources=sources,
        seeds=seeds,
        p_values=p_values,
        throughput={side: steps / 2 / taken for side, taken in spent.items() if taken > 0},
    )


def _episode(target: Target, source: Source, seed: int, max_steps: int) -> Trajectory:
    return drive(target, seed, source.start(seed), max_steps=max_steps)[1]


def _note(seen: Trajectory, samples: Samples) -> None:
    """Numbers of an episode, one of each kind, so that they are independent of each other."""
    numbers = {"return": seen.total, "length": float(seen.steps)}
    numbers["terminated"] = float(seen.columns["terminated"][-1])
    for name, values in seen.columns.items():
        if name.startswith("obs") and values.dtype.kind in "biuf":
            flat = values.reshape(len(values), -1).astype(np.float64)
            if flat.shape[1] <= 64:
                for i in range(flat.shape[1]):
                    numbers[f"first {name}[{i}]"] = float(flat[0, i])
                    numbers[f"mean {name}[{i}]"] = float(flat[:, i].mean())
            else:
                numbers[f"first {name}"] = float(flat[0].mean())
                numbers[f"mean {name}"] = float(flat.mean())
    for name, number in numbers.items():
        samples.setdefault(name, []).append(number)
