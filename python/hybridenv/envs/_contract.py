"""What an environment is: functions of keys, states and parameters, without anything of its own.

`Environment` is what wrappers, trainers and `check_env` need; anything with these methods is one.
`ChanceEnvironment` is the base of those whose chance stands apart from their rules, so that it can
be drawn for many steps at once, recorded and replayed.
"""

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

import jax
from jax import Array

from hybridenv.envs._spaces import Space

State = TypeVar("State")
Params = TypeVar("Params")

Info: TypeAlias = dict[str, Any]
"""Further arrays by name; the same names, shapes and dtypes at every step."""
Draws: TypeAlias = Any
"""A pytree of arrays: the chance of one reset or one step."""


@runtime_checkable
class Environment(Protocol[State, Params]):
    """One game, as pure functions that `jax.jit`, `jax.vmap` and `jax.lax.scan` can take.

    States, observations, actions and infos are pytrees whose shapes and dtypes never change. A
    state is a frozen dataclass registered with `jax.tree_util.register_dataclass`; parameters are
    one too, and new values in them never compile anything anew. Keys are typed
    (`jax.random.key`). Episodes do not begin anew by themselves: see `AutoReset`. What `step`
    returns for an episode that has ended is up to the environment.

    An environment may also have `legal_actions(state, params)`, `shows_legal_actions` and
    `score(reward)`, see `ChanceEnvironment`, and `render(state, params)`, which draws one game
    outside of JAX (uint8[h, w, 3]), with `render_fps`, how many such pictures make a second of a
    film.
    """

    @property
    def name(self) -> str:
        """Name for messages and for the registry."""

    @property
    def default_params(self) -> Params:
        """Parameters to begin with."""

    def reset(self, key: Array, params: Params) -> tuple[Any, State]:
        """Start an episode.

        Args:
            key: A typed key.
            params: The parameters.

        Returns:
            The first observation and the state.
        """

    def step(
        self, key: Array, state: State, action: Array, params: Params
    ) -> tuple[Any, State, Array, Array, Array, Info]:
        """Play one step.

        Args:
            key: A typed key.
            state: The state.
            action: An element of `action_space(params)`.
            params: The parameters.

        Returns:
            Observation, state, reward (float32[]), terminated (bool[]), truncated (bool[]), info.
        """

    def observe(self, state: State, params: Params) -> Any:
        """Look at a state.

        Args:
            state: The state.
            params: The parameters.

        Returns:
            The observation that `reset` or `step` returned with this state.
        """

    def observation_space(self, params: Params) -> Space:
        """Return the space of observations."""

    def action_space(self, params: Params) -> Space:
        """Return the space of actions."""


class ChanceEnvironment(ABC, Generic[State, Params]):
    """Base of environments whose draws can be made apart from their rules.

    `reset` and `step` draw from their key and play with what was drawn. Whoever plays many steps
    saves time by drawing for all of them at once, with a `shape`; and whoever replays a recording
    hands its draws to `reset_with` and `step_with`.

    An environment of the same class and options should equal another, so that programs compiled
    for one serve the other; a frozen dataclass does.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Name for messages and for the registry."""

    @property
    @abstractmethod
    def default_params(self) -> Params:
        """Parameters to begin with."""

    @abstractmethod
    def reset_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> Draws:
        """Draw the chance of resets.

        Args:
            key: A typed key.
            params: The parameters.
            shape: Of how many resets.

        Returns:
            A pytree whose leaves begin with `shape`. The numbers differ between shapes.
        """

    @abstractmethod
    def step_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> Draws:
        """Draw the chance of steps; as `reset_draws`."""

    @abstractmethod
    def reset_with(self, draws: Draws, params: Params) -> tuple[Any, State]:
        """Start an episode with given draws; otherwise as `reset`."""

    @abstractmethod
    def step_with(
        self, draws: Draws, state: State, action: Array, params: Params
    ) -> tuple[Any, State, Array, Array, Array, Info]:
        """Play one step with given draws; otherwise as `step`."""

    def restart_with(self, draws: Draws, state: State, params: Params) -> tuple[Any, State]:
        """Start the next episode of the same player.

        Args:
            draws: Draws of a reset.
            state: The state in which the episode before ended.
            params: The parameters.

        Returns:
            As `reset_with`, which is what this does unless an environment carries something over
            from one episode to the next.
        """
        del state
        return self.reset_with(draws, params)

    def legal_actions(self, state: State, params: Params) -> Array | None:
        """Say which actions are allowed.

        Args:
            state: The state.
            params: The parameters.

        Returns:
            bool[n] for a `Discrete` action space of n, with at least one true unless the episode
            has ended; `None` where every action always is.
        """
        del state, params
        return None

    @property
    def shows_legal_actions(self) -> bool:
        """Whether observations begin with `legal_actions`, so that policies can choose by them.

        They are vectors then, whose first n entries are 1 where an action is allowed and 0
        elsewhere, at least until the episode has ended.
        """
        return False

    def score(self, reward: Array) -> Array:
        """Say how much of rewards counts as score, which training reports beside returns.

        Args:
            reward: float32[...], rewards of steps.

        Returns:
            float32[...], of each reward by itself: all of it, unless an environment also pays for
            what is no point yet.
        """
        return reward

    @property
    def unwrapped(self) -> Any:
        """The environment inside of all wrappers."""
        return self

    @abstractmethod
    def observe(self, state: State, params: Params) -> Any:
        """Look at a state, see `Environment.observe`."""

    @abstractmethod
    def observation_space(self, params: Params) -> Space:
        """Return the space of observations."""

    @abstractmethod
    def action_space(self, params: Params) -> Space:
        """Return the space of actions."""

    def reset(self, key: Array, params: Params) -> tuple[Any, State]:
        """Start an episode, see `Environment.reset`."""
        return self.reset_with(self.reset_draws(key, params), params)

    def step(
        self, key: Array, state: State, action: Array, params: Params
    ) -> tuple[Any, State, Array, Array, Array, Info]:
        """Play one step, see `Environment.step`."""
        return self.step_with(self.step_draws(key, params), state, action, params)


class KeyedChance(ChanceEnvironment[State, Params]):
    """Any environment as a `ChanceEnvironment`: its draws are the keys themselves.

    Args:
        env: The environment.
    """

    def __init__(self, env: Environment[State, Params]) -> None:
        self._env = env

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyedChance) and self._env == other._env

    def __hash__(self) -> int:
        return hash((KeyedChance, self._env))

    @property
    def unwrapped(self) -> Any:
        """The environment itself."""
        return self._env

    @property
    def name(self) -> str:
        """Name of the environment."""
        return self._env.name

    @property
    def default_params(self) -> Params:
        """Its parameters to begin with."""
        return self._env.default_params

    def reset_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> Draws:
        """Split the key: key[*shape]."""
        del params
        return key if shape == () else jax.random.split(key, shape)

    step_draws = reset_draws

    def reset_with(self, draws: Draws, params: Params) -> tuple[Any, State]:
        """Start an episode with a key."""
        return self._env.reset(draws, params)

    def step_with(
        self, draws: Draws, state: State, action: Array, params: Params
    ) -> tuple[Any, State, Array, Array, Array, Info]:
        """Play one step with a key."""
        return self._env.step(draws, state, action, params)

    def legal_actions(self, state: State, params: Params) -> Array | None:
        """Say which actions are allowed, where the environment does."""
        legal = getattr(self._env, "legal_actions", None)
        return None if legal is None else legal(state, params)

    @property
    def shows_legal_actions(self) -> bool:
        """Whether observations begin with them, where the environment says so."""
        return bool(getattr(self._env, "shows_legal_actions", False))

    def score(self, reward: Array) -> Array:
        """Say how much of rewards counts as score, where the environment does."""
        score = getattr(self._env, "score", None)
        return score(reward) if callable(score) else reward

    def observe(self, state: State, params: Params) -> Any:
        """Look at a state."""
        return self._env.observe(state, params)

    def observation_space(self, params: Params) -> Space:
        """Return the space of observations."""
        return self._env.observation_space(params)

    def action_space(self, params: Params) -> Space:
        """Return the space of actions."""
        return self._env.action_space(params)


def with_chance(
    env: Environment[State, Params] | ChanceEnvironment[State, Params],
) -> ChanceEnvironment[State, Params]:
    """Return an environment whose draws stand apart: the same one, or a `KeyedChance` of it."""
    return env if isinstance(env, ChanceEnvironment) else KeyedChance(env)
