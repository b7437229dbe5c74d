"""The report: what was asked, what every level found, the verdict, and what was not looked at."""

import dataclasses
import json
import math
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import hybridenv
from hybridenv.verify._plan import Settings
from hybridenv.verify._results import (
    Divergence,
    L3Result,
    L4Result,
    LevelResult,
    Status,
    Verdict,
)
from hybridenv.verify._target import Identity

FORMAT = 1
"""Version of the JSON format, as in the schema."""


@dataclass(frozen=True)
class Report:
    """The answer, with everything that led to it.

    Attributes:
        verdict: EQUAL, DIFFERENT, NOT SHOWN or ERROR.
        reason: Why, in one sentence.
        reference: Who was the judge.
        candidate: Who was judged.
        settings: The settings.
        levels: The result of each level that was run, by number.
        limits: What was not looked at and so is not shown, in sentences.
        isolated: Modules that the candidate was cut off from; `None` where it was not isolated.
        seconds: How long it took.
        interrupted: Whether Ctrl-C ended it early.
        started: When it began, ISO 8601 in UTC.
    """

    verdict: Verdict
    reason: str
    reference: Identity
    candidate: Identity
    settings: Settings
    levels: dict[int, LevelResult]
    limits: tuple[str, ...] = ()
    isolated: tuple[str, ...] | None = None
    seconds: float = 0.0
    interrupted: bool = False
    started: str = ""
    environment: dict[str, str] = field(default_factory=lambda: surroundings())

    @property
    def ok(self) -> bool:
        """Whether the verdict is EQUAL."""
        return self.verdict is Verdict.EQUAL

    @property
    def exit_code(self) -> int:
        """0 equal, 1 different, 2 error, 3 not shown."""
        return self.verdict.exit_code

    @property
    def first_divergence(self) -> Divergence | None:
        """The first difference that a level found, or `None`."""
        for level in self.levels.values():
            if level.first_divergence is not None:
                return level.first_divergence
        return None

    @property
    def found_by(self) -> int | None:
        """The lowest level that found a difference, or `None`."""
        return next((n for n, one in self.levels.items() if one.status is Status.FAILED), None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data of the published format, see `schema`."""
        settings = plain(self.settings)
        rules = settings.pop("rules")
        return {
            "format": FORMAT,
            "verdict": self.verdict.value,
            "exit_code": self.exit_code,
            "reason": self.reason,
            "reference": plain(self.reference),
            "candidate": plain(self.candidate),
            "isolated_from": plain(self.isolated),
            "settings": {**settings, **rules},
            "levels": [
                {
                    "level": n,
                    "title": result.title,
                    **plain(result),
                    "first_divergence": plain(result.first_divergence),
                }
                for n, result in self.levels.items()
            ],
            "limits": list(self.limits),
            "interrupted": self.interrupted,
            "started": self.started,
            "seconds": self.seconds,
            "environment": self.environment,
        }

    def to_json(self, path: Path | str | None = None) -> str:
        """Return the report as JSON, and write it where a path is given."""
        return _kept(json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n", path)

    def to_markdown(self, path: Path | str | None = None) -> str:
        """Return the report as Markdown, and write it where a path is given."""
        from hybridenv.verify.writers.markdown import markdown

        return _kept(markdown(self), path)

    def to_junit(self, path: Path | str | None = None) -> str:
        """Return the report as JUnit XML, and write it where a path is given."""
        from hybridenv.verify.writers.junit import junit

        return _kept(junit(self), path)

    def to_html(self, path: Path | str | None = None) -> str:
        """Return the report as one page that needs nothing else, and write it if asked."""
        from hybridenv.verify.writers.html import page

        return _kept(page(self), path)

    def save(self, folder: Path | str) -> Path:
        """Write `report.json`, `report.md`, `report.html`, `junit.xml`, and the generated test.

        Where level 4 was run and matplotlib is installed, `returns.png` is written too.

        Args:
            folder: Where; made if missing.

        Returns:
            The folder.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        self.to_json(place / "report.json")
        self.to_markdown(place / "report.md")
        self.to_html(place / "report.html")
        self.to_junit(place / "junit.xml")
        found = self.first_divergence
        if found is not None and found.test is not None:
            _kept(found.test, place / f"test_regress_{found.seed}.py")
        fourth = self.levels.get(4)
        if isinstance(fourth, L4Result) and fourth.test is not None:
            from hybridenv.verify.writers.plot import save_plot

            save_plot(fourth, place / "returns.png")
        return place

    def __str__(self) -> str:
        lines = [
            f"{self.verdict.value}: {self.reason}",
            *(
                f"  L{n} {one.title}: {one.status.value} ({one.summary}) in {one.seconds:.1f} s"
                for n, one in self.levels.items()
            ),
        ]
        return "\n".join(lines)


def schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of `Report.to_json`."""
    text = resources.files("hybridenv.verify").joinpath("report.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def judge(levels: Mapping[int, LevelResult], wanted: int) -> tuple[Verdict, str]:
    """Draw the conclusion from the results of the levels.

    Args:
        levels: The results.
        wanted: The highest level that was asked for.
    """
    for status, verdict in ((Status.ERROR, Verdict.ERROR), (Status.FAILED, Verdict.DIFFERENT)):
        for n, one in levels.items():
            if one.status is status:
                return verdict, f"L{n} {one.title}: {one.summary}"
    for status in (Status.INTERRUPTED, Status.NOT_SHOWN):
        for n, one in levels.items():
            if one.status is status and not _made_up_for(n, levels):
                return Verdict.NOT_SHOWN, f"L{n} {one.title}: {one.summary}"
    done = [n for n, one in levels.items() if one.status is Status.PASSED]
    if wanted not in levels or not done:
        return Verdict.NOT_SHOWN, f"level {wanted} was not run"
    passed = ", ".join(f"L{n}" for n in done)
    return Verdict.EQUAL, f"{passed} passed; {levels[done[-1]].summary}"


def _made_up_for(n: int, levels: Mapping[int, LevelResult]) -> bool:
    """With independent chance L3 shows nothing, and equivalence at L4 is all there can be."""
    third, fourth = levels.get(3), levels.get(4)
    return (
        n == 3
        and isinstance(third, L3Result)
        and bool(third.p_values)
        and fourth is not None
        and fourth.status is Status.PASSED
    )


def limits(
    settings: Settings,
    levels: Mapping[int, LevelResult],
    isolated: tuple[str, ...] | None,
    candidate: str | None,
) -> tuple[str, ...]:
    """Say what the report does not show, from what was not run.

    Args:
        settings: The settings.
        levels: The results.
        isolated: Modules that the candidate was cut off from.
        candidate: What the user called the candidate; `None` where it was not made.
    """
    said = []
    if candidate is None:
        said.append("Nothing was compared: not both sides were made.")
    elif candidate.startswith("cmd:"):
        said.append(
            "The candidate ran in a process of its own kind, to which nothing was closed, so that "
            "it could have called the reference."
        )
    elif isolated is None:
        said.append(
            "The candidate ran in the same process as the reference, so that it could have called "
            "it. Name it as module:function to isolate it."
        )
    else:
        said.append(
            "Isolation closes the reference's package to the candidate's process. It does not "
            "prevent a candidate from starting another process or carrying a copy of the "
            "reference's code."
        )
    missing = [f"L{n}" for n in range(5) if n not in levels]
    skipped = [f"L{n}" for n, one in levels.items() if one.status is Status.SKIPPED]
    if missing or skipped:
        said.append(f"Not run: {', '.join(missing + skipped)}.")
    for name, value in settings.rules.tol.items():
        if value:
            said.append(f"Differences of {name} up to {value:g} were allowed beforehand.")
    if settings.rules.ignore:
        said.append(f"Not compared: {', '.join(settings.rules.ignore)}.")
    said += _limits_of_episodes(settings, levels)
    if settings.chance == "inject":
        said.append(
            "Chance was injected: the candidate began from the reference's states, so its own way "
            "to draw a first state was not compared."
        )
    if settings.chance == "tape":
        said.append(
            "The candidate replayed the reference's draws, so its own generator was not compared."
        )
    if settings.chance == "independent":
        said.append("Chance was independent: only distributions were compared, not steps.")
    said.append("Hidden state was compared only through what it leads to.")
    said.append(
        "What no run visits is not compared: a fault in a situation that no action source reaches "
        "stays unseen at every level."
    )
    return tuple(said)


def _limits_of_episodes(settings: Settings, levels: Mapping[int, LevelResult]) -> list[str]:
    third, fourth = levels.get(3), levels.get(4)
    said = []
    if fourth is not None and fourth.counts.get("cut"):
        said.append(
            f"{fourth.counts['cut']} of {fourth.counts['pairs']} pairs of episodes with policies "
            f"did not end within {settings.max_steps:,} steps on both sides and were cut off "
            "there; their returns are those of so many steps."
        )
    if isinstance(third, L3Result):
        played = sum(source.episodes for source in third.sources)
        cut = sum(source.cut for source in third.sources)
        if cut:
            said.append(
                f"{cut} of {played} episodes did not end within {settings.max_steps:,} steps and "
                "were cut off there; what comes later was not compared."
            )
        if third.sources and not third.p_values:
            said.extend(
                f"No episode was {kind}, so that way to end was not compared."
                for kind in ("terminated", "truncated")
                if not sum(getattr(source, kind) for source in third.sources)
            )
    return said


def surroundings() -> dict[str, str]:
    """Return versions and the machine: what a reader needs to repeat a run."""
    found = {
        "hybridenv": hybridenv.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": str(os.cpu_count()),
        "numpy": np.__version__,
    }
    for name in ("gymnasium", "jax", "pyboy", "scipy"):
        module = sys.modules.get(name)
        version = getattr(module, "__version__", None)
        if isinstance(version, str):
            found[name] = version
    return found


def plain(value: Any) -> Any:
    """Make plain data of a result: what JSON can hold, infinities and NaN as words."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _kept(text: str, path: Path | str | None) -> str:
    if path is not None:
        # An environment may say what UTF-8 has no bytes for: halves of pairs.
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    return text
