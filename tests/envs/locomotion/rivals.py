"""Gymnasium's own environments, and what the tests need from them."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest
from numpy.typing import NDArray

from hybridenv.envs import make
from hybridenv.envs.locomotion import LocomotionEnv, State
from hybridenv.envs.planar.physics import PhysicsState

IDS = {
    "half_cheetah": "HalfCheetah-v5",
    "hopper": "Hopper-v5",
    "walker2d": "Walker2d-v5",
}
"""Gymnasium's ids by our names."""

BODIES = sorted(IDS)

Floats = NDArray[np.float64]


def made(body: str, **options: Any) -> tuple[Any, Any]:
    """Make our environment, of whatever class it is, and its parameters."""
    return make(body, **options)


def rival(body: str, **options: Any) -> Any:
    """Make Gymnasium's environment without wrappers; the test skips where MuJoCo is missing."""
    for package in ("mujoco", "imageio"):
        reason = f"{package} is not installed: pip install 'gymnasium[mujoco]'"
        pytest.importorskip(package, reason=reason)
    return gymnasium.make(IDS[body], **options).unwrapped


def walk(env: Any, seed: int, steps: int) -> Iterator[tuple[Floats, Floats, NDArray[np.float32]]]:
    """Play random steps: positions, velocities and the action, before each step.

    One action in four goes beyond the bounds. Episodes start over when they end.
    """
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(steps):
        size = 3.0 if rng.random() < 0.25 else 1.0
        action = rng.uniform(-size, size, env.model.nu).astype(np.float32)
        yield env.data.qpos.copy(), env.data.qvel.copy(), action
        if env.step(action)[2]:
            env.reset()


def state_of(env: LocomotionEnv, qpos: Floats, qvel: Floats, elapsed: int = 0) -> State:
    """Make a state of given coordinates, in the environment's precision."""
    place, speed = (jax.numpy.asarray(part, env.dtype) for part in (qpos, qvel))
    physics = PhysicsState(place, speed, jax.numpy.zeros_like(speed))
    return State(physics, jax.numpy.int32(elapsed))


@cache
def compiled(body: str, dtype: str) -> tuple[Any, Any, Any]:
    """Our environment without noise at resets, its parameters, and a compiled `step_with`.

    All tests share the compiled program, which takes seconds to make.
    """
    env, params = made(body, dtype=dtype, reset_noise_scale=0)
    return env, params, jax.jit(env.step_with)


@contextmanager
def precision(dtype: str) -> Iterator[None]:
    """Let JAX compute in 64 bits where that is asked for."""
    with jax.enable_x64(dtype == "float64"):
        yield
