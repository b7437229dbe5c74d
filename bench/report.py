"""From measurements to the JSON file, the goals reached, and tables in Markdown."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import os
import platform
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.cases import ROOT
from bench.measure import spread
from bench.suite import CaseResult, Settings

#: The file that the README's tables are generated from.
RESULTS = ROOT / "bench" / "results" / "gameboy.json"
SCHEMA = 1

Record = dict[str, Any]

#: Ratios that a case reports, as (over, under).
RATIOS: dict[str, tuple[tuple[str, str], ...]] = {
    "r1": tuple(
        ("hybridenv", side) for side in ("pyboy-silent", "pyboy", "gambaterm", "stable-retro")
    ),
    "r24": (("hybridenv", "pyboy-silent"), ("hybridenv", "pyboy")),
    "threads": (
        ("hybridenv-2", "hybridenv-1"),
        ("hybridenv-2", "pyboy-2-threads"),
        ("hybridenv-2", "pyboy-2-processes"),
        ("hybridenv-2", "pyboy-silent-2-threads"),
        ("hybridenv-2", "pyboy-silent-2-processes"),
    ),
    "overhead": (("solo", "hybridenv"),),
}


def record(settings: Settings, results: Iterable[CaseResult]) -> Record:
    """Return everything that a run found, with where and how it was found."""
    cases = [_case(result) for result in results]
    return {
        "schema": SCHEMA,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": git("rev-parse", "HEAD"),
        "changed_files": len(git("status", "--porcelain").splitlines()),
        "machine": machine(),
        "settings": {
            "quick": settings.quick,
            "repeats": settings.repeats,
            "seed": settings.seed,
        },
        "versions": {
            side: version for case in cases for side, version in case.get("versions", {}).items()
        },
        "cases": cases,
        "goals": _goals(cases),
    }


def write(result: Record, path: Path) -> None:
    """Write a record as JSON, keys in order, so that runs are easy to compare."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _case(result: CaseResult) -> Record:
    case: Record = {
        "kind": result.kind,
        "game": result.game.name,
        "counts": result.game.goal,
        "rom_sha256": result.game.sha256 or _sha256(result.game.path),
    }
    if result.work is not None:
        case["work"] = asdict(result.work)
    if result.measured is None:
        return case | {"values": result.values, "absent": result.absent}
    measured = result.measured
    ratios = {
        f"{over}/{under}": ratio
        for over, under in RATIOS[result.kind]
        if (ratio := measured.ratio(over, under)) is not None
    }
    return case | {
        "clock": measured.clock,
        "frames_per_second": {side: spread(rates) for side, rates in measured.rates.items()},
        "repeats": measured.rates,
        "ratios": ratios,
        "versions": measured.versions,
        "absent": measured.absent,
    }


def _sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def git(*arguments: str) -> str:
    """Return what git says of this checkout, or nothing where there is none."""
    try:
        return subprocess.run(
            ["git", *arguments],  # noqa: S607 - whichever git the person uses
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine() -> Record:
    """Describe the computer that measures."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _medians(cases: list[Record], kind: str, ratio: str) -> list[float]:
    return [
        case["ratios"][ratio]["median"]
        for case in cases
        if case["kind"] == kind and case["counts"] and ratio in case["ratios"]
    ]


def _values(cases: list[Record], kind: str, value: str) -> list[float]:
    return [
        case["values"]["hybridenv"][value]
        for case in cases
        if case["kind"] == kind and "hybridenv" in case["values"]
    ]


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(sum(map(math.log, values)) / len(values))


def _goals(cases: list[Record]) -> list[Record]:
    """Return each figure that the project promises: what was found, and whether it is reached."""
    goals: list[Record] = []

    def goal(
        text: str, found: list[float], combine: Callable[[list[float]], float], bound: float
    ) -> None:
        if not found:
            goals.append({"goal": text, "bound": bound, "found": None, "reached": None})
            return
        value = combine(found)
        least = text.endswith("at least")
        reached = value >= bound if least else value <= bound
        goals.append({"goal": text, "bound": bound, "found": value, "reached": reached})

    silent, default = "hybridenv/pyboy-silent", "hybridenv/pyboy"
    r24 = _medians(cases, "r24", silent)
    goal("r24 against PyBoy, sound off, geometric mean, at least", r24, geometric_mean, 3.0)
    goal("r24 against PyBoy, sound off, slowest game, at least", r24, min, 2.0)
    r24_default = _medians(cases, "r24", default)
    goal("r24 against PyBoy's default, geometric mean, at least", r24_default, geometric_mean, 5.0)
    r1 = _medians(cases, "r1", silent)
    goal("r1 against PyBoy, sound off, geometric mean, at least", r1, geometric_mean, 3.0)
    two = _medians(cases, "threads", "hybridenv-2/hybridenv-1")
    goal(
        "two threads against one, 128 machines, geometric mean, at least", two, geometric_mean, 1.85
    )
    goal("save one state, µs, slowest game, at most", _values(cases, "states", "save_us"), max, 10)
    goal("load one state, µs, slowest game, at most", _values(cases, "states", "load_us"), max, 10)
    reset = _values(cases, "states", "reset_all_ms")
    goal("reset 128 machines from a state, ms, slowest game, at most", reset, max, 1.5)
    memory = _values(cases, "memory", "kib_per_machine")
    goal("memory of one machine, KiB, largest game, at most", memory, max, 128)
    overhead = _medians(cases, "overhead", "solo/hybridenv")
    goal(
        "batch overhead beyond emulation, %, geometric mean, at most",
        overhead,
        lambda ratios: 100 * (geometric_mean(ratios) - 1),
        3.0,
    )
    return goals


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown, numbers to the right."""
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _rate(case: Record, side: str) -> str:
    rates = case["frames_per_second"].get(side)
    return f"{rates['median'] / 1000:.1f}k" if rates else "–"


def _ratio(case: Record, name: str) -> str:
    ratio = case["ratios"].get(name)
    if not ratio:
        return "–"
    return f"{ratio['median']:.1f}× ({ratio['min']:.1f}–{ratio['max']:.1f})"


def speed_table(result: Record, kind: str) -> str:
    """Return the table of one rate case, a row a game."""
    sides = {
        "r1": ["hybridenv", "pyboy-silent", "pyboy", "gambaterm", "stable-retro"],
        "r24": ["hybridenv", "pyboy-silent", "pyboy"],
    }[kind]
    names = {"pyboy-silent": "PyBoy, sound off", "pyboy": "PyBoy, default"}
    ratios = [f"{over}/{under}" for over, under in RATIOS[kind][:2]]
    head = ["Game", *(names.get(side, side) for side in sides)]
    head += ["times PyBoy, sound off", "times PyBoy, default"]
    rows = [
        [case["game"], *(_rate(case, side) for side in sides)]
        + [_ratio(case, ratio) for ratio in ratios]
        for case in result["cases"]
        if case["kind"] == kind
    ]
    means = [_medians(result["cases"], kind, ratio) for ratio in ratios]
    if all(means):
        mean = [f"**{geometric_mean(values):.1f}×**" for values in means]
        rows.append(["geometric mean¹", *[""] * len(sides), *mean])
    return table(head, rows)


def goal_table(result: Record) -> str:
    """Return the table of the promised figures."""
    rows = []
    for goal in result["goals"]:
        found = "–" if goal["found"] is None else _number(goal["found"])
        mark = {True: "yes", False: "**no**", None: "not measured"}[goal["reached"]]
        rows.append([goal["goal"], _number(goal["bound"]), found, mark])
    return table(["Figure", "Goal", "Found", "Reached"], rows)


def summary(result: Record) -> str:
    """Return what a person wants to see at the end of a run."""
    parts = [
        f"\nFrames a second and core, {kind}:\n{speed_table(result, kind)}"
        for kind in ("r1", "r24")
    ]
    parts.append(f"\n{goal_table(result)}")
    absent = {
        f"{side}: {reason}"
        for case in result["cases"]
        for side, reason in case.get("absent", {}).items()
    }
    if absent:
        parts.append("\nNot measured:\n" + "\n".join(sorted(f"- {line}" for line in absent)))
    return "\n".join(parts)
