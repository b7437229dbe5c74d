"""Learning curves as pictures. Needs the extra: ``pip install "hybridenv[plot]"``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hybridenv.checks import whole, written
from hybridenv.errors import ArgumentError, MissingDependencyError
from hybridenv.train.logging import Row


def figure(width: float, height: float) -> tuple[Any, Any]:
    """Return a new figure and its axes, drawn without a screen.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "plot: matplotlib is not installed: pip install 'hybridenv[plot]'"
        ) from None
    picture = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(picture)
    axes = picture.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    return picture, axes


def learning_curve(
    runs: Mapping[str, Sequence[Row]],
    path: Path | str,
    *,
    metric: str = "return",
    against: str = "steps",
    levels: Mapping[str, float] | None = None,
    window: int = 1,
) -> Path:
    """Draw how a metric grew; a run of several seeds is their mean in the range of all of them.

    Args:
        runs: Rows of each run by its name, see `hybridenv.train.logging.read_rows`.
        path: The file to write; its suffix chooses the format, such as ``.png``, ``.svg`` or
            ``.pdf``.
        metric: Which metric.
        against: ``"steps"`` or ``"seconds"``.
        levels: Horizontal lines to compare with, by their names.
        window: Draw the mean of so many iterations, at least 1.

    Returns:
        The path.

    Raises:
        ArgumentError: There is nothing to draw, no such metric, no finite number of it, or no such
            format.
        MissingDependencyError: matplotlib is not installed.
        OSError: The file cannot be written; `filename` says which.
    """
    if not runs or not all(runs.values()):
        raise ArgumentError("learning_curve: got a run without rows, expected at least one row")
    window = whole("window", window, 1, 2**31 - 1)
    for name, rows in runs.items():
        if missing := {metric, against} - set(rows[0]):
            raise ArgumentError(
                f"learning_curve: run {name!r} has no {sorted(missing)}, expected one of "
                f"{sorted(rows[0])}"
            )
    target = Path(path)
    picture, axes = figure(7, 4)
    formats = sorted(picture.canvas.get_supported_filetypes())
    if target.suffix[1:].lower() not in formats:
        raise ArgumentError(f"learning_curve: got {target}, expected an ending of {formats}")
    for name, rows in runs.items():
        x = np.asarray([row[against] for row in rows], float)
        y = np.asarray([np.atleast_1d(row[metric]) for row in rows], float)
        seen = np.isfinite(y).all(axis=1)
        if not seen.any():
            raise ArgumentError(
                f"learning_curve: run {name!r} has no finite {metric!r} in {len(rows)} rows, "
                "expected one; where no episode has ended yet, draw another metric"
            )
        x, y = x[seen], y[seen]
        y = np.stack([y[max(0, i + 1 - window) : i + 1].mean(axis=0) for i in range(len(y))])
        (line,) = axes.plot(x, y.mean(axis=1), label=name)
        if y.shape[1] > 1:
            axes.fill_between(x, y.min(axis=1), y.max(axis=1), alpha=0.2, color=line.get_color())
    for name, level in (levels or {}).items():
        axes.axhline(level, linestyle="--", color="grey")
        axes.annotate(name, (0.01, level), xycoords=("axes fraction", "data"), va="bottom")
    axes.set_xlabel("environment steps" if against == "steps" else "seconds of training")
    axes.set_ylabel(metric)
    if len(runs) > 1:
        axes.legend(frameon=False)
    target.parent.mkdir(parents=True, exist_ok=True)
    with written(target):
        picture.savefig(target, dpi=120)
    return target
