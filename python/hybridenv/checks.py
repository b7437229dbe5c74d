"""Checks of arguments that several methods share."""

import math
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, SupportsIndex, get_args

import numpy as np
from numpy.typing import NDArray

from hybridenv.errors import ArgumentError, ConformanceError, UncopyableError

SEEDS = 2**64
"""A seed is a whole number below this."""


class Uncopyable:
    """Base of what holds machines: `copy`, `deepcopy` and `pickle` get a clear error."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise UncopyableError(
            f"{type(self).__name__}: got a copy or pickle of it, expected none: it holds running "
            "machines; save_state(i) gives bytes, save_states() and copy(src, dst) copy machines"
        )


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Name the file in errors of the system that do not, such as that of a full disk.

    Args:
        path: What is written in the `with` block.

    Raises:
        OSError: As the block does, with `filename`.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def index_or_none(value: object) -> int | None:
    """Read a whole number.

    Args:
        value: An `int` or something that stands for one, such as a NumPy integer; no `bool`.

    Returns:
        The number, or `None` where `value` is none.
    """
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def demand(holds: bool | np.bool_, rule: str, message: str) -> None:
    """Raise unless a rule of a contract holds.

    Args:
        holds: Whether it does.
        rule: Name of the rule.
        message: What was seen.

    Raises:
        ConformanceError: `holds` is false.
    """
    if not holds:
        raise ConformanceError(f"{rule}: {message}")


def whole(what: str, value: object, low: int, high: int) -> int:
    """Check a whole number.

    Args:
        what: Name for the message.
        value: An `int` or something that stands for one, such as a NumPy integer; no `bool`.
        low: Least value allowed.
        high: Greatest value allowed.

    Returns:
        The number.

    Raises:
        ArgumentError: It is no such number.
    """
    number = index_or_none(value)
    if number is None or not low <= number <= high:
        raise ArgumentError(f"{what}: got {value!r}, expected a whole number {low} to {high}")
    return number


def whole_or_none(what: str, value: object, low: int, high: int) -> int | None:
    """Check a whole number as `whole` does, or let `None` through."""
    return None if value is None else whole(what, value, low, high)


def real(what: str, value: object, low: float = -math.inf) -> float:
    """Check a finite number.

    Args:
        what: Name for the message.
        value: An `int` or `float` of Python or NumPy; no `bool`.
        low: Least value allowed.

    Returns:
        The number as Python's `float`.

    Raises:
        ArgumentError: It is no such number.
    """
    number = _float_or_none(value)
    if number is None or not (math.isfinite(number) and number >= low):
        least = "" if low == -math.inf else f" of at least {low:g}"
        raise ArgumentError(f"{what}: got {value!r}, expected a finite number{least}")
    return number


def interval(what: str, value: object) -> tuple[float, float]:
    """Check two numbers, the first below the second; either may be infinite.

    Args:
        what: Name for the message.
        value: A sequence of two numbers, as for `real`.

    Returns:
        Both as Python's `float`.

    Raises:
        ArgumentError: They are something else.
    """
    parts = tuple(value) if isinstance(value, Sequence | np.ndarray) else ()
    numbers = [number for number in map(_float_or_none, parts) if number is not None]
    if len(parts) != 2 or len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise ArgumentError(f"{what}: got {value!r}, expected two numbers, the lower one first")
    return numbers[0], numbers[1]


def _float_or_none(value: object) -> float | None:
    numeric = isinstance(value, int | float | np.integer | np.floating)
    try:
        return float(value) if numeric and not isinstance(value, bool) else None  # type: ignore[arg-type]
    except OverflowError:  # a whole number beyond all floats
        return None


def seed_or_seeds(seed: int | Sequence[int | None] | None, n: int) -> int | list[int | None] | None:
    """Check the seed of n environments.

    Args:
        seed: One number 0 to 2**64 - 1, a sequence of n of them in which some may be `None`, or
            `None`.
        n: How many.

    Returns:
        The number, the list, or `None`.

    Raises:
        ArgumentError: It is none of these.
    """
    if seed is None:
        return None
    if isinstance(seed, str | bytes) or not isinstance(seed, Sequence | np.ndarray):
        return whole("seed", seed, 0, SEEDS - 1)
    if isinstance(seed, np.ndarray) and seed.ndim != 1:
        raise ArgumentError(f"seed: got shape {seed.shape}, expected ({n},)")
    if len(seed) != n:
        raise ArgumentError(f"seed: got {len(seed)} seeds, expected one, or n = {n}")
    return [whole_or_none(f"seed[{i}]", one, 0, SEEDS - 1) for i, one in enumerate(seed)]


def choice(what: str, value: object, choices: object) -> None:
    """Check that a value is one of a `Literal`.

    Args:
        what: Name for the message.
        value: The value.
        choices: The `Literal`.

    Raises:
        ArgumentError: It is none of them.
    """
    if not isinstance(value, str) or value not in get_args(choices):
        names = ", ".join(map(repr, get_args(choices)))
        raise ArgumentError(f"{what}: got {value!r}, expected one of {names}")


def four_colours(palette: Sequence[Sequence[int]]) -> list[list[int]]:
    """Check a palette.

    Args:
        palette: Four colours of red, green and blue, each 0 to 255.

    Returns:
        The palette as lists.

    Raises:
        ArgumentError: It is something else.
    """
    try:
        colours = [[whole("palette", part, 0, 255) for part in colour] for colour in palette]
    except TypeError:
        colours = []
    if [len(colour) for colour in colours] != [3] * 4:
        raise ArgumentError(
            f"palette: got {palette!r}, expected 4 colours of red, green and blue, lightest first"
        )
    return colours


def flag(what: str, value: object) -> bool:
    """Check a yes or no.

    Args:
        what: Name for the message.
        value: A `bool` of Python or NumPy.

    Returns:
        The same as Python's `bool`.

    Raises:
        ArgumentError: It is something else.
    """
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{what}: got {value!r}, expected True or False")
    return bool(value)


def raw_bytes(what: str, value: object) -> bytes:
    """Check a string of bytes.

    Args:
        what: Name for the message.
        value: `bytes`, a `bytearray` or a `memoryview`.

    Returns:
        The bytes.

    Raises:
        ArgumentError: It is something else.
    """
    if not isinstance(value, bytes | bytearray | memoryview):
        raise ArgumentError(
            f"{what}: got {type(value).__name__}, expected bytes, bytearray or memoryview"
        )
    return bytes(value)


def address_array(
    addresses: Sequence[int] | NDArray[np.integer[Any]], what: str = "addresses"
) -> NDArray[np.uint16]:
    """Check a list of addresses.

    Args:
        addresses: Whole numbers 0 to 0xFFFF, shape (m,).
        what: Name for the message.

    Returns:
        uint16[m]; the same object where it is one already.

    Raises:
        ArgumentError: It has another type or shape, or an address is out of range.
    """
    try:
        given = np.asarray(addresses)
    except ValueError as error:  # rows of different lengths
        raise ArgumentError(f"{what}: expected integers of shape (m,), but {error}") from None
    if given.size == 0:
        given = given.astype(np.uint16)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise ArgumentError(
            f"{what}: got {given.dtype} of shape {given.shape}, expected integers of shape (m,)"
        )
    if given.dtype != np.uint16:
        outside = given[(given < 0) | (given > 0xFFFF)]
        if outside.size:
            raise ArgumentError(f"{what}: got {int(outside[0])}, expected 0 to 0xFFFF")
    return given.astype(np.uint16, copy=False)
