"""Pytrees as the checker looks at them: leaves by path, their kinds, and what changed."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


def plain(tree: Any) -> Any:
    """A pytree with the words of keys in place of keys."""

    def one(leaf: Any) -> Any:
        if isinstance(leaf, Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.key_data(leaf)
        return leaf

    return jax.tree.map(one, tree)


def stack(trees: list[Any]) -> Any:
    """Pytrees of one kind as one with a new leading axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def named(tree: Any) -> dict[str, Any]:
    """The leaves of a pytree by path, as NumPy has them."""
    leaves = jax.tree_util.tree_leaves_with_path(plain(tree))
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def kinds(tree: Any, *, weak: bool = False) -> dict[str, str]:
    """Dtype and shape of each leaf of a pytree by path, and whether its dtype is weak."""
    return {
        jax.tree_util.keystr(path): kind(jnp.result_type(leaf), jnp.shape(leaf))
        + (" weak" if weak and getattr(jax.typeof(leaf), "weak_type", False) else "")
        for path, leaf in jax.tree_util.tree_leaves_with_path(plain(tree))
    }


def kind(dtype: Any, shape: tuple[int, ...]) -> str:
    """Write a dtype and shape the way all messages do: `float32[3, 2]`."""
    return f"{dtype}{list(shape)}"


def describe(value: Any) -> str:
    """The kind of an array; of anything else, what it is."""
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return kinds(value).get("", type(value).__name__)


def first_change(old: Any, new: Any) -> str:
    """Where the kinds of two pytrees first differ, in words."""
    ours, theirs = kinds(old), kinds(new)
    for path in [*ours, *theirs]:
        if ours.get(path) != theirs.get(path):
            return f"{path or 'it'} was {ours.get(path)} and is {theirs.get(path)}"
    return "the order of its parts"
