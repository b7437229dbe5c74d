"""Gymnasium's plain environments, and whatever has their methods."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env as gymnasium_check
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from hybridenv.errors import TargetError
from hybridenv.verify._record import Draws, EnvState, inject
from hybridenv.verify._target import Identity, Offer, Seen, Target

ELAPSED = "elapsed_steps"
"""Name of the steps that a time limit has counted, in the state of an environment."""


class GymTarget(Target):
    """An environment with Gymnasium's `reset` and `step`.

    States come from `get_state` and `set_state` where the environment has them. Otherwise an
    attribute `state`, as those of classic control have, is one, together with the count of a time
    limit around it.

    Args:
        env: The environment.
        identity: Who it is.
    """

    def __init__(self, env: Any, identity: Identity) -> None:
        self.identity = identity
        self.env = env
        self._inner = getattr(env, "unwrapped", env)
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self._limit = _time_limit(env)
        self._bare = not self._finds("get_state") and self._has_plain_state()
        found: list[Offer] = []
        if self._bare or (self._finds("get_state") and self._finds("set_state")):
            found.append("state")
        if self._finds("action_mask"):
            found.append("mask")
        if self._finds("take_chance"):
            found.append("tape")
        if self._finds("set_chance"):
            found.append("chance")
        self.offers = frozenset(found)
        # Lanes are further environments of the same kind.
        self.lanes = isinstance(env, gymnasium.Env) and env.spec is not None
        self._lanes: list[GymTarget] = []
        self._going: list[bool] = []

    def reset(self, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        obs, info = _parts("reset", self.env.reset(seed=seed), 2)
        return obs, info

    def step(self, action: Any) -> Seen:
        """Play one step."""
        seen: Seen = _parts("step", self.env.step(action), 5)
        return seen

    def get_state(self) -> EnvState:
        """Return the state."""
        if "state" not in self.offers:
            return super().get_state()
        if self._bare:
            state = {"state": np.array(self._inner.state)}
        else:
            state = dict(self._inner.get_state())
        if self._limit is not None:
            state[ELAPSED] = np.array(self._limit._elapsed_steps)
        return state

    def set_state(self, state: EnvState) -> Any:
        """Take over a state."""
        if "state" not in self.offers:
            return super().set_state(state)
        if self._limit is not None and ELAPSED in state:
            self._limit._elapsed_steps = int(state[ELAPSED])
        if not self._bare:
            return self._inner.set_state(state)
        if "state" not in state:
            raise TargetError(
                f"{self.identity.name}: got a state with {', '.join(state) or 'no names'}, "
                "expected one named 'state'"
            )
        self._inner.state = np.array(state["state"])
        return None

    def action_mask(self) -> NDArray[Any] | None:
        """Return which actions are legal."""
        if "mask" not in self.offers:
            return None
        return np.asarray(self._inner.action_mask())

    def take_chance(self) -> Draws:
        """Return the draws since the last call."""
        return self._inner.take_chance() if "tape" in self.offers else super().take_chance()

    def set_chance(self, draws: Draws) -> None:
        """Use these draws next."""
        if "chance" not in self.offers:
            super().set_chance(draws)
        self._inner.set_chance(draws)

    def start_lanes(
        self, seeds: Sequence[int], starts: Sequence[EnvState] | None = None, keep: bool = False
    ) -> tuple[list[Any], list[EnvState] | None]:
        """Start an episode in each of n environments of this kind."""
        while self.lanes and len(self._lanes) < len(seeds):
            self._lanes.append(type(self)(gymnasium.make(self.env.spec), self.identity))
        lanes = self._lanes[: len(seeds)]
        seen = [lane.reset(seed)[0] for lane, seed in zip(lanes, seeds, strict=True)]
        if starts is not None:
            seen = [inject(lane, state) for lane, state in zip(lanes, starts, strict=True)]
        self._going = [True] * len(lanes)
        return seen, [lane.get_state() for lane in lanes] if keep else None

    def step_lanes(
        self, actions: Sequence[Any]
    ) -> tuple[list[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Play one step in each of them, but for those whose episodes have ended."""
        seen: list[Any] = [None] * len(actions)
        rewards, ended = np.zeros(len(actions)), np.zeros(len(actions), np.bool_)
        for i, action in enumerate(actions):
            if self._going[i]:
                seen[i], rewards[i], terminated, truncated, _ = self._lanes[i].step(action)
                ended[i] = terminated or truncated
                self._going[i] = not ended[i]
        return seen, rewards, ended

    def api_problems(self) -> list[str] | None:
        """Run Gymnasium's `check_env`; what it warns of is a finding too, style apart."""
        if not isinstance(self.env, gymnasium.Env):
            return None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                gymnasium_check(self._inner, skip_render_check=True)
            except Exception as error:  # it raises assertions and whatever the environment does
                return [f"{type(error).__name__}: {error}"]
        return [text for text in (str(one.message) for one in caught) if not _style(text)]

    def close(self) -> None:
        """Close the environment and its lanes."""
        for lane in self._lanes:
            lane.close()
        close = getattr(self.env, "close", None)
        if close is not None:
            close()

    def _has_plain_state(self) -> bool:
        """Whether an attribute `state` holds numbers once an episode has begun."""
        if not isinstance(self.env, gymnasium.Env):
            return False
        try:
            self.env.reset(seed=0)
        except Exception:  # level 0 says what is wrong with it
            return False
        value = np.asarray(getattr(self._inner, "state", None))
        return value.dtype.kind in "iuf" and value.size > 0

    def _finds(self, name: str) -> bool:
        return callable(getattr(self._inner, name, None))


def _parts(method: str, seen: Any, count: int) -> Any:
    """What a method returned, where it is a tuple of so many parts with an info behind."""
    if not isinstance(seen, tuple | list) or len(seen) != count:
        got = f"{len(seen)} values" if isinstance(seen, tuple | list) else type(seen).__name__
        raise TypeError(f"{method} returned {got}, expected a tuple of {count}")
    if not isinstance(seen[-1], Mapping):
        raise TypeError(f"{method} returned {type(seen[-1]).__name__} as info, expected a dict")
    return seen


def _time_limit(env: Any) -> Any:
    """The time limit among the wrappers around an environment."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, TimeLimit):
            return env
        env = env.env
    return None


def _style(text: str) -> bool:
    """Whether a warning of Gymnasium is advice, not a broken rule."""
    return any(
        sign in text for sign in ("symmetric and normalized", "spec", "is -infinity", "is infinity")
    )
