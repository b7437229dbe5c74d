"""Tasks: reward, ends of episodes and infos, declared over numbers in a game's memory.

A `Task` is data. The native module evaluates it for every env right after the env's frames, on the
thread that ran them, so no Python code runs per env::

    task = Task(
        fields={
            "score": Field(0xC0A0, size=3, kind="bcd", byteorder="little"),
            "lives": Field(0xC0A3),
        },
        reward=[Delta("score", low=0), Compare("lives", "decreased", weight=-10.0)],
        terminated=[Compare("lives", "==", 0)],
        max_steps=4_500,
        info=["score", "lives"],
    )
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from hybridenv.errors import TaskError

Kind: TypeAlias = Literal["uint", "int", "bcd", "bit"]
ByteOrder: TypeAlias = Literal["little", "big"]
Operator: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">=", "changed", "increased", "decreased"]

#: Longest field in bytes: up to here every value is exact in double precision.
MAX_FIELD_BYTES = 6

#: Longest field that `Task.randomize` may name, in bytes.
MAX_RANDOM_BYTES = 4

# First and last address of cartridge RAM and work RAM, and of high RAM.
_WRITABLE = ((0xA000, 0xDFFF), (0xFF80, 0xFFFE))

_RawField: TypeAlias = tuple[int, int, bool, str, int]
_RawTest: TypeAlias = tuple[int, str, float]
_RawTerm: TypeAlias = tuple[int, float] | tuple[int, float, float, float] | tuple[_RawTest, float]
RawTask: TypeAlias = tuple[
    list[_RawField],
    list[_RawTerm],
    list[_RawTest],
    list[_RawTest],
    int | None,
    list[int],
    list[int],
]


def _whole(what: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise TaskError(f"{what}: got {value!r}, expected a whole number {low} to {high}")
    return value


def _number(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TaskError(f"{what}: got {value!r}, expected a finite number")
    return float(value)


def _choice(what: str, value: object, choices: object) -> None:
    if value not in get_args(choices):
        raise TaskError(f"{what}: got {value!r}, expected one of {', '.join(get_args(choices))}")


@dataclass(frozen=True, slots=True)
class Field:
    """A number in memory, read as the CPU would see it, without side effects.

    Args:
        address: Address of the first byte, 0 to 0xFFFF; later bytes follow upwards.
        size: Bytes, 1 to `MAX_FIELD_BYTES`.
        kind: ``"uint"`` and ``"int"`` are binary, without and with sign; ``"bcd"`` has two decimal
            digits a byte (a nibble above 9 counts as it stands); ``"bit"`` is one bit, 0 or 1.
        byteorder: ``"little"``: the byte at `address` is the least significant.
        bit: Which bit of the unsigned value, 0 being the least significant; only for ``"bit"``.

    Raises:
        TaskError: A part is outside its range.
    """

    address: int
    size: int = 1
    kind: Kind = "uint"
    byteorder: ByteOrder = "little"
    bit: int | None = None

    def __post_init__(self) -> None:
        _whole("Field.address", self.address, 0, 0xFFFF)
        _whole("Field.size", self.size, 1, MAX_FIELD_BYTES)
        _whole("Field.address + size", self.address + self.size, 1, 0x10000)
        _choice("Field.kind", self.kind, Kind)
        _choice("Field.byteorder", self.byteorder, ByteOrder)
        if self.kind == "bit":
            _whole("Field.bit", self.bit, 0, 8 * self.size - 1)
        elif self.bit is not None:
            raise TaskError(f"Field.bit: got {self.bit!r} for kind {self.kind!r}, expected None")


@dataclass(frozen=True, slots=True)
class Value:
    """Reward `weight` times the field, every step.

    Args:
        field: Name of a field.
        weight: Factor.

    Raises:
        TaskError: The weight is not finite.
    """

    field: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        _number("Value.weight", self.weight)


@dataclass(frozen=True, slots=True)
class Delta:
    """Reward `weight` times the field's change since the step before.

    The first step of an episode compares with the episode's start; so does the first one after a
    loaded state. A counter that wraps shows as a large change: clip it.

    Args:
        field: Name of a field.
        weight: Factor, applied after clipping.
        low: Changes below count as this; `None` for no bound.
        high: Changes above count as this; `None` for no bound.

    Raises:
        TaskError: A number is not finite, or `low` is above `high`.
    """

    field: str
    weight: float = 1.0
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        _number("Delta.weight", self.weight)
        low = -math.inf if self.low is None else _number("Delta.low", self.low)
        high = math.inf if self.high is None else _number("Delta.high", self.high)
        if low > high:
            raise TaskError(f"Delta.low: got {low} above high = {high}, expected low <= high")


@dataclass(frozen=True, slots=True)
class Compare:
    """A test of a field against a constant, or against its value one step before.

    In `Task.reward` it pays `weight` when it holds; in `Task.terminated` and `Task.truncated` it
    ends the episode and `weight` has no meaning.

    Args:
        field: Name of a field.
        op: ``==``, ``!=``, ``<``, ``<=``, ``>`` and ``>=`` compare with `value`; ``changed``,
            ``increased`` and ``decreased`` with the step before.
        value: The constant.
        weight: Reward while the test holds.

    Raises:
        TaskError: The operator is unknown or a number is not finite.
    """

    field: str
    op: Operator
    value: float = 0.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        _choice("Compare.op", self.op, Operator)
        _number("Compare.value", self.value)
        _number("Compare.weight", self.weight)


Term: TypeAlias = Value | Delta | Compare


@dataclass(frozen=True, slots=True)
class Task:
    """What an episode pays and when it is over.

    Args:
        fields: The numbers in memory, by name.
        reward: Summands of the reward, added in this order in double precision and rounded once to
            float32. Without any, the reward is 0.
        terminated: The episode has come to its end when one of these holds.
        truncated: The episode is cut off when one of these holds.
        max_steps: The episode is cut off after so many steps; `None` for never.
        info: Names of fields reported after every step as int64[n].
        start: What is played after power-on: pairs of a button mask (0 to 255) and a number of
            frames (at least 1). It runs once; every start of an episode copies the result.
        opening: What is played from there at every start, in the same form. A seed has its effect
            before, so this is the place for the press that a game draws its chance from. Starts
            without a seed are all the same, so their opening runs once as well.
        randomize: Names of fields that every start with a seed overwrites, in this order, after the
            opening or on the state of `set_start`: each with a number drawn from the env's stream,
            all from 1 to the largest that the field holds being equally likely. So two fields of
            one seed differ, and the state of a generator is never zero, which would stop many. The
            fields are ``"uint"``, of at most `MAX_RANDOM_BYTES`, in work RAM (C000 to DFFF), high
            RAM (FF80 to FFFE) or cartridge RAM (A000 to BFFF), which changes only while the game
            has it switched on. Starts without a seed leave them as they are.

    Whatever sequences it is given, a task keeps tuples and a read-only mapping.

    Raises:
        TaskError: A name is unknown or a part is outside its range.
    """

    fields: Mapping[str, Field] = field(default_factory=dict)
    reward: Sequence[Term] = ()
    terminated: Sequence[Compare] = ()
    truncated: Sequence[Compare] = ()
    max_steps: int | None = None
    info: Sequence[str] = ()
    start: Sequence[tuple[int, int]] = ()
    opening: Sequence[tuple[int, int]] = ()
    randomize: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.fields, Mapping):
            raise TaskError(f"Task.fields: got {self.fields!r}, expected a mapping of names")
        fields = dict(self.fields)
        for name, one in fields.items():
            _instance("Task.fields: a name", name, str)
            _instance(f"Task.fields[{name!r}]", one, Field)
        object.__setattr__(self, "fields", MappingProxyType(fields))
        for part, classes in (("reward", Term), ("terminated", Compare), ("truncated", Compare)):
            for k, item in enumerate(self._as_tuple(part)):
                _instance(f"Task.{part}[{k}]", item, classes)
                self._check_name(f"Task.{part}[{k}].field", item.field)
        for k, item in enumerate(self._as_tuple("info")):
            self._check_name(f"Task.info[{k}]", item)
        for k, item in enumerate(self._as_tuple("randomize")):
            self._check_name(f"Task.randomize[{k}]", item)
            _check_random(f"Task.randomize[{k}]", item, fields[item])
        if self.max_steps is not None:
            _whole("Task.max_steps", self.max_steps, 1, 2**63 - 1)
        for part in ("start", "opening"):
            for k, entry in enumerate(self._as_tuple(part)):
                what = f"Task.{part}[{k}]"
                if not isinstance(entry, tuple) or len(entry) != 2:
                    raise TaskError(f"{what}: got {entry!r}, expected a pair (buttons, frames)")
                _whole(f"{what} buttons", entry[0], 0, 0xFF)
                _whole(f"{what} frames", entry[1], 1, 2**32 - 1)

    def _as_tuple(self, part: str) -> tuple[Any, ...]:
        """Store a part as a tuple, whatever sequence it came as."""
        value = getattr(self, part)
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise TaskError(f"Task.{part}: got {value!r}, expected a sequence")
        items = tuple(value)
        object.__setattr__(self, part, items)
        return items

    def _check_name(self, what: str, name: object) -> None:
        if not isinstance(name, str) or name not in self.fields:
            known = ", ".join(self.fields) or "none"
            raise TaskError(f"{what}: got {name!r}, expected the name of a field ({known})")

    def compiled(self) -> RawTask:
        """The task as the tuples that the native module takes."""
        index = {name: k for k, name in enumerate(self.fields)}

        def test(item: Compare) -> _RawTest:
            return (index[item.field], item.op, float(item.value))

        def term(item: Term) -> _RawTerm:
            match item:
                case Value():
                    return (index[item.field], float(item.weight))
                case Delta():
                    low = -math.inf if item.low is None else float(item.low)
                    high = math.inf if item.high is None else float(item.high)
                    return (index[item.field], float(item.weight), low, high)
                case Compare():
                    return (test(item), float(item.weight))

        return (
            [
                (f.address, f.size, f.byteorder == "big", f.kind, f.bit or 0)
                for f in self.fields.values()
            ],
            [term(item) for item in self.reward],
            [test(item) for item in self.terminated],
            [test(item) for item in self.truncated],
            self.max_steps,
            [index[name] for name in self.info],
            [index[name] for name in self.randomize],
        )


def _check_random(what: str, name: str, field: Field) -> None:
    last = field.address + field.size - 1
    inside = any(low <= field.address and last <= high for low, high in _WRITABLE)
    if field.kind != "uint" or field.size > MAX_RANDOM_BYTES or not inside:
        raise TaskError(
            f"{what}: got {name!r} of kind {field.kind!r} at {field.address:#06x} to {last:#06x}, "
            f"expected a 'uint' of 1 to {MAX_RANDOM_BYTES} bytes in 0xa000 to 0xdfff or "
            "0xff80 to 0xfffe"
        )


def _instance(what: str, value: object, classes: object) -> None:
    if not isinstance(value, classes):  # type: ignore[arg-type]
        names = " or ".join(c.__name__ for c in get_args(classes) or (classes,))
        raise TaskError(f"{what}: got {value!r}, expected a {names}")
