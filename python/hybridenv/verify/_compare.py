"""Where two trajectories differ first, under tolerances that were declared beforehand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridenv.errors import ArgumentError
from hybridenv.trees import difference
from hybridenv.verify._record import MISSING, Trajectory

STREAMS = ("obs", "reward", "terminated", "truncated", "mask", "info")
"""What is compared, in the order in which a report names it."""
TOLERANT = ("obs", "reward", "info")
"""Streams that may have a tolerance; flags and masks are equal or not."""


@dataclass(frozen=True)
class Rules:
    """What counts as equal.

    Attributes:
        tol: Largest absolute difference allowed (L∞), by stream (`"obs"`) or by column
            (`"info['score']"`); 0 for all that are not named, which means bit for bit.
        ignore: Streams or columns that are not compared; the report lists them.

    Raises:
        ArgumentError: A stream does not exist or cannot have a tolerance, or one is negative.
    """

    tol: Mapping[str, float] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in self.tol.items():
            if stream(name) not in TOLERANT:
                raise ArgumentError(
                    f"tol: got a tolerance for {name!r}, expected one of {', '.join(TOLERANT)} or "
                    "of their columns, such as \"info['score']\""
                )
            if not isinstance(value, int | float) or not 0 <= value < np.inf:
                raise ArgumentError(f"tol[{name!r}]: got {value!r}, expected a number 0 or greater")
        for name in self.ignore:
            if stream(name) not in STREAMS:
                raise ArgumentError(
                    f"ignore: got {name!r}, expected one of {', '.join(STREAMS)} or a column"
                )

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
    names = sorted(
        {*reference.columns, *candidate.columns}, key=lambda name: STREAMS.index(stream(name))
    )
    best: Difference | None = None
    for name in filter(rules.compares, names):
        limit = rows if best is None else best.row
        found = _in_column(name, reference, candidate, limit, rules.tolerance(name))
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
    name: str, reference: Trajectory, candidate: Trajectory, rows: int, tolerance: float
) -> Difference | None:
    """The first difference of one column within so many rows."""
    if rows == 0:
        return None
    ours, theirs = reference.columns.get(name), candidate.columns.get(name)
    if ours is None or theirs is None:
        one, other = ("nothing" if side is None else "something" for side in (ours, theirs))
        return Difference(0, 0, name, (), one, other)
    ours, theirs = ours[:rows], theirs[:rows]
    if ours.dtype == np.object_ or theirs.dtype == np.object_:
        return _among_objects(name, reference, ours, theirs, tolerance)
    strict = stream(name) in ("obs", "mask")
    if ours.shape != theirs.shape or (strict and ours.dtype != theirs.dtype):
        one, other = (f"{side.dtype}{list(side.shape[1:])}" for side in (ours, theirs))
        return Difference(0, 0, name, (), one, other)
    wrong = _unequal(ours, theirs) if tolerance == 0 else ~(_apart(ours, theirs) <= tolerance)
    if not wrong.any():
        return None
    row, *index = (int(i) for i in np.argwhere(wrong)[0])
    a, b = ours[row, *index], theirs[row, *index]
    error = float(_apart(a, b)) if ours.dtype.kind in "iuf" else None
    step = int(reference.taken[row])
    return Difference(row, step, name, tuple(index), a.item(), b.item(), error)


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
    name: str, reference: Trajectory, ours: NDArray[Any], theirs: NDArray[Any], tolerance: float
) -> Difference | None:
    for row, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if (a is MISSING) is not (b is MISSING) or (a is not MISSING and _differ(a, b, tolerance)):
            return Difference(row, int(reference.taken[row]), name, (), str(a), str(b))
    return None


def _differ(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two values of an info differ; whole numbers may have any type."""
    ours, theirs = np.asarray(a), np.asarray(b)
    if ours.dtype.kind not in "biuf" or theirs.dtype.kind not in "biuf":
        return difference(a, b, "") is not None
    if ours.shape != theirs.shape:
        return True
    if tolerance == 0:
        return bool(_unequal(ours, theirs).any())
    return not (_apart(ours, theirs) <= tolerance).all()
