"""CartPole-v1 in JAX, written from its equations."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hybridenv.envs import Box, Discrete

GRAVITY, CART, POLE, HALF_LENGTH, FORCE, TAU = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
MASS = CART + POLE
HIGH = np.array([4.8, np.inf, np.deg2rad(24), np.inf], np.float32)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """Fields have the names that Gymnasium's environment and its time limit have."""

    state: Array  # float32[4]: position, speed, angle, spin
    elapsed_steps: Array  # int32[]


@dataclass(frozen=True)
class CartPole:
    """Balance a pole for 500 steps."""

    name: str = "cartpole"
    default_params: None = None

    def reset(self, key: Array, params: None) -> tuple[Array, State]:
        state = State(jax.random.uniform(key, (4,), jnp.float32, -0.05, 0.05), jnp.int32(0))
        return self.observe(state, params), state

    def step(self, key: Array, state: State, action: Array, params: None) -> Any:
        state = State(self.move(state.state, action), state.elapsed_steps + 1)
        fallen = self.fallen(state.state[0], state.state[2])
        late = state.elapsed_steps >= 500
        return self.observe(state, params), state, jnp.ones(()), fallen, late, {}

    def move(self, state: Array, action: Array) -> Array:
        x, speed, angle, spin = state
        cosine, sine = jnp.cos(angle), jnp.sin(angle)
        push = jnp.where(action == 1, FORCE, -FORCE)
        push = (push + POLE * HALF_LENGTH * spin**2 * sine) / MASS
        turn = GRAVITY * sine - cosine * push
        turn = turn / (HALF_LENGTH * (4 / 3 - POLE * cosine**2 / MASS))
        drive = push - POLE * HALF_LENGTH * turn * cosine / MASS
        return jnp.stack(
            [x + TAU * speed, speed + TAU * drive, angle + TAU * spin, spin + TAU * turn]
        )

    def fallen(self, x: Array, angle: Array) -> Array:
        return (jnp.abs(x) > 2.4) | (jnp.abs(angle) > 12 * 2 * np.pi / 360)

    def observe(self, state: State, params: None) -> Array:
        return state.state

    def observation_space(self, params: None) -> Box:
        return Box(-HIGH, HIGH, (4,))

    def action_space(self, params: None) -> Discrete:
        return Discrete(2)
