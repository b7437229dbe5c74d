"""Programs that move many planar mechanisms for many steps, ours and those of peers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bench.jax_sides import JaxSide, Timed, Work, environment


@dataclass(frozen=True)
class Task:
    """How a model is played.

    Attributes:
        anew: Whether every call begins upright again. Without a policy a hopper falls within some
            twenty steps, which ends its episode; a cheetah goes on for ever.
        spread: Bound of the noise that coordinates begin with.
    """

    anew: bool
    spread: float


TASKS = {
    "half_cheetah": Task(anew=False, spread=0.1),
    "hopper": Task(anew=True, spread=5e-3),
    "walker2d": Task(anew=True, spread=5e-3),
}


def planar(work: Work, name: str, seed: int = 0) -> JaxSide:
    """Our physics: controls given, coordinates and velocities handed out after every step."""
    from hybridenv.envs.planar.model import load
    from hybridenv.envs.planar.physics import PhysicsState, advance

    model, task = load(name), TASKS[name]

    def start(key: Any, share: int) -> Any:
        for_q, for_v, for_control = jax.random.split(key, 3)
        shape = share, model.nq
        noise = jax.random.uniform(for_q, shape, minval=-task.spread, maxval=task.spread)
        speed = task.spread * jax.random.normal(for_v, shape)
        state = PhysicsState(jnp.asarray(model.qpos0) + noise, speed, jnp.zeros(shape))
        return state, _controls(for_control, (work.steps, share, model.nu))

    def program(carried: Any) -> Any:
        first, controls = carried

        def step(state: Any, now: Any) -> Any:
            state = jax.vmap(lambda s, u: advance(model, s, u, work.frame_skip))(state, now)
            return state, (state.qpos, state.qvel)

        last, out = jax.lax.scan(step, first, controls)
        return (first if task.anew else last, controls), out

    return JaxSide(start, program, work, seed)


def mjx(work: Work, *, iterations: int = 0, searches: int = 0, seed: int = 0) -> JaxSide:
    """MJX on Gymnasium's half cheetah.

    Args:
        work: The work.
        iterations: Most iterations of its solver; 0 leaves the model's.
        searches: Most iterations of each of its line searches; 0 leaves the model's.
        seed: Seed of all chance.
    """
    from mujoco import mjx as peer

    from bench.planar_models import read

    name = "half_cheetah"
    reference = read(name)
    reference.opt.iterations = iterations or reference.opt.iterations
    reference.opt.ls_iterations = searches or reference.opt.ls_iterations
    model, spread = peer.put_model(reference), TASKS[name].spread

    def start(key: Any, share: int) -> Any:
        for_q, for_v, for_control = jax.random.split(key, 3)
        data = peer.make_data(reference)

        def one(noise: Any, speed: Any) -> Any:
            return data.replace(qpos=data.qpos + noise, qvel=speed)

        noise = jax.random.uniform(for_q, (share, model.nq), minval=-spread, maxval=spread)
        speed = spread * jax.random.normal(for_v, (share, model.nv))
        state = jax.vmap(one)(noise, speed)
        return state, _controls(for_control, (work.steps, share, model.nu))

    def program(carried: Any) -> Any:
        state, controls = carried

        def substep(state: Any, _: None) -> Any:
            return jax.vmap(peer.step, (None, 0))(model, state), None

        def step(state: Any, now: Any) -> Any:
            state, _ = jax.lax.scan(substep, state.replace(ctrl=now), None, work.frame_skip)
            return state, (state.qpos, state.qvel)

        state, out = jax.lax.scan(step, state, controls)
        return (state, controls), out

    return JaxSide(start, program, work, seed)


def brax(work: Work, *, backend: str, seed: int = 0) -> JaxSide:
    """Brax's half cheetah, which is another model: fewer collisions, and its own substeps."""
    from brax import envs as peer

    env = peer.get_environment("halfcheetah", backend=backend)

    def start(key: Any, share: int) -> Any:
        for_reset, for_control = jax.random.split(key)
        state = jax.vmap(env.reset)(jax.random.split(for_reset, share))
        return state, _controls(for_control, (work.steps, share, env.action_size))

    def program(carried: Any) -> Any:
        state, controls = carried

        def step(state: Any, now: Any) -> Any:
            state = jax.vmap(env.step)(state, now)
            return state, (state.obs, state.reward, state.done)

        state, out = jax.lax.scan(step, state, controls)
        return (state, controls), out

    return JaxSide(start, program, work, seed)


def _controls(key: Any, shape: tuple[int, ...]) -> Any:
    return jax.random.uniform(key, shape, minval=-1.0, maxval=1.0)


class Rollout:
    """`mujoco.rollout`, MuJoCo's own way to move many at once: a thread for each core.

    Args:
        work: The work.
        name: Of the model.

    Attributes:
        compile_seconds: 0; nothing is compiled.
    """

    def __init__(self, work: Work, name: str) -> None:
        import mujoco
        from mujoco.rollout import Rollout as Pool

        from bench.planar_models import read

        self.compile_seconds = 0.0
        rng = np.random.default_rng(0)
        self._model = read(name)
        self._anew = TASKS[name].anew
        spread = TASKS[name].spread
        threads = len(os.sched_getaffinity(0))
        self._pool = Pool(nthread=threads)
        self._data = [mujoco.MjData(self._model) for _ in range(threads)]
        position = self._model.qpos0 + rng.uniform(-spread, spread, (work.games, self._model.nq))
        speed = spread * rng.normal(size=(work.games, self._model.nv))
        # MuJoCo's state of physics: time, coordinates, velocities.
        self._state = np.concatenate([np.zeros((work.games, 1)), position, speed], 1)
        control = rng.uniform(-1, 1, (work.games, work.steps, self._model.nu))
        self._control = np.repeat(control, work.frame_skip, axis=1)
        self._out = np.empty((work.games, self._control.shape[1], self._state.shape[1]))

    def play(self) -> None:
        """Move all of them on, and hand out the state after each physics step."""
        self._pool.rollout(self._model, self._data, self._state, self._control, state=self._out)
        if not self._anew:
            self._state = self._out[:, -1].copy()


class Gymnasium:
    """Gymnasium's environment, in a vector of as many as there is work for.

    Args:
        work: The work.
        name: Of Gymnasium's environment.

    Attributes:
        compile_seconds: 0; nothing is compiled.
    """

    def __init__(self, work: Work, name: str) -> None:
        import gymnasium

        self.compile_seconds = 0.0
        self._envs = gymnasium.make_vec(
            name, num_envs=work.games, vectorization_mode="sync", frame_skip=work.frame_skip
        )
        self._envs.reset(seed=0)
        rng = np.random.default_rng(0)
        shape = work.steps, *(self._envs.action_space.shape or ())
        self._actions = rng.uniform(-1, 1, shape).astype(np.float32)

    def play(self) -> None:
        """Step through all actions."""
        for actions in self._actions:
            self._envs.step(actions)


SIDES: dict[str, Callable[[Work], Timed]] = {
    **{f"planar-{name}": partial(planar, name=name) for name in TASKS},
    **{f"env-{name}": partial(environment, name=name) for name in TASKS},
    **{f"mujoco-{name}": partial(Rollout, name=name) for name in TASKS},
    "gymnasium-half_cheetah": partial(Gymnasium, name="HalfCheetah-v5"),
    "mjx": mjx,
    "mjx-4-8": partial(mjx, iterations=4, searches=8),
    "brax-generalized": partial(brax, backend="generalized"),
    "brax-spring": partial(brax, backend="spring"),
}
