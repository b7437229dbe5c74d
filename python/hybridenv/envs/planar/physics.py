"""Physics of a planar mechanism: steps in time, as MuJoCo takes them.

`advance` is written for one member. Under `jax.vmap` it does all of them at once, in arrays of a
number each (members last), a tile of them at a time that fits the cache.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.custom_batching import custom_vmap
from numpy.typing import ArrayLike, NDArray

from hybridenv.envs._fusion import kernel
from hybridenv.envs.planar.dynamics import Matrix, Vector
from hybridenv.envs.planar.linear import factorize, solve
from hybridenv.envs.planar.model import ROOT, Model
from hybridenv.envs.planar.solver import accelerations

TILE = 784
"""Members at a time: what a core's cache holds."""
LANES = 16
"""Numbers of a cache line. Arrays of a tile are an odd number of lines, or else a hundred of them
would compete for the same few places of the cache."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class PhysicsState:
    """A mechanism in motion; all float32 or all float64.

    Attributes:
        qpos: float[nq], coordinates in MuJoCo's order and directions, m and rad.
        qvel: float[nq], their velocities, per s.
        warm: float[nq], the accelerations found last, from which the solver begins. They decide
            how long it takes, and nothing else.
    """

    qpos: Array
    qvel: Array
    warm: Array


def advance(model: Model, state: PhysicsState, control: Array, substeps: int) -> PhysicsState:
    """Take steps of `model.timestep`.

    Args:
        model: The mechanism.
        state: Where it is.
        control: float[nu], for each motor; cut off at the model's limits.
        substeps: How many.

    Returns:
        Where it is then.
    """
    control = jnp.asarray(control, state.qpos.dtype)
    found = _batched(model, substeps)(
        *[x[None] for x in (state.qpos, state.qvel, state.warm, control)]
    )
    return PhysicsState(*[x[0] for x in found])


@cache
def _batched(model: Model, substeps: int) -> Callable[..., tuple[Array, Array, Array]]:
    """The steps of n members, where a batch of batches is one large batch."""
    # Traced once for each number of members, which takes seconds.
    traced = jax.jit(partial(_many, model, substeps))

    @custom_vmap
    def many(q: Array, v: Array, a: Array, control: Array) -> tuple[Array, Array, Array]:
        found: tuple[Array, Array, Array] = traced(q, v, a, control)
        return found

    @many.def_vmap
    def _of_many(size: int, batched: list[bool], *arrays: Array) -> Any:
        whole = _broadcast(size, batched, arrays)
        flat = many(*[x.reshape(-1, x.shape[-1]) for x in whole])
        return tuple(x.reshape(*whole[0].shape[:2], -1) for x in flat), (True, True, True)

    return many


def _broadcast(size: int, batched: list[bool], arrays: tuple[Array, ...]) -> list[Array]:
    return [
        x if has else jnp.broadcast_to(x, (size, *x.shape))
        for x, has in zip(arrays, batched, strict=True)
    ]


def _many(
    model: Model, substeps: int, q: Array, v: Array, a: Array, control: Array
) -> tuple[Array, Array, Array]:
    """Take the steps of n members, [n, nq] each."""
    n, nq = q.shape
    tiles = -(-n // TILE)
    size = n if n < LANES else (-(-n // (tiles * LANES)) | 1) * LANES
    signs = jnp.asarray(model.signs, q.dtype)
    rows = jnp.concatenate([q * signs, v * signs, a * signs, control], 1)
    rows = jnp.pad(rows, ((0, tiles * size - n), (0, 0)))
    rows = rows.reshape(tiles, size, -1).swapaxes(1, 2)

    def tile(rows: Array) -> Array:
        given = tuple(rows)
        q, v, a = (given[i * nq : (i + 1) * nq] for i in range(3))
        control = given[3 * nq :]

        def step(_: int, now: tuple[Vector, Vector, Vector]) -> tuple[Vector, Vector, Vector]:
            return STEPS[model.integrator](model, *now, control)

        q, v, a = lax.fori_loop(0, substeps, step, (q, v, a))
        return jnp.stack([*q, *v, *a])

    found = tile(rows[0])[None] if tiles == 1 else lax.map(tile, rows)
    found = found.swapaxes(1, 2).reshape(tiles * size, -1)[:n]
    return found[:, :nq] * signs, found[:, nq : 2 * nq] * signs, found[:, 2 * nq :] * signs


def _euler(
    model: Model, q: Vector, v: Vector, a: Vector, control: Vector
) -> tuple[Vector, Vector, Vector]:
    """One step of semi-implicit Euler with implicit damping of the joints."""
    h = model.timestep
    a, problem = accelerations(model, q, v, control, a)

    def integrate(mass: Matrix, q: Vector, v: Vector, a: Vector) -> tuple[Vector, Vector]:
        damping = [0.0] * ROOT + [h * joint.damping for joint in model.joints]
        diagonal = tuple(x + d for x, d in zip(mass.diagonal, damping, strict=True))
        braked = tuple(x * d for x, d in zip(a, damping, strict=True))
        less = solve(model, factorize(model, mass._replace(diagonal=diagonal)), braked)
        v = tuple(x + h * (y - z) for x, y, z in zip(v, a, less, strict=True))
        return tuple(x + h * y for x, y in zip(q, v, strict=True)), v

    q, v = kernel(integrate, problem.mass, q, v, a)
    return q, v, a


def _rk4(
    model: Model, q: Vector, v: Vector, a: Vector, control: Vector
) -> tuple[Vector, Vector, Vector]:
    """One step of the classical Runge-Kutta method."""
    h = model.timestep
    # What each stage goes ahead from the start by, and what it counts in the mean.
    ahead = jnp.asarray([0, h / 2, h / 2, h], q[0].dtype)
    counts = jnp.asarray([h / 6, h / 3, h / 3, h / 6], q[0].dtype)

    def along(start: Vector, way: Vector, step: Array) -> Vector:
        return tuple(x + step * y for x, y in zip(start, way, strict=True))

    def stage(i: int, now: tuple[Vector, ...]) -> tuple[Vector, ...]:
        slope, a, sum_q, sum_v = now
        at, speed = along(q, slope, ahead[i]), along(v, a, ahead[i])
        a, _ = accelerations(model, at, speed, control, a)
        return speed, a, along(sum_q, speed, counts[i]), along(sum_v, a, counts[i])

    _, a, sum_q, sum_v = lax.fori_loop(0, 4, stage, (v, a, q, v))
    return sum_q, sum_v, a


STEPS = {"euler": _euler, "rk4": _rk4}


def body_frames(model: Model, qpos: ArrayLike) -> NDArray[np.float64]:
    """Return where bodies are, for drawing; outside of JAX.

    Args:
        model: The mechanism.
        qpos: float[nq], coordinates.

    Returns:
        float64[bodies, 3]: x and z of each anchor in the world, m, and the body's angle about y.
    """
    q = np.asarray(qpos, np.float64) * model.signs
    frames = np.empty((len(model.bodies), 3))
    frames[0] = q[0] + model.bodies[0].anchor[0], q[1] + model.bodies[0].anchor[1], q[2]
    for b, body in enumerate(model.bodies[1:], 1):
        x, z, angle = frames[body.parent]
        (px, pz), c, s = body.anchor, np.cos(angle), np.sin(angle)
        frames[b] = x + c * px + s * pz, z + c * pz - s * px, angle + q[b + ROOT - 1]
    return frames
