"""Whether what was seen lies in a space, column by column."""

from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Space = gymnasium.Space[Any]


def parts(space: Space, path: str) -> Iterator[tuple[str, Space]]:
    """Walk a space as `hybridenv.trees.leaves` walks its elements.

    Args:
        space: The space.
        path: Name of the whole.

    Yields:
        The path of each leaf and its space; spaces whose elements vary in size are leaves too.
    """
    if isinstance(space, spaces.Dict):
        for key, one in space.spaces.items():
            yield from parts(one, f"{path}[{key!r}]")
    elif isinstance(space, spaces.Tuple):
        for index, one in enumerate(space.spaces):
            yield from parts(one, f"{path}[{index}]")
    else:
        yield path, space


def outside(
    space: Space, columns: Mapping[str, NDArray[Any]], taken: NDArray[np.int64]
) -> str | None:
    """Find an observation that is no element of its space.

    Args:
        space: The space of observations.
        columns: What was seen, by name; see `hybridenv.verify._record.Trajectory`.
        taken: int64[rows], actions before each row.

    Returns:
        What is wrong with the first such observation in words; `None` where there is none.
    """
    if len(taken) == 0:
        return None
    known = dict(parts(space, "obs"))
    for path, part in known.items():
        if isinstance(part, spaces.Sequence | spaces.Graph):
            continue  # their elements have no fixed columns
        values = columns.get(path)
        if values is None:
            return f"{path}: got nothing, expected an element of {part}"
        if (found := _outside(part, path, values, taken)) is not None:
            return found
    loose = tuple(name for name, part in known.items() if isinstance(part, spaces.Sequence))
    for name in columns:
        if name.startswith("obs") and name not in known and not name.startswith(loose):
            return f"{name}: got a value, expected none in {space}"
    return None


def _outside(part: Space, path: str, values: NDArray[Any], taken: NDArray[np.int64]) -> str | None:
    if not isinstance(part, spaces.Box) or values.dtype == np.object_:
        for row, value in enumerate(values):
            if not part.contains(value):
                return f"step {taken[row]}, {path} is {value!r}, outside of {part}"
        return None
    if values.dtype != part.dtype or values.shape[1:] != part.shape:
        got, expected = (f"{v.dtype}{list(v.shape)}" for v in (values[0], part))
        return f"{path}: got {got}, expected {expected}"
    with np.errstate(invalid="ignore"):
        bad = ~((values >= part.low) & (values <= part.high))
    if not bad.any():
        return None
    row, *index = (int(i) for i in np.argwhere(bad)[0])
    place = f"{path}{index}" if index else path
    return f"step {taken[row]}, {place} is {values[row, *index]}, outside of {part}"
