"""Comparing and copying what vector environments hand out: arrays in tuples and dicts."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Walk dicts, tuples and object arrays down to what is none of them.

    Args:
        tree: Observation, info or action.
        path: Name of `tree` itself.

    Yields:
        The path of each leaf, such as `info['final_info']['score']`, and the leaf.
    """
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, f"{path}[{key!r}]")
    elif isinstance(tree, tuple | list):
        for index, value in enumerate(tree):
            yield from leaves(value, f"{path}[{index}]")
    elif isinstance(tree, np.ndarray) and tree.dtype == object:
        yield from leaves(tree.tolist(), path)
    else:
        yield path, tree


def difference(left: Any, right: Any, name: str) -> str | None:
    """Find where two trees differ, bit for bit.

    Args:
        left: One tree.
        right: The other.
        name: What the trees are, for the answer.

    Returns:
        The first difference in words, or `None` where there is none. NaN equals NaN.
    """
    ours, theirs = dict(leaves(left, name)), dict(leaves(right, name))
    if ours.keys() != theirs.keys():
        odd = sorted(ours.keys() ^ theirs.keys())
        return f"{odd[0]} is only in one of them"
    for path, one in ours.items():
        a, b = np.asarray(one), np.asarray(theirs[path])
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{path}: {a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}"
        if not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
            where = tuple(int(i) for i in np.argwhere(a != b)[0]) if a.shape else ()
            return f"{path}{list(where)}: {a[where]} and {b[where]}"
    return None


def rows(tree: Any, index: Any) -> Any:
    """Take rows of every array in a batched observation.

    Args:
        tree: A batched observation: an array, or tuples and dicts of them.
        index: Any NumPy index for the leading axis.

    Returns:
        A copy of the rows, in the same structure.
    """
    if isinstance(tree, dict):
        return {key: rows(value, index) for key, value in tree.items()}
    if isinstance(tree, tuple):
        return tuple(rows(value, index) for value in tree)
    return deepcopy(np.asarray(tree)[index])


def scribble(tree: Any) -> int:
    """Overwrite every writeable array in a tree, as a caller may with what it was handed.

    Args:
        tree: Observation, info or flags.

    Returns:
        The number of arrays overwritten.
    """
    count = 0
    for _, leaf in leaves(tree):
        if isinstance(leaf, np.ndarray) and leaf.flags.writeable and leaf.dtype.kind in "biuf":
            leaf[...] = np.logical_not(leaf)
            count += 1
    return count


def replaced(tree: Any, mask: NDArray[np.bool_], other: Any) -> Any:
    """Put rows of another tree in place of some rows of a batched action.

    Args:
        tree: A batched action: an array, or tuples and dicts of them. Not changed.
        mask: bool[n], true for the rows to replace.
        other: A batched action of the same structure.

    Returns:
        A new tree.
    """
    if isinstance(tree, dict):
        return {key: replaced(value, mask, other[key]) for key, value in tree.items()}
    if isinstance(tree, tuple):
        return tuple(replaced(one, mask, two) for one, two in zip(tree, other, strict=True))
    result = np.array(tree)
    result[mask] = np.asarray(other)[mask]
    return result


def kind(value: Any) -> str:
    """Describe a value for an error message.

    Args:
        value: Anything.

    Returns:
        `uint8[128, 144, 160]` for an array, the type's name for anything else.
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return type(value).__name__
