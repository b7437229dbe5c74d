"""The report as one HTML page that needs nothing else: no script, no font, no picture from afar."""

import html
from collections.abc import Sequence

from hybridenv.verify._report import Report
from hybridenv.verify._results import (
    Check,
    L1Result,
    L2Result,
    L3Result,
    L4Result,
    LevelResult,
    Status,
)
from hybridenv.verify.writers.markdown import (
    anchored_rows,
    divergence_lines,
    equivalence_rows,
    settings,
)
from hybridenv.verify.writers.plot import errors_svg, interval_svg, returns_svg

_STYLE = """
:root { --ink: #1c2430; --soft: #5c6674; --line: #dde2e8; --paper: #ffffff; --card: #f6f8fa;
  --good: #1a7f4b; --bad: #c0362c; --open: #9a6700; --one: #2563a8; --two: #d9822b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa5b1; --line: #333c48;
  --paper: #14181e; --card: #1c222a; --good: #4cc38a; --bad: #ff7b72; --open: #e3b341;
  --one: #6cb0f5; --two: #f0a35e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 900px; margin: 0 auto; padding: 40px 20px 80px; }
h1 { font-size: 44px; letter-spacing: -0.5px; margin: 0; }
h2 { margin: 44px 0 12px; font-size: 22px; }
p { margin: 8px 0; overflow-wrap: anywhere; }
.EQUAL, .passed { color: var(--good); } .DIFFERENT, .ERROR, .failed, .error { color: var(--bad); }
.NOT, .not, .interrupted { color: var(--open); } .skipped { color: var(--soft); }
.soft { color: var(--soft); }
table { border-collapse: collapse; width: 100%; margin: 12px 0; font-size: 15px; }
th, td { text-align: left; padding: 7px 12px 7px 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 500; }
td.word { white-space: nowrap; font-weight: 600; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px;
  overflow-x: auto; font-size: 13px; line-height: 1.45; }
code { font-family: ui-monospace, monospace; }
details { border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; margin: 10px 0; }
summary { cursor: pointer; font-weight: 600; }
svg { width: 100%; height: auto; display: block; margin: 12px 0; }
svg text { fill: var(--soft); font: 13px system-ui, sans-serif; }
.reference { fill: var(--one); fill-opacity: 0.45; }
.candidate { fill: var(--two); fill-opacity: 0.45; }
.margin { fill: var(--good); fill-opacity: 0.18; } .axis { stroke: var(--soft); }
.interval { stroke: var(--ink); fill: var(--ink); stroke-width: 3; }
.onestep, .free { fill: none; stroke-width: 2; }
.onestep { stroke: var(--one); } .free { stroke: var(--two); }
.key { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin: 0 6px 0 14px; }
"""


def page(report: Report) -> str:
    """Write a report.

    Args:
        report: The report.

    Returns:
        A complete HTML document.
    """
    names = f"{report.candidate.name} against {report.reference.name}"
    css = report.verdict.value.partition(" ")[0]
    sides = [
        (
            "reference",
            report.reference.name,
            *_origin(report.reference.version, report.reference.commit),
        ),
        (
            "candidate",
            report.candidate.name,
            *_origin(report.candidate.version, report.candidate.commit),
        ),
    ]
    details, early = _table(("", ""), settings(report)), ", interrupted" * report.interrupted
    body = [
        f'<p class="soft">{_text(names)}</p>',
        f'<h1 class="{css}">{_text(report.verdict.value)}</h1>',
        f"<p>{_text(report.reason)}</p>",
        _table(("", "target", "version", "commit"), sides),
        "<h2>Levels</h2>",
        _levels(report),
        _divergence(report),
        *(_level(n, one) for n, one in report.levels.items()),
        "<h2>What this does not show</h2>",
        "<ul>" + "".join(f"<li>{_text(one)}</li>" for one in report.limits) + "</ul>",
        f"<details><summary>Settings and versions</summary>{details}</details>",
        f'<p class="soft">{report.seconds:.1f} seconds{early}.</p>',
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(report.verdict.value)}: {_text(names)}</title><style>{_STYLE}</style>"
        f"</head><body><main>{''.join(body)}</main></body></html>\n"
    )


def _levels(report: Report) -> str:
    rows = "".join(
        f'<tr><td class="word">L{n} {one.title}</td>'
        f'<td class="word {_css(one.status)}">{one.status.value}</td>'
        f'<td class="word soft">{one.seconds:.1f} s</td><td>{_text(one.summary)}</td></tr>'
        for n, one in report.levels.items()
    )
    return f"<table>{rows}</table>"


def _divergence(report: Report) -> str:
    found = report.first_divergence
    if found is None:
        return ""
    parts = ["<h2>The first difference</h2>"]
    parts += [f"<p>{_text(line)}</p>" for line in divergence_lines(found)]
    if found.test is not None:
        parts.append(
            f"<p>A test that fails as long as it is there:</p><pre>{_text(found.test)}</pre>"
        )
    return "".join(parts)


def _level(n: int, one: LevelResult) -> str:
    parts = [_checks(one.checks)] if one.checks else []
    if isinstance(one, L1Result):
        parts += [f"<p>{_text(k)}</p><pre>{_text(v)}</pre>" for k, v in one.counterexamples.items()]
    if isinstance(one, L2Result) and one.operations:
        parts.append(
            f"<pre>{_text(chr(10).join(one.operations))}</pre><p>{_text(one.difference or '')}</p>"
        )
    if isinstance(one, L3Result) and one.anchored is not None:
        parts.append(_keys(("one", "one step from the reference's state"), ("two", "free run")))
        parts.append(errors_svg(one.anchored))
        parts.append(_table(("column", "one step", "free run"), anchored_rows(one.anchored)))
    if isinstance(one, L3Result) and one.throughput:
        rates = ", ".join(f"{side} {rate:,.0f}" for side, rate in one.throughput.items())
        parts.append(f'<p class="soft">Steps a second while compared: {rates}.</p>')
    if isinstance(one, L4Result) and one.test is not None:
        parts.append(_keys(("one", "reference"), ("two", "candidate")))
        parts.append(returns_svg(one))
        parts.append(interval_svg(one))
        parts.append(_table(("", ""), equivalence_rows(one.test)))
        rows = [
            (name, test.outcome, f"{test.difference:+.4f}", f"{test.p_tost:.3g}")
            for name, test in one.by_policy.items()
        ]
        parts.append(_table(("policy", "outcome", "difference", "TOST p"), rows))
    opened = " open" if one.status is not Status.PASSED or n == 4 else ""
    return (
        f"<details{opened}><summary>L{n} {one.title}: "
        f'<span class="{_css(one.status)}">{one.status.value}</span></summary>'
        f"{''.join(parts)}</details>"
    )


def _checks(checks: Sequence[Check]) -> str:
    rows = "".join(
        f'<tr><td>{_text(check.name)}</td><td class="word {_css(check.status)}">'
        f"{check.status.value}</td><td>{_text(check.detail)}</td></tr>"
        for check in checks
    )
    return f"<table>{rows}</table>"


def _keys(*keys: tuple[str, str]) -> str:
    return "<p>" + "".join(
        f'<span class="key" style="background: var(--{colour})"></span>{_text(name)}'
        for colour, name in keys
    ) + "</p>"  # fmt: skip


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{_text(cell)}</th>" for cell in heads)
    first = f"<tr>{head}</tr>" if any(heads) else ""
    body = "".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table>{first}{body}</table>"


def _origin(version: str | None, commit: str | None) -> tuple[str, str]:
    return version or "", (commit or "")[:12]


def _css(status: Status) -> str:
    return status.value.partition(" ")[0]


def _text(words: str) -> str:
    return html.escape(words)
