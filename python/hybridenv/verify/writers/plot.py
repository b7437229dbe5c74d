"""Pictures of a report: SVG without any library, and PNG where matplotlib is installed."""

from __future__ import annotations

import html
import warnings
from pathlib import Path

import numpy as np

from hybridenv.verify._results import Anchored, L4Result

WIDTH, HEIGHT, EDGE = 640, 240, 44
BINS = 24


def returns_svg(result: L4Result) -> str:
    """Draw both distributions of returns as steps, and the interval of the difference below.

    Args:
        result: A level 4 that came to a test.

    Returns:
        An `<svg>` element; empty where there is no test.
    """
    if result.test is None:
        return ""
    ours, theirs = _all_returns(result)
    low, high = min(*ours, *theirs), max(*ours, *theirs)
    room = (high - low) * 0.02 or 1.0
    edges = np.linspace(low - room, high + room, BINS + 1)
    counts = [np.histogram(side, edges)[0] / len(side) for side in (ours, theirs)]
    top = max(float(side.max()) for side in counts) or 1.0
    parts = []
    for side, css in zip(counts, ("reference", "candidate"), strict=True):
        path = []
        for i, share in enumerate(side):
            y = HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * float(share) / top
            path += [f"{_x(edges[i], edges):.1f},{y:.1f}", f"{_x(edges[i + 1], edges):.1f},{y:.1f}"]
        base = HEIGHT - EDGE
        parts.append(
            f'<polygon class="{css}" points="{_x(edges[0], edges):.1f},{base} {" ".join(path)} '
            f'{_x(edges[-1], edges):.1f},{base}"/>'
        )
    labels = (
        f'<text x="{EDGE}" y="{HEIGHT - 24}">{edges[0]:.4g}</text>'
        f'<text x="{WIDTH - EDGE}" y="{HEIGHT - 24}" text-anchor="end">{edges[-1]:.4g}</text>'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">return of an episode</text>'
    )
    return _svg("Returns of both sides", HEIGHT, "".join(parts) + labels)


def interval_svg(result: L4Result) -> str:
    """Draw the interval of the difference between the margins.

    Args:
        result: A level 4 that came to a test.

    Returns:
        An `<svg>` element; empty where there is no test.
    """
    test = result.test
    if test is None:
        return ""
    reach = 1.15 * max(test.margin, abs(test.low), abs(test.high))
    ends = np.array([-reach, reach])
    x = {name: _x(value, ends) for name, value in (
        ("low", test.low), ("high", test.high), ("mid", test.difference),
        ("left", -test.margin), ("right", test.margin), ("zero", 0.0),
    )}  # fmt: skip
    body = (
        f'<rect class="margin" x="{x["left"]:.1f}" y="14" width="{x["right"] - x["left"]:.1f}" '
        'height="40"/>'
        f'<line class="axis" x1="{x["zero"]:.1f}" y1="10" x2="{x["zero"]:.1f}" y2="58"/>'
        f'<line class="interval" x1="{x["low"]:.1f}" y1="34" x2="{x["high"]:.1f}" y2="34"/>'
        f'<circle class="interval" cx="{x["mid"]:.1f}" cy="34" r="5"/>'
        f'<text x="{x["left"]:.1f}" y="74" text-anchor="middle">-{test.margin:g}</text>'
        f'<text x="{x["right"]:.1f}" y="74" text-anchor="middle">+{test.margin:g}</text>'
    )
    return _svg("Interval of the difference, and the margin", 84, body)


def errors_svg(anchored: Anchored) -> str:
    """Draw the errors of one step and of the free run over the steps, on a logarithmic scale.

    Args:
        anchored: The errors.

    Returns:
        An `<svg>` element; empty where all errors are zero.
    """
    values = [v for _, *pair in anchored.curve for v in pair if 0 < v < np.inf]
    if not values:
        return ""
    low, high = np.floor(np.log10(min(values))), np.ceil(np.log10(max(values)))
    high = max(high, low + 1)
    ends = np.array([0, max(1, anchored.curve[-1][0])])

    def y(value: float) -> float:
        place = (np.log10(max(value, 10.0**low)) - low) / (high - low)
        return float(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * min(1.0, place))

    parts = []
    for which, css in ((1, "onestep"), (2, "free")):
        points = " ".join(f"{_x(row[0], ends):.1f},{y(row[which]):.1f}" for row in anchored.curve)
        parts.append(f'<polyline class="{css}" points="{points}"/>')
    labels = (
        f'<text x="{EDGE - 6}" y="{HEIGHT - EDGE}" text-anchor="end">1e{int(low)}</text>'
        f'<text x="{EDGE - 6}" y="{EDGE}" text-anchor="end">1e{int(high)}</text>'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"step, 0 to {int(ends[1])}</text>"
    )
    return _svg("Largest error by step: one step, and free run", HEIGHT, "".join(parts) + labels)


def save_plot(result: L4Result, path: Path) -> bool:
    """Write both distributions of returns and the interval as PNG.

    Args:
        result: A level 4 that came to a test.
        path: Where.

    Returns:
        Whether it was written: matplotlib may be missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    test = result.test
    if test is None:
        return False
    ours, theirs = _all_returns(result)
    figure = Figure(figsize=(7, 5), layout="constrained")
    upper, lower = figure.subplots(2, 1, height_ratios=(3, 1))
    bins = np.histogram_bin_edges([*ours, *theirs], BINS)
    for side, name in ((ours, "reference"), (theirs, "candidate")):
        upper.hist(side, bins.tolist(), alpha=0.55, label=name)
    upper.set_xlabel("return of an episode")
    upper.set_ylabel("episodes")
    upper.legend()
    lower.axvspan(-test.margin, test.margin, alpha=0.2, label="margin")
    lower.errorbar(
        [test.difference],
        [0],
        xerr=[[test.difference - test.low], [test.high - test.difference]],
        fmt="o",
        capsize=4,
    )
    lower.axvline(0, linewidth=0.8)
    lower.set_yticks([])
    lower.set_xlabel(f"difference of means: {test.outcome}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a font may lack a character of a policy's name
        figure.savefig(path, dpi=150)
    return True


def _all_returns(result: L4Result) -> tuple[list[float], list[float]]:
    ours = [value for pair in result.returns.values() for value in pair[0]]
    theirs = [value for pair in result.returns.values() for value in pair[1]]
    return ours, theirs


def _x(value: float, ends: object) -> float:
    scale = np.asarray(ends, np.float64)
    low, high = float(scale[0]), float(scale[-1])
    return EDGE + (WIDTH - 2 * EDGE) * (float(value) - low) / (high - low)


def _svg(title: str, height: int, body: str) -> str:
    words = html.escape(title)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{words}">'
        f"<title>{words}</title>{body}</svg>"
    )
