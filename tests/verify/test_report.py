"""The report: JSON by its schema, Markdown, JUnit, a page without links, and the picture."""

import json
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
from tests.verify.cartpole import Cart, TooGenerous
from tests.verify.mutants import MOUNTAIN, Balancing
from tests.verify.sides import Moody

from hybridenv.verify import Report, Verdict, schema, verify
from hybridenv.verify._plan import Settings
from hybridenv.verify._regression import write_test
from hybridenv.verify._run import both

REFERENCE = "gym:CartPole-v1"


class Weak:
    """A policy whose returns vary."""

    def act(self, obs: Any, key: int) -> int:
        return int(obs[2] + obs[3] + key / 2**63 > 0.5)


@cache
def reports() -> dict[str, Report]:
    policies = {"weak": Weak(), "balancing": Balancing()}
    small: dict[str, Any] = {"episodes": 6, "examples": 5, "max_steps": 600}
    return {
        "equal": verify(REFERENCE, Cart, level=4, margin=1.0, policies=policies, **small),
        "different": verify(REFERENCE, "tests.verify.cartpole:too_generous", level=3, **small),
        "error": verify(REFERENCE, "no.such:thing", **small),
        "not shown": verify(REFERENCE, Cart, levels=[3], chance="independent", **small),
        "broken": verify(REFERENCE, Moody, levels=[0], **small),
        "anchored": verify(
            MOUNTAIN.reference, MOUNTAIN.sound, levels=[3], **small, chance="inject"
        ),
    }


NAMES = ("equal", "different", "error", "not shown", "broken", "anchored")


def test_there_is_a_report_for_each_verdict() -> None:
    assert tuple(reports()) == NAMES
    assert {report.verdict for report in reports().values()} == set(Verdict)


@pytest.mark.parametrize("name", NAMES)
def test_json_keeps_the_published_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    data = json.loads(reports()[name].to_json())
    jsonschema.validate(data, schema())
    assert data["exit_code"] == reports()[name].exit_code


def test_the_schema_refuses_something_else() -> None:
    data = json.loads(reports()["equal"].to_json())
    spoils: tuple[dict[str, Any], ...] = ({"verdict": "MAYBE"}, {"extra": 1}, {"limits": []})
    for spoil in spoils:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**data, **spoil}, schema())


@pytest.mark.parametrize("name", NAMES)
def test_markdown_says_the_verdict_and_the_limits(name: str) -> None:
    text = reports()[name].to_markdown()
    assert text.startswith(f"# {reports()[name].verdict.value}")
    assert "## What this does not show" in text
    for sentence in reports()[name].limits:
        assert sentence in text


@pytest.mark.parametrize("name", NAMES)
def test_junit_fails_unless_the_verdict_is_equal(name: str) -> None:
    root = ElementTree.fromstring(reports()[name].to_junit())  # noqa: S314  # our own text
    suites = {suite.get("name"): suite for suite in root}
    assert len(suites) == len(reports()[name].levels) + 1
    verdict = suites["verdict"]
    bad = int(verdict.get("failures", 0)) + int(verdict.get("errors", 0))
    assert bad == (reports()[name].verdict is not Verdict.EQUAL)


class Links(HTMLParser):
    """Collects what a page would load, and checks that its tags close."""

    void = ("meta", "rect", "line", "circle", "polygon", "polyline")

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [f"{tag} {key}" for key, _ in attrs if key in ("src", "href")]
        if tag in ("script", "link", "img", "iframe"):
            self.loads.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.void, tag

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", NAMES)
def test_the_page_needs_nothing_else_and_its_tags_close(name: str) -> None:
    page = Links()
    page.feed(reports()[name].to_html())
    assert page.loads == []
    assert page.open == []


def test_the_page_shows_returns_margin_and_errors() -> None:
    assert reports()["equal"].to_html().count("<svg") == 2
    assert reports()["anchored"].to_html().count("<svg") == 1


def test_words_of_an_environment_cannot_break_the_page(tmp_path: Path) -> None:
    class Rude(Cart):
        def step(self, action: Any) -> Any:
            raise ValueError("<script>alert(1)</script> ]]> \x07 \0 \ud800 |")

    report = verify(REFERENCE, Rude, levels=[3], episodes=1)
    report.save(tmp_path)
    assert "<script>" not in report.to_html()
    ElementTree.fromstring(report.to_junit())  # noqa: S314  # our own text
    json.loads(report.to_json())


def test_words_of_an_environment_cannot_break_the_generated_test() -> None:
    with both(REFERENCE, "tests.verify.cartpole:make", Settings()) as made:
        test = write_test(made.pair, 3, [0, 1], 'it said """\0\ud800\x1b[31m\\')
    assert test is not None
    compile(test, "test.py", "exec")


def test_numbers_that_are_none_are_words_in_json() -> None:
    class Nan(Cart):
        def step(self, action: Any) -> Any:
            obs, _, terminated, truncated, info = super().step(action)
            return obs, np.nan, terminated, truncated, info

    report = verify(REFERENCE, Nan, levels=[3], episodes=2)
    jsonschema.validate(json.loads(report.to_json()), schema())
    found = report.first_divergence
    assert found is not None
    assert found.column == "reward"


def test_saving_writes_all_files(tmp_path: Path) -> None:
    reports()["equal"].save(tmp_path / "equal")
    reports()["different"].save(tmp_path / "different")
    found = {path.name for path in (tmp_path / "equal").iterdir()}
    assert found == {"report.json", "report.md", "report.html", "junit.xml", "returns.png"}
    assert (tmp_path / "equal" / "returns.png").read_bytes().startswith(b"\x89PNG")
    assert list((tmp_path / "different").glob("test_regress_*.py"))


def test_a_report_says_versions_seeds_and_commits() -> None:
    data = reports()["different"].to_dict()
    assert data["reference"]["version"]
    assert data["candidate"]["commit"]
    assert {"hybridenv", "python", "numpy", "gymnasium"} <= data["environment"].keys()
    assert len(data["levels"][3]["seeds"]["uniform"]) == 6


def test_a_sound_pair_at_level_4_is_identical() -> None:
    fourth = reports()["equal"].to_dict()["levels"][4]
    assert fourth["test"]["outcome"] == "IDENTICAL"
    assert fourth["test"]["n"] == 12
    assert len(fourth["seeds"]["evaluation"]) == 6
    assert set(fourth["by_policy"]) == {"weak", "balancing"}


def test_a_better_paid_side_is_different_at_level_4() -> None:
    report = verify(
        REFERENCE, TooGenerous, levels=[4], margin=0.2, episodes=20, policies={"weak": Weak()}
    )
    assert report.verdict is Verdict.DIFFERENT
    wide = verify(
        REFERENCE, TooGenerous, levels=[4], margin=2.0, episodes=20, policies={"weak": Weak()}
    )
    assert wide.verdict is Verdict.EQUAL
