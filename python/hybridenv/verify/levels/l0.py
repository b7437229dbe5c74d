"""L0: both sides keep the contract, have the same spaces, and repeat under a seed."""

from collections.abc import Iterator
from dataclasses import replace

import gymnasium

from hybridenv.errors import TargetError
from hybridenv.verify._actions import episode_seeds, legal_source
from hybridenv.verify._compare import Rules, first_difference
from hybridenv.verify._plan import Pair, Tick, Work
from hybridenv.verify._results import Check, L0Result, Status
from hybridenv.verify._spaces import outside

PROBES = 3
"""Episodes that are played twice."""
PROBE_STEPS = 200
"""Most steps of one."""


def run(pair: Pair, work: Work, tick: Tick) -> L0Result:
    """Look at both interfaces.

    Args:
        pair: Both sides.
        work: Not looked at.
        tick: Told of every check.

    Returns:
        The result. `FAILED` blames the candidate, `ERROR` the reference: nothing can be shown with
        one that breaks its own contract.
    """
    del work
    checks: list[Check] = []
    for check in _checks(pair):
        checks.append(check)
        tick(1)
    bad = [check for check in checks if check.status in (Status.FAILED, Status.ERROR)]
    status = Status.PASSED
    if bad:
        broken = any(check.status is Status.ERROR for check in bad)
        status = Status.ERROR if broken else Status.FAILED
    words = f"{bad[0].name}: {bad[0].detail}" if bad else f"{len(checks)} checks passed"
    return L0Result(status, words, tuple(checks), counts={"checks": len(checks)})


def _checks(pair: Pair) -> Iterator[Check]:
    yield same_space(
        "observation space", pair.reference.observation_space, pair.candidate.observation_space
    )
    spaces = same_space("action space", pair.reference.action_space, pair.candidate.action_space)
    yield spaces
    for side, target, blame in (
        ("reference", pair.reference, Status.ERROR),
        ("candidate", pair.candidate, Status.FAILED),
    ):
        problems = target.api_problems()
        if problems is None:
            yield Check(f"{side}: interface", Status.SKIPPED, "no checker for this kind of target")
        else:
            # A reference is what it is: its blemishes are told; the candidate must be clean.
            found = Status.FAILED if problems and side == "candidate" else Status.PASSED
            yield Check(f"{side}: interface", found, "; ".join(problems))
        if spaces.status is Status.PASSED or side == "reference":
            yield from _episodes(side, pair, blame)


def _episodes(side: str, pair: Pair, blame: Status) -> Iterator[Check]:
    """Short episodes: observations lie in their space, and a seed gives the same again."""
    target = pair.reference if side == "reference" else pair.candidate
    source = legal_source(pair.reference)
    seeds = episode_seeds(pair.settings.seed, "L0", PROBES)
    short = replace(pair, settings=replace(pair.settings, max_steps=PROBE_STEPS))
    try:
        plays = [short.lead(seed, source.start(seed))[0] for seed in seeds]
    except TargetError as error:
        if side == "candidate":
            raise
        yield Check("reference: plays", blame, str(error))
        return
    if side == "reference":  # it makes its own chance
        plays = [replace(play, tape=None, start=None) for play in plays]
    first, again = ([target.rollout(play) for play in plays] for _ in range(2))
    failed = [seen.error for seen in first if seen.error is not None]
    if failed:
        yield Check(f"{side}: plays", blame, f"an episode of legal actions raises {failed[0]}")
        return
    space = target.observation_space
    looks = (outside(space, seen.columns, seen.taken) for seen in first)
    strange = next((words for words in looks if words), "")
    name = f"{side}: observations lie in their space"
    yield Check(name, blame if strange else Status.PASSED, strange)
    wrong = [
        f"seed {seed}: {found}"
        for seed, one, other in zip(seeds, first, again, strict=True)
        if (found := first_difference(one, other, Rules())) is not None
    ]
    yield Check(
        f"{side}: repeats under a seed",
        blame if wrong else Status.PASSED,
        f"not deterministic, {wrong[0]}" if wrong else "",
    )


def same_space(name: str, ours: gymnasium.Space[object], theirs: gymnasium.Space[object]) -> Check:
    """Compare two spaces; that of whole numbers may have any integer type.

    Args:
        name: What they are.
        ours: The reference's.
        theirs: The candidate's.
    """
    same = ours == theirs
    if isinstance(ours, gymnasium.spaces.Discrete) and isinstance(
        theirs, gymnasium.spaces.Discrete
    ):
        same = (ours.n, ours.start) == (theirs.n, theirs.start)
    status = Status.PASSED if same else Status.FAILED
    return Check(name, status, "" if same else f"reference {ours}, candidate {theirs}")


def require_same_actions(pair: Pair) -> None:
    """Refuse to play where the actions of one side are none of the other.

    Raises:
        TargetError: The spaces of actions differ.
    """
    check = same_space("action space", pair.reference.action_space, pair.candidate.action_space)
    if check.status is not Status.PASSED:
        raise TargetError(f"action spaces differ: {check.detail}")


def amount(pair: Pair, work: Work) -> int:
    """Return how many checks there are."""
    del pair, work
    return 8
