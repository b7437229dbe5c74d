"""`hybridenv verify`, `diverge`, `transfer` and `bench REF CAND`: the work behind the options."""

import json
import sys
from collections.abc import Sequence
from contextlib import closing, redirect_stdout
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.table import Table

from hybridenv.cli.console import err, out
from hybridenv.cli.pictures import check_folder, check_writable
from hybridenv.errors import ArgumentError
from hybridenv.verify import (
    Policy,
    Property,
    Report,
    Status,
    Verdict,
    bench,
    load_policies,
    load_policy,
    resolve,
    verify,
)

_COLOURS = {
    Verdict.EQUAL: "green",
    Verdict.DIFFERENT: "red",
    Verdict.ERROR: "red",
    Verdict.NOT_SHOWN: "yellow",
}


@dataclass(frozen=True)
class Wanted:
    """What to compare, and where the answer goes.

    Attributes:
        reference: The judge, a text as for `hybridenv.verify.resolve`.
        candidate: Who is judged, likewise.
        options: Keywords of `hybridenv.verify.verify`.
        report: Folder for the report, or `None`.
        junit: File for JUnit XML, or `None`.
        write_test: File for the generated test, or `None`.
    """

    reference: str
    candidate: str
    options: dict[str, Any] = field(default_factory=dict)
    report: Path | None = None
    junit: Path | None = None
    write_test: Path | None = None


def run(wanted: Wanted) -> int:
    """Verify, print the result, and write what was asked for.

    Args:
        wanted: What to compare.

    Returns:
        The exit code: 0 equal, 1 different, 2 error, 3 not shown.

    Raises:
        ArgumentError: An option makes no sense, or a file cannot be written where it is wanted.
    """
    check_writable("--junit", wanted.junit)
    check_writable("--write-test", wanted.write_test)
    if wanted.report is not None:  # whatever is missing of it is made
        place = wanted.report.absolute()
        check_folder("--report", next(one for one in (place, *place.parents) if one.exists()))
    with redirect_stdout(sys.stderr):  # what an environment prints is no part of the answer
        report = verify(wanted.reference, wanted.candidate, progress=True, **wanted.options)
    _show(report)
    if wanted.report is not None:
        report.save(wanted.report)
        _note(f"report: {wanted.report / 'report.html'}")
    if wanted.junit is not None:
        report.to_junit(wanted.junit)
    if wanted.write_test is not None:
        _write_test(report, wanted.write_test)
    return report.exit_code


def tolerances(words: Sequence[str]) -> dict[str, float]:
    """Read `obs=0.001,reward=0`.

    Args:
        words: Such texts.

    Returns:
        Tolerances by name.

    Raises:
        ArgumentError: One of them is something else.
    """
    found = {}
    for part in listed(words):
        name, equals, value = part.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            equals = ""
        if not (equals and name):
            raise ArgumentError(f"--tol: got {part!r}, expected NAME=NUMBER such as obs=0.001")
    return found


def listed(words: Sequence[str]) -> list[str]:
    """Split texts at their commas."""
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def gathered(places: Sequence[str], draws: bool = False) -> dict[str, Policy]:
    """Load policies.

    Args:
        places: Folders with training runs, or `module:function`.
        draws: Let those of training runs draw their actions.

    Returns:
        Policies by name.

    Raises:
        HybridEnvError: One cannot be loaded.
    """
    found: dict[str, Policy] = {}
    for place in places:
        run = Path(place).is_dir()
        more = load_policies(place, draws=draws) if run else {place: load_policy(place)}
        for name, policy in more.items():
            found[name if name not in found else f"{place}/{name}"] = policy
    return found


def named_properties(place: str | None) -> list[Property]:
    """Load the properties of level 1.

    Args:
        place: `module:NAME` of a list of `Property`, or `None`.

    Raises:
        ArgumentError: There is no such list.
    """
    if place is None:
        return []
    module, _, name = place.partition(":")
    try:
        found = list(getattr(import_module(module), name))
    except Exception as error:  # whatever a user's module raises
        raise ArgumentError(
            f"--properties: got {place!r}, expected module:NAME of a list of Property ({error})"
        ) from error
    odd = [one for one in found if not isinstance(one, Property)]
    if odd:
        raise ArgumentError(f"--properties: got {odd[0]!r} in {place!r}, expected a Property")
    return found


def measure(reference: str, candidate: str, batch: str, seconds: float, as_json: bool) -> None:
    """Measure both sides in turn and print a table or JSON.

    Args:
        reference: One target.
        candidate: The other.
        batch: Batch sizes, separated by commas.
        seconds: How long each side is measured at each size.
        as_json: Print JSON instead of a table.

    Raises:
        HybridEnvError: A target cannot be made, or a size is no number.
    """
    sizes = []
    for word in listed([batch]):
        if not word.isdecimal():
            raise ArgumentError(f"--batch: got {word!r}, expected whole numbers such as 1,32,128")
        sizes.append(int(word))
    with (
        redirect_stdout(sys.stderr),
        closing(resolve(reference)) as ours,
        closing(resolve(candidate)) as theirs,
    ):
        rows = list(bench(ours, theirs, sizes, seconds))
    if as_json:
        sides = [asdict(rate) for pair in rows for rate in pair]
        names = {"reference": reference, "candidate": candidate}
        sys.stdout.write(json.dumps({**names, "rates": sides}, indent=2) + "\n")
        return
    table = Table(title=f"{candidate} against {reference}", title_justify="left", box=None)
    for heading in ("batch", "reference steps/s", "candidate steps/s", "ratio"):
        table.add_column(heading, justify="right")
    for one, other in rows:
        table.add_row(
            str(one.batch),
            f"{one.median:,.0f}",
            f"{other.median:,.0f}",
            f"{other.median / one.median:.2f}",
        )
    out.print(table)


def _show(report: Report) -> None:
    out.print(report.verdict.value, style=f"bold {_COLOURS[report.verdict]}", end="  ")
    _print(report.reason)
    for n, one in report.levels.items():
        mark = {Status.PASSED: "green", Status.SKIPPED: "dim"}.get(one.status, "red")
        out.print(f"  L{n} {one.title:<11}", end="")
        out.print(f"{one.status.value:<10}", style=mark, end="")
        _print(f"{one.seconds:6.1f} s  {one.summary}")
    found = report.first_divergence
    if found is not None:
        _print(f"\nfirst difference: {found}")
        if found.shrunk is not None:
            _print(
                f"shrunk from {len(found.actions)} to {len(found.shrunk)} actions: "
                f"{list(found.shrunk)}\n  {found.shrunk_difference}"
            )
        elif found.actions:
            _print(f"last actions: {list(found.actions[-12:])}")
    _note("What this does not show:")
    for sentence in report.limits:
        _note(f"- {sentence}")


def _write_test(report: Report, path: Path) -> None:
    found = report.first_divergence
    if found is None or found.test is None:
        _note(f"{path}: not written, because no difference was found")
        return
    path.write_text(found.test, encoding="utf-8")
    _note(f"test: {path}")


def _print(text: str) -> None:
    out.print(text, markup=False, soft_wrap=True)


def _note(text: str) -> None:
    err.print(text, style="dim", markup=False, soft_wrap=True)
