"""Contacts and joint limits as the soft, one-sided constraints of MuJoCo.

Each row of a constraint has a Jacobian j, a reference acceleration r and a weight d, and the force
-d min(j a - r, 0) along j. A contact with the floor has MuJoCo's four rows z + mu x, z - mu x and
z + mu y twice; the last two are z alone here, so one row stands for both with twice the weight.

Source: MuJoCo's documentation, "Computation", constraint model; `docs/locomotion.md`.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hybridenv.envs.planar.dynamics import (
    Inertia,
    Matrix,
    Place,
    Pose,
    Vector,
    Wrench,
    add,
    angles,
    project,
    velocities,
)
from hybridenv.envs.planar.model import ROOT, Impedance, Model, Pair


class Row(NamedTuple):
    """A row with a plain Jacobian.

    Attributes:
        weight: d; 0 where the constraint is not active.
        target: r.
    """

    weight: Array
    target: Array


class Contact(NamedTuple):
    """A point of a capsule and the floor.

    Attributes:
        at: Where they touch, relative to the body's anchor.
        weight: d of the rows z + mu x and z - mu x, half of that of z; 0 where they do not touch.
        target: r of the row z.
        slip: What r is more along z + mu x, and less along z - mu x.
    """

    at: Place
    weight: Array
    target: Array
    slip: Array


class Touch(NamedTuple):
    """Two capsules that touch.

    Attributes:
        row: Weight and target.
        along: The Jacobian's entries, for the second body and its ancestors up to the first body.
    """

    row: Row
    along: Vector


class Constraints(NamedTuple):
    """All that may be active.

    Attributes:
        limits: Of each joint that has any; the Jacobian is `sides`.
        sides: 1 where the lower limit is near, -1 where the upper one is.
        contacts: Of each point.
        touches: Of each pair.
    """

    limits: tuple[Row, ...]
    sides: Vector
    contacts: tuple[Contact, ...]
    touches: tuple[Touch, ...]


class Rows(NamedTuple):
    """A number for each row.

    Attributes:
        limits: Of each limit.
        contacts: Of each contact, for z + mu x, z - mu x and z.
        touches: Of each pair.
    """

    limits: Vector
    contacts: tuple[Vector, ...]
    touches: Vector


def row(kind: Impedance, invweight: float, depth: Array, speed: Array) -> Row:
    """Return a row.

    Args:
        kind: How stiff it is.
        invweight: Inverse inertia along it, as MuJoCo estimates it.
        depth: Distance less the margin: below 0 where the constraint is active.
        speed: Velocity along it.
    """
    strength = _impedance(kind, depth)
    weight = jnp.where(depth < 0, strength / ((1 - strength) * invweight), 0.0)
    return Row(weight, -kind.damping * speed - kind.stiffness * strength * depth)


def _impedance(kind: Impedance, depth: Array) -> Array:
    if kind.low == kind.high:
        return jnp.full_like(depth, kind.low)
    x = jnp.minimum(jnp.abs(depth) * (1 / kind.width), 1)
    y = jnp.where(x < 0.5, 2 * (x * x), 1 - 2 * ((1 - x) * (1 - x)))
    return kind.low + y * (kind.high - kind.low)


def limits(model: Model, q: Vector, v: Vector) -> tuple[tuple[Row, ...], Vector]:
    """Return the rows of the joints' limits, and which way they push.

    Args:
        model: The mechanism.
        q: Coordinates.
        v: Velocities.
    """
    rows, sides = [], []
    for i, joint in enumerate(model.joints, ROOT):
        if joint.limits is None:
            continue
        low, high = sorted(joint.sign * limit for limit in joint.limits)
        below = q[i] - low
        above = high - q[i]
        side = jnp.where(below < above, jnp.ones_like(below), -1)
        rows.append(row(joint.impedance, joint.invweight, jnp.minimum(below, above), side * v[i]))
        sides.append(side)
    return tuple(rows), tuple(sides)


def contacts(model: Model, at: Pose, v: Vector) -> tuple[Contact, ...]:
    """Return the contacts with the floor.

    Args:
        model: The mechanism.
        at: Where the bodies are.
        v: Velocities of the degrees of freedom.
    """
    found = []
    moving, turning = velocities(model, at, v), angles(model, v)
    for point in model.points:
        place = at.turned(point.body, point.place)
        distance = at.clearance(point.body, place.z, point.radius)
        # Halfway between the floor and the lowest place of the capsule.
        here = Place(place.x, place.z - (0.5 * distance + point.radius))
        speed, spin = moving[point.body], turning[point.body]
        mu = point.friction
        # MuJoCo estimates an edge of the pyramid's inverse inertia so.
        invweight = point.invweight * (1 + mu * mu) * 2 * mu * mu
        one = row(
            point.impedance, invweight, distance - point.margin, speed.z - spin * here.x
        )
        slip = -point.impedance.damping * mu * (speed.x + spin * here.z)
        found.append(Contact(here, one.weight, one.target, slip))
    return tuple(found)


def touches(model: Model, at: Pose, v: Vector) -> tuple[Touch, ...]:
    """Return the contacts between bodies.

    Args:
        model: The mechanism.
        at: Where the bodies are.
        v: Velocities.
    """
    found = []
    for pair in model.pairs:
        near, distance, normal = _nearest(model, at, pair)
        along, body = [], pair.bodies[1]
        speed = jnp.zeros_like(distance)
        while body != pair.bodies[0]:
            lever = normal.x * near.z - normal.z * near.x
            along.append(lever)
            speed = speed + lever * v[body + ROOT - 1]
            near = _moved(near, at.offsets[body])
            body = model.bodies[body].parent
        one = row(pair.impedance, pair.invweight, distance - pair.margin, speed)
        found.append(Touch(one, tuple(along)))
    return tuple(found)


def _moved(place: Place, offset: Place) -> Place:
    return Place(place.x + offset.x, place.z + offset.z)


def _nearest(model: Model, at: Pose, pair: Pair) -> tuple[Place, Array, Place]:
    """Where two capsules are nearest: the middle, their distance, and the way to the second.

    All relative to the second body's anchor.
    """
    first, second = pair.bodies
    between, body = at.offsets[second], model.bodies[second].parent
    while body != first:
        between, body = _moved(between, at.offsets[body]), model.bodies[body].parent
    back = Place(-between.x, -between.z)
    a0, a1 = (_moved(at.turned(first, end), back) for end in pair.ends[0])
    b0, b1 = (at.turned(second, end) for end in pair.ends[1])
    ux, uz = 0.5 * (a0.x - a1.x), 0.5 * (a0.z - a1.z)
    wx, wz = 0.5 * (b0.x - b1.x), 0.5 * (b0.z - b1.z)
    dx = 0.5 * ((a0.x + a1.x) - (b0.x + b1.x))
    dz = 0.5 * ((a0.z + a1.z) - (b0.z + b1.z))
    uu, uw, ww = ux * ux + uz * uz, -(ux * wx + uz * wz), wx * wx + wz * wz
    u, w = -(ux * dx + uz * dz), wx * dx + wz * dz
    determinant = uu * ww - uw * uw
    determinant = jnp.where(jnp.abs(determinant) < 1e-15, 1e-15, determinant)
    # Both segments run from -1 to 1; the nearest points of the lines, then within the segments.
    s = (ww * u - uw * w) / determinant
    t = (uu * w - uw * u) / determinant
    beyond_s = jnp.abs(s) > 1
    s_cut = jnp.clip(s, -1, 1)
    t = jnp.where(beyond_s, (w - uw * s_cut) / ww, t)
    t_cut = jnp.clip(t, -1, 1)
    s = jnp.where(jnp.abs(t) > 1, jnp.clip((u - uw * t_cut) / uu, -1, 1), s_cut)
    t = t_cut
    px, pz = 0.5 * (a0.x + a1.x) + s * ux, 0.5 * (a0.z + a1.z) + s * uz
    qx, qz = 0.5 * (b0.x + b1.x) + t * wx, 0.5 * (b0.z + b1.z) + t * wz
    nx, nz = qx - px, qz - pz
    length = jnp.sqrt(nx * nx + nz * nz)
    scale = 1 / jnp.maximum(length, 1e-15)
    middle = Place(0.5 * (px + qx), 0.5 * (pz + qz))
    return middle, length - pair.radius, Place(nx * scale, nz * scale)


def residuals(model: Model, at: Pose, every: Constraints, a: Vector) -> Rows:
    """Return j a - r of every row: below 0 where it pushes.

    Args:
        model: The mechanism.
        at: Where the bodies are.
        every: The constraints.
        a: Accelerations of the degrees of freedom.
    """
    limits, n = [], 0
    for i, joint in enumerate(model.joints, ROOT):
        if joint.limits is not None:
            limits.append(every.sides[n] * a[i] - every.limits[n].target)
            n += 1
    turning = angles(model, a)
    moving = velocities(model, at, a)
    contacts = []
    for point, contact in zip(model.points, every.contacts, strict=True):
        speed, spin = moving[point.body], turning[point.body]
        z = speed.z - spin * contact.at.x - contact.target
        x = point.friction * (speed.x + spin * contact.at.z) - contact.slip
        contacts.append((z + x, z - x, z))
    touches = []
    for pair, touch in zip(model.pairs, every.touches, strict=True):
        along = -touch.row.target
        for lever, i in zip(touch.along, _between(model, pair), strict=True):
            along = along + lever * a[i]
        touches.append(along)
    return Rows(tuple(limits), tuple(contacts), tuple(touches))


def weights(every: Constraints) -> Rows:
    """Return d of every row."""
    return Rows(
        tuple(limit.weight for limit in every.limits),
        tuple((c.weight, c.weight, 2 * c.weight) for c in every.contacts),
        tuple(touch.row.weight for touch in every.touches),
    )


def _between(model: Model, pair: Pair) -> list[int]:
    """Degrees of freedom that move the second body of a pair against the first."""
    found, body = [], pair.bodies[1]
    while body != pair.bodies[0]:
        found.append(body + ROOT - 1)
        body = model.bodies[body].parent
    return found


def push(
    model: Model, at: Pose, every: Constraints, pushing: Rows
) -> tuple[tuple[Inertia, ...], Vector, Vector]:
    """Gather the rows that push.

    Args:
        model: The mechanism.
        at: Where the bodies are.
        every: The constraints.
        pushing: d of the rows that push, and 0 for the others.

    Returns:
        What they add to the inertia of each body and to the diagonal of each hinge (what pairs add
        is up to `couple`); and the sum of d r j, a force on each degree of freedom.
    """
    zero = jnp.zeros_like(at.cos[0])
    parts = [Inertia(*[zero] * 6)] * len(model.bodies)
    wrenches = [Wrench(zero, zero, zero)] * len(model.bodies)
    for point, contact, (up, down, flat) in zip(
        model.points, every.contacts, pushing.contacts, strict=True
    ):
        mu, (cx, cz) = point.friction, contact.at
        zz = up + down + flat
        xz = mu * (up - down)
        xx = (mu * mu) * (up + down)
        ax, az = xx * cz - xz * cx, xz * cz - zz * cx
        part = Inertia(ax * cz - az * cx, ax, az, xx, xz, zz)
        force_z = zz * contact.target + (up - down) * contact.slip
        force_x = mu * ((up - down) * contact.target + (up + down) * contact.slip)
        parts[point.body] = add(parts[point.body], part)
        a, x, z = wrenches[point.body]
        torque = force_x * cz - force_z * cx
        wrenches[point.body] = Wrench(a + torque, x + force_x, z + force_z)
    forces = list(project(model, at, wrenches))
    added, n = [], 0
    for i, joint in enumerate(model.joints, ROOT):
        if joint.limits is None:
            added.append(zero)
            continue
        added.append(pushing.limits[n])
        forces[i] = forces[i] + pushing.limits[n] * every.sides[n] * every.limits[n].target
        n += 1
    for pair, touch, weight in zip(model.pairs, every.touches, pushing.touches, strict=True):
        for lever, i in zip(touch.along, _between(model, pair), strict=True):
            forces[i] = forces[i] + weight * touch.row.target * lever
    return tuple(parts), tuple(added), tuple(forces)


def couple(model: Model, matrix: Matrix, every: Constraints, pushing: Rows) -> Matrix:
    """Add the outer products of the rows of pairs to a matrix.

    Args:
        model: The mechanism.
        matrix: The matrix.
        every: The constraints.
        pushing: d of the rows that push, and 0 for the others.
    """
    diagonal, rows = list(matrix.diagonal), [list(row) for row in matrix.rows]
    for pair, touch, weight in zip(model.pairs, every.touches, pushing.touches, strict=True):
        between = _between(model, pair)
        for n, i in enumerate(between):
            scaled = weight * touch.along[n]
            diagonal[i] = diagonal[i] + scaled * touch.along[n]
            for m in range(n + 1, len(between)):
                rows[i][m - n - 1] = rows[i][m - n - 1] + scaled * touch.along[m]
    return Matrix(tuple(diagonal), tuple(tuple(row) for row in rows))
