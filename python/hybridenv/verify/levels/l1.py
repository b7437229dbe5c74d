"""L1: functions agree on made-up arguments, and what must always hold does.

Every pair gets two invariants for free: under any actions the candidate's observations lie in
their space and its rewards are finite numbers.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException, InvalidArgument, Unsatisfiable
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from hybridenv.errors import ArgumentError, TargetError
from hybridenv.trees import leaves
from hybridenv.verify._actions import SEED_BITS, draw
from hybridenv.verify._plan import Pair, Tick, Work
from hybridenv.verify._properties import Property
from hybridenv.verify._record import STOP, Chooser
from hybridenv.verify._results import Check, L1Result, Status
from hybridenv.verify._spaces import outside

SHRINK_SECONDS = 20.0
"""How long a smaller example is looked for."""
MOST_ACTIONS = 40
"""Most actions of a made-up episode."""


class CounterexampleError(Exception):
    """A property does not hold; the message has the arguments and what was seen."""


def run(pair: Pair, work: Work, tick: Tick) -> L1Result:
    """Try every property.

    Args:
        pair: Both sides.
        work: The properties.
        tick: Told of every property.

    Returns:
        The result; `NOT_SHOWN` where a property only ever makes both sides raise.

    Raises:
        ArgumentError: The strategy of a property gives no tuples of arguments.
    """
    checks, counterexamples = [], {}
    examples = 0
    for one in (*_invariants(pair), *work.properties):
        tried = _Count()
        try:
            _try(one, pair.settings.examples, tried, pair.settings.shrink)
            checks.append(tried.check(one.name))
        except CounterexampleError as found:
            counterexamples[one.name] = str(found)
            checks.append(Check(one.name, Status.FAILED, str(found)))
        except KeyboardInterrupt:
            words = f"interrupted after {len(checks)} properties"
            return L1Result(Status.INTERRUPTED, words, tuple(checks))
        examples += tried.value
        tick(1)
    if counterexamples:
        name = next(iter(counterexamples))
        status, words = Status.FAILED, f"{name}: {counterexamples[name]}"
    elif bare := next((one for one in checks if one.status is Status.NOT_SHOWN), None):
        status, words = Status.NOT_SHOWN, f"{bare.name}: {bare.detail}"
    else:
        status, words = Status.PASSED, f"{len(checks)} properties hold in {examples} examples"
    counts = {"properties": len(checks), "examples": examples}
    return L1Result(status, words, tuple(checks), counts=counts, counterexamples=counterexamples)


def amount(pair: Pair, work: Work) -> int:
    """Return how many properties there are."""
    return len(_invariants(pair)) + len(work.properties)


def phases(smaller: bool) -> tuple[Phase, ...]:
    """What hypothesis is to do: make examples up and, where wanted, look for smaller ones."""
    return (Phase.generate, Phase.shrink) if smaller else (Phase.generate,)


class EnoughError(BaseException):
    """Looking for a smaller example has taken long enough; nothing in between may catch this."""


class _Count:
    """How many examples were tried, in how many both sides raised, and the last that failed."""

    def __init__(self) -> None:
        self.value = 0
        self.raised = 0
        self.found: str | None = None
        self.until = math.inf

    def check(self, name: str) -> Check:
        """What came out where no example failed."""
        if self.value and self.raised == self.value:
            words = f"both sides raise in all of {self.value} examples, so nothing was compared"
            return Check(name, Status.NOT_SHOWN, words)
        return Check(name, Status.PASSED, f"{self.value} examples")

    def failed(self, words: str) -> None:
        """Note a counterexample; what hypothesis accepts while it shrinks is ever smaller."""
        if self.found is None:
            self.until = time.monotonic() + SHRINK_SECONDS
        self.found = words


def _try(one: Property, examples: int, tried: _Count, smaller: bool = True) -> None:
    """Look for a counterexample.

    Raises:
        CounterexampleError: There is one; it is the smallest that hypothesis found.
        TargetError: A side is gone.
        ArgumentError: The strategy gives no tuples of arguments.
    """

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=phases(smaller),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(one.strategy)
    def holds(arguments: tuple[Any, ...]) -> None:
        if time.monotonic() > tried.until:
            raise EnoughError
        tried.value += 1
        if not isinstance(arguments, tuple | list):
            raise ArgumentError(
                f"property {one.name!r}: got {_short(arguments)} from its strategy, expected a "
                "tuple of arguments, as st.tuples(...) gives it"
            )
        found = _disagreement(one, arguments, tried)
        if found is not None:
            tried.failed(f"{_called(arguments)}: {found}")
            raise CounterexampleError(tried.found)

    try:
        holds()
    except EnoughError:
        raise CounterexampleError(tried.found) from None
    except (InvalidArgument, Unsatisfiable) as error:
        raise ArgumentError(f"property {one.name!r}: its strategy: {error}") from error
    except HypothesisException as error:  # such as a function that is not the same twice
        raise CounterexampleError(f"{type(error).__name__}: {error}") from error


def _disagreement(one: Property, arguments: tuple[Any, ...], tried: _Count) -> str | None:
    """What is wrong with one example, in words."""
    if one.reference is None:
        held = _call(one.candidate, arguments)
        if held is True or held is np.True_:
            return None
        return held if isinstance(held, str) else f"does not hold ({held!r})"
    ours, theirs = (_call(side, arguments) for side in (one.reference, one.candidate))
    tried.raised += isinstance(ours, _Raised) and isinstance(theirs, _Raised)
    left, right = (dict(leaves(side, "result")) for side in (ours, theirs))
    if left.keys() != right.keys():
        return f"reference returns {_short(ours)}, candidate {_short(theirs)}"
    for path, a in left.items():
        if not _same(a, right[path], one.tol):
            return f"{path}: reference {_short(a)}, candidate {_short(right[path])}"
    return None


class _Raised(str):
    """What a function raised, in words."""

    __slots__ = ()


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except TargetError:
        raise
    except Exception as error:  # an error is a result too: both sides must raise the same kind
        return _Raised(f"raises {type(error).__name__}")


def _same(a: Any, b: Any, tol: float) -> bool:
    ours, theirs = np.asarray(a), np.asarray(b)
    if ours.shape != theirs.shape or (ours.dtype.kind in "biufc") != (theirs.dtype.kind in "biufc"):
        return False
    if ours.dtype.kind not in "iufc" or theirs.dtype.kind not in "iufc":
        return bool(np.array_equal(ours, theirs))
    if tol == 0:
        return np.array_equal(ours, theirs, equal_nan=True)
    return bool(np.allclose(ours, theirs, rtol=0, atol=tol, equal_nan=True))


def _invariants(pair: Pair) -> tuple[Property, ...]:
    episodes = made_up_episodes(pair.reference.action_space)

    def inside(seed: int, actions: Sequence[Any]) -> bool | str:
        play, _ = pair.lead(seed, legal(actions))
        [seen] = pair.follow([play])
        return outside(pair.candidate.observation_space, seen.columns, seen.taken) or True

    def finite(seed: int, actions: Sequence[Any]) -> bool:
        play, _ = pair.lead(seed, legal(actions))
        [seen] = pair.follow([play])
        return bool(np.isfinite(seen.columns["reward"]).all())

    return (
        Property("observations lie in their space", None, inside, episodes),
        Property("rewards are finite", None, finite, episodes),
    )


def made_up_episodes(space: gymnasium.Space[Any]) -> SearchStrategy[tuple[Any, ...]]:
    """Strategy of pairs of a seed and a list of actions."""
    seeds = st.integers(0, 2**SEED_BITS - 1)
    return st.tuples(seeds, st.lists(actions_of(space), max_size=MOST_ACTIONS))


def actions_of(space: gymnasium.Space[Any]) -> SearchStrategy[Any]:
    """Strategy of the actions of a space."""
    if isinstance(space, gymnasium.spaces.Discrete):
        first = int(space.start)
        return st.integers(first, first + int(space.n) - 1).map(np.int64)
    return st.integers(0, 2**32 - 1).map(lambda seed: draw(space, np.random.default_rng(seed)))


def legal(actions: Sequence[Any]) -> Chooser:
    """Choose the actions of a list that are legal, and leave out those that are not."""
    rest = iter(actions)

    def choose(obs: Any, mask: NDArray[Any] | None, step: int) -> Any:
        del obs, step
        for action in rest:
            if mask is None or np.ndim(action) or mask[int(action)]:
                return action
        return STOP

    return choose


def _called(arguments: tuple[Any, ...]) -> str:
    return f"({', '.join(map(_short, arguments))})"


def _short(value: Any) -> str:
    words = repr(value)
    return words if len(words) <= 200 else f"{words[:197]}..."
