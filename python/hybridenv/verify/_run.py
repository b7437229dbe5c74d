"""`verify` and its relatives: make both sides, run the levels, write the report."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np

from hybridenv.checks import real, whole
from hybridenv.errors import ArgumentError, HybridEnvError, NotEquivalentError, TargetError
from hybridenv.verify._actions import Policy, Source, by_policy, masked, scripted, uniform
from hybridenv.verify._compare import Rules, first_difference
from hybridenv.verify._isolation import IsolatedTarget, modules_to_block
from hybridenv.verify._plan import Pair, Settings, Work
from hybridenv.verify._progress import Progress, hidden
from hybridenv.verify._report import Report, judge, limits
from hybridenv.verify._results import Chance, LevelResult, Status, Verdict
from hybridenv.verify._target import Identity, Target
from hybridenv.verify.adapters import adapt, resolve
from hybridenv.verify.adapters._resolve import making
from hybridenv.verify.levels.l0 import require_same_actions

LONGEST_TIMEOUT = 1e6
"""Seconds; the system waits no longer than some three weeks."""

Side = Any
"""A text as for `resolve`, an environment as for `adapt`, or a function that makes one."""


def verify(
    reference: Side,
    candidate: Side,
    *,
    level: int = 3,
    levels: Sequence[int] | None = None,
    episodes: int = 100,
    seeds: Sequence[int] | None = None,
    actions: Sequence[str | Source] = ("uniform",),
    tol: Mapping[str, float] | None = None,
    ignore: Sequence[str] = (),
    chance: Chance = "shared",
    seed: int = 0,
    max_steps: int = 10_000,
    examples: int = 100,
    properties: Sequence[Any] = (),
    policies: Mapping[str, Policy] | None = None,
    margin: float | None = None,
    alpha: float = 0.05,
    paired: bool = True,
    anchor: bool = False,
    shrink: bool = True,
    isolate: bool | None = None,
    timeout: float = 60.0,
    progress: bool = False,
) -> Report:
    """Show that a candidate equals a reference, or where it does not.

    Args:
        reference: The judge: a text such as `"gym:CartPole-v1"` (see
            `hybridenv.verify.resolve`), an environment, or a function that makes one.
        candidate: Who is judged, likewise. A text is made in a process of its own.
        level: Run the levels 0 to this one.
        levels: Run just these.
        episodes: Episodes of each source of actions; of each policy at level 4.
        seeds: Seeds of the episodes at level 3, instead of `episodes` that come from `seed`.
        actions: Sources of actions: `"uniform"`, `"mask"` (even among the legal ones), `"policy:X"`
            (see `hybridenv.verify.load_policy`), or a `Source`.
        tol: Largest absolute difference allowed, by stream (`"obs"`, `"reward"`, `"info"`) or
            column; everything else is compared bit for bit.
        ignore: Streams or columns that are not compared.
        chance: How the randomness of both sides is coupled: `"shared"` (a seed means the same on
            both), `"tape"` (the candidate replays the reference's draws), `"inject"` (the
            candidate takes over the reference's first state and is deterministic from there) or
            `"independent"` (only distributions are compared).
        seed: Seed of everything.
        max_steps: Episodes are cut off after so many steps.
        examples: Examples of each property at level 1, and sequences at level 2.
        properties: Functions to compare at level 1, see `Property`.
        policies: Policies by name, for level 4.
        margin: Difference of mean returns that counts as none, for level 4. There is no default.
        alpha: Level of statistical tests.
        paired: Pair returns by policy and evaluation seed at level 4.
        anchor: At level 3, put the candidate into the reference's state before each step, so that
            a tolerance means the error of one step.
        shrink: Look for short examples, operations and actions where both sides differ.
        isolate: Run the candidate in a process that cannot import the reference's package. `None`
            does so where it is named by a text.
        timeout: Seconds that an isolated candidate, or a `cmd:` target, may take for one answer,
            such as an episode; up to a million.
        progress: Show bars on standard error.

    Returns:
        The report. A candidate that cannot be made, hangs, or is found to be a wrapper of the
        reference gives the verdict ERROR; nothing of that is raised.

    Raises:
        ArgumentError: A setting makes no sense, such as a level 4 without a margin.
    """
    wanted = _wanted(level, levels)
    settings = Settings(
        chance=chance,
        rules=_rules(tol, ignore),
        seed=seed,
        episodes=episodes,
        seeds=None if seeds is None else _several("seeds", seeds, "[17, 18]"),
        max_steps=max_steps,
        examples=examples,
        shrink=shrink,
        anchor=anchor,
        margin=margin,
        alpha=alpha,
        paired=paired,
    )
    if 4 in wanted and margin is None:
        raise ArgumentError("margin: got none, expected one for level 4, fixed before you look")
    if 4 in wanted and not policies:
        raise ArgumentError("policies: got none, expected at least one for level 4")
    named = _policies(policies)
    actions = _several("actions", actions, "['uniform']")
    properties = _properties(properties)
    timeout = _seconds(timeout)
    show = Progress() if progress else hidden()
    begin = time.perf_counter()
    run = _Run(settings, wanted, datetime.now(UTC).isoformat(timespec="seconds"))
    with show:
        try:
            with both(reference, candidate, settings, isolate=isolate, timeout=timeout) as made:
                run.made = made
                work = Work(_sources(actions, made.pair, wanted), properties, named)
                run.levels_of(made.pair, work, show)
        except TargetError as error:
            run.failure = error
        except SystemExit as error:  # it would end this program with an exit code of its own
            run.failure = TargetError(f"the reference or a policy called sys.exit({error.code!r})")
        except KeyboardInterrupt:
            run.interrupted = True
    return run.report(
        Identity(_name(reference)), Identity(_name(candidate)), time.perf_counter() - begin
    )


def assert_equivalent(reference: Side, candidate: Side, **options: Any) -> Report:
    """Verify, and raise unless the verdict is EQUAL; for the tests of your project.

    Args:
        reference: As for `verify`.
        candidate: As for `verify`.
        **options: As for `verify`.

    Returns:
        The report.

    Raises:
        NotEquivalentError: The verdict is another one; the message has the reason, and the test
            that shows it where there is one.
        ArgumentError: As `verify`.
    """
    report = verify(reference, candidate, **options)
    if not report.ok:
        found = report.first_divergence
        test = f"\n\n{found.test}" if found is not None and found.test is not None else ""
        raise NotEquivalentError(f"{report}{test}")
    return report


def replay(
    reference: Side,
    candidate: Side,
    *,
    seed: int,
    actions: Sequence[Any],
    chance: Chance = "shared",
    tol: Mapping[str, float] | None = None,
    ignore: Sequence[str] = (),
    anchor: bool = False,
    isolate: bool = False,
) -> None:
    """Play a list of actions on both sides and raise where they differ: for generated tests.

    Args:
        reference: As for `verify`.
        candidate: As for `verify`.
        seed: Seed of the episode.
        actions: The actions.
        chance: As for `verify`.
        tol: As for `verify`.
        ignore: As for `verify`.
        anchor: As for `verify`.
        isolate: As for `verify`.

    Raises:
        NotEquivalentError: They differ; the message says where.
        TargetError: A side cannot be made or fails.
    """
    rules = _rules(tol, ignore)
    actions = _several("actions", actions, "[0, 1]")
    settings = Settings(chance=chance, rules=rules, anchor=anchor, max_steps=max(1, len(actions)))
    with both(reference, candidate, settings, isolate=isolate) as made:
        source = scripted([typed(action, made.pair.reference.action_space) for action in actions])
        play, ours = made.pair.lead(seed, source.start(seed), anchors=anchor)
        [theirs] = made.pair.follow([play])
        found = first_difference(ours, theirs, rules)
    if found is not None:
        raise NotEquivalentError(f"{_name(candidate)} differs from {_name(reference)} {found}")


def typed(action: Any, space: gymnasium.Space[Any]) -> Any:
    """Give an action that was written as plain data the types of its space."""
    if isinstance(space, gymnasium.spaces.Discrete):
        return np.int64(action)
    if isinstance(space, gymnasium.spaces.Dict):
        return {key: typed(action[key], one) for key, one in space.spaces.items()}
    if isinstance(space, gymnasium.spaces.Tuple):
        return tuple(typed(part, one) for part, one in zip(action, space.spaces, strict=True))
    if space.shape is not None and space.dtype is not None:
        return np.asarray(action, space.dtype)
    return action


@dataclass(frozen=True)
class Made:
    """Both sides, ready to play.

    Attributes:
        pair: Both sides.
        isolated: Modules that the candidate is cut off from, or `None` where it is not isolated.
    """

    pair: Pair
    isolated: tuple[str, ...] | None


@contextmanager
def both(
    reference: Side,
    candidate: Side,
    settings: Settings,
    *,
    isolate: bool | None = None,
    timeout: float = 60.0,
) -> Iterator[Made]:
    """Make both sides and close them at the end.

    Args:
        reference: As for `verify`.
        candidate: As for `verify`.
        settings: The settings.
        isolate: As for `verify`.
        timeout: As for `verify`.

    Yields:
        Both sides.

    Raises:
        TargetError: One cannot be made.
        ArgumentError: Isolation was asked for a candidate that has no name.
    """
    with _closing(_make(reference, timeout)) as judge_:
        blocked: tuple[str, ...] | None = None
        named = isinstance(candidate, str)
        if isolate and not named:
            raise ArgumentError(
                f"isolate: got a candidate of type {type(candidate).__name__}, expected its name "
                "as a text, such as 'my_package.fast:make'"
            )
        if named and isolate is not False and not candidate.startswith("cmd:"):
            blocked = modules_to_block(judge_.identity, candidate)
            made: Target = IsolatedTarget(candidate, blocked, timeout)
        else:
            made = _make(candidate, timeout)
        with _closing(made) as judged:
            pair = Pair(judge_, judged, settings, (_name(reference), _name(candidate)))
            yield Made(pair, blocked)


class _Run:
    """A verification in progress."""

    def __init__(self, settings: Settings, wanted: Sequence[int], started: str) -> None:
        self.settings, self.wanted, self.started = settings, wanted, started
        self.results: dict[int, LevelResult] = {}
        self.made: Made | None = None
        self.failure: HybridEnvError | None = None
        self.interrupted = False

    def levels_of(self, pair: Pair, work: Work, show: Progress) -> None:
        """Run the levels, until one has shown that there is no point in the next."""
        if 0 not in self.wanted:
            require_same_actions(pair)
        for n in self.wanted:
            module = import_module(f"hybridenv.verify.levels.l{n}")
            begin = time.perf_counter()
            with show.level(n, module.amount(pair, work)) as tick:
                result: LevelResult = module.run(pair, work, tick)
            self.results[n] = replace(result, seconds=time.perf_counter() - begin)
            if result.status is Status.INTERRUPTED:
                self.interrupted = True
                return
            if result.status is Status.ERROR or (n == 0 and _hopeless(result)):
                return

    def report(self, reference: Identity, candidate: Identity, seconds: float) -> Report:
        """Sum up."""
        verdict, reason = judge(self.results, self.wanted[-1])
        if self.failure is not None and verdict is not Verdict.DIFFERENT:
            verdict, reason = Verdict.ERROR, str(self.failure)
        if self.interrupted and verdict is not Verdict.DIFFERENT:
            verdict, reason = Verdict.NOT_SHOWN, f"interrupted; until then: {reason}"
        pair = None if self.made is None else self.made.pair
        isolated = None if self.made is None else self.made.isolated
        return Report(
            verdict=verdict,
            reason=reason,
            reference=reference if pair is None else pair.reference.identity,
            candidate=candidate if pair is None else pair.candidate.identity,
            settings=self.settings,
            levels=self.results,
            limits=limits(
                self.settings, self.results, isolated, None if pair is None else pair.names[1]
            ),
            isolated=isolated,
            seconds=seconds,
            interrupted=self.interrupted,
            started=self.started,
        )


def _hopeless(result: LevelResult) -> bool:
    """Whether nothing can be played after L0: actions of one side are none of the other."""
    return any(
        check.status is Status.FAILED and (check.name == "action space" or "plays" in check.name)
        for check in result.checks
    )


def _wanted(level: int, levels: Sequence[int] | None) -> list[int]:
    if levels is None:
        return list(range(whole("level", level, 0, 4) + 1))
    some = _several("levels", levels, "[0, 3]")
    if not some:
        raise ArgumentError("levels: got none, expected some of 0 to 4")
    return sorted({whole("levels", one, 0, 4) for one in some})


def _rules(tol: Any, ignore: Any) -> Rules:
    if tol is not None and not isinstance(tol, Mapping):
        raise ArgumentError(f"tol: got {tol!r}, expected a dict such as {{'obs': 1e-4}}")
    return Rules(dict(tol or {}), _several("ignore", ignore, "['info']"))


def _policies(policies: Any) -> dict[str, Policy]:
    if policies is not None and not isinstance(policies, Mapping):
        kind = type(policies).__name__
        raise ArgumentError(f"policies: got {kind}, expected a dict of policies by name")
    for name, policy in (policies or {}).items():
        if not isinstance(policy, Policy):
            raise ArgumentError(
                f"policies[{name!r}]: got {type(policy).__name__} without act(obs, key)"
            )
    return dict(policies or {})


def _properties(properties: Any) -> tuple[Any, ...]:
    several = _several("properties", properties, "[Property(...)]")
    if several:  # only who has some has loaded hypothesis
        from hybridenv.verify._properties import Property

        if odd := [one for one in several if not isinstance(one, Property)]:
            raise ArgumentError(f"properties: got {odd[0]!r}, expected a Property")
    return several


def _several(what: str, values: Any, example: str) -> tuple[Any, ...]:
    """Read a sequence; a text is one value and no sequence of letters."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ArgumentError(f"{what}: got {values!r}, expected a list such as {example}")
    return tuple(values)


def _seconds(timeout: Any) -> float:
    if not 0 < (seconds := real("timeout", timeout)) <= LONGEST_TIMEOUT:
        raise ArgumentError(
            f"timeout: got {timeout!r}, expected seconds above 0 and up to {LONGEST_TIMEOUT:,.0f}"
        )
    return seconds


def _sources(
    actions: Sequence[str | Source], pair: Pair, wanted: Sequence[int]
) -> tuple[Source, ...]:
    space = pair.reference.action_space
    found = []
    for one in actions:
        if isinstance(one, Source):
            found.append(one)
        elif one == "uniform":
            found.append(uniform(space))
        elif one == "mask":
            if "mask" not in pair.reference.offers:
                raise ArgumentError(
                    f"actions 'mask': the reference {pair.reference.identity.name!r} has no "
                    "action_mask, expected one"
                )
            found.append(masked(space, pair.reference.identity.name))
        elif isinstance(one, str) and one.startswith("policy:"):
            from hybridenv.verify._policies import load_policy

            found.append(by_policy(load_policy(one.partition(":")[2]), one))
        else:
            raise ArgumentError(
                f"actions: got {one!r}, expected 'uniform', 'mask', 'policy:PLACE' or a Source"
            )
    if 3 in wanted and not found:
        raise ArgumentError("actions: got none, expected at least one source for level 3")
    return tuple(found)


def _make(side: Side, timeout: float) -> Target:
    if isinstance(side, str) and side.startswith("cmd:"):
        from hybridenv.verify.adapters._process import ProcessTarget

        return ProcessTarget(side.partition(":")[2], Identity(side), timeout)
    if isinstance(side, str):
        return resolve(side)
    if isinstance(side, Target):
        return side
    makes = isinstance(side, type) or (callable(side) and not hasattr(side, "reset"))
    with making(_name(side)):
        return adapt(side() if makes else side, _name(side))


def _name(side: Side) -> str:
    if isinstance(side, str):
        return side
    if isinstance(side, Target):
        return side.identity.name
    return str(getattr(side, "__name__", None) or type(side).__name__)


@contextmanager
def _closing(target: Target) -> Iterator[Target]:
    try:
        yield target
    finally:
        target.close()
