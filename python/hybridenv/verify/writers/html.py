"""The report as one HTML page that needs nothing else: no script, no font, no picture from afar."""

import html
from collections.abc import Iterable, Sequence
from importlib import resources

from hybridenv.verify._progress import TITLES
from hybridenv.verify._report import Report
from hybridenv.verify._results import (
    Check,
    Divergence,
    L1Result,
    L2Result,
    L3Result,
    L4Result,
    LevelResult,
    Status,
    Verdict,
)
from hybridenv.verify._target import Identity
from hybridenv.verify.writers.markdown import anchored_rows, equivalence_rows, settings
from hybridenv.verify.writers.plot import errors_svg, interval_svg, returns_svg

_COLOURS = {
    Status.PASSED: "good",
    Status.FAILED: "bad",
    Status.ERROR: "bad",
    Status.NOT_SHOWN: "open",
    Status.INTERRUPTED: "open",
    Status.SKIPPED: "soft",
}
_VERDICTS = {
    Verdict.EQUAL: "good",
    Verdict.DIFFERENT: "bad",
    Verdict.ERROR: "bad",
    Verdict.NOT_SHOWN: "open",
}
_INTERVAL = "Difference of means with its interval; the band is the margin, fixed beforehand."
MOST_ACTIONS = 40
"""Actions that are shown one by one; the report in JSON has all."""


def page(report: Report) -> str:
    """Write a report.

    Args:
        report: The report.

    Returns:
        A complete HTML document.
    """
    names = f"{report.candidate.name} against {report.reference.name}"
    style = resources.files(__package__).joinpath("report.css").read_text("utf-8")
    early = ", interrupted" * report.interrupted
    body = [
        f'<header class="verdict {_VERDICTS[report.verdict]}">',
        f"<h1>{_text(report.verdict.value)}</h1><p>{_text(report.reason)}</p></header>",
        _steps(report),
        _table(
            ("", "target", "version", "commit"),
            [_side("reference", report.reference), _side("candidate", report.candidate)],
        ),
        _difference(report.first_divergence),
        "<h2>What was looked at</h2>" if report.levels else "",
        *(_level(n, one) for n, one in report.levels.items()),
        "<h2>What this does not show</h2>",
        "<ul>" + "".join(f"<li>{_text(one)}</li>" for one in report.limits) + "</ul>",
        _details("Settings and versions", _table(("", ""), settings(report))),
        f'<p class="soft">{_text(report.started)}, {report.seconds:.1f} seconds{early}.</p>',
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(report.verdict.value)}: {_text(names)}</title><style>\n{style}</style>"
        f"</head><body><main>{''.join(body)}</main></body></html>\n"
    )


def _steps(report: Report) -> str:
    """All five levels in a row, those that were not run in grey."""
    items = []
    for n, title in enumerate(TITLES):
        one = report.levels.get(n)
        name = _text(title)
        if one is None:
            items.append(f'<li class="none"><b>{name}</b><span class="soft">not run</span></li>')
        else:
            status = f'<span class="{_COLOURS[one.status]}">{one.status.value}</span>'
            items.append(
                f'<li><b>{name}</b>{status}<span class="soft"> · {one.seconds:.1f} s</span></li>'
            )
    return f'<ol class="steps">{"".join(items)}</ol>'


def _difference(found: Divergence | None) -> str:
    if found is None:
        return ""
    place = f"{found.column}{list(found.index)}" if found.index else found.column
    where = f"step {found.step}" if found.step else "the reset"
    off = "" if found.error is None else f", off by {found.error:.3g}"
    whose = f"of the episode with seed {found.seed}, actions by {found.source}{off}"
    parts = [
        "<h2>The first difference</h2>",
        f"<p><b><code>{_text(place)}</code></b> at <b>{where}</b> {_text(whose)}.</p>",
        '<div class="apart">',
        f'<div>reference<span class="value">{_text(str(found.reference))}</span></div>',
        f'<div>candidate<span class="value">{_text(str(found.candidate))}</span></div></div>',
    ]
    if found.shrunk is not None:
        few, many = len(found.shrunk), len(found.actions)
        enough = f"{few} of its {many} actions are enough" if few < many else f"It takes all {many}"
        words = f"{enough} to tell both sides apart: {found.shrunk_difference}."
        parts.append(f"<p>{_text(words)}</p>{_actions(found.shrunk)}")
    elif found.actions:
        parts.append(f"<p>The last actions before it:</p>{_actions(found.actions)}")
    if found.test is not None:
        title = "A test that fails as long as it is there"
        parts.append(_details(title, f"<pre>{_text(found.test)}</pre>", opened=True))
    return "".join(parts)


def _actions(actions: Sequence[object]) -> str:
    shown = [f"<span>{_text(str(one))}</span>" for one in actions[-MOST_ACTIONS:]]
    more = len(actions) - len(shown)
    before = [f'<span class="soft">{more} before</span>'] if more else []
    return f'<div class="actions value">{"".join(before + shown)}</div>'


def _level(n: int, one: LevelResult) -> str:
    parts = [f"<p>{_text(one.summary)}</p>"]
    if isinstance(one, L3Result) and one.sources and not one.p_values:
        parts.append(_episodes(one))
    elif one.checks and not isinstance(one, L4Result):
        parts.append(_checks(one.checks))
    if isinstance(one, L1Result):
        parts += [
            f"<h3>{_text(name)}</h3><pre>{_text(words)}</pre>"
            for name, words in one.counterexamples.items()
        ]
    if isinstance(one, L2Result) and one.operations:
        lines = [*one.operations, f"# {one.difference or ''}"]
        parts.append(f"<h3>The shortest way there</h3><pre>{_text(chr(10).join(lines))}</pre>")
    if isinstance(one, L3Result):
        parts += _anchored(one)
    if isinstance(one, L4Result):
        parts += _policies(one)
    title = f'{_text(TITLES[n])}: <span class="{_COLOURS[one.status]}">{one.status.value}</span>'
    drawn = any("<svg" in part for part in parts)
    return _details(title, "".join(parts), opened=drawn or one.status is not Status.PASSED)


def _episodes(one: L3Result) -> str:
    rows = [
        (
            source.name,
            f"{source.episodes:,}",
            f"{source.steps:,}",
            f"{source.terminated:,}",
            f"{source.truncated:,}",
            f"{source.cut:,}",
            f"{source.different:,}",
            f"{max(source.largest.values(), default=0.0):.3g}",
        )
        for source in one.sources
    ]
    heads = ("actions", "episodes", "steps", "terminated", "truncated", "cut off", "different")
    table = _table((*heads, "largest error"), rows, numbers=True)
    rates = ", ".join(f"{side} {rate:,.0f}" for side, rate in one.throughput.items())
    words = f'<p class="soft">Steps a second while compared: {rates}.</p>' if rates else ""
    return table + words


def _anchored(one: L3Result) -> list[str]:
    if one.anchored is None:
        return []
    episodes, steps = one.anchored.episodes, one.anchored.steps
    picture = errors_svg(one.anchored)
    keys = _keys(("one", "one step from the reference's state"), ("two", "free run"))
    drawn = f"<figure>{picture}<figcaption>{keys}</figcaption></figure>" if picture else ""
    return [
        f"<h3>Errors of one step and of the free run, {episodes} episodes, {steps:,} steps</h3>",
        drawn,
        _table(("column", "one step", "free run"), anchored_rows(one.anchored), numbers=True),
    ]


def _policies(one: L4Result) -> list[str]:
    if one.test is None:
        return []
    rows = [
        (
            name,
            test.outcome,
            f"{test.mean_reference:.4g}",
            f"{test.mean_candidate:.4g}",
            f"{test.difference:+.4g}",
            f"{test.p_tost:.3g}",
        )
        for name, test in one.by_policy.items()
    ]
    heads = ("policy", "alone", "reference", "candidate", "difference", "TOST p")
    keys = _keys(("one", "reference"), ("two", "candidate"))
    return [
        f"<figure>{returns_svg(one)}<figcaption>{keys}</figcaption></figure>",
        f"<figure>{interval_svg(one)}<figcaption>{_text(_INTERVAL)}</figcaption></figure>",
        "<h3>The test over all policies</h3>",
        _table(("", ""), equivalence_rows(one.test)),
        "<h3>Each policy by itself, which is a look and no part of the verdict</h3>",
        _table(heads, rows, numbers=True),
    ]


def _checks(checks: Sequence[Check]) -> str:
    rows = "".join(
        f'<tr><td>{_text(check.name)}</td><td class="word {_COLOURS[check.status]}">'
        f"{check.status.value}</td><td>{_text(check.detail)}</td></tr>"
        for check in checks
    )
    return f'<div class="scroll"><table>{rows}</table></div>'


def _keys(*keys: tuple[str, str]) -> str:
    return "".join(
        f'<span class="key" style="background: var(--{colour})"></span>'
        f'<span class="named">{_text(name)}</span>'
        for colour, name in keys
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False) -> str:
    """A table that scrolls by itself; with numbers, all columns but the first stand right."""

    def line(tag: str, cells: Sequence[str]) -> str:
        right = ' class="number"'
        marks = ["", *[right if numbers else ""] * (len(cells) - 1)]
        pairs = zip(marks, cells, strict=True)
        return "<tr>" + "".join(f"<{tag}{m}>{_text(c)}</{tag}>" for m, c in pairs) + "</tr>"

    first = line("th", heads) if any(heads) else ""
    body = "".join(line("td", row) for row in rows)
    return f'<div class="scroll"><table>{first}{body}</table></div>'


def _details(title: str, body: str, *, opened: bool = False) -> str:
    return f"<details{' open' * opened}><summary>{title}</summary>{body}</details>"


def _side(role: str, identity: Identity) -> tuple[str, str, str, str]:
    commit = identity.commit or ""
    changed = "+changes" if commit.endswith("+changes") else ""
    return role, identity.name, identity.version or "–", (commit[:12] + changed) or "–"


def _text(words: str) -> str:
    return html.escape(words)
