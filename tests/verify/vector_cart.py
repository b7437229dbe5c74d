"""Four carts as a vector environment, to put faults into single lanes."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from tests.verify.cartpole import Cart

LANES = 4


class Carts(VectorEnv[Any, Any, Any]):
    """`Cart`, four times, in one of the three autoreset modes."""

    def __init__(self, mode: AutoresetMode = AutoresetMode.NEXT_STEP) -> None:
        self.num_envs = LANES
        self.metadata = {"autoreset_mode": mode}
        self.mode = mode
        self.carts = [Cart() for _ in range(LANES)]
        self.single_observation_space = self.carts[0].observation_space
        self.single_action_space = self.carts[0].action_space
        self.observation_space = batch_space(self.single_observation_space, LANES)
        self.action_space = batch_space(self.single_action_space, LANES)
        self.ended = np.zeros(LANES, np.bool_)

    def restart(self, lane: int) -> None:
        self.carts[lane].reset()

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        mask = (options or {}).get("reset_mask", np.ones(LANES, np.bool_))
        for lane in map(int, np.flatnonzero(mask)):
            if seed is None:
                self.restart(lane)
            else:
                self.carts[lane].reset(seed=seed[lane])
        self.ended &= ~mask
        return self.look(), {}

    def look(self) -> Any:
        return np.stack([cart.look() for cart in self.carts])

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        rewards = np.zeros(LANES)
        flags = np.zeros((2, LANES), np.bool_)
        resting = self.ended if self.mode is AutoresetMode.NEXT_STEP else np.zeros_like(self.ended)
        for lane, cart in enumerate(self.carts):
            if resting[lane]:
                self.restart(lane)
            else:
                _, rewards[lane], flags[0, lane], flags[1, lane], _ = cart.step(actions[lane])
        self.ended = flags[0] | flags[1]
        info: dict[str, Any] = {}
        if self.mode is AutoresetMode.SAME_STEP and self.ended.any():
            info = {"final_obs": self.look(), "_final_obs": self.ended.copy()}
            for ended in np.flatnonzero(self.ended):
                self.restart(int(ended))
        return self.look(), rewards, flags[0], flags[1], info
