"""L4: policies earn the same on both sides, shown by an equivalence test with a fixed margin.

Every policy plays the same evaluation seeds on both sides; returns are paired by policy and
evaluation seed.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from hybridenv.errors import ArgumentError, TargetError
from hybridenv.verify._actions import Policy, episode_seeds, keys_of, policy_chooser
from hybridenv.verify._plan import Pair, Tick, Work
from hybridenv.verify._record import EnvState, Trajectory, drive
from hybridenv.verify._results import Check, Equivalence, L4Result, Status
from hybridenv.verify._statistics import tost

Returns = dict[str, tuple[list[float], list[float]]]
Played: TypeAlias = tuple[float, int, bool]
"""Return and steps of an episode, and whether it ended by itself."""

LANES = 32
"""Episodes that are played side by side, where both sides and the policy can do so."""

STATUS = {
    "IDENTICAL": Status.PASSED,
    "EQUIVALENT": Status.PASSED,
    "DIFFERENT": Status.FAILED,
    "NOT SHOWN": Status.NOT_SHOWN,
}


def run(pair: Pair, work: Work, tick: Tick) -> L4Result:
    """Let every policy play on both sides, then test.

    Args:
        pair: Both sides.
        work: The policies.
        tick: Told of every pair of episodes.

    Returns:
        The result. Ctrl-C ends it early with the pairs that were played.

    Raises:
        ArgumentError: There is no margin.
        TargetError: A side or a policy fails, or the reference pays no finite number.
    """
    if pair.settings.margin is None:
        raise ArgumentError("margin: got none, expected one, fixed before you look")
    returns: Returns = {name: ([], []) for name in work.policies}
    interrupted, odd = False, ""
    steps = cut = 0
    seeds = episode_seeds(pair.settings.seed, "L4", pair.settings.episodes)
    try:
        for name, policy in work.policies.items():
            width = min(LANES, len(seeds)) if _side_by_side(pair, policy) else 1
            for at in range(0, len(seeds), width):
                some = seeds[at : at + width]
                if width == 1:
                    both = play_both(pair, policy, name, some[0])
                    found = [[(seen.total, seen.steps, seen.ended)] for seen in both]
                else:
                    found = play_lanes(pair, policy, name, some, width)
                for side, totals in zip(returns[name], found, strict=True):
                    side.extend(total for total, *_ in totals)
                steps += sum(count for side in found for _, count, _ in side)
                cut += sum(not (a[2] and b[2]) for a, b in zip(*found, strict=True))
                tick(len(some))
                odd = _not_finite(name, some, found)
                if odd:
                    break
            if odd:
                break
    except KeyboardInterrupt:
        interrupted = True
    result = _faulty(returns, steps, odd) if odd else _result(pair, returns, steps, interrupted)
    return replace(result, seeds={"evaluation": seeds}, counts=result.counts | {"cut": cut})


def amount(pair: Pair, work: Work) -> int:
    """Return how many pairs of episodes there are."""
    return len(work.policies) * pair.settings.episodes


def play_both(pair: Pair, policy: Policy, name: str, seed: int) -> tuple[Trajectory, Trajectory]:
    """Play one evaluation seed on both sides.

    Args:
        pair: Both sides.
        policy: Who plays.
        name: Its name, for messages.
        seed: The seed of the episode and of the policy's keys.

    Returns:
        What was seen on each side.

    Raises:
        TargetError: A side or the policy raises.
    """
    chance, most = pair.settings.chance, pair.settings.max_steps
    _, ours = drive(
        pair.reference,
        seed,
        policy_chooser(policy, seed),
        max_steps=most,
        keep_states=chance == "inject",
        keep_tape=chance == "tape",
    )
    _, theirs = drive(
        pair.candidate,
        seed,
        policy_chooser(policy, seed),
        max_steps=most,
        start=ours.states[0] if ours.states else None,
        tape=ours.tape,
    )
    for side, seen in (("reference", ours), ("candidate", theirs)):
        if seen.error is not None:
            raise TargetError(
                f"policy {name!r} on the {side}, seed {seed}, step {seen.steps + 1}: {seen.error}"
            )
    return ours, theirs


def play_lanes(
    pair: Pair, policy: Any, name: str, seeds: Sequence[int], width: int
) -> list[list[Played]]:
    """Play several evaluation seeds side by side, first on the reference, then on the candidate.

    Args:
        pair: Both sides, which have lanes.
        policy: Who plays, with `begin_many` and `act_many`.
        name: Its name, for messages.
        seeds: The seeds of the episodes and of the policy's keys.
        width: How many lanes, at least as many: programs are compiled for one number of them.

    Returns:
        For each side the return and the steps of every episode, and whether it ended by itself.

    Raises:
        TargetError: A side or the policy raises.
    """
    padded = [*seeds, *[seeds[-1]] * (width - len(seeds))]
    starts: list[EnvState] | None = None
    found = []
    for side, target in (("reference", pair.reference), ("candidate", pair.candidate)):
        at = 0
        try:
            keep = starts is None and pair.settings.chance == "inject"
            obs, states = target.start_lanes(padded, starts, keep)
            starts = states or starts
            policy.begin_many(width)
            keys = [keys_of(seed) for seed in padded]
            alive = np.ones(width, np.bool_)
            totals, steps = np.zeros(width), np.zeros(width, np.int64)
            while alive.any() and at < pair.settings.max_steps:
                actions = policy.act_many(obs, [key() for key in keys])
                later, rewards, ended = target.step_lanes(actions)
                obs = [a if b is None else b for a, b in zip(obs, later, strict=True)]
                totals += np.where(alive, rewards, 0)
                steps += alive
                alive &= ~ended
                at += 1
        except TargetError:
            raise
        except Exception as error:
            raise TargetError(
                f"policy {name!r} on the {side}, {len(seeds)} seeds from {seeds[0]}, step "
                f"{at + 1}: {type(error).__name__}: {error}"
            ) from error
        played = zip(totals.tolist(), steps.tolist(), (~alive).tolist(), strict=True)
        found.append(list(played)[: len(seeds)])
    return found


def _side_by_side(pair: Pair, policy: Any) -> bool:
    """Whether both sides and the policy can do with several episodes at once."""
    many = all(callable(getattr(policy, one, None)) for one in ("begin_many", "act_many"))
    return many and pair.reference.lanes and pair.candidate.lanes and pair.settings.chance != "tape"


def _not_finite(name: str, seeds: Sequence[int], found: list[list[Played]]) -> str:
    """The first return of the candidate that is no finite number, in words, or nothing.

    Raises:
        TargetError: There is one of the reference, with which nothing can be shown.
    """
    for side, played in zip(("reference", "candidate"), found, strict=True):
        for seed, (total, steps, _) in zip(seeds, played, strict=True):
            if not np.isfinite(total):
                words = (
                    f"policy {name!r} on the {side}, seed {seed}: got a return of {total} in "
                    f"{steps} steps, expected a finite number"
                )
                if side == "reference":
                    raise TargetError(words)
                return words
    return ""


def _faulty(returns: Returns, steps: int, words: str) -> L4Result:
    """The result where the candidate pays what is no finite number: no mean, no test."""
    pairs = sum(len(theirs) for _, theirs in returns.values())
    counts = {"policies": len(returns), "pairs": pairs, "steps": steps}
    check = Check("returns are finite", Status.FAILED, words)
    return L4Result(Status.FAILED, words, (check,), counts=counts, returns=returns)


def _result(pair: Pair, returns: Returns, steps: int, interrupted: bool) -> L4Result:
    tests: dict[str, Equivalence] = {}
    whole: tuple[list[float], list[float]] = ([], [])
    for name, (ours, theirs) in returns.items():
        n = min(len(ours), len(theirs))
        whole[0].extend(ours[:n])
        whole[1].extend(theirs[:n])
        if n >= 2:
            tests[name] = _test(pair, ours[:n], theirs[:n])
    counts = {"policies": len(returns), "pairs": len(whole[0]), "steps": steps}
    if len(whole[0]) < 2:
        status = Status.INTERRUPTED if interrupted else Status.NOT_SHOWN
        words = f"{len(whole[0])} pairs of episodes are too few for a test"
        return L4Result(status, words, counts=counts, returns=returns)
    test = _test(pair, *whole)
    status = STATUS[test.outcome]
    if interrupted:
        status = Status.INTERRUPTED
    checks = tuple(
        Check(name, STATUS[one.outcome], f"{one.outcome}, {_words(one)}")
        for name, one in tests.items()
    )
    return L4Result(
        status,
        f"{test.outcome}: {_words(test)}",
        checks,
        counts=counts,
        test=test,
        by_policy=tests,
        returns=returns,
    )


def _test(pair: Pair, ours: list[float], theirs: list[float]) -> Equivalence:
    margin = pair.settings.margin or 0.0
    return tost(ours, theirs, margin, alpha=pair.settings.alpha, paired=pair.settings.paired)


def _words(test: Equivalence) -> str:
    if test.outcome == "IDENTICAL":
        return f"all {test.n} pairs have the same return on both sides"
    needed = "" if test.n_for_power is None else f", {test.n_for_power:,} needed for 90 % power"
    return (
        f"difference {test.difference:+.4g} in {test.low:+.4g} to {test.high:+.4g}, margin "
        f"±{test.margin:g}, p = {test.p_tost:.3g}, n = {test.n:,}{needed}"
    )
