"""HalfCheetah-v5: a runner on two legs that cannot fall."""

from dataclasses import dataclass
from typing import ClassVar

import jax
from jax import Array

from hybridenv.envs.locomotion.env import LocomotionEnv


@dataclass(frozen=True, kw_only=True)
class HalfCheetahEnv(LocomotionEnv):
    """Gymnasium's HalfCheetah-v5: run as fast as you can; nothing ends an episode but its time.

    Args:
        **options: Those of `LocomotionEnv`. Velocities begin normally distributed.

    Raises:
        ArgumentError: An option is not one of these.
    """

    body: ClassVar[str] = "half_cheetah"

    frame_skip: int = 5
    ctrl_cost_weight: float = 0.1
    reset_noise_scale: float = 0.1

    def _velocities(self, key: Array, shape: tuple[int, ...]) -> Array:
        return jax.random.normal(key, shape, self.dtype)
