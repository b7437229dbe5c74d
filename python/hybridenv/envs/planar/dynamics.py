"""Smooth dynamics of a planar mechanism: where bodies are, their inertia, and the forces on them.

Numbers are arrays of any one shape, an entry for each member, and every function is elementwise; it
is also written out over the model's tree, so that it holds a plain formula for each number and XLA
sees no small matrices. Degrees of freedom all count about +y here; `physics` turns the others.

A body's velocities, forces and inertia are about its own anchor, along the world's axes. About one
origin for all the formulas would be shorter, and single precision would lose three digits to the
small differences of large numbers.

Source: Featherstone, "Rigid Body Dynamics Algorithms", 2008: composite rigid bodies and recursive
Newton-Euler, with spatial vectors (angle, x, z).
"""

from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
from jax import Array

from hybridenv.envs.planar.model import ROOT, Model

Vector: TypeAlias = tuple[Array, ...]
"""A number for each degree of freedom, or for each body."""


class Place(NamedTuple):
    """A vector along the world's axes."""

    x: Array
    z: Array


Offsets: TypeAlias = tuple[Place, ...]
"""Of each body but the first, from its parent's anchor to its own, along the world's axes, m."""


class Pose(NamedTuple):
    """Where the bodies are.

    Attributes:
        cos: Of each body's angle.
        sin: Of each body's angle.
        offsets: Of the bodies' anchors.
        heights: z of each anchor in the world, m.
        low: What rounding took from each of them, see `clearance`.
    """

    cos: Vector
    sin: Vector
    offsets: Offsets
    heights: Vector
    low: Vector

    def turned(self, body: int, place: tuple[float, float]) -> Place:
        """Return a place of a body, relative to its anchor, along the world's axes."""
        return _turned(self.cos[body], self.sin[body], place)

    def clearance(self, body: int, rise: Array, radius: float) -> Array:
        """Return the distance of the floor from a ball `rise` above the anchor of a body.

        It is the small difference of large numbers, and what a soft contact does hangs on it. So
        what sums lose in single precision is kept and added at the end.
        """
        whole, lost = exact_sum(self.heights[body], rise)
        return (whole - radius) + (lost + self.low[body])


def _turned(cos: Array, sin: Array, place: tuple[float, float]) -> Place:
    x, z = place
    return Place(cos * x + sin * z, cos * z - sin * x)


def exact_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a sum and what rounding took from it.

    Source: Knuth, "The Art of Computer Programming", volume 2, section 4.2.2, theorem B.
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


class Inertia(NamedTuple):
    """Inertia about an anchor: a symmetric 3 by 3 matrix over (angle, x, z).

    Attributes:
        aa: kg m².
        ax: kg m.
        az: kg m.
        xx: kg; as `zz` unless a contact adds to it.
        xz: kg; 0 unless a contact adds to it.
        zz: kg.
    """

    aa: Array
    ax: Array
    az: Array
    xx: Array
    xz: Array
    zz: Array

    def seen_from(self, offset: Place) -> "Inertia":
        """Return the same about a point that this anchor is `offset` away from."""
        x, z = offset
        ax = self.ax + self.xx * z - self.xz * x
        az = self.az + self.xz * z - self.zz * x
        aa = self.aa + (self.ax + ax) * z - (self.az + az) * x
        return Inertia(aa, ax, az, self.xx, self.xz, self.zz)


class Wrench(NamedTuple):
    """A torque about an anchor, N m, and a force, N."""

    a: Array
    x: Array
    z: Array

    def seen_from(self, offset: Place) -> "Wrench":
        """Return the same about a point that this anchor is `offset` away from."""
        return Wrench(self.a + self.x * offset.z - self.z * offset.x, self.x, self.z)


def angles(model: Model, q: Vector) -> Vector:
    """Return each body's angle, rad; of velocities, its angular velocity.

    Args:
        model: The mechanism.
        q: Coordinates.
    """
    found = [q[2]]
    for b, body in enumerate(model.bodies[1:], 1):
        found.append(found[body.parent] + q[b + ROOT - 1])
    return tuple(found)


def turns(model: Model, q: Vector) -> tuple[Vector, Vector]:
    """Return cosine and sine of each body's angle.

    Angles are sums, and what rounding takes from them is made good.

    Args:
        model: The mechanism.
        q: Coordinates.
    """
    sums = [(q[2], jnp.zeros_like(q[2]))]
    for b, body in enumerate(model.bodies[1:], 1):
        angle, low = sums[body.parent]
        angle, lost = exact_sum(angle, q[b + ROOT - 1])
        sums.append((angle, low + lost))
    cos, sin = [], []
    for angle, low in sums:
        c, s = jnp.cos(angle), jnp.sin(angle)
        cos.append(c - low * s)
        sin.append(s + low * c)
    return tuple(cos), tuple(sin)


def pose(model: Model, q: Vector, cos: Vector, sin: Vector) -> Pose:
    """Place all bodies.

    Args:
        model: The mechanism.
        q: Coordinates.
        cos: Of each body's angle.
        sin: Of each body's angle.
    """
    height, lost = exact_sum(q[1], jnp.zeros_like(q[1]) + model.bodies[0].anchor[1])
    offsets, heights, low = [], [height], [lost]
    for body in model.bodies[1:]:
        parent = body.parent
        offset = _turned(cos[parent], sin[parent], body.anchor)
        height, lost = exact_sum(heights[parent], offset.z)
        offsets.append(offset)
        heights.append(height)
        low.append(low[parent] + lost)
    return Pose(cos, sin, tuple(offsets), tuple(heights), tuple(low))


def velocities(model: Model, offsets: Offsets, v: Vector) -> tuple[Place, ...]:
    """Return the velocity of each anchor.

    Args:
        model: The mechanism.
        offsets: Of the bodies' anchors.
        v: Velocities of the degrees of freedom; accelerations give accelerations, but for those of
            turning.
    """
    turning = angles(model, v)
    found = [Place(v[0], v[1])]
    for body, (x, z) in zip(model.bodies[1:], offsets, strict=True):
        base, rate = found[body.parent], turning[body.parent]
        found.append(Place(base.x + rate * z, base.z - rate * x))
    return tuple(found)


def inertias(model: Model, at: Pose) -> tuple[Inertia, ...]:
    """Return each body's own inertia.

    Args:
        model: The mechanism.
        at: Where the bodies are.
    """
    found = []
    for b, body in enumerate(model.bodies):
        x, z = at.turned(b, body.center)
        m, (cx, cz) = body.mass, body.center
        mass, none = jnp.full_like(x, m), jnp.zeros_like(x)
        around = jnp.full_like(x, body.inertia + m * (cx * cx + cz * cz))
        found.append(Inertia(around, m * z, -m * x, mass, none, mass))
    return tuple(found)


def add(one: Inertia, other: Inertia) -> Inertia:
    """Return the inertia of two things that move together."""
    return Inertia(*[x + y for x, y in zip(one, other, strict=True)])


class Matrix(NamedTuple):
    """A symmetric matrix over the degrees of freedom with the sparsity of the tree.

    Attributes:
        diagonal: Entries (i, i).
        rows: For each i the entries (i, j) for its ancestors j, nearest first.
    """

    diagonal: Vector
    rows: tuple[Vector, ...]


def assemble(model: Model, offsets: Offsets, parts: tuple[Inertia, ...], added: Vector) -> Matrix:
    """Assemble the matrix of the tree by adding up inertias from the leaves.

    Args:
        model: The mechanism.
        offsets: Of the bodies' anchors.
        parts: An inertia for each body.
        added: To the diagonal, for each hinge.

    Returns:
        The mass matrix; with what contacts add to the inertias, the Hessian of the solver.
    """
    whole = list(parts)
    for b in range(len(parts) - 1, 0, -1):
        parent = model.bodies[b].parent
        whole[parent] = add(whole[parent], whole[b].seen_from(offsets[b - 1]))
    root = whole[0]
    diagonal = [root.xx, root.zz, root.aa]
    rows: list[Vector] = [(), (root.xz,), (root.az, root.ax)]
    for b in range(1, len(parts)):
        diagonal.append(whole[b].aa + added[b - 1])
        # What it takes to turn the subtree about its hinge, felt by one body after the other.
        wrench, body, row = Wrench(*whole[b][:3]), b, []
        while body:
            wrench = wrench.seen_from(offsets[body - 1])
            body = model.bodies[body].parent
            row.append(wrench.a)
        rows.append((*row, wrench.z, wrench.x))
    return Matrix(tuple(diagonal), tuple(rows))


def project(model: Model, offsets: Offsets, wrenches: list[Wrench]) -> Vector:
    """Turn forces on bodies into forces on the degrees of freedom.

    Args:
        model: The mechanism.
        offsets: Of the bodies' anchors.
        wrenches: On each body.
    """
    whole = list(wrenches)
    for b in range(len(whole) - 1, 0, -1):
        parent = model.bodies[b].parent
        moved = whole[b].seen_from(offsets[b - 1])
        whole[parent] = Wrench(*[x + y for x, y in zip(whole[parent], moved, strict=True)])
    return (whole[0].x, whole[0].z, *[wrench.a for wrench in whole])


def bias(model: Model, at: Pose, v: Vector) -> Vector:
    """Return the forces that gravity and turning ask for at rest: Newton-Euler, no acceleration.

    Args:
        model: The mechanism.
        at: Where the bodies are.
        v: Velocities.
    """
    zero = jnp.zeros_like(v[0])
    squares = [rate * rate for rate in angles(model, v)]
    accelerations = [Place(zero, zero + model.gravity)]
    for body, offset in zip(model.bodies[1:], at.offsets, strict=True):
        base, square = accelerations[body.parent], squares[body.parent]
        accelerations.append(Place(base.x - square * offset.x, base.z - square * offset.z))
    wrenches = []
    for b, body in enumerate(model.bodies):
        center = at.turned(b, body.center)
        x = body.mass * (accelerations[b].x - squares[b] * center.x)
        z = body.mass * (accelerations[b].z - squares[b] * center.z)
        wrenches.append(Wrench(x * center.z - z * center.x, x, z))
    return project(model, at.offsets, wrenches)


def passive(model: Model, q: Vector, v: Vector, control: Vector) -> Vector:
    """Return the forces of motors, springs and dampers.

    Args:
        model: The mechanism.
        q: Coordinates.
        v: Velocities.
        control: For each motor; cut off at the model's limits.
    """
    zero = jnp.zeros_like(q[0])
    found = [zero] * ROOT
    controls = iter(control)
    for i, joint in enumerate(model.joints, ROOT):
        force = zero
        if joint.gear:
            low, high = model.control
            force = force + joint.sign * joint.gear * jnp.clip(next(controls), low, high)
        if joint.stiffness:
            force = force - joint.stiffness * (q[i] - joint.sign * joint.rest)
        found.append(force - joint.damping * v[i] if joint.damping else force)
    return tuple(found)
