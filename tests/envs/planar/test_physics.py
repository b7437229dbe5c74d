"""L2 and L3: whole steps of the planar physics beside MuJoCo's, and in every order of batching."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import enable_x64
from tests.envs.planar.conftest import STATES, Side

from hybridenv.envs.planar import PhysicsState, advance, load

DOUBLE = 1e-10
"""Velocities after a step, m/s and rad/s: less than a millionth of a millionth of the forces."""
SINGLE, TYPICAL = 5e-4, 5e-6
"""Largest and median in single precision: a rounding of the forces times the step."""


@cache
def stepper(name: str) -> Any:
    """One step of `STATES` members, compiled once for each precision."""
    step = jax.jit(jax.vmap(partial(advance, load(name), substeps=1)))
    return lambda state, control: step(state, control=control)


def states(both: Side, dtype: Any) -> tuple[PhysicsState, Any]:
    arrays = (both.qpos, both.qvel, both.warm, both.control)
    *state, control = (jnp.asarray(x, dtype) for x in arrays)
    return PhysicsState(*state), control


def after(both: Side) -> tuple[Any, Any]:
    found = [both.step(i) for i in range(STATES)]
    return tuple(np.array(x) for x in zip(*found, strict=True))  # type: ignore[return-value]


def errors(got: Any, wanted: Any) -> Any:
    return np.abs(np.asarray(got, np.float64) - wanted).max(1)


def test_a_step_is_mujocos_in_double_precision(both: Side) -> None:
    qpos, qvel = after(both)
    with enable_x64(True):
        state, control = states(both, jnp.float64)
        got = stepper(both.model.name)(state, control)
        assert got.qpos.dtype == jnp.float64
        assert errors(got.qvel, qvel).max() < DOUBLE
        assert errors(got.qpos, qpos).max() < DOUBLE


def test_a_step_is_mujocos_in_single_precision(both: Side) -> None:
    _, qvel = after(both)
    state, control = states(both, jnp.float32)
    got = stepper(both.model.name)(state, control)
    assert got.qvel.dtype == jnp.float32
    found = errors(got.qvel, qvel)
    assert found.max() < SINGLE
    assert np.median(found) < TYPICAL


def test_single_precision_keeps_a_foot_that_lands_hard() -> None:
    """A stiff contact on a light foot: single precision once lost 6e-4 of its speed here."""
    qpos = [
        0.3718732,
        -0.18606582,
        0.8877448,
        0.068319574,
        0.7558854,
        -0.43854833,
        0.37727237,
        0.44844168,
        -0.4075524,
    ]
    qvel = [
        -0.2496559,
        0.8724467,
        -1.5322266,
        10.661984,
        -2.391211,
        -2.9857318,
        -11.897018,
        -8.515102,
        -9.912407,
    ]
    warm = [
        7.6764855,
        11.128053,
        63.797905,
        234.59468,
        -388.90262,
        -25.605356,
        -286.3406,
        -318.3023,
        230.38437,
    ]
    control = [1.0, 1.0, -1.0, -1.0, -1.0, -1.0]

    def speed(dtype: Any) -> Any:
        state = PhysicsState(*[jnp.asarray([x], dtype) for x in (qpos, qvel, warm)])
        step = jax.jit(jax.vmap(partial(advance, load("half_cheetah"), substeps=1)))
        return np.asarray(step(state, jnp.asarray([control], dtype)).qvel, np.float64)

    with enable_x64(True):
        exact = speed(jnp.float64)
    assert abs(speed(jnp.float32) - exact).max() < 1e-4


def test_the_start_of_the_search_does_not_matter(both: Side) -> None:
    with enable_x64(True):
        state, control = states(both, jnp.float64)
        step = stepper(both.model.name)
        known = step(state, control)
        wild = 1e4 * np.random.default_rng(5).normal(size=state.warm.shape)
        other = step(PhysicsState(state.qpos, state.qvel, jnp.asarray(wild)), control)
        assert errors(other.qvel, np.asarray(known.qvel)).max() < DOUBLE
        assert errors(other.warm, np.asarray(known.warm)).max() < 1e-6


def test_one_many_and_many_of_many_are_the_same() -> None:
    model, rng = load("hopper"), np.random.default_rng(4)
    n = 70
    qpos = np.asarray(model.qpos0) + rng.uniform(-0.1, 0.1, (n, model.nq))
    state = PhysicsState(
        jnp.asarray(qpos, jnp.float32),
        jnp.asarray(rng.normal(size=(n, model.nq)), jnp.float32),
        jnp.zeros((n, model.nq), jnp.float32),
    )
    control = jnp.asarray(rng.uniform(-1, 1, (n, model.nu)), jnp.float32)
    step = partial(advance, model, substeps=6)
    many = jax.jit(jax.vmap(step))(state, control)
    folded = jax.tree.map(lambda x: x.reshape(7, 10, -1), (state, control))
    nested = jax.jit(jax.vmap(jax.vmap(step)))(*folded)
    one = jax.jit(step)
    for field in ("qpos", "qvel"):
        whole = np.asarray(getattr(many, field))
        np.testing.assert_array_equal(np.asarray(getattr(nested, field)).reshape(n, -1), whole)
        for i in (0, 33, n - 1):
            alone = one(jax.tree.map(lambda x, i=i: x[i], state), control[i])
            np.testing.assert_allclose(getattr(alone, field), whole[i], rtol=1e-4, atol=1e-4)


def test_a_batch_of_many_tiles_is_its_tiles() -> None:
    model, n = load("half_cheetah"), 2_000  # three tiles, the last one padded
    rng = np.random.default_rng(6)
    qpos = np.asarray(model.qpos0) + rng.uniform(-0.1, 0.1, (n, model.nq))
    zeros = jnp.zeros((n, model.nq), jnp.float32)
    state = PhysicsState(jnp.asarray(qpos, jnp.float32), zeros, zeros)
    control = jnp.asarray(rng.uniform(-1, 1, (n, model.nu)), jnp.float32)
    step = jax.jit(jax.vmap(partial(advance, model, substeps=5)))
    whole = step(state, control)
    for part in (slice(0, 100), slice(1_900, 2_000)):
        some = step(jax.tree.map(lambda x, part=part: x[part], state), control[part])
        np.testing.assert_allclose(some.qpos, whole.qpos[part], rtol=1e-5, atol=1e-5)


def test_a_scan_is_its_steps() -> None:
    model = load("half_cheetah")
    zeros = jnp.zeros((8, model.nq), jnp.float32)
    start = PhysicsState(zeros, zeros, zeros)
    controls = jnp.asarray(np.random.default_rng(7).uniform(-1, 1, (20, 8, model.nu)), jnp.float32)
    step = jax.vmap(partial(advance, model, substeps=5))

    @jax.jit
    def scanned(state: PhysicsState, controls: Any) -> PhysicsState:
        return jax.lax.scan(lambda state, u: (step(state, u), None), state, controls)[0]

    one, state = jax.jit(step), start
    for control in controls:
        state = one(state, control)
    for x, y in zip(jax.tree.leaves(state), jax.tree.leaves(scanned(start, controls)), strict=True):
        np.testing.assert_array_equal(x, y)


def test_falls_and_folds_stay_finite(both: Side) -> None:
    """Saturated control from wild states; nothing may be lost on the way."""
    rng = np.random.default_rng(8)
    shape, model = (STATES, both.model.nq), both.model
    state = PhysicsState(
        jnp.asarray(np.asarray(model.qpos0) + rng.uniform(-1, 1, shape), jnp.float32),
        jnp.asarray(5 * rng.normal(size=shape), jnp.float32),
        jnp.zeros(shape, jnp.float32),
    )
    control = jnp.asarray(np.sign(rng.normal(size=(STATES, model.nu))), jnp.float32)
    for _ in range(100):
        state = stepper(model.name)(state, control)
    assert np.isfinite(state.qpos).all()
    assert np.isfinite(state.qvel).all()


def test_episodes_stay_beside_mujocos_when_they_are_set_back(both: Side) -> None:
    """L3: episodes of 50 steps of an environment, set back to MuJoCo's state after each."""
    model, skip, episodes = both.model, 5 if both.model.name == "half_cheetah" else 4, 10
    rng = np.random.default_rng(9)
    sides = [both.mujoco.MjData(both.theirs) for _ in range(episodes)]
    for data in sides:
        data.qpos[:] = both.theirs.qpos0 + rng.uniform(-0.005, 0.005, model.nq)
    worst = 0.0
    with enable_x64(True):
        for _ in range(50):
            arrays = np.zeros((3, STATES, model.nq))
            controls = np.zeros((STATES, model.nu))
            controls[:episodes] = rng.uniform(-1, 1, (episodes, model.nu))
            for i, data in enumerate(sides):
                arrays[:, i] = data.qpos, data.qvel, data.qacc_warmstart
                data.ctrl[:] = controls[i]
                both.mujoco.mj_step(both.theirs, data, nstep=skip)
            state = PhysicsState(*map(jnp.asarray, arrays))
            for _ in range(skip):
                state = stepper(model.name)(state, jnp.asarray(controls))
            for i, data in enumerate(sides):
                off = np.abs(np.asarray(state.qpos[i]) - data.qpos).max()
                worst = max(worst, off, np.abs(np.asarray(state.qvel[i]) - data.qvel).max())
    # The steps of one set multiply what the first is off.
    assert worst < 10 * DOUBLE
