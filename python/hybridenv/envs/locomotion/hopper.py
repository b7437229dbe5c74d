"""Hopper-v5: one leg that must not fall."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jax import Array

from hybridenv.envs.locomotion.balance import BalanceEnv, Range, inside
from hybridenv.envs.planar.physics import PhysicsState


@dataclass(frozen=True, kw_only=True)
class HopperEnv(BalanceEnv):
    """Gymnasium's Hopper-v5.

    Args:
        healthy_state_range: Between which numbers all positions but x and z, and all velocities,
            have to be.
        **options: Those of `BalanceEnv`.

    Raises:
        ArgumentError: An option is not one of these.
    """

    body: ClassVar[str] = "hopper"

    frame_skip: int = 4
    healthy_state_range: Range = (-100.0, 100.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keep_range("healthy_state_range")

    def is_healthy(self, physics: PhysicsState) -> Array:
        """Say whether a body is healthy: bool[]; with a NaN it is not."""
        rest = jnp.concatenate([physics.qpos[2:], physics.qvel])
        return super().is_healthy(physics) & inside(rest, self.healthy_state_range).all()
