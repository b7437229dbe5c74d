"""How far one step of ours lies from MuJoCo's, from the same state; `bench.locomotion` starts it.

The states are those along episodes in MuJoCo itself, whose solver begins from the acceleration
found last there, as ours does. They are rounded to float32 before each step, so that they are the
same states in both precisions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.locomotion import MODELS
from bench.policy import NAMES, SavedPolicy
from bench.worker import serve

#: What moves the motors, a while each in turn. Gaits are sines with a phase for each joint; what is
#: trained is the policy of `bench.policy`, where there is one.
CONTROLS = ("random", "saturated", "gait", "trained")

#: Physics steps of a turn. It is an episode, but for the trained policy, whose episodes go on over
#: `TURNS` of its turns, so that they come to run.
EPISODE = 200
TURNS = 5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class States:
    """What one step begins from, a row each.

    Attributes:
        qpos: float64[n, nq], coordinates.
        qvel: float64[n, nq], velocities.
        warm: float64[n, nq], accelerations that the solver begins from.
        control: float64[n, nu].
        kind: int64[n], index in `CONTROLS`.
    """

    qpos: Floats
    qvel: Floats
    warm: Floats
    control: Floats
    kind: NDArray[np.int64]


def controls_of(name: str) -> tuple[str, ...]:
    """Return those of `CONTROLS` that a model is moved by."""
    return CONTROLS if name in NAMES else CONTROLS[:-1]


def gather(name: str, count: int, seed: int = 0) -> States:
    """Play episodes in MuJoCo and return the states along them.

    Args:
        name: Of the model.
        count: How many states.
        seed: Seed of all chance.
    """
    import mujoco

    from bench.planar_models import read

    model, hold = read(name), MODELS[name]
    free, trained = mujoco.MjData(model), mujoco.MjData(model)
    controls = controls_of(name)
    policy = SavedPolicy.load(name) if "trained" in controls else None
    rng = np.random.default_rng(seed)
    q, v, warm = (np.empty((count, model.nv)) for _ in range(3))
    control = np.empty((count, model.nu))
    kind = np.arange(count) // EPISODE % len(controls)
    for i in range(count):
        turn, t = divmod(i, EPISODE)
        moved = controls[kind[i]]
        data = trained if moved == "trained" else free
        if t == 0 and not (moved == "trained" and turn // len(controls) % TURNS):
            mujoco.mj_resetData(model, data)
            data.qpos[:] += rng.uniform(-0.1, 0.1, model.nq)
            data.qvel[:] = 0.1 * rng.normal(size=model.nv)
            rhythm, phases = rng.uniform(1, 4), rng.uniform(0, 2 * np.pi, model.nu)
        if t % hold == 0:
            if moved == "gait":
                data.ctrl[:] = np.sin(2 * np.pi * rhythm * data.time + phases)
            elif policy is not None and moved == "trained":
                data.ctrl[:] = policy.act(np.concatenate([data.qpos[1:], data.qvel]), 0)
            else:
                data.ctrl[:] = rng.uniform(-1, 1, model.nu)
            if moved == "saturated":
                data.ctrl[:] = np.sign(data.ctrl)
        for array in (data.qpos, data.qvel, data.qacc_warmstart, data.ctrl):
            array[:] = array.astype(np.float32)
        q[i], v[i], warm[i], control[i] = data.qpos, data.qvel, data.qacc_warmstart, data.ctrl
        mujoco.mj_step(model, data)
    return States(q, v, warm, control, kind)


def by_mujoco(name: str, states: States, *, solved: bool) -> Floats:
    """Return MuJoCo's velocities after one step.

    Args:
        name: Of the model.
        states: Where the step begins.
        solved: Whether its solver goes on until nothing improves, see `planar_models.read`.

    Returns:
        float64[n, nq].
    """
    import mujoco
    from mujoco import rollout

    from bench.planar_models import read

    model = read(name, solved=solved)
    time = np.zeros((len(states.qpos), 1))
    found, _ = rollout.rollout(
        model,
        mujoco.MjData(model),
        np.concatenate([time, states.qpos, states.qvel], 1),
        states.control[:, None],
        initial_warmstart=states.warm,
    )
    velocities: Floats = found[:, 0, 1 + model.nq :]
    return velocities


def by_us(name: str, states: States) -> Floats:
    """Return our velocities after one step, computed in JAX's widest floats.

    Args:
        name: Of the model.
        states: Where the step begins.

    Returns:
        float64[n, nq].
    """
    import jax
    import jax.numpy as jnp

    from hybridenv.envs.planar.model import load
    from hybridenv.envs.planar.physics import PhysicsState, advance

    model = load(name)
    state = PhysicsState(*map(jnp.asarray, (states.qpos, states.qvel, states.warm)))
    step = jax.jit(jax.vmap(lambda state, control: advance(model, state, control, 1)))
    return np.asarray(step(state, jnp.asarray(states.control)).qvel, np.float64)


def by_mjx(name: str, states: States, batch: int = 64) -> Floats:
    """Return MJX's velocities after one step, computed in JAX's widest floats.

    Args:
        name: Of the model.
        states: Where the step begins.
        batch: How many at a time: MJX hangs on a CPU at some sizes.

    Returns:
        float64[n, nq].
    """
    import jax
    import jax.numpy as jnp
    from mujoco import mjx

    from bench.planar_models import read

    reference = read(name)
    model, data = mjx.put_model(reference), mjx.make_data(reference)

    def one(q: Any, v: Any, warm: Any, control: Any) -> Any:
        start = data.replace(qpos=q, qvel=v, qacc_warmstart=warm, ctrl=control)
        return mjx.step(model, start).qvel

    step = jax.jit(jax.vmap(one))
    count = len(states.qpos)
    arrays = [states.qpos, states.qvel, states.warm, states.control]
    padded = [jnp.asarray(np.pad(a, ((0, -count % batch), (0, 0)), mode="edge")) for a in arrays]
    parts = [
        np.asarray(step(*(a[i : i + batch] for a in padded)), np.float64)
        for i in range(0, count, batch)
    ]
    return np.concatenate(parts)[:count]


def errors(ours: Floats, theirs: Floats) -> Floats:
    """Return the largest difference of any velocity, for each state."""
    difference: Floats = np.abs(ours - theirs).max(1)
    return difference


def summary(error: Floats) -> dict[str, float]:
    """Return what is reported of the errors of many states."""
    return {
        "max": float(error.max()),
        "p99": float(np.quantile(error, 0.99)),
        "median": float(np.median(error)),
    }


def _compared(
    name: str, states: States, step: Callable[[str, States], Floats], package: str
) -> dict[str, Any]:
    found = step(name, states)
    error = errors(found, by_mujoco(name, states, solved=True))
    return {
        "states": len(states.kind),
        "fastest": float(np.abs(states.qvel).max()),
        "solved": summary(error),
        "default": summary(errors(found, by_mujoco(name, states, solved=False))),
        "largest_by_control": {
            control: float(error[states.kind == i].max(initial=0))
            for i, control in enumerate(controls_of(name))
        },
        "version": f"{package} {version(package)}",
    }


class Session:
    """What the worker holds between commands: nothing."""

    def compare(self, name: str, states: int) -> dict[str, Any]:
        """Compare one step of ours with MuJoCo's, on so many states of a model."""
        return _compared(name, gather(name, states), by_us, "mujoco")

    def compare_mjx(self, name: str, states: int) -> dict[str, Any]:
        """Compare one step of MJX with MuJoCo's, on the same states."""
        return _compared(name, gather(name, states), by_mjx, "mujoco-mjx")

    def close(self) -> None:
        """Nothing is held."""


if __name__ == "__main__":
    serve(Session(), sys.argv[1:])
