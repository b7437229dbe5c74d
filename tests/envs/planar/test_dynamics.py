"""L1: each module of the planar physics beside MuJoCo's figures, in double precision."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import enable_x64
from tests.envs.planar.conftest import NAMES, STATES, Side

from hybridenv.envs._fusion import kernel
from hybridenv.envs.planar import body_frames, load
from hybridenv.envs.planar import constraints as rules
from hybridenv.envs.planar.dynamics import (
    Matrix,
    angles,
    assemble,
    bias,
    inertias,
    passive,
    pose,
    turns,
)
from hybridenv.envs.planar.linear import factorize, multiply, solve
from hybridenv.envs.planar.model import Model

CLOSE = 1e-11
"""Relative to the largest number: some hundred operations in double precision."""
SAMPLES = range(0, STATES, 37)


def numbers(both: Side, x: Any) -> tuple[Any, ...]:
    """Coordinates or velocities of all states, as the physics counts them."""
    return tuple(jnp.asarray(x[:, i] * sign) for i, sign in enumerate(both.model.signs))


def dense(model: Model, matrix: Matrix, i: int) -> Any:
    """The matrix of a state, as MuJoCo counts."""
    full = np.diag([float(d[i]) for d in matrix.diagonal])
    for k, row in enumerate(matrix.rows):
        for value, j in zip(row, model.ancestors[k], strict=True):
            full[k, j] = full[j, k] = value[i]
    return full * np.outer(model.signs, model.signs)


def close(got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got, wanted, rtol=0, atol=CLOSE * max(1, np.abs(wanted).max()))


def test_the_tables_are_what_mujoco_reads() -> None:
    import json
    from pathlib import Path

    import hybridenv.envs.planar.model as module

    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    planar_models = pytest.importorskip("bench.planar_models")
    for name in NAMES:
        table = json.loads((Path(module.__file__).parent / "models" / f"{name}.json").read_text())
        fresh = planar_models.compile_model(name)
        del table["source"], fresh["source"]  # versions may differ, numbers may not
        assert table == fresh


def test_mass_matrix_bias_and_forces_are_mujocos(both: Side) -> None:
    with enable_x64(True):
        model = both.model
        q, v = numbers(both, both.qpos), numbers(both, both.qvel)
        control = tuple(jnp.asarray(both.control.T))

        @jax.jit
        def found(q: Any, v: Any, control: Any) -> Any:
            at = pose(model, q, *turns(model, q))
            armature = tuple(jnp.full_like(q[0], joint.armature) for joint in model.joints)
            mass = assemble(model, at.offsets, inertias(model, at), armature)
            return mass, bias(model, at, v), passive(model, q, v, control)

        mass, against, given = jax.device_get(found(q, v, control))
        for i in SAMPLES:
            data = both.data(i)
            full = np.zeros((model.nq, model.nq))
            both.mujoco.mj_fullM(both.theirs, data, full)
            close(dense(model, mass, i), full)
            close(
                [float(x[i]) * s for x, s in zip(against, model.signs, strict=True)], data.qfrc_bias
            )
            close(
                [float(x[i]) * s for x, s in zip(given, model.signs, strict=True)],
                data.qfrc_passive + data.qfrc_actuator,
            )


def test_bodies_are_drawn_where_mujoco_has_them(both: Side) -> None:
    for i in SAMPLES:
        data = both.data(i)
        for b, (x, z, angle) in enumerate(body_frames(both.model, both.qpos[i]), 1):
            anchor = data.xanchor[2 if b == 1 else b + 1]
            close([x, z], anchor[[0, 2]])
            close([np.cos(angle), np.sin(angle)], data.xmat[b].reshape(3, 3)[0, [0, 2]])


def test_constraints_weigh_and_push_as_mujocos(both: Side) -> None:
    seen = 0
    with enable_x64(True):
        model = both.model
        q, v = numbers(both, both.qpos), numbers(both, both.qvel)

        def constrain(q: Any, v: Any) -> Any:
            at = pose(model, q, *turns(model, q))
            limits = rules.limits(model, q, v)
            contacts, touches = rules.contacts(model, at), rules.touches(model, at)
            return at.offsets, rules.Constraints(limits, contacts, touches)

        def gather(offsets: Any, every: Any) -> Any:
            rest = (jnp.zeros_like(offsets[0].x),) * model.nq
            over = rules.residuals(model, offsets, every, rest)
            return rules.gather(model, offsets, every, rules.weights(every), over)

        stiff, pushed = jax.device_get(kernel(gather, *kernel(constrain, q, v)))
        # MuJoCo's targets hold B (j v) as well.
        held = multiply(model, stiff, jax.device_get(v))
        right = [-(p + model.damping * h) for p, h in zip(pushed, held, strict=True)]
        for i in range(0, STATES, 7):
            data = both.data(i)
            if not data.nefc:
                assert not dense(model, stiff, i).any()
                continue
            seen += 1
            rows = data.efc_J.reshape(data.nefc, -1)
            close(dense(model, stiff, i), rows.T @ (data.efc_D[:, None] * rows))
            close(
                [float(x[i]) * s for x, s in zip(right, model.signs, strict=True)],
                rows.T @ (data.efc_D * data.efc_aref),
            )
    assert seen >= 10


def test_capsules_of_the_hopper_touch_each_other_as_mujocos() -> None:
    from tests.envs.planar.conftest import side

    both = side("hopper")
    model, rng = both.model, np.random.default_rng(3)
    low, high = both.theirs.jnt_range[3:].T
    qpos = np.concatenate([np.tile([0, 3, 0], (400, 1)), rng.uniform(low, high, (400, 3))], 1)
    distances = []
    with enable_x64(True):
        q = numbers(both, qpos)
        touches = jax.device_get(
            jax.jit(lambda q: rules.touches(model, pose(model, q, *turns(model, q))))(q)
        )
        for i, one in enumerate(qpos):
            data = both.mujoco.MjData(both.theirs)
            data.qpos[:] = one
            both.mujoco.mj_forward(both.theirs, data)
            found = {tuple(sorted(c.geom)): c.dist for c in data.contact}
            for pair, touch in zip(model.pairs, touches, strict=True):
                geoms = tuple(body + 1 for body in pair.bodies)
                assert (float(touch.row.weight[i]) > 0) == (geoms in found)
                if geoms in found:
                    depth = found[geoms] - pair.margin
                    distances.append(depth)
                    close(float(touch.row.push[i]), _push(pair, depth))
    assert len(distances) >= 20


def _push(pair: Any, depth: float) -> float:
    return float(pair.impedance.stiffness * pair.impedance.low * depth)


@pytest.mark.parametrize("name", NAMES)
def test_the_sparse_factorisation_solves(name: str) -> None:
    model, rng = load(name), np.random.default_rng(1)
    diagonal = tuple(rng.uniform(5, 9, 3) for _ in range(model.nq))
    rows = tuple(tuple(rng.normal(0, 0.5, 3) for _ in above) for above in model.ancestors)
    matrix = Matrix(diagonal, rows)
    right = tuple(rng.normal(size=3) for _ in range(model.nq))
    x = solve(model, factorize(model, matrix), right)
    for i in range(3):
        full = dense(model, matrix, i) * np.outer(model.signs, model.signs)
        exact = np.linalg.solve(full, [float(r[i]) for r in right])
        np.testing.assert_allclose([float(y[i]) for y in x], exact, rtol=1e-10, atol=1e-12)
    back = multiply(model, matrix, x)
    for got, wanted in zip(back, right, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


def test_single_precision_keeps_what_sums_of_angles_lose() -> None:
    model = load("half_cheetah")
    q = jnp.asarray(np.random.default_rng(2).uniform(-1, 1, (model.nq, 500)), jnp.float32)
    cos, sin = turns(model, tuple(q))
    exact = angles(model, tuple(np.asarray(q, np.float64)))
    for c, s, angle in zip(cos, sin, exact, strict=True):
        # Half a unit in the last place of 1, and as much for the function itself.
        np.testing.assert_allclose(c, np.cos(angle), rtol=0, atol=1.2e-7)
        np.testing.assert_allclose(s, np.sin(angle), rtol=0, atol=1.2e-7)
    assert jax.tree.leaves(cos)[0].dtype == jnp.float32
