"""Where the figures of a run go: a file of JSON lines, TensorBoard, a progress bar."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from hybridenv.checks import written
from hybridenv.errors import ArgumentError, MissingDependencyError

Row: TypeAlias = dict[str, Any]
"""An iteration: ``iteration``, ``steps``, ``seconds``, ``steps_per_second`` (a number each) and the
metrics: a float each, or with several seeds a list of floats. ``seconds`` were spent until then,
those of earlier parts of the run and compiling included; ``steps_per_second`` is without
compiling, as far as the second call tells it apart."""


class Sink(Protocol):
    """Something that takes rows."""

    def write(self, row: Row) -> None:
        """Take the row of an iteration."""

    def close(self) -> None:
        """Finish."""


class JsonLines:
    """Appends each row to a file as a line of JSON; what is no finite number becomes null.

    Args:
        path: The file.
        steps: Rows of the file beyond these steps are dropped first: a run that goes on from a
            checkpoint writes them again. The file is replaced as a whole, so that a full disk
            leaves the old one.

    Attributes:
        seconds: Of the last row that was kept, 0 without one.

    Raises:
        ArgumentError: The file is there and holds something else.
        OSError: It cannot be written; `filename` says which.
    """

    def __init__(self, path: Path, steps: int = 0) -> None:
        self._path = path
        kept = [row for row in read_rows(path) if row["steps"] <= steps] if path.exists() else []
        self.seconds = float(kept[-1]["seconds"]) if kept else 0.0
        new = path.with_name(path.name + ".new")
        with written(path):
            new.write_text("".join(map(_line, kept)), encoding="utf-8")
            new.replace(path)
            self._file = path.open("a", encoding="utf-8")

    def write(self, row: Row) -> None:
        """Append a row and hand it to the system."""
        with written(self._path):
            self._file.write(_line(row))
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # what could not be written was reported by `write`
            self._file.close()


class TensorBoard:
    """Writes each metric as a scalar, or with several seeds as their mean.

    Args:
        folder: Where TensorBoard looks.

    Raises:
        MissingDependencyError: tensorboardX is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise MissingDependencyError(
                "TensorBoard: tensorboardX is not installed: pip install 'hybridenv[tensorboard]'"
            ) from None
        self._writer = SummaryWriter(str(folder))

    def write(self, row: Row) -> None:
        """Write a row."""
        for name, value in row.items():
            mean = float(np.mean(value))
            if math.isfinite(mean):
                self._writer.add_scalar(name, mean, row["steps"])

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


class ProgressBar:
    """A bar on standard error with the speed and the newest return.

    Args:
        total: Steps of the run.
        done: Steps done before.
    """

    def __init__(self, total: int, done: int = 0) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.completed:>13,.0f} steps"),
            BarColumn(bar_width=32),
            TextColumn("{task.fields[rate]}  return {task.fields[reward]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True, highlight=False),
        )
        self._task = self._bar.add_task("", total=total, completed=done, rate="", reward="–")
        self._bar.start()

    def write(self, row: Row) -> None:
        """Move the bar."""
        mean = float(np.mean(row["return"]))
        fields: dict[str, Any] = {"rate": f"{row['steps_per_second']:>11,.0f} steps/s"}
        if math.isfinite(mean):
            fields["reward"] = f"{mean:.2f}"
        self._bar.update(self._task, completed=row["steps"], **fields)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.stop()


class Sinks:
    """Several sinks as one, closed in any case at the end of a `with` block."""

    def __init__(self, *sinks: Sink) -> None:
        self._sinks = sinks

    def write(self, row: Row) -> None:
        """Hand a row to all."""
        for sink in self._sinks:
            sink.write(row)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for sink in self._sinks:
            sink.close()


def read_rows(path: Path) -> list[Row]:
    """Read what `JsonLines` wrote; null becomes NaN.

    A last line that a crash left incomplete is dropped.

    Raises:
        ArgumentError: The file holds something else.
    """
    rows = []
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                break
            if not isinstance(row, dict) or not {"steps", "seconds"} <= set(row):
                raise ArgumentError(
                    f"{path}: got {line[:40]!r}, expected lines that `hybridenv train` wrote"
                )
            rows.append({k: _with_nan(v) for k, v in row.items()})
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path}: got bytes that are no text: {error}") from None
    return rows


def _line(row: Row) -> str:
    return json.dumps(_finite(row)) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _with_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_nan(v) for v in value]
    return math.nan if value is None else value
