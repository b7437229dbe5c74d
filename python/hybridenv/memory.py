"""Looking into one machine: its memory and its processor."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hybridenv.checks import Uncopyable, index_or_none
from hybridenv.errors import ArgumentError

if TYPE_CHECKING:
    from hybridenv._native import Batch

BUS = 0x10000
"""Addresses of the processor's bus."""


class Registers(NamedTuple):
    """The registers of the processor.

    Attributes:
        a: Accumulator, 0 to 255, as are `f` (flags), `b`, `c`, `d`, `e`, `h` and `l`.
        sp: Stack pointer, 0 to 0xFFFF.
        pc: Program counter, 0 to 0xFFFF.
        ime: Interrupts are enabled.
        halted: The processor waits for an interrupt.
    """

    a: int
    f: int
    b: int
    c: int
    d: int
    e: int
    h: int
    l: int  # noqa: E741  # the register's name
    sp: int
    pc: int
    ime: bool
    halted: bool


class Memory(Uncopyable):
    """The 64 KiB that the processor of one machine sees, to be read and written.

    ``memory[a]`` is the byte at an address, ``memory[a:b]`` are bytes; both can be assigned to.
    Reads have no side effects and see video memory and OAM at any time. Writes do what the
    processor's would: below 0x8000 they reach the cartridge's controller, registers act. They
    are made one address at a time, upwards. ``bytes(memory)``, ``numpy.array(memory)``, iterating
    and ``in`` see all 65,536 bytes as they are at that moment.

    A view stays valid for as long as its batch is open, whatever is loaded or reset.

    Raises:
        ArgumentError: An address is outside 0 to 0xFFFF, a slice has a step, a value is not a
            byte, or as many bytes as the slice has addresses.
        EnvCrashedError: The env has crashed.
        BusyError: Another thread is inside a call on the batch.
        ClosedError: The batch is closed.
    """

    __slots__ = ("_batch", "_i")

    def __init__(self, batch: "Batch", i: int) -> None:
        self._batch = batch
        self._i = i

    def __len__(self) -> int:
        return BUS

    @overload
    def __getitem__(self, key: int) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> bytes: ...
    def __getitem__(self, key: int | slice) -> int | bytes:
        start, stop = _addresses(key)
        read = self._batch.read_range(self._i, start, stop)
        return read if isinstance(key, slice) else read[0]

    @overload
    def __setitem__(self, key: int, value: int) -> None: ...
    @overload
    def __setitem__(self, key: slice, value: bytes) -> None: ...
    def __setitem__(self, key: int | slice, value: int | bytes) -> None:
        start, stop = _addresses(key)
        values = _bytes(value) if isinstance(key, slice) else _byte(value)
        if values is None or len(values) != stop - start:
            expected = f"{stop - start} bytes" if isinstance(key, slice) else "a number 0 to 255"
            raise ArgumentError(f"memory at {start:#06x}: got {value!r}, expected {expected}")
        self._batch.write_range(self._i, start, values)

    def __iter__(self) -> Iterator[int]:
        return iter(self[:])

    def __bytes__(self) -> bytes:
        return self[:]

    def __contains__(self, value: object) -> bool:
        wanted = _byte(value) or _bytes(value)
        if wanted is None:
            raise ArgumentError(f"memory: got {value!r}, expected a number 0 to 255 or bytes")
        return wanted in self[:]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ArgumentError("memory: got copy=False, expected a copy: it is not NumPy's memory")
        return np.frombuffer(self[:], dtype=np.uint8).astype(dtype or np.uint8)

    def __repr__(self) -> str:
        return f"<Memory of env {self._i}>"


def _bytes(value: object) -> bytes | None:
    """What a slice can be given: anything that makes bytes, but not a length."""
    try:
        return None if hasattr(value, "__index__") else bytes(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return None


def _byte(value: object) -> bytes | None:
    number = index_or_none(value)
    return bytes([number]) if number is not None and 0 <= number <= 0xFF else None


def _addresses(key: object) -> tuple[int, int]:
    """The first address and the one after the last of an index or slice."""
    if not isinstance(key, slice):
        start = _address(key, BUS - 1)
        return start, start + 1
    if key.step not in (None, 1):
        raise ArgumentError(f"memory: got a slice with step {key.step!r}, expected none")
    start = 0 if key.start is None else _address(key.start, BUS)
    stop = BUS if key.stop is None else _address(key.stop, BUS)
    if start > stop:
        raise ArgumentError(f"memory: got a slice from {start:#x} to {stop:#x}, expected upwards")
    return start, stop


def _address(value: object, high: int) -> int:
    address = index_or_none(value)
    if address is None or not 0 <= address <= high:
        raise ArgumentError(f"memory: got address {value!r}, expected 0 to {high:#x}")
    return address
