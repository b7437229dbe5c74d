"""`Target`: one side of a comparison, and what a user's own environment may offer."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import gymnasium
import numpy as np
from numpy.typing import NDArray

from hybridenv.errors import TargetError
from hybridenv.verify._record import Draws, EnvState, Play, Trajectory, drive, listed

Offer: TypeAlias = Literal["state", "mask", "tape", "chance"]
"""What a target can do beyond playing: hand out and take states, name its legal actions, record its
draws, and replay those of another."""

Seen: TypeAlias = tuple[Any, Any, Any, Any, Any]
"""Observation, reward, terminated, truncated and info of a step."""


@runtime_checkable
class VerifiableEnv(Protocol):
    """What a user's environment must have to be verified: any Gymnasium environment has it.

    Each further method unlocks more and is found by its name: `get_state() -> dict` and
    `set_state(dict)` (injected states and re-anchoring; `set_state` may return the observation of
    the state), `action_mask() -> bool[n]`, `take_chance()` (the draws made since it was last
    called) and `set_chance(draws)` (the draws to use in the next reset or step).
    """

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; `None` goes on with the stream of random numbers."""

    def step(self, action: Any) -> Seen:
        """Play one step."""


@dataclass(frozen=True)
class Identity:
    """Who a target is, for the report and for cutting it off from the other one.

    Attributes:
        name: What the user called it.
        modules: Modules that its rules are in; none where they are not in Python.
        version: Version of the package that it is from, or `None`.
        commit: Commit of the checkout that it is from, or `None`.
    """

    name: str
    modules: tuple[str, ...] = ()
    version: str | None = None
    commit: str | None = None


class Target(ABC):
    """One side, whatever it is made of.

    Attributes:
        identity: Who it is.
        observation_space: Gymnasium's space of one observation.
        action_space: Gymnasium's space of one action.
        offers: What it can do beyond playing.
        batch: How many plays it likes to be given at once.
        vector: Whether plays of one call run side by side as lanes of one environment.
        lanes: Whether several episodes go on side by side while somebody chooses the actions.
    """

    identity: Identity
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    offers: frozenset[Offer] = frozenset()
    batch: int = 1
    vector: bool = False
    lanes: bool = False

    @abstractmethod
    def reset(self, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: The seed; `None` goes on with the stream of random numbers.

        Returns:
            The observation and the info.
        """

    @abstractmethod
    def step(self, action: Any) -> Seen:
        """Play one step.

        Args:
            action: An element of `action_space`.

        Returns:
            Observation, reward, terminated, truncated and info.
        """

    def get_state(self) -> EnvState:
        """Return the state as arrays by name.

        Raises:
            TargetError: `"state"` is not among `offers`.
        """
        raise self._lacks("get_state")

    def set_state(self, state: EnvState) -> Any:
        """Take over a state of the other side; names that it does not have are left as they are.

        Args:
            state: Arrays by name.

        Returns:
            The observation of that state, or `None` where it cannot be told.

        Raises:
            TargetError: `"state"` is not among `offers`.
        """
        del state
        raise self._lacks("set_state")

    def action_mask(self) -> NDArray[Any] | None:
        """Return which actions are legal now, bool[n], or `None` where all always are."""
        return None

    def take_chance(self) -> Draws:
        """Return the draws made since this was last called.

        Raises:
            TargetError: `"tape"` is not among `offers`.
        """
        raise self._lacks("take_chance")

    def set_chance(self, draws: Draws) -> None:
        """Use these draws in the next reset or step.

        Args:
            draws: What `take_chance` of the other side returned.

        Raises:
            TargetError: `"chance"` is not among `offers`.
        """
        del draws
        raise self._lacks("set_chance")

    def rollouts(self, plays: Sequence[Play]) -> list[Trajectory]:
        """Play a number of plays; adapters that can do so play them side by side.

        Args:
            plays: What to play.

        Returns:
            What was seen in each.
        """
        return [self.rollout(play) for play in plays]

    def rollout(self, play: Play) -> Trajectory:
        """Play one play, step by step."""
        return drive(
            self,
            play.seed,
            listed(play.actions),
            max_steps=len(play.actions),
            restarts=play.restarts,
            start=play.start,
            tape=play.tape,
            anchors=play.anchors,
        )[1]

    def start_lanes(
        self, seeds: Sequence[int], starts: Sequence[EnvState] | None = None, keep: bool = False
    ) -> tuple[list[Any], list[EnvState] | None]:
        """Start an episode in each of n lanes.

        Args:
            seeds: Seeds of the episodes.
            starts: State to put in after each reset, or `None`.
            keep: Also hand out the states.

        Returns:
            The observations, and the states where they were asked for.

        Raises:
            TargetError: `lanes` is false.
        """
        del seeds, starts, keep
        raise self._lacks("start_lanes")

    def step_lanes(
        self, actions: Sequence[Any]
    ) -> tuple[list[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Play one step in every lane; those whose episodes have ended may do nothing.

        Args:
            actions: An element of `action_space` for each lane.

        Returns:
            Observations, rewards and whether the episodes have ended with this step.

        Raises:
            TargetError: `lanes` is false.
        """
        del actions
        raise self._lacks("step_lanes")

    def api_problems(self) -> list[str] | None:
        """Run the checks that exist for this kind of environment.

        Returns:
            What they found; `None` where there are none for this kind.
        """
        return None

    def close(self) -> None:  # noqa: B027  # most hold nothing
        """Free what the target holds."""

    def _lacks(self, method: str) -> TargetError:
        return TargetError(
            f"{self.identity.name}: got a call of {method}, but it offers "
            f"{', '.join(sorted(self.offers)) or 'nothing'} beyond playing"
        )


def require_posix(what: str, instead: str) -> None:
    """Refuse what needs pipes that can be inherited and waited for.

    Args:
        what: What needs them, for the message.
        instead: What a user can do without them.

    Raises:
        TargetError: This is no POSIX system.
    """
    if os.name != "posix":
        raise TargetError(
            f"{what}: got the system {os.name!r}, expected a POSIX system such as Linux or macOS; "
            f"{instead}"
        )
