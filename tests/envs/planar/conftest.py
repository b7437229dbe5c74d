"""MuJoCo's own models, and states that its policies of chance lead to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hybridenv.envs.planar import Model, load

NAMES = ("half_cheetah", "hopper", "walker2d")
STATES = 600

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """A model on both sides, with states of MuJoCo's.

    Attributes:
        mujoco: The package.
        theirs: MuJoCo's model; its solver goes on until it finds nothing better.
        model: Ours.
        qpos: float64[n, nq], single precision holds them exactly.
        qvel: float64[n, nv], as `qpos`.
        warm: float64[n, nv], as `qpos`.
        control: float64[n, nu], as `qpos`; some beyond the limits.
    """

    mujoco: ModuleType
    theirs: Any
    model: Model
    qpos: Floats
    qvel: Floats
    warm: Floats
    control: Floats

    def data(self, i: int) -> Any:
        """MuJoCo's data of a state, computed."""
        data = self.mujoco.MjData(self.theirs)
        data.qpos[:], data.qvel[:] = self.qpos[i], self.qvel[i]
        data.ctrl[:], data.qacc_warmstart[:] = self.control[i], self.warm[i]
        self.mujoco.mj_forward(self.theirs, data)
        return data

    def step(self, i: int) -> tuple[Floats, Floats]:
        """Coordinates and velocities one step after a state."""
        data = self.mujoco.MjData(self.theirs)
        data.qpos[:], data.qvel[:] = self.qpos[i], self.qvel[i]
        data.ctrl[:], data.qacc_warmstart[:] = self.control[i], self.warm[i]
        self.mujoco.mj_step(self.theirs, data)
        return data.qpos.copy(), data.qvel.copy()


def single(x: Any) -> Floats:
    """Round to what single precision holds."""
    return np.asarray(x, np.float32).astype(np.float64)


@cache
def side(name: str) -> Side:
    """Make a side; a third each of random, saturated and slowly changing controls."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    planar_models = pytest.importorskip("bench.planar_models")
    theirs = planar_models.read(name, solved=True)
    rng = np.random.default_rng(0)
    data = mujoco.MjData(theirs)
    rows: list[tuple[Floats, ...]] = []
    control = np.zeros(theirs.nu)
    for i in range(STATES):
        kind, age = divmod(i, STATES // 3)
        if age % 100 == 0:
            mujoco.mj_resetData(theirs, data)
            data.qpos[:] = theirs.qpos0 + rng.uniform(-0.1, 0.1, theirs.nq)
            data.qvel[:] = 0.1 * rng.normal(size=theirs.nv)
        if kind == 0:
            control = rng.uniform(-1, 1, theirs.nu)
        elif kind == 1:
            control = np.sign(rng.normal(size=theirs.nu))
        elif age % 10 == 0:
            control = rng.uniform(-1.5, 1.5, theirs.nu)
        data.ctrl[:] = single(control)
        for array in (data.qpos, data.qvel, data.qacc_warmstart):
            array[:] = single(array)
        rows.append(tuple(x.copy() for x in (data.qpos, data.qvel, data.qacc_warmstart, data.ctrl)))
        mujoco.mj_step(theirs, data, nstep=1 if i % 2 else 4)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Side(mujoco, theirs, load(name), *columns)


@pytest.fixture(params=NAMES)
def both(request: pytest.FixtureRequest) -> Side:
    """Each model in turn."""
    return side(request.param)
