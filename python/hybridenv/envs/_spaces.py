"""Spaces as small values that JAX code can draw from and test, convertible to Gymnasium's."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hybridenv.checks import whole
from hybridenv.errors import ArgumentError, MissingDependencyError

if TYPE_CHECKING:
    from types import ModuleType

    import gymnasium


@dataclass(frozen=True)
class Discrete:
    """The whole numbers 0 to n - 1, as int32 scalars.

    Args:
        n: How many, at least 1.

    Raises:
        ArgumentError: `n` is no such number.
    """

    n: int

    def __post_init__(self) -> None:
        whole("Discrete n", self.n, 1, 2**31 - 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one element."""
        return ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of an element."""
        return np.dtype(np.int32)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        """Draw elements evenly.

        Args:
            key: A typed key.
            shape: How many.

        Returns:
            int32[*shape].
        """
        return jax.random.randint(key, shape, 0, self.n, jnp.int32)

    def contains(self, x: Array) -> Array:
        """Say of each number whether it is an element.

        Args:
            x: Integers of any shape.

        Returns:
            bool of the same shape.
        """
        return (x >= 0) & (x < self.n)

    def to_gymnasium(self) -> "gymnasium.spaces.Discrete[Any]":
        """Return Gymnasium's space of the same elements, int64 as Gymnasium has it."""
        space: gymnasium.spaces.Discrete[Any] = _gymnasium_spaces().Discrete(self.n)
        return space


@dataclass(frozen=True, eq=False)
class Box:
    """Arrays of one shape and dtype, between bounds.

    Args:
        low: Least value, for all entries or for each.
        high: Greatest value, likewise.
        shape: Shape of an element.
        dtype: Its dtype.

    Raises:
        ArgumentError: A bound does not fit the shape, or the least value exceeds the greatest.
    """

    low: NDArray[Any] | float
    high: NDArray[Any] | float
    shape: tuple[int, ...]
    dtype: np.dtype[Any] = np.dtype(np.float32)  # noqa: RUF009  # immutable

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        for name in ("low", "high"):
            bound = np.asarray(getattr(self, name), self.dtype)
            try:
                bound = np.broadcast_to(bound, self.shape)
            except ValueError:
                raise ArgumentError(
                    f"Box {name}: got shape {bound.shape}, expected one that fits {self.shape}"
                ) from None
            object.__setattr__(self, name, bound)
        if not np.all(self.low <= self.high):
            raise ArgumentError(f"Box: got low {self.low} above high {self.high}, expected below")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Box)
            and (self.shape, self.dtype) == (other.shape, other.dtype)
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        """Draw elements evenly between the bounds.

        Args:
            key: A typed key.
            shape: How many.

        Returns:
            dtype[*shape, *self.shape].

        Raises:
            ArgumentError: A bound is infinite, so that no draw can be even.
        """
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise ArgumentError(f"Box.sample: got infinite bounds {self}, expected finite ones")
        full = (*shape, *self.shape)
        if np.issubdtype(self.dtype, np.floating):
            return jax.random.uniform(key, full, self.dtype, self.low, self.high)
        low, high = (np.asarray(bound, np.int64) for bound in (self.low, self.high))
        return jax.random.randint(key, full, low, high + 1).astype(self.dtype)

    def contains(self, x: Array) -> Array:
        """Say of each array whether it is an element.

        Args:
            x: dtype[*s, *self.shape] with any leading shape s.

        Returns:
            bool[*s].
        """
        inside = (x >= self.low) & (x <= self.high)
        return inside.all(axis=tuple(range(inside.ndim - len(self.shape), inside.ndim)))

    def to_gymnasium(self) -> "gymnasium.spaces.Box[Any]":
        """Return Gymnasium's space of the same elements."""
        space: gymnasium.spaces.Box[Any] = _gymnasium_spaces().Box(
            self.low, self.high, self.shape, self.dtype.type
        )
        return space


Space: TypeAlias = Discrete | Box
"""What observations and actions are elements of."""


def _gymnasium_spaces() -> "ModuleType":
    try:
        from gymnasium import spaces
    except ImportError:
        raise MissingDependencyError(
            "to_gymnasium: gymnasium is not installed: pip install 'hybridenv[gym]'"
        ) from None
    return spaces
