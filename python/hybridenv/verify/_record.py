"""Episodes as tables: what is to be played, what was seen, and the loop between them.

Every number that an environment hands out goes into a named column (`obs['x']`, `reward`,
`info['score']`) with one row for each reset and each step, so that two sides are compared as
arrays instead of value by value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybridenv.errors import TargetError
from hybridenv.trees import leaves

if TYPE_CHECKING:
    from hybridenv.verify._target import Target

EnvState: TypeAlias = Mapping[str, Any]
"""Arrays by name: the state of an environment as it hands it out."""
Draws: TypeAlias = Any
"""The chance of one reset or step, as the reference recorded it."""
Chooser: TypeAlias = Callable[[Any, NDArray[Any] | None, int], Any]
"""(observation, legal actions or `None`, number of actions so far) -> action; `STOP` ends it."""

FLAGS = ("terminated", "truncated")


class RemoteError(Exception):
    """What an environment raised in its own process; the message has the type and its words."""


class _Stop:
    """The type of `STOP`."""


STOP = _Stop()
"""What a `Chooser` returns in place of an action to end the play."""


class _Missing:
    """The type of `MISSING`; there is one in every process."""

    def __reduce__(self) -> str:
        return "MISSING"

    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()
"""What a column holds in rows that did not have its key."""


@dataclass(frozen=True)
class Play:
    """What one side is to play.

    Attributes:
        seed: Seed of the first reset.
        actions: Actions in order.
        restarts: How many further episodes follow where one ends, each by a reset without a seed.
        start: State to put in after the first reset, or `None`.
        tape: Draws for each row (resets and steps), or `None`.
        anchors: State to put in before each step, or `None`.
    """

    seed: int
    actions: Sequence[Any]
    restarts: int = 0
    start: EnvState | None = None
    tape: Sequence[Draws] | None = None
    anchors: Sequence[EnvState] | None = None


@dataclass(frozen=True)
class Trajectory:
    """What one side showed.

    Attributes:
        columns: Arrays by name, each with one row for every reset and step. Resets have reward 0
            and no flag set.
        taken: int64[rows], actions before each row.
        ended: Whether the last row ended an episode.
        error: What a step or reset raised after the last row, or `None`.
        states: The state after each row where it was asked for, or `None`.
        tape: The draws of each row where they were asked for, or `None`.
    """

    columns: dict[str, NDArray[Any]]
    taken: NDArray[np.int64]
    ended: bool
    error: str | None = None
    states: list[EnvState] | None = None
    tape: list[Draws] | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.taken)

    @property
    def steps(self) -> int:
        """Number of actions that led to the last row."""
        return int(self.taken[-1]) if self.rows else 0

    @property
    def total(self) -> float:
        """Sum of rewards."""
        return float(self.columns["reward"].sum()) if self.rows else 0.0


@dataclass
class Recorder:
    """Collects rows and makes columns of them."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)
    steps: int = 0
    ended: bool = False

    def reset(self, obs: Any, info: Mapping[str, Any], mask: NDArray[Any] | None) -> None:
        """Note what a reset returned."""
        self._add(obs, 0.0, (False, False), info, mask)

    def step(self, seen: tuple[Any, Any, Any, Any, Any], mask: NDArray[Any] | None) -> None:
        """Note what a step returned."""
        obs, reward, terminated, truncated, info = seen
        self.steps += 1
        self._add(obs, reward, (bool(terminated), bool(truncated)), info, mask)

    def _add(
        self,
        obs: Any,
        reward: Any,
        flags: tuple[bool, bool],
        info: Mapping[str, Any],
        mask: NDArray[Any] | None,
    ) -> None:
        row: dict[str, Any] = {}
        for name, tree in (("obs", obs), ("info", dict(info))):
            for path, leaf in leaves(tree, name):
                # A copy, because an environment may write into what it handed out before.
                row[path] = np.array(leaf) if isinstance(leaf, np.ndarray) else leaf
        row["reward"] = float(reward)
        row["terminated"], row["truncated"] = flags
        if mask is not None:
            row["mask"] = np.array(mask)
        self.rows.append(row)
        self.taken.append(self.steps)
        self.ended = any(flags)

    def trajectory(self, **rest: Any) -> Trajectory:
        """Make the columns."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        columns = {name: _stack([row.get(name, MISSING) for row in self.rows]) for name in names}
        return Trajectory(columns, np.array(self.taken, np.int64), self.ended, **rest)


def _stack(values: list[Any]) -> NDArray[Any]:
    """One array of all values; of dtype object where they are not all of one kind."""
    if not any(value is MISSING or isinstance(value, str | bytes) for value in values):
        arrays = [np.asarray(value) for value in values]
        first = arrays[0]
        if all(a.dtype == first.dtype and a.shape == first.shape for a in arrays):
            return np.stack(arrays)
    column = np.empty(len(values), np.object_)
    column[:] = values
    return column


def drive(
    target: "Target",
    seed: int,
    choose: Chooser,
    *,
    max_steps: int,
    restarts: int = 0,
    start: EnvState | None = None,
    tape: Sequence[Draws] | None = None,
    anchors: Sequence[EnvState] | None = None,
    keep_states: bool = False,
    keep_tape: bool = False,
) -> tuple[list[Any], Trajectory]:
    """Play step by step and write down everything.

    Args:
        target: Who plays.
        seed: Seed of the first reset.
        choose: Who chooses.
        max_steps: Most actions.
        restarts: As in `Play`.
        start: As in `Play`.
        tape: As in `Play`.
        anchors: As in `Play`.
        keep_states: Keep the state after each row.
        keep_tape: Keep the draws of each row.

    Returns:
        The actions, and what was seen. What a step or reset raises is part of what was seen.

    Raises:
        TargetError: The target is gone: its process ended or does not answer.
    """
    record = Recorder()
    actions: list[Any] = []
    states: list[EnvState] | None = [] if keep_states else None
    kept: list[Draws] | None = [] if keep_tape else None
    draws = iter(tape or ())
    error, left = None, restarts

    def note() -> None:
        if states is not None:
            states.append(target.get_state())
        if kept is not None:
            kept.append(target.take_chance())

    def reset(seed: int | None) -> Any:
        _hand_over(target, tape, draws)
        obs, info = target.reset(seed)
        if start is not None and seed is not None:
            obs = inject(target, start)
        mask = target.action_mask()
        record.reset(obs, info, mask)
        note()
        return obs, mask

    try:
        obs, mask = reset(seed)
        while len(actions) < max_steps:
            if record.ended:
                if left == 0:
                    break
                left -= 1
                obs, mask = reset(None)
            action = choose(obs, mask, len(actions))
            if action is STOP:
                break
            _hand_over(target, tape, draws)
            if anchors is not None:
                target.set_state(anchors[len(record.rows) - 1])
            actions.append(action)
            seen = target.step(action)
            obs, mask = seen[0], target.action_mask()
            record.step(seen, mask)
            note()
    except TargetError:
        raise
    except Exception as failure:  # whatever an environment raises is what is to be compared
        error = raised(failure)
    return actions, record.trajectory(error=error, states=states, tape=kept)


def inject(target: "Target", state: EnvState) -> Any:
    """Put a state into a target and look at it.

    Raises:
        TargetError: The target does not say what is seen in that state.
    """
    seen = target.set_state(state)
    if seen is None:
        raise TargetError(
            f"{target.identity.name}: set_state returned None, expected the observation of the "
            "state, because injected states are compared from the first look on"
        )
    return seen


def raised(error: Exception) -> str:
    """What an environment raised, in words, whether it lives in this process or in its own."""
    return str(error) if isinstance(error, RemoteError) else f"{type(error).__name__}: {error}"


def _hand_over(target: "Target", tape: Sequence[Draws] | None, draws: Iterator[Draws]) -> None:
    if tape is not None:
        target.set_chance(next(draws, None))


def plain(value: Any) -> Any:
    """Make plain data of an action, a state or draws: numbers, lists and dicts."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


def listed(actions: Sequence[Any]) -> Chooser:
    """Choose the actions of a list, then stop."""

    def choose(obs: Any, mask: NDArray[Any] | None, step: int) -> Any:
        del obs, mask
        return actions[step] if step < len(actions) else STOP

    return choose
