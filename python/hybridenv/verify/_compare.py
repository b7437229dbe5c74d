"""Where two trajectories differ first, under tolerances that were declared beforehand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridenv.checks import real
from hybridenv.errors import ArgumentError
from hybridenv.trees import difference, kind
from hybridenv.verify._record import MISSING, Trajectory

STREAMS = ("obs", "reward", "terminated", "truncated", "mask", "info")
"""What is compared, in the order in which a report names it."""
TOLERANT = ("obs", "reward", "info")
"""Streams that may have a tolerance; flags and masks are equal or not."""
RESET_INFO = "reset_info"
"""In `Rules.ignore`: the infos of resets, which environments in JAX do not have."""


@dataclass(frozen=True)
class Rules:
    """What counts as equal.

    Attributes:
        tol: Largest absolute difference allowed (L∞), by stream (`"obs"`) or by column
            (`"info['score']"`); 0 for all that are not named, which means bit for bit.
        ignore: Streams or columns that are not compared, or `RESET_INFO`; the report lists them.

    Raises:
        ArgumentError: A stream does not exist or cannot have a tolerance, or one is negative.
    """

    tol: Mapping[str, float] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in self.tol.items():
            if not isinstance(name, str) or stream(name) not in TOLERANT:
                raise ArgumentError(
                    f"tol: got a tolerance for {name!r}, expected one of {', '.join(TOLERANT)} or "
                    "of their columns, such as \"info['score']\""
                )
            real(f"tol[{name!r}]", value, 0.0)
        for name in self.ignore:
            if not isinstance(name, str) or stream(name) not in (*STREAMS, RESET_INFO):
                known = ", ".join((*STREAMS, RESET_INFO))
                raise ArgumentError(f"ignore: got {name!r}, expected one of {known} or a column")

    def tolerance(self, column: str) -> float:
        """Return the tolerance of a column."""
        return float(self.tol.get(column, self.tol.get(stream(column), 0.0)))

    def compares(self, column: str) -> bool:
        """Say whether a column is compared."""
        return column not in self.ignore and stream(column) not in self.ignore


@dataclass(frozen=True)
class Difference:
    """One place where two sides differ.

    Attributes:
        row: Row of the trajectories.
        step: Actions that led to it; 0 is the reset.
        column: Name of the column, or `"error"`, `"length"`.
        index: Place within the value.
        reference: The reference's value there.
        candidate: The candidate's.
        error: Absolute difference, or `None` where the values are no numbers.
    """

    row: int
    step: int
    column: str
    index: tuple[int, ...]
    reference: Any
    candidate: Any
    error: float | None = None

    @property
    def values(self) -> str:
        """What differs, without the step."""
        place = f"{self.column}{list(self.index)}" if self.index else self.column
        off = f" (off by {self.error:.3g})" if self.error else ""
        return f"{place}: reference {self.reference}, candidate {self.candidate}{off}"

    def __str__(self) -> str:
        where = f"at step {self.step}" if self.step else "at the reset"
        return f"{where}, {self.values}"


def stream(column: str) -> str:
    """Return the stream that a column belongs to."""
    return column.partition("[")[0]


def first_difference(
    reference: Trajectory, candidate: Trajectory, rules: Rules
) -> Difference | None:
    """Find the first row in which two trajectories differ.

    Args:
        reference: What the reference showed.
        candidate: What the candidate showed.
        rules: What counts as equal.

    Returns:
        The first difference; among those of one row the first in the order of `STREAMS`. `None`
        where there is none.
    """
    rows = min(reference.rows, candidate.rows)
    every = np.ones(rows, np.bool_)
    steps = np.diff(reference.taken[:rows], prepend=0) > 0
    names = sorted(
        {*reference.columns, *candidate.columns}, key=lambda name: STREAMS.index(stream(name))
    )
    best: Difference | None = None
    for name in filter(rules.compares, names):
        limit = rows if best is None else best.row
        judged = steps if stream(name) == "info" and RESET_INFO in rules.ignore else every
        found = _in_column(name, reference, candidate, judged[:limit], rules.tolerance(name))
        if found is not None:
            best = found
    if best is not None:
        return best
    if reference.error is None and candidate.error is not None:
        return Difference(rows, _step(reference, rows), "error", (), "none", candidate.error)
    if reference.rows != candidate.rows:
        step = _step(reference if reference.rows > rows else candidate, rows)
        return Difference(rows, step, "length", (), reference.rows, candidate.rows)
    return None


def largest_errors(reference: Trajectory, candidate: Trajectory) -> dict[str, NDArray[np.float64]]:
    """Measure how far numbers are apart in each row.

    Args:
        reference: What the reference showed.
        candidate: What the candidate showed.

    Returns:
        float64[rows] by column, of the columns that hold numbers of one shape on both sides.
    """
    rows = min(reference.rows, candidate.rows)
    errors = {}
    for name, ours in reference.columns.items():
        theirs = candidate.columns.get(name)
        if theirs is None or stream(name) not in TOLERANT or ours.shape[1:] != theirs.shape[1:]:
            continue
        if ours.dtype.kind in "biuf" and theirs.dtype.kind in "biuf":
            apart = _apart(ours[:rows], theirs[:rows]).reshape(rows, -1)
            errors[name] = apart.max(axis=1, initial=0.0)
    return errors


def _step(longer: Trajectory, row: int) -> int:
    return int(longer.taken[row]) if row < longer.rows else longer.steps + 1


def _in_column(
    name: str,
    reference: Trajectory,
    candidate: Trajectory,
    judged: NDArray[np.bool_],
    tolerance: float,
) -> Difference | None:
    """The first difference of one column within the rows that are judged."""
    rows = len(judged)
    if not judged.any():
        return None
    ours, theirs = reference.columns.get(name), candidate.columns.get(name)
    if ours is None or theirs is None:
        return _on_one_side(name, reference, judged, ours, theirs)
    ours, theirs = ours[:rows], theirs[:rows]
    if ours.dtype == np.object_ or theirs.dtype == np.object_:
        return _among_objects(name, reference, ours, theirs, judged, tolerance)
    strict = stream(name) in ("obs", "mask")
    if ours.shape != theirs.shape or (strict and ours.dtype != theirs.dtype):
        one, other = (f"{side.dtype}{list(side.shape[1:])}" for side in (ours, theirs))
        return Difference(0, 0, name, (), one, other)
    wrong = _wrong(ours, theirs, tolerance)
    wrong[~judged] = False
    if not wrong.any():
        return None
    row, *index = (int(i) for i in np.argwhere(wrong)[0])
    return _difference(row, reference, name, tuple(index), ours[row, *index], theirs[row, *index])


def _on_one_side(
    name: str,
    reference: Trajectory,
    judged: NDArray[np.bool_],
    ours: NDArray[Any] | None,
    theirs: NDArray[Any] | None,
) -> Difference | None:
    """The first judged row in which the side that has the column has a value in it."""
    there = theirs if ours is None else ours
    if there is None:
        return None
    for row in np.flatnonzero(judged):
        value = there[row]
        if value is not MISSING:
            pair = (MISSING, value) if ours is None else (value, MISSING)
            one, other = ("nothing" if side is MISSING else "something" for side in pair)
            return Difference(int(row), int(reference.taken[row]), name, (), one, other)
    return None


def _difference(
    row: int, reference: Trajectory, name: str, index: tuple[int, ...], a: Any, b: Any
) -> Difference:
    error = float(_apart(a, b)) if a.dtype.kind in "iuf" and b.dtype.kind in "iuf" else None
    return Difference(row, int(reference.taken[row]), name, index, a.item(), b.item(), error)


def _wrong(ours: NDArray[Any], theirs: NDArray[Any], tolerance: float) -> NDArray[np.bool_]:
    """Where two arrays of one shape are not equal, up to a tolerance."""
    return _unequal(ours, theirs) if tolerance == 0 else ~(_apart(ours, theirs) <= tolerance)


def _unequal(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[np.bool_]:
    if ours.dtype.kind == "f" and theirs.dtype.kind == "f":
        wrong: NDArray[np.bool_] = (ours != theirs) & ~(np.isnan(ours) & np.isnan(theirs))
        return wrong
    return np.asarray(ours != theirs)


def _apart(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[np.float64]:
    """Absolute differences; 0 for what is equal, infinity and NaN included, else NaN counts ∞."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(np.asarray(ours, np.float64) - np.asarray(theirs, np.float64))
    apart = np.where(np.isnan(apart), np.inf, apart)
    return np.where(_unequal(np.asarray(ours), np.asarray(theirs)), apart, 0.0)


def _among_objects(
    name: str,
    reference: Trajectory,
    ours: NDArray[Any],
    theirs: NDArray[Any],
    judged: NDArray[np.bool_],
    tolerance: float,
) -> Difference | None:
    for row in map(int, np.flatnonzero(judged)):
        a, b = ours[row], theirs[row]
        if a is MISSING and b is MISSING:
            continue
        left, right = np.asarray(a), np.asarray(b)
        numbers = left.dtype.kind in "biuf" and right.dtype.kind in "biuf"
        if numbers and left.shape == right.shape:  # whole numbers may have any type
            wrong = _wrong(left, right, tolerance)
            if wrong.any():
                index = tuple(int(i) for i in np.argwhere(wrong)[0])
                return _difference(row, reference, name, index, left[index], right[index])
        elif a is MISSING or b is MISSING or numbers or difference(a, b, "") is not None:
            one, other = (_words(side) for side in (a, b))
            return Difference(row, int(reference.taken[row]), name, (), one, other)
    return None


def _words(value: Any) -> str:
    """A value for a report: arrays by their kind."""
    return kind(value) if isinstance(value, np.ndarray) and value.size > 1 else str(value)
