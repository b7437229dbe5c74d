"""Pong as one would write it in Python: a game an object, stepped one after the other."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from hybridenv.envs.pong.env import OBSERVATIONS
from hybridenv.envs.pong.reference import PongReference

Observation = NDArray[np.float32]


class PongReferenceEnv(gymnasium.Env[Observation, Any]):
    """One game of `hybridenv.envs.pong.reference`; what fast versions are compared with.

    Args:
        frame_skip: Sub-steps a step.
    """

    def __init__(self, frame_skip: int = 4) -> None:
        self.observation_space = OBSERVATIONS.to_gymnasium()
        self.action_space = gymnasium.spaces.Discrete(3)
        self._game = PongReference(lambda: int(self.np_random.integers(2)), frame_skip)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a game."""
        super().reset(seed=seed, options=options)
        return self._game.reset(), {}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play one step; the observation after the last one is that of the next game."""
        obs, reward, done = self._game.step(action)
        return obs, float(reward), done, False, {}


def pong_references(n: int, frame_skip: int = 4) -> SyncVectorEnv:
    """Return n games in Gymnasium's `SyncVectorEnv`, with autoreset mode `SAME_STEP`.

    Args:
        n: How many.
        frame_skip: Sub-steps a step.
    """
    makers = [partial(PongReferenceEnv, frame_skip)] * n
    return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.SAME_STEP)
