"""What a planar mechanism consists of, as `bench/planar_models.py` reads it from an MJCF file.

Everything happens in the x-z plane. A body is a tree node that turns about a hinge, its anchor;
places in a body are given relative to that anchor, along axes that turn with the body. Angles are
about +y: a place (x, z) of a body that has turned by an angle is (c x + s z, -s x + c z) away.

The first body slides along x and z and turns; each further body has one hinge. So body b turns by
degree of freedom b + 2, and its ancestors among them are those of its parents, then 0, 1 and 2.
"""

import json
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Literal

ROOT = 3
"""Degrees of freedom of the first body: x, z and its angle."""


@dataclass(frozen=True)
class Impedance:
    """How stiff a constraint is: MuJoCo's solref and solimp, worked out.

    Attributes:
        stiffness: K, 1/s².
        damping: B, 1/s.
        low: Impedance where the constraint begins.
        high: The same at and beyond `width`.
        width: Metres or radians.

    Source: MuJoCo's documentation, "Computation", solver parameters; its midpoint of 0.5 and power
    of 2 are the only ones here.
    """

    stiffness: float
    damping: float
    low: float
    high: float
    width: float


@dataclass(frozen=True)
class Body:
    """A rigid body.

    Attributes:
        name: Its name in the MJCF file.
        parent: Index of the body that its hinge is fixed to; -1 for the first.
        anchor: Place of its hinge in the parent; for the first body where it is at 0, m.
        mass: kg.
        inertia: About its centre of mass and y, kg m².
        center: Place of the centre of mass, m.
    """

    name: str
    parent: int
    anchor: tuple[float, float]
    mass: float
    inertia: float
    center: tuple[float, float]


@dataclass(frozen=True)
class Joint:
    """A hinge between a body and its parent.

    Attributes:
        sign: 1 or -1: the direction in which coordinates count, about y.
        stiffness: Of the spring, N m.
        rest: Coordinate at which the spring is at rest.
        damping: N m s.
        armature: Added inertia, kg m².
        limits: Least and greatest coordinate, or `None`.
        impedance: Of the limits.
        invweight: MuJoCo's dof_invweight0.
        gear: Torque for a control of 1, N m; 0 where no motor is.
    """

    sign: int
    stiffness: float
    rest: float
    damping: float
    armature: float
    limits: tuple[float, float] | None
    impedance: Impedance
    invweight: float
    gear: float


@dataclass(frozen=True)
class Point:
    """An end of a capsule, which may touch the floor at z = 0.

    Attributes:
        body: Index of its body.
        place: Of the end's middle, m.
        radius: m.
        margin: Distance below which the contact is active, m.
        friction: Coefficient.
        impedance: Of the contact.
        invweight: MuJoCo's body_invweight0 for translation.
    """

    body: int
    place: tuple[float, float]
    radius: float
    margin: float
    friction: float
    impedance: Impedance
    invweight: float


@dataclass(frozen=True)
class Pair:
    """Two capsules that may touch each other, without friction.

    Attributes:
        bodies: Indices of their bodies; the first is an ancestor of the second.
        ends: The two ends of each capsule's axis, m.
        radius: Sum of both radii, m.
        margin: Distance below which the contact is active, m.
        impedance: Of the contact.
        invweight: Sum of both bodies' body_invweight0 for translation.
    """

    bodies: tuple[int, int]
    ends: tuple[
        tuple[tuple[float, float], tuple[float, float]],
        tuple[tuple[float, float], tuple[float, float]],
    ]
    radius: float
    margin: float
    impedance: Impedance
    invweight: float


@dataclass(frozen=True)
class Capsule:
    """What is drawn of a body.

    Attributes:
        body: Index of the body.
        ends: Ends of its axis, m.
        radius: m.
    """

    body: int
    ends: tuple[tuple[float, float], tuple[float, float]]
    radius: float


@dataclass(frozen=True)
class Model:
    """A planar mechanism.

    Attributes:
        name: For messages.
        source: File and versions it was read from.
        timestep: s.
        integrator: `"euler"`, with implicit damping of the joints, or `"rk4"`.
        gravity: m/s², downwards.
        control: Least and greatest control; others are cut off.
        qpos0: Coordinates at which the MJCF file draws it.
        bodies: The first, then each after its parent.
        joints: Of all bodies but the first.
        points: That may touch the floor.
        pairs: That may touch each other.
        capsules: To draw.
    """

    name: str
    source: str
    timestep: float
    integrator: Literal["euler", "rk4"]
    gravity: float
    control: tuple[float, float]
    qpos0: tuple[float, ...]
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    points: tuple[Point, ...]
    pairs: tuple[Pair, ...]
    capsules: tuple[Capsule, ...]

    @property
    def nq(self) -> int:
        """Degrees of freedom."""
        return ROOT + len(self.joints)

    @cached_property
    def motors(self) -> tuple[int, ...]:
        """Indices of the joints with a motor, in the order of the controls."""
        return tuple(i for i, joint in enumerate(self.joints) if joint.gear)

    @property
    def nu(self) -> int:
        """Controls."""
        return len(self.motors)

    @property
    def damping(self) -> float:
        """B of contacts with the floor, 1/s; see `constraints`."""
        return self.points[0].impedance.damping

    @cached_property
    def signs(self) -> tuple[int, ...]:
        """Direction in which each coordinate counts."""
        return (1,) * ROOT + tuple(joint.sign for joint in self.joints)

    @cached_property
    def limited(self) -> tuple[int, ...]:
        """Degrees of freedom of the joints that have limits."""
        return tuple(i for i, joint in enumerate(self.joints, ROOT) if joint.limits is not None)

    def between(self, pair: Pair) -> tuple[int, ...]:
        """Return the bodies from a pair's second up to its first, which is none of them."""
        found, body = [], pair.bodies[1]
        while body != pair.bodies[0]:
            found.append(body)
            body = self.bodies[body].parent
        return tuple(found)

    @cached_property
    def ancestors(self) -> tuple[tuple[int, ...], ...]:
        """For each degree of freedom those that move it too, nearest first."""
        found: list[tuple[int, ...]] = [(), (0,), (1, 0)]
        for body in self.bodies[1:]:
            parent = body.parent + ROOT - 1
            found.append((parent, *found[parent]))
        return tuple(found)


def _build(kind: Any, value: Any) -> Any:
    """Turn what JSON gave into tuples."""
    if isinstance(value, list):
        return tuple(_build(None, item) for item in value)
    if kind is None or not isinstance(value, dict):
        return value
    read = {f.name: _build(None, value[f.name]) for f in fields(kind)}
    if "impedance" in read:
        read["impedance"] = Impedance(**read["impedance"])
    return kind(**read)


_PARTS = {"bodies": Body, "joints": Joint, "points": Point, "pairs": Pair, "capsules": Capsule}


@cache
def load(name: str) -> Model:
    """Read a model of this package.

    Args:
        name: `"half_cheetah"`, `"hopper"` or `"walker2d"`.
    """
    text = (files(__package__) / "models" / f"{name}.json").read_text(encoding="utf-8")
    read: dict[str, Any] = json.loads(text)
    for key, value in read.items():
        kind = _PARTS.get(key)
        read[key] = (
            _build(None, value) if kind is None else tuple(_build(kind, item) for item in value)
        )
    return Model(**read)
