"""The accelerations of a mechanism whose constraints push: a convex problem, solved exactly.

What is sought is the minimum over a of (a - s)' M (a - s) / 2 + sum of d min(j a - r, 0)^2 / 2, s
being the acceleration without constraints. It is quadratic as long as the same rows push, so that a
step of Newton's method goes to the minimum for those rows, and the search is over once the rows
that push no longer change. No tolerance decides, and single precision does as well as double.

Two steps settle nearly every member. The others are gathered, finished with a line search, and put
back, so that the slowest member does not hold up all.

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
    Pose,
    Vector,
    add,
    assemble,
    bias,
    inertias,
    passive,
    pose,
)
from hybridenv.envs.planar.linear import factorize, multiply, solve
from hybridenv.envs.planar.model import Model

PLAIN_STEPS = 2
"""Newton steps of all members, before the others are gathered."""
SHARE = 8
"""One member of so many is finished at a time."""
MOST_STEPS = 50
"""Steps with a line search before a member is given up; hundreds of thousands needed at most 8."""
SEARCH_STEPS = 12
"""Halvings of a line search."""


class Problem(NamedTuple):
    """What the acceleration is the solution of.

    Attributes:
        at: Where the bodies are.
        every: The constraints.
        force: M s, the forces but those of constraints.
    """

    at: Pose
    every: Constraints
    force: Vector


def state_problem(model: Model, q: Vector, v: Vector, control: Vector) -> Problem:
    """State the problem.

    Args:
        model: The mechanism.
        q: Coordinates.
        v: Velocities.
        control: For each motor.
    """

    def smooth(q: Vector, v: Vector, control: Vector) -> tuple[Pose, Vector]:
        at = pose(model, q)
        against = bias(model, at, v)
        given = passive(model, q, v, control)
        return at, tuple(x - y for x, y in zip(given, against, strict=True))

    def constrain(at: Pose, q: Vector, v: Vector) -> Constraints:
        near, sides = rules.limits(model, q, v)
        contacts = rules.contacts(model, at, v)
        return Constraints(near, sides, contacts, rules.touches(model, at, v))

    at, force = kernel(smooth, q, v, control)
    return Problem(at, kernel(constrain, at, q, v), force)


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

    def plain(_: int, now: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        return _newton(model, problem, now[0])

    none = jnp.zeros_like(start[0], jnp.int32)
    words = (none,) * len(jax.eval_shape(partial(_which, model), problem, start))
    a, which = lax.fori_loop(0, PLAIN_STEPS, plain, (start, words))
    left = kernel(lambda problem, a, which: _differ(_which(model, problem, a), which), problem, a, which)
    return _finish(model, q, v, control, a, left), problem


def _pushing(model: Model, problem: Problem, a: Vector) -> Rows:
    """Return d of the rows that push, and 0 for the others."""
    over = rules.residuals(model, problem.at, problem.every, a)
    d = rules.weights(problem.every)
    return jax.tree.map(lambda over, d: jnp.where(over < 0, d, 0), over, d)


def _which(model: Model, problem: Problem, a: Vector) -> Vector:
    """Return which rows push, as bits of int32 words."""
    rows = jax.tree.leaves(_pushing(model, problem, a))
    words = []
    for begin in range(0, len(rows), 31):
        word = jnp.zeros_like(rows[0], jnp.int32)
        for bit, row in enumerate(rows[begin : begin + 31]):
            word = word | jnp.where(row > 0, 1 << bit, 0)
        words.append(word)
    return tuple(words)


def _differ(one: Vector, other: Vector) -> Array:
    return jnp.any(jnp.stack([x != y for x, y in zip(one, other, strict=True)]), 0)


def _newton(model: Model, problem: Problem, a: Vector) -> tuple[Vector, Vector]:
    """Go to the minimum for the rows that push at `a`; and which those are."""

    def hessian(problem: Problem, a: Vector) -> tuple[Matrix, Vector, Vector]:
        at, every, force = problem
        pushing = _pushing(model, problem, a)
        parts, added, forces = rules.push(model, at, every, pushing)
        parts = tuple(map(add, inertias(model, at), parts))
        diagonal = tuple(j.armature + x for j, x in zip(model.joints, added, strict=True))
        matrix = rules.couple(model, assemble(model, at, parts, diagonal), every, pushing)
        right = tuple(x + y for x, y in zip(force, forces, strict=True))
        return matrix, right, _which(model, problem, a)

    def step(matrix: Matrix, right: Vector) -> Vector:
        return solve(model, factorize(model, matrix), right)

    matrix, right, which = kernel(hessian, problem, a)
    return kernel(step, matrix, right), which


def mass_matrix(model: Model, at: Pose) -> Matrix:
    """Return the mass matrix."""
    zero = jnp.zeros_like(at.cos[0])
    armature = tuple(zero + joint.armature for joint in model.joints)
    return assemble(model, at, inertias(model, at), armature)


def _finish(
    model: Model, q: Vector, v: Vector, control: Vector, a: Vector, left: Array
) -> Vector:
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
        found = jnp.stack(_searched(model, problem, start))
        return a.at[:, places].set(found, mode="drop"), left.at[places].set(False, mode="drop")

    found, _ = lax.while_loop(lambda carry: jnp.any(carry[1]), some, (jnp.stack(a), left))
    return tuple(found)


def _searched(model: Model, problem: Problem, a: Vector) -> Vector:
    """Newton's method with a line search, until no member's rows change."""
    mass = mass_matrix(model, problem.at)
    d = jnp.stack(jax.tree.leaves(rules.weights(problem.every)))

    def residuals(a: Vector) -> Array:
        return jnp.stack(jax.tree.leaves(rules.residuals(model, problem.at, problem.every, a)))

    def step(carry: tuple[Vector, Array, Array]) -> tuple[Vector, Array, Array]:
        a, _, count = carry
        goal, which = _newton(model, problem, a)
        way = tuple(x - y for x, y in zip(goal, a, strict=True))
        steepness = multiply(model, mass, way)
        pull = multiply(model, mass, a)
        slope = sum(w * (p - f) for w, p, f in zip(way, pull, problem.force, strict=True))
        curve = sum(w * s for w, s in zip(way, steepness, strict=True))
        over = residuals(a)
        change = residuals(goal) - over

        def derivative(t: Array) -> Array:
            return slope + t * curve + jnp.sum(d * jnp.minimum(over + t * change, 0) * change, 0)

        def halve(_: int, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
            low, high = bounds
            middle = 0.5 * (low + high)
            falling = derivative(middle) < 0
            return jnp.where(falling, middle, low), jnp.where(falling, high, middle)

        same = ~_differ(_which(model, problem, goal), which)
        _, t = lax.fori_loop(0, SEARCH_STEPS, halve, (jnp.zeros_like(slope), jnp.ones_like(slope)))
        # The whole step where the rows stay the same: it is exact, and the search is not.
        t = jnp.where(same | (derivative(jnp.ones_like(t)) <= 0), 1, t)
        a = tuple(jnp.where(t == 1, g, x + t * w) for g, x, w in zip(goal, a, way, strict=True))
        return a, jnp.all(same), count + 1

    def unsettled(carry: tuple[Vector, Array, Array]) -> Array:
        _, settled, count = carry
        return ~settled & (count < MOST_STEPS)

    found, _, _ = lax.while_loop(unsettled, step, (a, jnp.array(False), jnp.int32(0)))
    return found
