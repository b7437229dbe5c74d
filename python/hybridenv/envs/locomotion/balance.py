"""Bodies that may fall: what is healthy, what it pays, and that an episode ends without it."""

import math
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jax import Array

from hybridenv.checks import flag, interval, real
from hybridenv.envs._contract import Info
from hybridenv.envs.locomotion.env import LocomotionEnv
from hybridenv.envs.planar.physics import PhysicsState

Range = tuple[float, float]

FASTEST = 10.0
"""Velocities are shown up to this, in metres or radians a second."""


@dataclass(frozen=True, kw_only=True)
class BalanceEnv(LocomotionEnv):
    """A runner that may fall; the base of Hopper and Walker2d.

    `info` has two more entries: `z_distance_from_origin`, how far the body is above where it
    usually begins, and `reward_survive`.

    Args:
        healthy_reward: Reward of a step after which the body is healthy.
        terminate_when_unhealthy: Whether an episode ends when it is not.
        healthy_z_range: Between which heights of the torso it is, in metres.
        healthy_angle_range: Between which angles of the torso, in radians.
        **options: Those of `LocomotionEnv`.

    Raises:
        ArgumentError: An option is not one of these.
    """

    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: Range = (0.7, math.inf)
    healthy_angle_range: Range = (-0.2, 0.2)

    def __post_init__(self) -> None:
        super().__post_init__()
        real("healthy_reward", self.healthy_reward)
        flag("terminate_when_unhealthy", self.terminate_when_unhealthy)
        self._keep_range("healthy_z_range")
        self._keep_range("healthy_angle_range")

    def _keep_range(self, name: str) -> None:
        """Check a range and keep it as a tuple, which has a hash."""
        object.__setattr__(self, name, interval(name, getattr(self, name)))

    def _seen(self, qvel: Array) -> Array:
        return jnp.clip(qvel, -FASTEST, FASTEST)

    def is_healthy(self, physics: PhysicsState) -> Array:
        """Say whether a body is healthy: bool[]; with a NaN it is not."""
        z, angle = physics.qpos[1], physics.qpos[2]
        return inside(z, self.healthy_z_range) & inside(angle, self.healthy_angle_range)

    def _judge(self, physics: PhysicsState) -> tuple[Info, Info, Array]:
        healthy = self.is_healthy(physics)
        usual = np.asarray(self.model.qpos0, self.dtype)[1]
        survive = (healthy * self.healthy_reward).astype(self.dtype)
        terminated = ~healthy if self.terminate_when_unhealthy else jnp.zeros_like(healthy)
        return (
            {"z_distance_from_origin": physics.qpos[1] - usual},
            {"reward_survive": survive},
            terminated,
        )


def inside(value: Array, bounds: Range) -> Array:
    """Say of each number whether it is between two others, and none of them."""
    return (bounds[0] < value) & (value < bounds[1])
