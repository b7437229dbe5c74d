"""MountainCar-v0 in JAX, written from its rules."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hybridenv.envs import Box, Discrete


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """Fields have the names that Gymnasium's environment and its time limit have."""

    state: Array  # float32[2]: position and velocity
    elapsed_steps: Array  # int32[]


@dataclass(frozen=True)
class MountainCar:
    """Rock an engine that is too weak up a hill, within 200 steps."""

    name: str = "mountain-car"
    default_params: None = None

    def reset(self, key: Array, params: None) -> tuple[Array, State]:
        position = jax.random.uniform(key, (), jnp.float32, -0.6, -0.4)
        state = State(jnp.stack([position, jnp.float32(0)]), jnp.int32(0))
        return self.observe(state, params), state

    def step(self, key: Array, state: State, action: Array, params: None) -> Any:
        position, velocity = self.drive(state.state[0], state.state[1], action)
        elapsed = state.elapsed_steps + 1
        state = State(jnp.stack([position, velocity]), elapsed)
        done = self.arrived(position, velocity)
        reward = self.reward(done)
        return self.observe(state, params), state, reward, done, self.late(elapsed), {}

    def drive(self, position: Array, velocity: Array, action: Array) -> tuple[Array, Array]:
        velocity = velocity + (action - 1) * 0.001 + jnp.cos(3 * position) * -0.0025
        velocity = jnp.clip(velocity, -0.07, 0.07)
        position = jnp.clip(position + velocity, -1.2, 0.6)
        velocity = jnp.where((position <= -1.2) & (velocity < 0), 0.0, velocity)
        return position, velocity

    def arrived(self, position: Array, velocity: Array) -> Array:
        return (position >= 0.5) & (velocity >= 0)

    def reward(self, done: Array) -> Array:
        return jnp.full((), -1, jnp.float32)

    def late(self, elapsed: Array) -> Array:
        return elapsed >= 200

    def observe(self, state: State, params: None) -> Array:
        return state.state

    def observation_space(self, params: None) -> Box:
        low, high = np.float32([-1.2, -0.07]), np.float32([0.6, 0.07])
        return Box(low, high, (2,))

    def action_space(self, params: None) -> Discrete:
        return Discrete(3)
