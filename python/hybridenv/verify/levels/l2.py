"""L2: sequences of operations on both sides, and single steps from injected states.

A state machine of hypothesis makes up what a trainer may do to an environment, and more: resets in
the middle of an episode, the same seed twice, resets without a seed, episodes after episodes, and,
where both sides have states, going back to an earlier one. After every operation both sides must
show the same.
"""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from hybridenv.errors import TargetError
from hybridenv.verify._actions import SEED_BITS, episode_seeds, legal_source
from hybridenv.verify._compare import first_difference
from hybridenv.verify._plan import Pair, Tick, Work
from hybridenv.verify._record import STOP, Recorder, Trajectory, inject, raised
from hybridenv.verify._results import Check, L2Result, Status
from hybridenv.verify._target import Target
from hybridenv.verify.levels.l1 import actions_of, phases

OPERATIONS = 50
"""Most operations of a sequence."""
SHRINK_SECONDS = 20.0
"""How long a shorter sequence is looked for."""
INJECTED = 10
"""Episodes whose states are injected."""
INJECTED_STEPS = 200
"""Most steps of one."""


class ApartError(Exception):
    """Both sides differ after an operation."""


def run(pair: Pair, work: Work, tick: Tick) -> L2Result:
    """Try sequences of operations, then injected states.

    Args:
        pair: Both sides.
        work: Not looked at.
        tick: Told of every part.

    Returns:
        The result.
    """
    del work
    if pair.settings.chance == "independent":
        words = "with independent chance no two steps can be compared"
        return L2Result(Status.SKIPPED, words)
    log = _Log()
    checks, difference = [], None
    try:
        difference = _sequences(pair, log)
        status = Status.FAILED if difference else Status.PASSED
        checks.append(
            Check("operations in lockstep", status, difference or f"{log.count} operations")
        )
        tick(1)
        checks.append(_injected(pair))
        tick(1)
    except KeyboardInterrupt:
        words = f"interrupted after {log.count} operations"
        return L2Result(Status.INTERRUPTED, words, tuple(checks))
    operations = tuple(log.shortest) if difference else ()
    bad = next((check for check in checks if check.status is Status.FAILED), None)
    counts = {"sequences": log.sequences, "operations": log.count}
    if bad is None:
        words = f"{log.count:,} operations in {log.sequences} sequences: equal"
        return L2Result(Status.PASSED, words, tuple(checks), counts=counts)
    after = f" after {'; '.join(operations)}" if operations else ""
    words = f"{bad.name}: {bad.detail}{after}"
    return L2Result(
        Status.FAILED,
        words,
        tuple(checks),
        counts=counts,
        operations=operations,
        difference=bad.detail,
    )


def amount(pair: Pair, work: Work) -> int:
    """Return how many parts there are."""
    del pair, work
    return 2


class EnoughError(BaseException):
    """Looking for a shorter sequence has taken long enough; nothing in between may catch this."""


class _Log:
    """Operations of this sequence, how many there were in all, and the shortest that failed."""

    def __init__(self) -> None:
        self.last: list[str] = []
        self.shortest: list[str] = []
        self.difference: str | None = None
        self.count = 0
        self.sequences = 0
        self._until = math.inf

    def add(self, words: str) -> None:
        self.last.append(words)
        self.count += 1

    def begin(self) -> None:
        if time.monotonic() > self._until:
            raise EnoughError("no shorter sequence in time")
        self.last = []
        self.sequences += 1

    def failed(self, words: str) -> None:
        """Note that the operations of this sequence end in a difference."""
        if self.difference is None:
            self._until = time.monotonic() + SHRINK_SECONDS
        if self.difference is None or len(self.last) <= len(self.shortest):
            self.shortest, self.difference = list(self.last), words


def _sequences(pair: Pair, log: _Log) -> str | None:
    """Run the state machine; what differs, in words."""
    machine = _machine(pair, log)
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=pair.settings.examples,
                stateful_step_count=OPERATIONS,
                deadline=None,
                derandomize=True,
                database=None,
                phases=phases(pair.settings.shrink),
                suppress_health_check=list(HealthCheck),
                report_multiple_bugs=False,
                print_blob=False,
            ),
        )
    except (ApartError, EnoughError) as found:
        return log.difference or str(found)
    except HypothesisException as error:
        return f"not the same twice: {type(error).__name__}: {error}"
    return None


class _Side:
    """One side as the machine drives it: every operation gives one row or an error."""

    def __init__(self, target: Target) -> None:
        self.target = target

    def do(self, operation: Callable[[Target], Any], reset: bool) -> Trajectory:
        record, error = Recorder(), None
        try:
            seen = operation(self.target)
            mask = self.target.action_mask()
            if reset:
                obs, info = seen
                record.reset(obs, info, mask)
            else:
                record.step(seen, mask)
        except TargetError:
            raise
        except Exception as failure:  # whatever an environment raises is compared
            error = raised(failure)
        return record.trajectory(error=error)


def _machine(pair: Pair, log: _Log) -> type[RuleBasedStateMachine]:
    """The state machine of a pair; a class, as hypothesis wants it."""
    ours, theirs = _Side(pair.reference), _Side(pair.candidate)
    seeds = st.integers(0, 2**SEED_BITS - 1)
    chance = pair.settings.chance
    saves = pair.anchorable and chance in ("shared", "inject")

    def blamed(words: str) -> TargetError:
        return TargetError(f"reference {pair.reference.identity.name!r}: {words}")

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            log.begin()
            self.over = False
            self.mask: Any = None
            self.saved: list[Any] = []

        def both(self, words: str, operation: Callable[[Target], Any], reset: bool) -> None:
            log.add(words)
            one = ours.do(operation, reset)
            if one.error is not None:
                raise blamed(one.error)
            if chance == "tape":
                draws = self.of_reference(lambda target: target.take_chance())
                self.candidate_takes("set_chance", lambda target: target.set_chance(draws))
            injects = reset and chance == "inject"
            follow = self.injected(operation) if injects else operation
            other = theirs.do(follow, reset)
            found = first_difference(one, other, pair.settings.rules)
            if found is not None:
                log.failed(found.values)
                raise ApartError(found.values)
            self.over = one.ended
            self.mask = one.columns["mask"][-1] if "mask" in one.columns else None

        @staticmethod
        def of_reference(operation: Callable[[Target], Any]) -> Any:
            """Ask the reference for something; with one that raises nothing can be shown."""
            try:
                return operation(pair.reference)
            except TargetError:
                raise
            except Exception as failure:  # whatever a reference raises
                raise blamed(raised(failure)) from failure

        @staticmethod
        def candidate_takes(what: str, operation: Callable[[Target], Any]) -> None:
            """Hand something of the reference over; that it raises is a difference too."""
            try:
                operation(pair.candidate)
            except TargetError:
                raise
            except Exception as failure:  # whatever a candidate raises
                words = f"{what}: reference none, candidate {raised(failure)}"
                log.failed(words)
                raise ApartError(words) from failure

        @staticmethod
        def injected(operation: Callable[[Target], Any]) -> Callable[[Target], Any]:
            """A reset that takes over the reference's state."""

            def reset(target: Target) -> Any:
                _, info = operation(target)
                return inject(target, Machine.of_reference(lambda one: one.get_state())), info

            return reset

        @initialize(seed=seeds)
        def first(self, seed: int) -> None:
            self.both(f"reset(seed={seed})", lambda target: target.reset(seed), True)

        @rule(seed=seeds)
        def reset(self, seed: int) -> None:
            self.both(f"reset(seed={seed})", lambda target: target.reset(seed), True)

        @rule()
        def go_on(self) -> None:
            self.both("reset()", lambda target: target.reset(None), True)

        @precondition(lambda self: not self.over)
        @rule(actions=st.lists(actions_of(pair.reference.action_space), min_size=1, max_size=30))
        def play(self, actions: list[Any]) -> None:
            for action in actions:
                if self.over:
                    break
                if self.mask is not None and not np.ndim(action) and not self.mask[int(action)]:
                    continue
                self.both(f"step({action})", partial(_step, action=action), False)

        @precondition(lambda self: saves and not self.over)
        @rule()
        def save(self) -> None:
            log.add("state = get_state()")
            self.saved.append(self.of_reference(lambda target: target.get_state()))

        # Not after an end: what an environment remembers of one need not be part of its state.
        @precondition(lambda self: saves and bool(self.saved) and not self.over)
        @rule(which=st.integers(0, 7))
        def go_back(self, which: int) -> None:
            state = self.saved[which % len(self.saved)]
            log.add(f"set_state(state {which % len(self.saved)})")
            self.of_reference(lambda target: target.set_state(state))
            self.candidate_takes("set_state", lambda target: target.set_state(state))
            self.mask = pair.reference.action_mask()

    return Machine


def _step(target: Target, action: Any) -> Any:
    return target.step(action)


def _injected(pair: Pair) -> Check:
    """Single steps of the candidate, each from the reference's state."""
    name = "steps from injected states"
    if not pair.anchorable:
        return Check(name, Status.SKIPPED, "not both sides hand out and take states")
    source, steps = legal_source(pair.reference), 0
    for seed in episode_seeds(pair.settings.seed, "L2", INJECTED):
        choose = source.start(seed)
        play, ours = pair.lead(seed, _limited(choose, INJECTED_STEPS), anchors=True)
        [theirs] = pair.follow([play])
        found = first_difference(ours, theirs, pair.settings.rules)
        if found is not None:
            return Check(name, Status.FAILED, f"seed {seed}, {found}")
        steps += ours.steps
    return Check(name, Status.PASSED, f"{steps:,} steps")


def _limited(choose: Callable[..., Any], most: int) -> Callable[..., Any]:
    return lambda obs, mask, step: choose(obs, mask, step) if step < most else STOP
