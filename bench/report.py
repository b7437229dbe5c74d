"""From measurements to the JSON file and the goals reached; `bench.tables` shows them."""

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

from bench.cases import ROOT, Group
from bench.measure import spread
from bench.suite import CaseResult, Settings

#: The file that the README's tables are generated from.
RESULTS = ROOT / "bench" / "results" / "gameboy.json"
SCHEMA = 2

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
        **origin(SCHEMA),
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


def origin(schema: int) -> Record:
    """Return how every record begins: its schema, and when, from what and where it was found."""
    return {
        "schema": schema,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": git("rev-parse", "HEAD"),
        "changed_files": len(git("status", "--porcelain").splitlines()),
        "machine": machine(),
    }


def judged(goal: str, bound: float, found: float | None, **more: Any) -> Record:
    """Return a promised figure with what was found.

    Args:
        goal: What is promised; "at least" at its end makes the bound the smallest that will do,
            otherwise it is the largest.
        bound: The bound.
        found: What was found; `None` where it was not measured.
        **more: What else the record says of it.
    """
    reached = None
    if found is not None:
        reached = found >= bound if goal.endswith("at least") else found <= bound
    return {"goal": goal, "bound": bound, **more, "found": found, "reached": reached}


def write(result: Record, path: Path) -> None:
    """Write a record as JSON, keys in order, so that runs are easy to compare."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _case(result: CaseResult) -> Record:
    case: Record = {
        "kind": result.kind,
        "game": result.game.name,
        "group": result.game.group,
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


def medians(cases: list[Record], kind: str, ratio: str, group: Group = "dmg") -> list[float]:
    """Return the median ratio of every game of a group, in a kind of case."""
    return [
        case["ratios"][ratio]["median"]
        for case in cases
        if case["kind"] == kind and case["group"] == group and ratio in case["ratios"]
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
        goals.append(judged(text, bound, combine(found) if found else None))

    silent, default = "hybridenv/pyboy-silent", "hybridenv/pyboy"
    r24 = medians(cases, "r24", silent)
    goal("r24 against PyBoy, sound off, geometric mean, at least", r24, geometric_mean, 5.0)
    goal("r24 against PyBoy, sound off, slowest game, at least", r24, min, 3.0)
    r24_default = medians(cases, "r24", default)
    goal("r24 against PyBoy's default, geometric mean, at least", r24_default, geometric_mean, 8.0)
    r1 = medians(cases, "r1", silent)
    goal("r1 against PyBoy, sound off, geometric mean, at least", r1, geometric_mean, 5.0)
    gambatte = medians(cases, "r1", "hybridenv/gambaterm")
    goal("r1 against libgambatte, geometric mean, at least", gambatte, geometric_mean, 2.0)
    color = medians(cases, "r24", silent, "cgb")
    goal(
        "Color, r24 against PyBoy, sound off, geometric mean, at least", color, geometric_mean, 4.0
    )
    two = medians(cases, "threads", "hybridenv-2/hybridenv-1")
    goal(
        "two threads against one, 128 machines, geometric mean, at least", two, geometric_mean, 1.85
    )
    goal("save one state, µs, slowest game, at most", _values(cases, "states", "save_us"), max, 10)
    goal("load one state, µs, slowest game, at most", _values(cases, "states", "load_us"), max, 10)
    reset = _values(cases, "states", "reset_all_ms")
    goal("reset 128 machines from a state, ms, slowest game, at most", reset, max, 1.5)
    memory = _values(cases, "memory", "kib_per_machine")
    goal("memory of one machine, KiB, largest game, at most", memory, max, 128)
    overhead = medians(cases, "overhead", "solo/hybridenv")
    goal(
        "batch overhead beyond emulation, %, geometric mean, at most",
        overhead,
        lambda ratios: 100 * (geometric_mean(ratios) - 1),
        3.0,
    )
    return goals
