"""Contacts and joint limits as the soft, one-sided constraints of MuJoCo.

Each row of a constraint has a Jacobian j and a weight d. MuJoCo's reference acceleration is
-B (j v) - K i p, for a velocity v, a depth p and an impedance i that depends on it, and the row
pushes with -d (j a + B (j v) + K i p) where that is above 0. B is nearly always the same, so all is
said in terms of a + B v, "urges" here: a row pushes with -d (j u + push) for an urge u.

A contact with the floor has MuJoCo's four rows z + mu x, z - mu x and z + mu y twice; the last two
are z alone in the plane, so one row stands for both with twice the weight.

Source: MuJoCo's documentation, "Computation", constraint model; `docs/locomotion.md`.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hybridenv.envs.planar.dynamics import (
    Inertia,
    Matrix,
    Offsets,
    Place,
    Pose,
    Vector,
    Wrench,
    add,
    angles,
    assemble,
    project,
    velocities,
)
from hybridenv.envs.planar.model import ROOT, Impedance, Model, Pair


class Row(NamedTuple):
    """A row.

    Attributes:
        weight: d; 0 where the constraint is not active.
        push: K i p, and what B of the model does not say of B (j v).
    """

    weight: Array
    push: Array


class Limit(NamedTuple):
    """A joint near one of its limits.

    Attributes:
        row: Weight and push.
        side: The Jacobian: 1 where the lower limit is near, -1 where the upper one is.
    """

    row: Row
    side: Array


class Contact(NamedTuple):
    """A point of a capsule and the floor.

    Attributes:
        at: Where they touch, relative to the body's anchor.
        row: Of z + mu x, z - mu x and, with twice the weight, z.
    """

    at: Place
    row: Row


class Touch(NamedTuple):
    """Two capsules that touch.

    Attributes:
        row: Weight and push.
        along: The Jacobian's entries, for the bodies of `Model.between`.
    """

    row: Row
    along: Vector


class Constraints(NamedTuple):
    """All that may be active.

    Attributes:
        limits: Of each joint that has any.
        contacts: Of each point.
        touches: Of each pair.
    """

    limits: tuple[Limit, ...]
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


def row(model: Model, kind: Impedance, invweight: float, depth: Array, speed: Array | None) -> Row:
    """Return a row.

    Args:
        model: The mechanism.
        kind: How stiff it is.
        invweight: Inverse inertia along it, as MuJoCo estimates it.
        depth: Distance less the margin: below 0 where the constraint is active.
        speed: Velocity along it; `None` where its B is the model's.
    """
    strength = _impedance(kind, depth)
    weight = jnp.where(depth < 0, strength / ((1 - strength) * invweight), 0.0)
    push = kind.stiffness * strength * depth
    if speed is None:
        return Row(weight, push)
    return Row(weight, push + (kind.damping - model.damping) * speed)


def _impedance(kind: Impedance, depth: Array) -> Array:
    if kind.low == kind.high:
        return jnp.full_like(depth, kind.low)
    x = jnp.minimum(jnp.abs(depth) * (1 / kind.width), 1)
    y = jnp.where(x < 0.5, 2 * (x * x), 1 - 2 * ((1 - x) * (1 - x)))
    return kind.low + y * (kind.high - kind.low)


def limits(model: Model, q: Vector, v: Vector) -> tuple[Limit, ...]:
    """Return the limits of the joints.

    Args:
        model: The mechanism.
        q: Coordinates.
        v: Velocities.
    """
    found = []
    for i in model.limited:
        joint = model.joints[i - ROOT]
        low, high = sorted(joint.sign * limit for limit in joint.limits or ())
        below = q[i] - low
        above = high - q[i]
        side = jnp.where(below < above, jnp.ones_like(below), -1)
        depth = jnp.minimum(below, above)
        found.append(Limit(row(model, joint.impedance, joint.invweight, depth, side * v[i]), side))
    return tuple(found)


def contacts(model: Model, at: Pose) -> tuple[Contact, ...]:
    """Return the contacts with the floor.

    Args:
        model: The mechanism.
        at: Where the bodies are.
    """
    found = []
    for point in model.points:
        place = at.turned(point.body, point.place)
        distance = at.clearance(point.body, place.z, point.radius)
        # Halfway between the floor and the lowest place of the capsule.
        here = Place(place.x, place.z - (0.5 * distance + point.radius))
        mu, depth = point.friction, distance - point.margin
        # MuJoCo estimates an edge of the pyramid's inverse inertia so.
        invweight = point.invweight * (1 + mu * mu) * 2 * mu * mu
        found.append(Contact(here, row(model, point.impedance, invweight, depth, None)))
    return tuple(found)


def touches(model: Model, at: Pose) -> tuple[Touch, ...]:
    """Return the contacts between bodies.

    Args:
        model: The mechanism.
        at: Where the bodies are.
    """
    found = []
    for pair in model.pairs:
        near, distance, normal = _nearest(model, at, pair)
        along = []
        for body in model.between(pair):
            along.append(normal.x * near.z - normal.z * near.x)
            near = _moved(near, at.offsets[body - 1])
        one = row(model, pair.impedance, pair.invweight, distance - pair.margin, None)
        found.append(Touch(one, tuple(along)))
    return tuple(found)


def _moved(place: Place, offset: Place) -> Place:
    return Place(place.x + offset.x, place.z + offset.z)


def _nearest(model: Model, at: Pose, pair: Pair) -> tuple[Place, Array, Place]:
    """Where two capsules are nearest: the middle, their distance, and the way to the second.

    All relative to the second body's anchor.
    """
    first, second = pair.bodies
    way = at.offsets[second - 1]
    for body in model.between(pair)[1:]:
        way = _moved(way, at.offsets[body - 1])
    back = Place(-way.x, -way.z)
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


def residuals(model: Model, offsets: Offsets, every: Constraints, urge: Vector) -> Rows:
    """Return j u + push of every row: below 0 where it pushes.

    Args:
        model: The mechanism.
        offsets: Of the bodies' anchors.
        every: The constraints.
        urge: a + B v.
    """
    limits = [
        limit.side * urge[i] + limit.row.push
        for i, limit in zip(model.limited, every.limits, strict=True)
    ]
    turning = angles(model, urge)
    moving = velocities(model, offsets, urge)
    contacts = []
    for point, contact in zip(model.points, every.contacts, strict=True):
        speed, spin = moving[point.body], turning[point.body]
        z = speed.z - spin * contact.at.x + contact.row.push
        x = point.friction * (speed.x + spin * contact.at.z)
        contacts.append((z + x, z - x, z))
    touches = []
    for pair, touch in zip(model.pairs, every.touches, strict=True):
        along = touch.row.push
        for lever, body in zip(touch.along, model.between(pair), strict=True):
            along = along + lever * urge[body + ROOT - 1]
        touches.append(along)
    return Rows(tuple(limits), tuple(contacts), tuple(touches))


def weights(every: Constraints) -> Rows:
    """Return d of every row."""
    return Rows(
        tuple(limit.row.weight for limit in every.limits),
        tuple((c.row.weight, c.row.weight, 2 * c.row.weight) for c in every.contacts),
        tuple(touch.row.weight for touch in every.touches),
    )


def gather(
    model: Model, offsets: Offsets, every: Constraints, pushing: Rows, over: Rows
) -> tuple[Matrix, Vector]:
    """Gather the rows that push.

    Args:
        model: The mechanism.
        offsets: Of the bodies' anchors.
        every: The constraints.
        pushing: d of the rows that push, and 0 for the others.
        over: j u + push of every row.

    Returns:
        The sum of d j j', a matrix with the tree's sparsity, and the sum of d (j u + push) j.
    """
    zero = jnp.zeros_like(every.contacts[0].at.x)
    parts = [Inertia(*[zero] * 6)] * len(model.bodies)
    wrenches = [Wrench(zero, zero, zero)] * len(model.bodies)
    for point, contact, (up, down, flat), (above, below, level) in zip(
        model.points, every.contacts, pushing.contacts, over.contacts, strict=True
    ):
        mu, (cx, cz) = point.friction, contact.at
        zz = up + down + flat
        xz = mu * (up - down)
        xx = (mu * mu) * (up + down)
        ax, az = xx * cz - xz * cx, xz * cz - zz * cx
        part = Inertia(ax * cz - az * cx, ax, az, xx, xz, zz)
        parts[point.body] = add(parts[point.body], part)
        one, other = up * above, down * below
        fx, fz = mu * (one - other), one + other + flat * level
        a, x, z = wrenches[point.body]
        wrenches[point.body] = Wrench(a + (fx * cz - fz * cx), x + fx, z + fz)
    forces = list(project(model, offsets, wrenches))
    added = [zero] * len(model.joints)
    for i, limit, weight, beyond in zip(
        model.limited, every.limits, pushing.limits, over.limits, strict=True
    ):
        added[i - ROOT] = weight
        forces[i] = forces[i] + weight * limit.side * beyond
    matrix = assemble(model, offsets, tuple(parts), tuple(added))
    diagonal, rows = list(matrix.diagonal), [list(row) for row in matrix.rows]
    for pair, touch, weight, beyond in zip(
        model.pairs, every.touches, pushing.touches, over.touches, strict=True
    ):
        hinges = [body + ROOT - 1 for body in model.between(pair)]
        for n, i in enumerate(hinges):
            scaled = weight * touch.along[n]
            forces[i] = forces[i] + scaled * beyond
            diagonal[i] = diagonal[i] + scaled * touch.along[n]
            for m in range(n + 1, len(hinges)):
                rows[i][m - n - 1] = rows[i][m - n - 1] + scaled * touch.along[m]
    return Matrix(tuple(diagonal), tuple(tuple(row) for row in rows)), tuple(forces)
