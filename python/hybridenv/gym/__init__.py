"""Gymnasium environments: ``hybridenv/GameBoy-v0``, and those written in JAX.

Importing this module registers the ids, so either of these works::

    import gymnasium, hybridenv.gym
    envs = gymnasium.make_vec("hybridenv/GameBoy-v0", num_envs=128)

    env = gymnasium.make("hybridenv.gym:hybridenv/GameBoy-v0")

``hybridenv/Pong-v0``, ``hybridenv/Pokemon-v0``, ``hybridenv/HalfCheetah-v5``,
``hybridenv/Hopper-v5`` and ``hybridenv/Walker2d-v5`` need the extra `jax` too; JAX loads when one
is made.

Needs the extra: ``pip install "hybridenv[gym]"``. `import hybridenv` alone never imports Gymnasium.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    import gymnasium
except ImportError as error:
    from hybridenv.errors import MissingDependencyError

    raise MissingDependencyError(
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

if TYPE_CHECKING:
    from hybridenv.gym.jax_single import JaxEnv
    from hybridenv.gym.jax_vector import JaxVectorEnv

__all__ = [
    "DEFAULT_ACTIONS",
    "ENV_ID",
    "JAX_IDS",
    "CheckReport",
    "ConformanceError",
    "GameBoyEnv",
    "GameBoyVectorEnv",
    "JaxEnv",
    "JaxVectorEnv",
    "RewardFunction",
    "check_vector_env",
    "check_vector_modes",
]

ENV_ID = "hybridenv/GameBoy-v0"

JAX_IDS = {
    "hybridenv/HalfCheetah-v5": "half_cheetah",
    "hybridenv/Hopper-v5": "hopper",
    "hybridenv/Pokemon-v0": "pokemon",
    "hybridenv/Pong-v0": "pong",
    "hybridenv/Walker2d-v5": "walker2d",
}
"""Ids of the environments written in JAX, with their names for `hybridenv.make`."""


def __getattr__(name: str) -> Any:
    """Load what needs JAX when it is first asked for."""
    if name in ("JaxEnv", "JaxVectorEnv"):
        module = "jax_single" if name == "JaxEnv" else "jax_vector"
        value = getattr(import_module(f"hybridenv.gym.{module}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hybridenv.gym' has no attribute {name!r}")


if ENV_ID not in gymnasium.registry:
    gymnasium.register(
        id=ENV_ID,
        entry_point="hybridenv.gym.single:GameBoyEnv",
        vector_entry_point="hybridenv.gym.vector:GameBoyVectorEnv",
    )

_LIMITED: dict[str, Any] = {"max_episode_steps": 1_000, "kwargs": {"time_limit": None}}
"""Gymnasium counts the steps of what has a time limit, so that its own options can change it."""

_REGISTERED: dict[str, dict[str, Any]] = {
    "hybridenv/HalfCheetah-v5": {**_LIMITED, "reward_threshold": 4_800.0},
    "hybridenv/Hopper-v5": {**_LIMITED, "reward_threshold": 3_800.0},
    "hybridenv/Walker2d-v5": _LIMITED,
}
"""What Gymnasium registers its own environments of these names with."""

for _id, _name in JAX_IDS.items():
    if _id not in gymnasium.registry:
        _more = _REGISTERED.get(_id, {})
        gymnasium.register(
            id=_id,
            entry_point="hybridenv.gym.jax_single:JaxEnv",
            vector_entry_point="hybridenv.gym.jax_vector:JaxVectorEnv",
            **{**_more, "kwargs": {"env": _name, **_more.get("kwargs", {})}},
        )
