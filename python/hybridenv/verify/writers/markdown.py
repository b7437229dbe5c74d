"""The report as Markdown."""

from collections.abc import Sequence

from hybridenv.verify._report import Report
from hybridenv.verify._results import (
    Anchored,
    Divergence,
    Equivalence,
    L1Result,
    L2Result,
    L3Result,
    L4Result,
    LevelResult,
)


def markdown(report: Report) -> str:
    """Write a report.

    Args:
        report: The report.

    Returns:
        Markdown, one page.
    """
    parts = [
        f"# {report.verdict.value}",
        report.reason,
        _table(("", "reference", "candidate"), _sides(report)),
        "## Levels",
        _table(
            ("level", "result", "time", "what was found"),
            [
                (f"L{n} {one.title}", one.status.value, f"{one.seconds:.1f} s", one.summary)
                for n, one in report.levels.items()
            ],
        ),
        *(text for n, one in report.levels.items() for text in _level(n, one)),
        "## Settings",
        _table(("setting", "value"), settings(report)),
        "## What this does not show",
        "\n".join(f"- {sentence}" for sentence in report.limits),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def settings(report: Report) -> list[tuple[str, str]]:
    """Return the settings of a report as names and words."""
    data = report.to_dict()["settings"]
    shown = [(name, str(value)) for name, value in data.items() if value not in ({}, [])]
    shown += [(name, value) for name, value in report.environment.items()]
    isolated = ", ".join(report.isolated) if report.isolated else "no"
    return [*shown, ("candidate cut off from", isolated), ("started", report.started)]


def equivalence_rows(test: Equivalence) -> list[tuple[str, str]]:
    """Return what a test of equivalence came to as names and words."""
    n = "pairs" if test.paired else "episodes a side"
    needed = "more than a million" if test.n_for_power is None else f"{test.n_for_power:,}"
    level = f"{100 * (1 - 2 * test.alpha):g} %"
    return [
        ("outcome", test.outcome),
        ("margin, fixed beforehand", f"±{test.margin:g}"),
        (n, f"{test.n:,}"),
        ("mean of the reference", f"{test.mean_reference:.4f}"),
        ("mean of the candidate", f"{test.mean_candidate:.4f}"),
        ("difference", f"{test.difference:+.4f}"),
        (f"{level} interval", f"{test.low:+.4f} to {test.high:+.4f}"),
        ("TOST", f"p = {test.p_tost:.3g}"),
        ("test for a difference", f"p = {test.p_difference:.3g}"),
        ("power at a true difference of 0", f"{100 * test.power:.1f} %"),
        (f"{n} for a power of 90 %", needed),
        ("computed by", test.method),
    ]


def divergence_lines(found: Divergence) -> list[str]:
    """Return what is known of a difference as sentences."""
    lines = [f"First difference: {found}."]
    if found.shrunk is not None:
        lines.append(
            f"Shrunk from {len(found.actions)} to {len(found.shrunk)} actions, which lead to: "
            f"{found.shrunk_difference}."
        )
    last = list(found.actions[-8:])
    if last:
        lines.append(f"The last actions before it: {last}.")
    return lines


def anchored_rows(anchored: Anchored) -> list[tuple[str, str, str]]:
    """Return one-step and free-running errors by column as words."""
    return [
        (name, f"{anchored.one_step[name]:.3g}", f"{anchored.free.get(name, 0.0):.3g}")
        for name in anchored.one_step
    ]


def _sides(report: Report) -> list[tuple[str, str, str]]:
    ours, theirs = report.reference, report.candidate
    return [
        ("target", f"`{ours.name}`", f"`{theirs.name}`"),
        ("version", ours.version or "-", theirs.version or "-"),
        ("commit", ours.commit or "-", theirs.commit or "-"),
    ]


def _level(n: int, one: LevelResult) -> list[str]:
    rows = [(check.name, check.status.value, check.detail) for check in one.checks]
    parts = [f"### L{n}: {one.title}", _table(("check", "result", "detail"), rows) if rows else ""]
    if isinstance(one, L1Result):
        parts += [f"- {name}: {words}" for name, words in one.counterexamples.items()]
    if isinstance(one, L2Result) and one.operations:
        parts += ["```", "\n".join(one.operations), "```", f"{one.difference}"]
    if isinstance(one, L3Result):
        parts += _episodes(one)
    if isinstance(one, L4Result) and one.test is not None:
        parts.append(_table(("", ""), equivalence_rows(one.test)))
        parts.append(
            _table(
                ("policy", "outcome", "reference", "candidate", "difference", "TOST p"),
                [
                    (
                        name,
                        test.outcome,
                        f"{test.mean_reference:.3f}",
                        f"{test.mean_candidate:.3f}",
                        f"{test.difference:+.3f}",
                        f"{test.p_tost:.3g}",
                    )
                    for name, test in one.by_policy.items()
                ],
            )
        )
    return parts


def _episodes(one: L3Result) -> list[str]:
    parts = []
    if one.divergence is not None:
        parts += divergence_lines(one.divergence)
        if one.divergence.test is not None:
            parts.append(f"```python\n{one.divergence.test}```")
    if one.anchored is not None:
        parts.append(
            f"Largest errors over {one.anchored.episodes} episodes ({one.anchored.steps:,} steps), "
            "of one step from the reference's state, and of the free run:"
        )
        parts.append(_table(("column", "one step", "free run"), anchored_rows(one.anchored)))
    if one.throughput:
        rates = ", ".join(f"{side} {rate:,.0f}" for side, rate in one.throughput.items())
        parts.append(f"Steps a second while compared: {rates}.")
    return parts


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
