"""Small environments whose right answers are known."""

# ruff: noqa: ARG002 - the contract passes what these games do not need

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from jax import Array

from hybridenv.envs import Box, Discrete


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Spot:
    t: Array
    goal: Array


class Signs:
    """Shows a sign in each step and pays 1 for naming it; some episodes end, others are cut off.

    An episode of an even first sign terminates after `length` steps, one of an odd sign is
    truncated then.
    """

    name = "signs"
    default_params = None

    def __init__(self, length: int = 5, continuous: bool = False) -> None:
        self.length = length
        self.continuous = continuous

    def observation_space(self, params: None) -> Box:
        return Box(0, 1, (4,))

    def action_space(self, params: None) -> Discrete | Box:
        return Box(-1, 1, (2,)) if self.continuous else Discrete(3)

    def observe(self, state: Spot, params: None) -> Array:
        return jnp.append(jax.nn.one_hot(state.goal, 3), state.t / self.length)

    def reset(self, key: Array, params: None) -> tuple[Array, Spot]:
        state = Spot(jnp.int32(0), jax.random.randint(key, (), 0, 3))
        return self.observe(state, params), state

    def step(
        self, key: Array, state: Spot, action: Array, params: None
    ) -> tuple[Array, Spot, Array, Array, Array, dict[str, Any]]:
        if self.continuous:
            target = jnp.stack([state.goal == 1, state.goal == 2]).astype(jnp.float32)
            reward = 1 - jnp.sum(jnp.square(action - target))
        else:
            reward = (action == state.goal).astype(jnp.float32)
        after = Spot(state.t + 1, jax.random.randint(key, (), 0, 3))
        over = after.t >= self.length
        odd = state.goal % 2 == 1
        return self.observe(after, params), after, reward, over & ~odd, over & odd, {}


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Nothing:
    """No parameters, as `check_env` wants them."""


class Doors:
    """Shows which of three doors are open; going through a closed one pays best, but is wrong.

    So whoever may choose a closed one learns to, and the score counts how often that was done.

    Args:
        shown: Whether the environment says that it shows what is legal.
    """

    name = "doors"
    default_params = Nothing()

    def __init__(self, shown: bool) -> None:
        self.shows_legal_actions = shown

    def score(self, reward: Array) -> Array:
        return jnp.floor(reward)

    def observation_space(self, params: Nothing) -> Box:
        return Box(0, 8, (4,))

    def action_space(self, params: Nothing) -> Discrete:
        return Discrete(3)

    def legal_actions(self, state: Spot, params: Nothing) -> Array:
        return jnp.arange(3) != state.goal

    def observe(self, state: Spot, params: Nothing) -> Array:
        return jnp.append(self.legal_actions(state, params), state.t).astype(jnp.float32)

    def reset(self, key: Array, params: Nothing) -> tuple[Array, Spot]:
        state = Spot(jnp.int32(0), jax.random.randint(key, (), 0, 3))
        return self.observe(state, params), state

    def step(
        self, key: Array, state: Spot, action: Array, params: Nothing
    ) -> tuple[Array, Spot, Array, Array, Array, dict[str, Any]]:
        reward = jnp.where(action == state.goal, 1.0, 0.25 * action)
        after = Spot(state.t + 1, jax.random.randint(key, (), 0, 3))
        return self.observe(after, params), after, reward, after.t >= 8, jnp.bool_(False), {}


class HostSigns(VectorEnv[Any, Any, Any]):
    """A counter in NumPy: shows its steps, pays them, and is cut off after `length` of them."""

    def __init__(self, n: int, mode: AutoresetMode, length: int = 3) -> None:
        self.num_envs = n
        self.metadata = {"autoreset_mode": mode}
        self.single_observation_space = gymnasium.spaces.Box(0, 100, (2,), np.float32)
        self.single_action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self._mode = mode
        self._length = length
        self.resets = 0
        self.actions: list[Any] = []

    def _obs(self) -> np.ndarray[Any, Any]:
        return np.stack([self._t, self._first], axis=1).astype(np.float32)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.resets += 1
        rng = np.random.default_rng(seed)
        self._first = rng.integers(0, 50, self.num_envs)
        self._t = np.zeros(self.num_envs, np.int64)
        self._over = np.zeros(self.num_envs, np.bool_)
        return self._obs(), {}

    def step(self, actions: Any) -> Any:
        self.actions.append(actions.copy())
        restart = self._over if self._mode is AutoresetMode.NEXT_STEP else np.zeros_like(self._over)
        self._t = np.where(restart, 0, self._t + 1)
        self._first = np.where(restart, self._first + 1, self._first)
        reward = np.where(restart, 0, self._t).astype(np.float64)
        over = (self._t >= self._length) & ~restart
        self._over = over
        info: dict[str, Any] = {}
        obs = self._obs()
        if self._mode is AutoresetMode.SAME_STEP and over.any():
            final = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(over):
                final[i] = obs[i]
            info = {"final_obs": final, "_final_obs": over.copy()}
            self._t = np.where(over, 0, self._t)
            self._first = np.where(over, self._first + 1, self._first)
            obs = self._obs()
        return obs, reward, np.zeros_like(over), over.copy(), info


class Tape:
    """In place of environments: hands out what was recorded, whatever is done."""

    def __init__(self, games: Any, obs: np.ndarray[Any, Any]) -> None:
        self._games, self._obs = games, obs

    def reset(self, key: Array, params: Any) -> tuple[Array, Array]:
        obs, _ = self._games.reset(key, params)
        return obs, jnp.zeros(len(obs), jnp.int32)

    def step_draws(self, key: Array, params: Any, shape: tuple[int, ...]) -> Array:
        return jnp.zeros(shape)

    def step_with(self, draw: Array, t: Array, action: Array, params: Any) -> tuple[Any, ...]:
        obs = jnp.asarray(self._obs)[t[0] % len(self._obs)]
        never = jnp.zeros(len(t), bool)
        return obs, t + 1, action[:, 0] * 0, never, never, {"final_obs": obs}
