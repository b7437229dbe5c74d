"""What `kernel` computes in one loop is what the function computes."""

from __future__ import annotations

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridenv.envs._fusion import kernel


def values(count: int, shape: tuple[int, ...] = (50,)) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return tuple(jnp.asarray(rng.normal(size=shape), jnp.float32) for _ in range(count))


def fewer(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def more(x: Any) -> Any:
    return {
        "sum": x + 1,
        "parts": (x * 2, jnp.sin(x)),
        "flag": x > 0,
        "count": (x > 0).astype("int32"),
    }


def swapped(x: Any, n: Any, y: Any) -> Any:
    return jnp.where(n > 0, y, x), x, n + 1


@pytest.mark.parametrize("shape", [(), (1,), (50,), (3, 17)])
def test_results_are_those_of_the_function(shape: tuple[int, ...]) -> None:
    x, y, z = values(3, shape)
    n = jnp.asarray(np.random.default_rng(1).integers(-3, 3, shape), jnp.int32)
    for function, operands in ((fewer, (x, y, z)), (more, (x,)), (swapped, (x, n, y))):
        got = jax.jit(lambda *o, f=function: kernel(f, *o))(*operands)
        wanted = function(*operands)
        assert str(jax.tree.structure(got)) == str(jax.tree.structure(wanted))
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_it_works_inside_of_vmap_and_scan() -> None:
    x, y = values(2, (6, 5))

    def step(carry: Any, y: Any) -> Any:
        total, last = kernel(lambda a, b: (a + b, b), carry, y)
        return total, last

    def run(x: Any, y: Any) -> Any:
        return jax.lax.scan(step, x, jnp.stack([y, y, y]))[0]

    np.testing.assert_allclose(jax.jit(jax.vmap(run))(x, y), x + 3 * y, rtol=1e-5)


def test_a_long_function_of_many_results_compiles_soon_and_runs_once() -> None:
    """Each number goes into two of the next layer: two to the fifteenth, if computed anew."""
    xs = values(12)

    def deep(*xs: Any) -> tuple[Any, ...]:
        for _ in range(15):
            xs = tuple(0.5 * a + 0.25 * b * a for a, b in zip(xs, (*xs[1:], xs[0]), strict=True))
        return xs[:7]

    begin = time.process_time()
    compiled = jax.jit(lambda *xs: kernel(deep, *xs)).lower(*xs).compile()
    seconds = time.process_time() - begin
    for a, b in zip(compiled(*xs), deep(*xs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    # A fraction of a second; a minute and more where a pass goes astray.
    assert seconds < 30
    if jax.default_backend() == "cpu":
        assert str(compiled.as_text()).count(" reduce(") == 1
