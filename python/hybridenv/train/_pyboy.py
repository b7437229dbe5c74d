"""PyBoy as a vector environment, to compare where time goes; it gives no rewards."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hybridenv.cli.rival import PyBoyBatch
from hybridenv.data import embedded_rom
from hybridenv.errors import MissingDependencyError
from hybridenv.gym.actions import DEFAULT_ACTIONS, ActionTable
from hybridenv.oracle.reference import pyboy_version
from hybridenv.tasks import POLAR_POST

Pixels = NDArray[np.uint8]


class PyBoyVectorEnv(VectorEnv[Pixels, NDArray[np.integer[Any]], NDArray[Any]]):
    """n PyBoys that play the embedded game as fast as PyBoy allows: threads, sound off.

    Args:
        num_envs: Number of machines.
        frame_skip: Frames a step.

    Raises:
        MissingDependencyError: PyBoy is not installed.
    """

    def __init__(self, num_envs: int, frame_skip: int) -> None:
        if pyboy_version() is None:
            raise MissingDependencyError("PyBoy is not installed: pip install 'hybridenv[pyboy]'")
        threads = len(os.sched_getaffinity(0))
        self._machines = PyBoyBatch(embedded_rom(), num_envs, threads, frame_skip)
        self._table = ActionTable(DEFAULT_ACTIONS)
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_action_space = self._table.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.single_observation_space = spaces.Box(0, 255, (144, 160), np.uint8)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(self, **_: Any) -> tuple[Pixels, dict[str, Any]]:
        """Start the game."""
        script = [(0, frames) for _, frames in POLAR_POST.start]
        opening = [(int(button), frames) for button, frames in POLAR_POST.opening]
        self._machines.play([*script, *opening])
        return self._machines.screens(), {}

    def step(
        self, actions: NDArray[np.integer[Any]]
    ) -> tuple[Pixels, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one step of every machine."""
        self._machines.step(self._table.to_buttons(actions, self.num_envs))
        never = np.zeros(self.num_envs, np.bool_)
        reward = np.zeros(self.num_envs, np.float32)
        return self._machines.screens(), reward, never, never.copy(), {}

    def close_extras(self, **_: Any) -> None:
        """End the machines."""
        self._machines.__exit__(None, None, None)
