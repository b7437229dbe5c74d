"""MuJoCo's environments in Gymnasium, with states that can be handed out and taken.

A state is `qpos`, `qvel` and the steps counted by a time limit. What a solver starts from decides
how long it takes and is left alone.
"""

from typing import Any

import numpy as np

from hybridenv.verify._record import EnvState
from hybridenv.verify._target import Identity
from hybridenv.verify.adapters._gymnasium import ELAPSED, GymTarget


class MujocoTarget(GymTarget):
    """An environment of `gymnasium.envs.mujoco`, whose states can be handed out and taken.

    Args:
        env: The environment.
        identity: Who it is.
    """

    def __init__(self, env: Any, identity: Identity) -> None:
        super().__init__(env, identity)
        self.offers = self.offers | {"state"}

    def get_state(self) -> EnvState:
        """Return coordinates and velocities, float64[nq] and float64[nv]."""
        data = self._inner.data
        state = {"qpos": np.array(data.qpos), "qvel": np.array(data.qvel)}
        if self._limit is not None:
            state[ELAPSED] = np.array(self._limit._elapsed_steps)
        return state

    def set_state(self, state: EnvState) -> Any:
        """Take over coordinates and velocities."""
        if self._limit is not None and ELAPSED in state:
            self._limit._elapsed_steps = int(state[ELAPSED])
        self._inner.set_state(np.array(state["qpos"]), np.array(state["qvel"]))
        return self._inner._get_obs()
