"""The accelerations of a mechanism whose constraints push: a convex problem, solved exactly.

What is sought is the minimum over a of (a - s)' M (a - s) / 2 + sum of d min(j u + push, 0)² / 2, s
being the acceleration without constraints and u = a + B v. It is quadratic as long as the same rows
push, so that a step of Newton's method goes to the minimum for those rows, and the search is over
once the rows that push no longer change. No tolerance decides, and single precision does as well as
double.

A few steps settle nearly every member. The others are gathered, finished, and put back, so that the
slowest member does not hold up all.

Source: Todorov, "Convex and analytically-invertible dynamics with contacts and constraints", 2014.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from hybridenv.envs._fusion import kernel
from hybridenv.envs.planar import constraints as rules
from hybridenv.envs.planar.constraints import Constraints, Rows
from hybridenv.envs.planar.dynamics import (
    Matrix,
    Offsets,
    Pose,
    Vector,
    assemble,
    bias,
    inertias,
    passive,
    pose,
    turns,
)
from hybridenv.envs.planar.linear import factorize, multiply, solve
from hybridenv.envs.planar.model import Model

PLAIN_STEPS = 2
"""Newton steps of all members, before the others are gathered."""
SHARE = 8
"""One member of so many is finished at a time."""
MORE_STEPS = 8
"""Further steps that are taken whole; they settle all but a few in a million."""
MOST_STEPS = 50
"""Steps before a member is given up; from `MORE_STEPS` on they are searched along."""
SEARCH_STEPS = 12
"""Halvings of a line search."""
WORD = 31
"""Bits of an int32 but its sign."""


class Problem(NamedTuple):
    """What the accelerations are the solution of.

    Attributes:
        offsets: Of the bodies' anchors.
        every: The constraints.
        mass: M.
        force: M s, the forces but those of constraints.
        v: Velocities.
    """

    offsets: Offsets
    every: Constraints
    mass: Matrix
    force: Vector
    v: Vector


def state_problem(model: Model, q: Vector, v: Vector, control: Vector) -> Problem:
    """State the problem.

    Args:
        model: The mechanism.
        q: Coordinates.
        v: Velocities.
        control: For each motor.
    """

    def smooth(
        q: Vector, v: Vector, control: Vector, cos: Vector, sin: Vector
    ) -> tuple[Pose, Matrix, Vector]:
        at = pose(model, q, cos, sin)
        against = bias(model, at, v)
        given = passive(model, q, v, control)
        zero = jnp.zeros_like(q[0])
        armature = tuple(zero + joint.armature for joint in model.joints)
        mass = assemble(model, at.offsets, inertias(model, at), armature)
        return at, mass, tuple(x - y for x, y in zip(given, against, strict=True))

    def constrain(at: Pose, q: Vector, v: Vector) -> Constraints:
        return Constraints(
            rules.limits(model, q, v), rules.contacts(model, at), rules.touches(model, at)
        )

    at, mass, force = kernel(smooth, q, v, control, *turns(model, q))
    return Problem(at.offsets, kernel(constrain, at, q, v), mass, force, v)


def accelerations(
    model: Model, q: Vector, v: Vector, control: Vector, start: Vector
) -> tuple[Vector, Problem]:
    """Find the accelerations.

    Args:
        model: The mechanism.
        q: Coordinates, of n members.
        v: Velocities.
        control: For each motor.
        start: Accelerations to begin with.

    Returns:
        The accelerations, and the problem they solve.
    """
    problem = state_problem(model, q, v, control)
    a, unsettled = _plain(model, problem, start, PLAIN_STEPS)
    return _finish(model, q, v, control, a, unsettled), problem


def _over(model: Model, offsets: Offsets, every: Constraints, v: Vector, a: Vector) -> Rows:
    """Return j u + push of every row at an acceleration."""
    urge = tuple(x + model.damping * y for x, y in zip(a, v, strict=True))
    return rules.residuals(model, offsets, every, urge)


def _pushing(every: Constraints, over: Rows) -> Rows:
    """Return d of the rows that push, and 0 for the others."""
    pushing: Rows = jax.tree.map(
        lambda beyond, d: jnp.where(beyond < 0, d, 0), over, rules.weights(every)
    )
    return pushing


def _which(pushing: Rows) -> Vector:
    """Return which rows push, as bits of int32 words."""
    rows = jax.tree.leaves(pushing)
    words = []
    for begin in range(0, len(rows), WORD):
        word = jnp.zeros_like(rows[0], jnp.int32)
        for bit, row in enumerate(rows[begin : begin + WORD]):
            word = word | jnp.where(row > 0, 1 << bit, 0)
        words.append(word)
    return tuple(words)


def _differ(one: Vector, other: Vector) -> Array:
    changed = one[0] != other[0]
    for x, y in zip(one[1:], other[1:], strict=True):
        changed = changed | (x != y)
    return changed


def _newton(model: Model, problem: Problem, a: Vector) -> tuple[Vector, Vector]:
    """Go to the minimum for the rows that push at `a`; and which those are.

    The step is found from the slope at `a`, which is taken row by row. What single precision loses
    in the matrix is so lost of the step alone, and a step from near the minimum loses hardly any.
    """

    def gather(
        offsets: Offsets, every: Constraints, v: Vector, a: Vector
    ) -> tuple[Matrix, Vector, Vector]:
        over = _over(model, offsets, every, v, a)
        pushing = _pushing(every, over)
        return *rules.gather(model, offsets, every, pushing, over), _which(pushing)

    def step(mass: Matrix, stiff: Matrix, force: Vector, pushed: Vector, a: Vector) -> Vector:
        matrix = jax.tree.map(jnp.add, mass, stiff)
        pull = multiply(model, mass, a)
        down = tuple(f - p - m for f, p, m in zip(force, pushed, pull, strict=True))
        way = solve(model, factorize(model, matrix), down)
        return tuple(x + y for x, y in zip(a, way, strict=True))

    offsets, every, mass, force, v = problem
    stiff, pushed, which = kernel(gather, offsets, every, v, a)
    return kernel(step, mass, stiff, force, pushed, a), which


def _changed(model: Model, problem: Problem, a: Vector, which: Vector) -> Array:
    """Whether other rows push at `a` than those."""

    def look(offsets: Offsets, every: Constraints, v: Vector, a: Vector, which: Vector) -> Array:
        pushing = _pushing(every, _over(model, offsets, every, v, a))
        return _differ(_which(pushing), which)

    return kernel(look, problem.offsets, problem.every, problem.v, a, which)


def _plain(model: Model, problem: Problem, a: Vector, steps: int) -> tuple[Vector, Array]:
    """Take Newton steps; the accelerations, and which members are not settled."""
    none = jnp.zeros_like(a[0], jnp.int32)
    words = (none,) * -(-len(jax.tree.leaves(rules.weights(problem.every))) // WORD)

    def step(_: int, now: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        return _newton(model, problem, now[0])

    a, which = lax.fori_loop(0, steps, step, (a, words))
    return a, _changed(model, problem, a, which)


def _finish(model: Model, q: Vector, v: Vector, control: Vector, a: Vector, left: Array) -> Vector:
    """Finish the members that are left, a share of all at a time."""
    n = left.shape[0]
    size = max(1, n // SHARE)
    given = jnp.stack([*q, *v, *control])

    def some(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        a, left = carry
        places = jnp.nonzero(left, size=size, fill_value=n)[0]
        rows = jnp.take(given, places, axis=1, mode="clip")
        nq = model.nq
        problem = state_problem(
            model, tuple(rows[:nq]), tuple(rows[nq : 2 * nq]), tuple(rows[2 * nq :])
        )
        start = tuple(jnp.take(a, places, axis=1, mode="clip"))
        found = jnp.stack(_settle(model, problem, start))
        return a.at[:, places].set(found, mode="drop"), left.at[places].set(False, mode="drop")

    found, _ = lax.while_loop(lambda carry: jnp.any(carry[1]), some, (jnp.stack(a), left))
    return tuple(found)


def _settle(model: Model, problem: Problem, a: Vector) -> Vector:
    """Take Newton steps until no member's rows change."""

    def step(carry: tuple[Vector, Array, Array]) -> tuple[Vector, Array, Array]:
        a, _, count = carry
        goal, which = _newton(model, problem, a)
        moving = _changed(model, problem, goal, which)

        def search() -> Vector:
            return _search(model, problem, a, goal, moving)

        a = lax.cond(count < MORE_STEPS, lambda: goal, search)
        return a, jnp.any(moving), count + 1

    def going(carry: tuple[Vector, Array, Array]) -> Array:
        _, moving, count = carry
        return moving & (count < MOST_STEPS)

    return lax.while_loop(going, step, (a, jnp.array(True), jnp.int32(0)))[0]


def _search(model: Model, problem: Problem, a: Vector, goal: Vector, moving: Array) -> Vector:
    """Go towards the end of a Newton step as far as it leads down.

    So it ends at the minimum without fail.
    """
    way = tuple(x - y for x, y in zip(goal, a, strict=True))
    d = jnp.stack(jax.tree.leaves(rules.weights(problem.every)))

    def turn(mass: Matrix, force: Vector, a: Vector, way: Vector) -> tuple[Array, Array]:
        """How steep the sum without constraints is at the start, and how that changes."""
        pull, steepness = (multiply(model, mass, x) for x in (a, way))
        rest = tuple(p - f for p, f in zip(pull, force, strict=True))
        return _dot(way, rest), _dot(way, steepness)

    over, end = (
        jnp.stack(
            jax.tree.leaves(
                kernel(partial(_over, model), problem.offsets, problem.every, problem.v, x)
            )
        )
        for x in (a, goal)
    )
    change = end - over
    slope, curve = kernel(turn, problem.mass, problem.force, a, way)

    def derivative(t: Array) -> Array:
        return slope + t * curve + jnp.sum(d * jnp.minimum(over + t * change, 0) * change, 0)

    def halve(_: int, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = 0.5 * (low + high)
        falling = derivative(middle) < 0
        return jnp.where(falling, middle, low), jnp.where(falling, high, middle)

    ends = (jnp.zeros_like(a[0]), jnp.ones_like(a[0]))
    _, t = lax.fori_loop(0, SEARCH_STEPS, halve, ends)
    # The whole step where the same rows push: it is exact, and the search is not.
    whole = ~moving | (derivative(ends[1]) <= 0)
    return tuple(jnp.where(whole, g, x + t * w) for g, x, w in zip(goal, a, way, strict=True))


def _dot(one: Vector, other: Vector) -> Array:
    total = one[0] * other[0]
    for x, y in zip(one[1:], other[1:], strict=True):
        total = total + x * y
    return total
