"""Gymnasium's HalfCheetah-v5, Hopper-v5 and Walker2d-v5: rewards, ends and options in pure JAX.

What bodies do is the business of `hybridenv.envs.planar`; here is what is seen of them, what pays,
what ends an episode and how it begins.
"""

from hybridenv.envs.locomotion.balance import BalanceEnv
from hybridenv.envs.locomotion.env import LocomotionEnv, Noise, Params, State
from hybridenv.envs.locomotion.half_cheetah import HalfCheetahEnv
from hybridenv.envs.locomotion.hopper import HopperEnv
from hybridenv.envs.locomotion.walker2d import Walker2dEnv

__all__ = [
    "BalanceEnv",
    "HalfCheetahEnv",
    "HopperEnv",
    "LocomotionEnv",
    "Noise",
    "Params",
    "State",
    "Walker2dEnv",
]
