"""The report as JUnit XML: a suite for each level, a case for each check."""

import re
from xml.etree import ElementTree as Xml

from hybridenv.verify._report import Report
from hybridenv.verify._results import Check, LevelResult, Status, Verdict

_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> str:
    """Write a report.

    A check that failed is a failure, and so is a level that shows nothing, because a job that asks
    for equality must not pass; what was skipped is skipped.

    Args:
        report: The report.

    Returns:
        XML as Jenkins and its relatives read it.
    """
    suites = Xml.Element("testsuites", name="hybridenv.verify", time=f"{report.seconds:.3f}")
    for n, level in report.levels.items():
        _suite(suites, f"L{n} {level.title}", level)
    verdict = Xml.SubElement(suites, "testsuite", name="verdict", tests="1")
    case = Xml.SubElement(verdict, "testcase", classname="verdict", name=_clean(_names(report)))
    bad = report.verdict is not Verdict.EQUAL
    error = report.verdict is Verdict.ERROR
    verdict.set("failures", str(int(bad and not error)))
    verdict.set("errors", str(int(error)))
    if bad:
        kind = "error" if error else "failure"
        found = Xml.SubElement(case, kind, message=_clean(report.reason), type=report.verdict.value)
        found.text = _clean(str(report))
    Xml.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suites, "unicode") + "\n"


def _suite(suites: Xml.Element, name: str, level: LevelResult) -> None:
    checks = level.checks or (Check(level.title, level.status, level.summary),)
    count = {status: sum(check.status is status for check in checks) for status in Status}
    suite = Xml.SubElement(
        suites,
        "testsuite",
        name=name,
        tests=str(len(checks)),
        failures=str(count[Status.FAILED] + count[Status.NOT_SHOWN] + count[Status.INTERRUPTED]),
        errors=str(count[Status.ERROR]),
        skipped=str(count[Status.SKIPPED]),
        time=f"{level.seconds:.3f}",
    )
    kinds = {Status.SKIPPED: "skipped", Status.ERROR: "error"}
    for check in checks:
        case = Xml.SubElement(suite, "testcase", classname=name, name=_clean(check.name))
        if check.status is not Status.PASSED:
            kind = kinds.get(check.status, "failure")
            Xml.SubElement(case, kind, message=_clean(check.detail or check.status.value))


def _names(report: Report) -> str:
    return f"{report.candidate.name} equals {report.reference.name}"


def _clean(text: str) -> str:
    """Text without what XML cannot hold."""
    return _UNPRINTABLE.sub("?", text)
