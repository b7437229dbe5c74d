"""Telling XLA what to compute once."""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

Result = TypeVar("Result")


def once(function: Callable[..., Result], *operands: object) -> Result:
    """Compute something once on a CPU, where several values need it.

    On a CPU, XLA merges elementwise operations into one loop for each array that comes out, and
    each loop computes anew whatever several of them need; a step with ten results is computed ten
    times. It never merges across a conditional, though, so this puts the function behind one that
    always takes the same way. Elsewhere the function is simply called.

    Use it for a value that costs more than reading it back from memory and that at least three
    results depend on. Floats may come out one rounding apart from an unmarked program's, since
    compilers merge a multiplication with an addition where they stand in one loop.

    Args:
        function: Takes the operands and returns a pytree of arrays.
        *operands: Pytrees of arrays; whatever else the function needs it may close over, as long
            as that is no array that is traced.

    Returns:
        What the function returns.

    Source: measured with jaxlib 0.10.2 on Pong, twice the steps a second; `bench/pong.py`.
    """

    def behind_a_conditional(*operands: object) -> Result:
        # XLA would see through a constant, and through branches of which it knows one is empty.
        always = lax.optimization_barrier(jnp.array(True))  # type: ignore[no-untyped-call]
        result: Result = lax.cond(always, function, function, *operands)
        return result

    result: Result = lax.platform_dependent(*operands, cpu=behind_a_conditional, default=function)
    return result


def kernel(function: Callable[..., Result], *operands: object) -> Result:
    """Compute an elementwise function in one loop on a CPU, however many results it has.

    What `once` says of XLA on a CPU holds within a function of many results, too: it would be
    computed anew for each of them. A reduction with several results is one loop, though, and what
    it is reduced with may be any function of scalars. So this reduces an axis of two entries: the
    first hands the operands over, the second computes. The compiler unrolls both into the function
    alone. Elsewhere the function is simply called.

    Use it for at most about 2,000 operations and 120 numbers in or out: XLA splits what is longer
    and compiles it slowly, and does not vectorise what reads or writes more arrays.

    Args:
        function: Takes the operands and returns a pytree; it must compute each entry of its results
            from the same entries of the operands alone, and close over no traced array. It sees
            scalars on a CPU.
        *operands: Pytrees of arrays, all of one shape.

    Returns:
        What the function returns, every leaf of that shape.

    Source: measured with jaxlib 0.10.2; `bench/locomotion.py`.
    """

    def in_one_loop(*operands: object) -> Result:
        leaves, tree = jax.tree.flatten(operands)
        shape = leaves[0].shape

        def scalars(*leaves: Array) -> Result:
            return function(*jax.tree.unflatten(tree, leaves))

        like = [np.zeros((), leaf.dtype) for leaf in leaves]
        wanted, result = jax.tree.flatten(jax.eval_shape(scalars, *like))
        # A reduction hands out as many arrays, of the same types, as it takes: results take the
        # place of operands, and where there are more of one the rest is padded.
        places = _places([leaf.dtype for leaf in leaves], [leaf.dtype for leaf in wanted])
        taken = [
            leaves[place] if place >= 0 else jnp.zeros(shape, leaf.dtype)
            for place, leaf in zip(places, wanted, strict=True)
        ]
        rest = [i for i in range(len(leaves)) if i not in places]
        order = [*places, *rest]

        def reducer(kept: Any, given: Any) -> Any:
            del kept
            *values, second = given
            arguments: list[Any] = [None] * len(leaves)
            for place, value in zip(order, values, strict=True):
                if place >= 0:
                    arguments[place] = value
            outputs = [*jax.tree.leaves(scalars(*arguments)), *values[len(wanted) :]]
            chosen = [jnp.where(second, new, old) for new, old in zip(outputs, values, strict=True)]
            return (*chosen, second)

        second = lax.broadcasted_iota(jnp.int32, (2, *shape), 0) == 1
        arrays = [*taken, *[leaves[i] for i in rest]]
        pairs = [*[jnp.broadcast_to(array, (2, *shape)) for array in arrays], second]
        zeros = [np.zeros((), array.dtype) for array in pairs]
        reduced = lax.reduce(tuple(pairs), tuple(zeros), reducer, (0,))
        # A pass of the compiler takes exponential time over results that nobody reads.
        reduced = lax.optimization_barrier(reduced)  # type: ignore[no-untyped-call]
        answer: Result = jax.tree.unflatten(result, reduced[: len(wanted)])
        return answer

    answer: Result = lax.platform_dependent(*operands, cpu=in_one_loop, default=function)
    return answer


def _places(given: list[Any], wanted: list[Any]) -> list[int]:
    """For each result the first free operand of its type, or -1."""
    free = list(range(len(given)))
    places = []
    for dtype in wanted:
        place = next((i for i in free if given[i] == dtype), -1)
        if place >= 0:
            free.remove(place)
        places.append(place)
    return places
