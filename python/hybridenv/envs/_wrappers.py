"""Wrappers: episodes that begin anew, many games at once, and what an episode came to."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from hybridenv.checks import whole
from hybridenv.envs._contract import (
    ChanceEnvironment,
    Draws,
    Environment,
    Info,
    Params,
    State,
    with_chance,
)
from hybridenv.envs._spaces import Space

Tree = TypeVar("Tree")


class Wrapper(ChanceEnvironment[State, Params]):
    """An environment that hands everything on to another one; the base of wrappers.

    Args:
        env: The environment inside.

    Attributes:
        env: The same, as a `ChanceEnvironment`.
    """

    def __init__(self, env: Environment[State, Params] | ChanceEnvironment[State, Params]) -> None:
        self.env = with_chance(env)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    @property
    def unwrapped(self) -> Any:
        """The environment inside of all wrappers."""
        return self.env.unwrapped

    @property
    def name(self) -> str:
        """Name of the environment inside."""
        return self.env.name

    @property
    def default_params(self) -> Params:
        """Parameters of the environment inside."""
        return self.env.default_params

    def reset_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> Draws:
        """Draw the chance of resets."""
        return self.env.reset_draws(key, params, shape)

    def step_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> Draws:
        """Draw the chance of steps."""
        return self.env.step_draws(key, params, shape)

    def reset_with(self, draws: Draws, params: Params) -> tuple[Any, State]:
        """Start an episode."""
        return self.env.reset_with(draws, params)

    def restart_with(self, draws: Draws, state: State, params: Params) -> tuple[Any, State]:
        """Start the next episode."""
        return self.env.restart_with(draws, state, params)

    def step_with(
        self, draws: Draws, state: State, action: Array, params: Params
    ) -> tuple[Any, State, Array, Array, Array, Info]:
        """Play one step."""
        return self.env.step_with(draws, state, action, params)

    def legal_actions(self, state: State, params: Params) -> Array | None:
        """Say which actions are allowed."""
        return self.env.legal_actions(state, params)

    @property
    def shows_legal_actions(self) -> bool:
        """Whether observations begin with them; no longer so where a wrapper changes them."""
        return self.env.shows_legal_actions

    def score(self, reward: Array) -> Array:
        """Say how much of rewards counts as score."""
        return self.env.score(reward)

    def observe(self, state: State, params: Params) -> Any:
        """Look at a state."""
        return self.env.observe(state, params)

    def observation_space(self, params: Params) -> Space:
        """Return the space of observations."""
        return self.env.observation_space(params)

    def action_space(self, params: Params) -> Space:
        """Return the space of actions."""
        return self.env.action_space(params)


class AutoReset(Wrapper[State, Params]):
    """Starts the next episode within the step that ends one.

    Observation and state of such a step are those of the new episode. The observation that the
    step really led to is never lost: `info["final_obs"]` has it at every step (where no episode
    ended it equals the observation), and `info["_final_obs"]` (bool[]) says whether one ended.
    Bootstrap from `final_obs`. Where nobody reads it, `jax.jit` does not compute it.

    Put it inside of `Batch`.
    """

    def step_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> Draws:
        """Draw the chance of a step and of the restart that may follow it."""
        step, restart = jax.random.split(key)
        return (
            self.env.step_draws(step, params, shape),
            self.env.reset_draws(restart, params, shape),
        )

    def step_with(
        self, draws: Draws, state: State, action: Array, params: Params
    ) -> tuple[Any, State, Array, Array, Array, Info]:
        """Play one step, and start over where it ended the episode."""
        for_step, for_restart = draws
        obs, state, reward, terminated, truncated, info = self.env.step_with(
            for_step, state, action, params
        )
        ended = terminated | truncated
        _, fresh = self.env.restart_with(for_restart, state, params)
        state = choose(ended, fresh, state)
        info = {**info, "final_obs": obs, "_final_obs": ended}
        # Looking once more is cheaper than looking at both states and choosing a picture.
        obs = self.env.observe(state, params)
        return obs, state, reward, terminated, truncated, info


class Batch(Wrapper[State, Params]):
    """n games played together: every array has a leading axis of n, parameters are shared.

    Args:
        env: The environment of one game.
        n: How many games, at least 1.

    Attributes:
        n: The same.

    Raises:
        ArgumentError: `n` is no such number.
    """

    def __init__(
        self, env: Environment[State, Params] | ChanceEnvironment[State, Params], n: int
    ) -> None:
        super().__init__(env)
        self.n = whole("Batch n", n, 1, 2**31 - 1)

    def reset_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> Draws:
        """Draw for all games at once; leaves begin with (*shape, n)."""
        return self.env.reset_draws(key, params, (*shape, self.n))

    def step_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> Draws:
        """Draw for all games at once; leaves begin with (*shape, n)."""
        return self.env.step_draws(key, params, (*shape, self.n))

    def reset_with(self, draws: Draws, params: Params) -> tuple[Any, State]:
        """Start n episodes."""
        return jax.vmap(self.env.reset_with, (0, None), axis_size=self.n)(draws, params)

    def restart_with(self, draws: Draws, state: State, params: Params) -> tuple[Any, State]:
        """Start the next episodes of all games."""
        return jax.vmap(self.env.restart_with, (0, 0, None))(draws, state, params)

    def step_with(
        self, draws: Draws, state: State, action: Array, params: Params
    ) -> tuple[Any, State, Array, Array, Array, Info]:
        """Play one step of every game."""
        return jax.vmap(self.env.step_with, (0, 0, 0, None))(draws, state, action, params)

    def observe(self, state: State, params: Params) -> Any:
        """Look at all games."""
        return jax.vmap(self.env.observe, (0, None))(state, params)

    def legal_actions(self, state: State, params: Params) -> Array | None:
        """Say which actions are allowed in each game, bool[n, actions] or `None`."""
        return jax.vmap(self.env.legal_actions, (0, None))(state, params)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Timed(Generic[State]):
    """A state with the number of steps that led to it.

    Attributes:
        inner: State of the environment inside.
        elapsed: Steps since the episode began, int32[].
    """

    inner: State
    elapsed: Array


class TimeLimit(Wrapper[Timed[State], Params]):
    """Truncates an episode after so many steps, unless it terminates in the last one.

    Args:
        env: The environment of one game.
        max_steps: How many, at least 1.

    Raises:
        ArgumentError: `max_steps` is no such number.
    """

    env: ChanceEnvironment[Any, Params]

    def __init__(
        self, env: Environment[State, Params] | ChanceEnvironment[State, Params], max_steps: int
    ) -> None:
        self.env = with_chance(env)
        self.max_steps = whole("TimeLimit max_steps", max_steps, 1, 2**31 - 1)

    def reset_with(self, draws: Draws, params: Params) -> tuple[Any, Timed[State]]:
        """Start an episode."""
        obs, inner = self.env.reset_with(draws, params)
        return obs, Timed(inner, jnp.zeros((), jnp.int32))

    def restart_with(
        self, draws: Draws, state: Timed[State], params: Params
    ) -> tuple[Any, Timed[State]]:
        """Start the next episode."""
        obs, inner = self.env.restart_with(draws, state.inner, params)
        return obs, Timed(inner, jnp.zeros((), jnp.int32))

    def step_with(
        self, draws: Draws, state: Timed[State], action: Array, params: Params
    ) -> tuple[Any, Timed[State], Array, Array, Array, Info]:
        """Play one step."""
        obs, inner, reward, terminated, truncated, info = self.env.step_with(
            draws, state.inner, action, params
        )
        state = Timed(inner, state.elapsed + 1)
        truncated = truncated | ((state.elapsed >= self.max_steps) & ~terminated)
        return obs, state, reward, terminated, truncated, info

    def observe(self, state: Timed[State], params: Params) -> Any:
        """Look at a state."""
        return self.env.observe(state.inner, params)

    def legal_actions(self, state: Timed[State], params: Params) -> Array | None:
        """Say which actions are allowed."""
        return self.env.legal_actions(state.inner, params)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Episode(Generic[State]):
    """A state with what its episode came to so far.

    Attributes:
        inner: State of the environment inside.
        total: Sum of rewards, float32[].
        length: Steps, int32[].
    """

    inner: State
    total: Array
    length: Array


class EpisodeStatistics(Wrapper[Episode[State], Params]):
    """Reports `info["episode_return"]` (float32[]) and `info["episode_length"]` (int32[]).

    Both count from the start of the episode through this step; at a step that ends an episode they
    are its totals. Put it inside of `AutoReset`.
    """

    env: ChanceEnvironment[Any, Params]

    def reset_with(self, draws: Draws, params: Params) -> tuple[Any, Episode[State]]:
        """Start an episode."""
        obs, inner = self.env.reset_with(draws, params)
        return obs, _start(inner)

    def restart_with(
        self, draws: Draws, state: Episode[State], params: Params
    ) -> tuple[Any, Episode[State]]:
        """Start the next episode."""
        obs, inner = self.env.restart_with(draws, state.inner, params)
        return obs, _start(inner)

    def step_with(
        self, draws: Draws, state: Episode[State], action: Array, params: Params
    ) -> tuple[Any, Episode[State], Array, Array, Array, Info]:
        """Play one step."""
        obs, inner, reward, terminated, truncated, info = self.env.step_with(
            draws, state.inner, action, params
        )
        state = Episode(inner, state.total + reward, state.length + 1)
        info = {**info, "episode_return": state.total, "episode_length": state.length}
        return obs, state, reward, terminated, truncated, info

    def observe(self, state: Episode[State], params: Params) -> Any:
        """Look at a state."""
        return self.env.observe(state.inner, params)

    def legal_actions(self, state: Episode[State], params: Params) -> Array | None:
        """Say which actions are allowed."""
        return self.env.legal_actions(state.inner, params)


def _start(inner: State) -> Episode[State]:
    return Episode(inner, jnp.zeros((), jnp.float32), jnp.zeros((), jnp.int32))


def choose(mask: Array, new: Tree, old: Tree) -> Tree:
    """Choose between two pytrees.

    Args:
        mask: bool of a shape with which that of every leaf begins.
        new: What to take where it is true.
        old: What to take where it is false.

    Returns:
        A pytree like both.
    """

    def one(new: Array, old: Array) -> Array:
        return jnp.where(mask.reshape(mask.shape + (1,) * (jnp.ndim(new) - mask.ndim)), new, old)

    chosen: Tree = jax.tree.map(one, new, old)
    return chosen
