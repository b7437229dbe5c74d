"""Pictures of a report: SVG without any library, and PNG where matplotlib is installed."""

from __future__ import annotations

import html
import math
import warnings
from pathlib import Path

import numpy as np

from hybridenv.verify._results import Anchored, L4Result

WIDTH, HEIGHT, EDGE = 640, 230, 44
"""Size of a picture and of the space around what is drawn in it."""
BINS = 24


def returns_svg(result: L4Result) -> str:
    """Draw both distributions of returns as steps.

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
    base = HEIGHT - EDGE

    def y(share: float) -> float:
        return base - (HEIGHT - 2 * EDGE) * share / top

    parts = [_level_line(y(top), f"{100 * top:.0f} % of episodes")]
    for side, css in zip(counts, ("reference", "candidate"), strict=True):
        path = [f"{_x(edges[0], edges):.1f},{base}"]
        for i, share in enumerate(side):
            path += [f"{_x(edge, edges):.1f},{y(float(share)):.1f}" for edge in edges[i : i + 2]]
        path.append(f"{_x(edges[-1], edges):.1f},{base}")
        parts.append(f'<polygon class="{css}" points="{" ".join(path)}"/>')
    for mean, name, row in ((ours, "reference", 12), (theirs, "candidate", 27)):
        place = _x(float(np.mean(mean)), edges)
        parts.append(_line("axis", place, row + 6, place, base))
        end = place > WIDTH / 2
        words = f"mean of the {name} {np.mean(mean):.4g}"
        parts.append(_label(place + (-6 if end else 6), row + 8, words, "end" if end else "start"))
    parts.append(_bottom(edges, "return of an episode"))
    return _svg("Returns of both sides", HEIGHT, "".join(parts))


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
    reach = 1.25 * max(test.margin, abs(test.low), abs(test.high))
    ends = np.array([-reach, reach])
    low, mid, high, left, right, zero = (
        _x(value, ends)
        for value in (test.low, test.difference, test.high, -test.margin, test.margin, 0.0)
    )
    level = f"{100 * (1 - 2 * test.alpha):g} %"
    body = (
        f'<rect class="margin" x="{left:.1f}" y="26" width="{right - left:.1f}" height="40"/>'
        + _line("axis", zero, 22, zero, 70)
        + _line("interval", low, 46, high, 46)
        + _line("interval", low, 40, low, 52)
        + _line("interval", high, 40, high, 52)
        + f'<circle class="interval" cx="{mid:.1f}" cy="46" r="4"/>'
        + _label(left, 84, f"−{test.margin:g}")
        + _label(right, 84, f"+{test.margin:g}")
        + _label(
            WIDTH / 2,
            15,
            f"{test.difference:+.4g}, {level} interval {test.low:+.4g} to {test.high:+.4g}",
            css="strong",
        )
    )
    return _svg("Interval of the difference, and the margin", 92, body)


def errors_svg(anchored: Anchored) -> str:
    """Draw the errors of one step and of the free run over the steps, on a logarithmic scale.

    No error at all lies on the axis.

    Args:
        anchored: The errors.

    Returns:
        An `<svg>` element; empty where all errors are zero.
    """
    values = [v for _, *pair in anchored.curve for v in pair if 0 < v < np.inf]
    if not values:
        return ""
    low, high = np.floor(np.log10(min(values))) - 1, np.ceil(np.log10(max(values)))
    ends = np.array([0, max(1, anchored.curve[-1][0])])

    def y(value: float) -> float:
        place = (np.log10(max(value, 10.0**low)) - low) / (high - low)
        return float(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * min(1.0, place))

    stride = max(1, int(high - low) // 4)
    parts = [
        _level_line(y(10.0**power), f"1e{power:+03d}")
        for power in range(int(high), int(low), -stride)
    ]
    for which, css in ((1, "onestep"), (2, "free")):
        points = " ".join(f"{_x(row[0], ends):.1f},{y(row[which]):.1f}" for row in anchored.curve)
        parts.append(f'<polyline class="{css}" points="{points}"/>')
    parts.append(_bottom(ends, "step of the episode; the largest error of any number shown"))
    return _svg("Largest error by step: one step, and free run", HEIGHT, "".join(parts))


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


def _line(css: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _label(x: float, y: float, words: str, anchor: str = "middle", css: str = "") -> str:
    mark = f' class="{css}"' if css else ""
    return f'<text{mark} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def _level_line(y: float, words: str) -> str:
    """A horizontal line with what it stands for above its beginning."""
    return _line("grid", EDGE, y, WIDTH - EDGE, y) + _label(EDGE, y - 4, words, "start")


def _bottom(ends: object, words: str) -> str:
    """The axis below a picture, with round numbers."""
    scale = np.asarray(ends, np.float64)
    base = HEIGHT - EDGE
    parts = [_line("axis", EDGE, base, WIDTH - EDGE, base)]
    for tick in ticks(float(scale[0]), float(scale[-1])):
        x = _x(tick, scale)
        parts += [_line("axis", x, base, x, base + 4), _label(x, base + 17, f"{tick:g}")]
    return "".join(parts) + _label(WIDTH / 2, HEIGHT - 8, words)


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return round numbers between two, evenly spaced by 1, 2 or 5 times a power of ten.

    Args:
        low: The smaller.
        high: The greater.
        most: How many at most.
    """
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    while (high - low) / step > most:
        step *= 2.5 if f"{step:e}".startswith("2") else 2
    first = math.ceil(low / step)
    return [round(i * step, 12) for i in range(first, math.floor(high / step) + 1)]


def _svg(title: str, height: int, body: str) -> str:
    words = html.escape(title)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{words}">'
        f"<title>{words}</title>{body}</svg>"
    )
