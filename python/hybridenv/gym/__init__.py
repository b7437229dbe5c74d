"""Gymnasium environments over `hybridenv.GameBoyBatch`, registered as ``hybridenv/GameBoy-v0``.

Importing this module registers the id, so either of these works::

    import gymnasium, hybridenv.gym
    envs = gymnasium.make_vec("hybridenv/GameBoy-v0", num_envs=128)

    env = gymnasium.make("hybridenv.gym:hybridenv/GameBoy-v0")

Needs the extra: ``pip install "hybridenv[gym]"``. `import hybridenv` alone never imports Gymnasium.
"""

try:
    import gymnasium
except ImportError as error:
    raise ImportError(
        "hybridenv.gym needs Gymnasium, which is not installed: pip install 'hybridenv[gym]'"
    ) from error

from hybridenv.gym.actions import DEFAULT_ACTIONS
from hybridenv.gym.check import (
    CheckReport,
    ConformanceError,
    check_vector_env,
    check_vector_modes,
)
from hybridenv.gym.rewards import RewardFunction
from hybridenv.gym.single import GameBoyEnv
from hybridenv.gym.vector import GameBoyVectorEnv

__all__ = [
    "DEFAULT_ACTIONS",
    "ENV_ID",
    "CheckReport",
    "ConformanceError",
    "GameBoyEnv",
    "GameBoyVectorEnv",
    "RewardFunction",
    "check_vector_env",
    "check_vector_modes",
]

ENV_ID = "hybridenv/GameBoy-v0"

if ENV_ID not in gymnasium.registry:
    gymnasium.register(
        id=ENV_ID,
        entry_point="hybridenv.gym.single:GameBoyEnv",
        vector_entry_point="hybridenv.gym.vector:GameBoyVectorEnv",
    )
