"""The references of our environments behind Gymnasium's vector interface, to compare with.

Training around them goes through the same loop, networks and settings as around ours, so that what
differs is the environment alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import gymnasium

from hybridenv.errors import MissingDependencyError
from hybridenv.gym.pong_reference import pong_references
from hybridenv.train.config import Config

VectorEnv: TypeAlias = gymnasium.vector.VectorEnv[Any, Any, Any]


@dataclass(frozen=True)
class Reference:
    """What an environment of ours reproduces.

    Attributes:
        of: Name of ours, whose settings of training it takes.
        make: Makes so many of it, with the options `Config.env_args` of ours.
    """

    of: str
    make: Callable[[int, dict[str, Any]], VectorEnv]


def _pyboy(n: int, options: dict[str, Any]) -> VectorEnv:
    from hybridenv.train._pyboy import PyBoyVectorEnv

    return PyBoyVectorEnv(n, **options)


def _mujoco(n: int, options: dict[str, Any], *, name: str) -> VectorEnv:
    try:
        return gymnasium.make_vec(name, num_envs=n, vectorization_mode="sync", **options)
    except gymnasium.error.DependencyNotInstalled as error:
        raise MissingDependencyError(
            f"{name}: needs MuJoCo, which is not installed: pip install 'hybridenv[mujoco]': "
            f"{error}"
        ) from None


REFERENCES = {
    "pong-python": Reference("pong", lambda n, options: pong_references(n, **options)),
    "half_cheetah-mujoco": Reference("half_cheetah", partial(_mujoco, name="HalfCheetah-v5")),
    "hopper-mujoco": Reference("hopper", partial(_mujoco, name="Hopper-v5")),
    "walker2d-mujoco": Reference("walker2d", partial(_mujoco, name="Walker2d-v5")),
    "gameboy-pyboy": Reference("gameboy", _pyboy),
}
"""By name: games of Pong as objects of Python, Gymnasium's environments on MuJoCo (both stepped one
after the other by `SyncVectorEnv`), and the embedded game in PyBoy, a thread for each core."""


def make_reference(config: Config, n: int) -> VectorEnv:
    """Make references.

    Args:
        config: The run; `Config.env` is one of `REFERENCES`.
        n: How many.

    Raises:
        MissingDependencyError: It needs a package that is not installed.
    """
    return REFERENCES[config.env].make(n, config.env_args)
