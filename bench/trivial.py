"""An environment that does next to nothing, so that the cost of comparing it shows."""

from typing import Any

import numpy as np
from gymnasium import spaces


class Counter:
    """Counts steps to the right among 1,000 steps."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 1_000, (2,), np.float64)
        self.action_space = spaces.Discrete(4)
        self.rights = self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        del seed, options
        self.rights = self.steps = 0
        return np.zeros(2), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one step."""
        self.rights += int(action) == 1
        self.steps += 1
        return np.array([self.rights, self.steps], float), 0.0, False, self.steps >= 1_000, {}
