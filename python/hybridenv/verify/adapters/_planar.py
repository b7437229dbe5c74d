"""The planar environments of this package, with states of the form that MuJoCo's have.

A state is `qpos`, `qvel` and the steps so far. Where the solver starts from decides how long it
takes and is left alone.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from hybridenv.verify._record import EnvState
from hybridenv.verify.adapters._functional import FunctionalTarget, cast_like
from hybridenv.verify.adapters._gymnasium import ELAPSED


class PlanarTarget(FunctionalTarget):
    """An environment of `hybridenv.envs.locomotion`, by coordinates and velocities."""

    def _exported(self, state: Any) -> EnvState:
        """Coordinates and velocities, and the steps so far."""
        physics = state.physics
        return {
            "qpos": np.asarray(physics.qpos),
            "qvel": np.asarray(physics.qvel),
            ELAPSED: np.asarray(state.elapsed),
        }

    def _imported(self, values: EnvState, state: Any) -> Any:
        physics = replace(
            state.physics,
            qpos=cast_like(values["qpos"], state.physics.qpos),
            qvel=cast_like(values["qvel"], state.physics.qvel),
        )
        elapsed = cast_like(values.get(ELAPSED, state.elapsed), state.elapsed)
        return replace(state, physics=physics, elapsed=elapsed)
