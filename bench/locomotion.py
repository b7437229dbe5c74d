"""Half cheetah, hopper and walker beside MuJoCo, MJX and Brax: ``python -m bench.locomotion``.

Steps a second, and how far one step of physics lies from MuJoCo's. Writes
``bench/results/locomotion.json``, from which `bench.readme_table` makes the README's tables.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench import report, tables
from bench.cases import ROOT
from bench.measure import SideFailedError, Worker
from bench.pong import Found, Plan, measure_all, parse, publish

#: The file that the README's tables are generated from.
RESULTS = ROOT / "bench" / "results" / "locomotion.json"
SCHEMA = 1

#: Two whole tiles of the physics, see `hybridenv.envs.planar.physics`; a part costs nearly as much.
MEMBERS, STEPS = 2 * 784, 64
ROLLOUT_MEMBERS, GYMNASIUM_MEMBERS = 1_024, 16

#: Physics steps of an environment's step, and states that one step is compared on.
MODELS = {"half_cheetah": 5, "hopper": 4, "walker2d": 4}
STATES = {"half_cheetah": 100_000, "hopper": 20_000, "walker2d": 20_000}
TITLES = {"half_cheetah": "HalfCheetah", "hopper": "Hopper", "walker2d": "Walker2d"}

#: Steps of a call where members begin anew with each, see `bench.locomotion_sides.Task`.
UPRIGHT = 20

#: Without it jaxlib computes the peers' reductions by a library that makes MJX 4 times slower.
YNN_OFF = "--xla_cpu_experimental_ynn_fusion_type="

#: Rows of the table of speed: a family of sides (the first word of their names), and its title.
FAMILIES = {
    "all": "hybridenv",
    "flags": "hybridenv, with `cpu_flags()`",
    "one": "hybridenv, one XLA device",
    "core": "hybridenv, on one core",
    "env": "hybridenv, the whole environment",
    "rollout": "MuJoCo, `mujoco.rollout`, a thread for each core",
    "rollout-core": "MuJoCo, `mujoco.rollout`, one thread",
    "gymnasium": "Gymnasium, `SyncVectorEnv` of 16",
    "mjx": "MJX, defaults¹",
    "mjx-4-8": "MJX, 4 solver and 8 line search iterations¹",
    "brax-generalized": "Brax, generalized¹ ²",
    "brax-spring": "Brax, spring¹ ²",
}


def cases(cores: int, quick: bool) -> Iterator[tuple[str, dict[str, Plan]]]:
    """Yield each case: its name, and the plans of its sides."""
    for name, skip in MODELS.items():
        length = STEPS if name == "half_cheetah" else UPRIGHT

        def plan(
            side: str, games: int, devices: int = 1, flags: bool = False, cores: int = 0
        ) -> Plan:
            return Plan(f"{side}-{name}", devices, flags, games, skip, length, cores)  # noqa: B023

        plans = {
            "all": plan("planar", MEMBERS, cores),
            "flags": plan("planar", MEMBERS, cores, flags=True),
            "core": plan("planar", MEMBERS, cores=1),
            "rollout": plan("mujoco", ROLLOUT_MEMBERS),
        }
        if quick:
            yield name, plans
            continue
        plans["one"] = plan("planar", MEMBERS)
        plans["env"] = plan("env", MEMBERS, cores)
        plans["rollout-core"] = plan("mujoco", ROLLOUT_MEMBERS, cores=1)
        if name == "half_cheetah":
            plans["gymnasium"] = plan("gymnasium", GYMNASIUM_MEMBERS)
            plans |= jax_peers(cores, skip)
        yield name, plans


def jax_peers(cores: int, skip: int) -> dict[str, Plan]:
    """Return the plans of MJX and Brax, each at the settings that may suit it best."""

    def plan(side: str, games: int, devices: int = 1) -> Plan:
        return Plan(side, devices, games=games, frame_skip=skip, length=8, xla_flags=YNN_OFF)

    plans: dict[str, Plan] = {}
    for side, sizes in (
        ("mjx", (64, 256)),
        ("mjx-4-8", (64, 256)),
        ("brax-generalized", (64,)),
        ("brax-spring", (64,)),
    ):
        plans |= {f"{side} {games}": plan(side, games) for games in sizes}
        plans[f"{side} {64 * cores} on {cores} devices"] = plan(side, 64 * cores, cores)
    plans["brax-spring 64 with flags"] = Plan(
        "brax-spring", 1, flags=True, games=64, frame_skip=skip, length=8
    )
    return plans


def errors(states: Mapping[str, int], peer_python: Path) -> dict[str, report.Record]:
    """Compare one step of each model with MuJoCo's, in a process for each precision.

    Args:
        states: How many states to compare each model on.
        peer_python: Interpreter with MuJoCo and MJX.

    Returns:
        For each model what `bench.locomotion_errors` found in ``float64`` and ``float32``, and for
        the half cheetah in ``mjx-float32``; with ``absent`` alone where it could not.
    """
    found: dict[str, report.Record] = {}
    for name, count in states.items():
        found[name] = {}
        for precision, do in (
            ("float64", "compare"),
            ("float32", "compare"),
            ("mjx-float32", "compare_mjx"),
        ):
            if do == "compare_mjx" and name != "half_cheetah":
                continue
            print(f"{name}-{precision}", end=" ", flush=True)
            environment = {
                "PYTHONPATH": str(ROOT / "python"),
                "JAX_ENABLE_X64": str(int(precision == "float64")),
            }
            if do == "compare_mjx":
                environment["XLA_FLAGS"] = YNN_OFF
            try:
                found[name][precision] = _ask(peer_python, environment, do, name, count)
            except SideFailedError as error:
                found[name][precision] = {"absent": str(error)}
    return found


def _ask(
    python: Path, environment: Mapping[str, str], do: str, name: str, states: int
) -> report.Record:
    worker = Worker(python, "bench.locomotion_errors", environment)
    try:
        worker.send(do, name=name, states=states)
        return worker.answer()
    finally:
        worker.close()


def record(
    found: Mapping[str, Found], errors: Mapping[str, report.Record], repeats: int, quick: bool
) -> report.Record:
    """Return everything that a run found, with where and how it was found."""
    cases = {name: case.record("all", "flags") for name, case in found.items()}
    return {
        **report.origin(SCHEMA),
        "load_average": os.getloadavg()[0],
        "settings": {
            "quick": quick,
            "repeats": repeats,
            "members": MEMBERS,
            "steps_a_call": STEPS,
            "steps_upright": UPRIGHT,
        },
        "cases": cases,
        "errors": errors,
        "goals": _goals(cases.get("half_cheetah"), errors.get("half_cheetah", {})),
    }


def with_errors(result: report.Record, errors: Mapping[str, report.Record]) -> report.Record:
    """Return a record with errors found later, and from where they are."""
    origin = report.origin(SCHEMA)
    return {
        **result,
        "errors": errors,
        "errors_found": {key: origin[key] for key in ("created", "commit", "changed_files")},
        "goals": _goals(result["cases"].get("half_cheetah"), errors.get("half_cheetah", {})),
    }


def least(case: report.Record | None, over: str, family: str) -> float | None:
    """Return a side's median ratio over the fastest of a family; `None` if none was measured."""
    ratios = case["ratios"] if case else {}
    found = [
        ratio["median"]
        for name, ratio in ratios.items()
        if ratio is not None
        and name.startswith(f"{over}/")
        and _family(name[len(over) + 1 :]) == family
    ]
    return min(found, default=None)


def _family(side: str) -> str:
    return side.split()[0]


def _error(errors: report.Record, precision: str, judge: str, figure: str) -> float | None:
    found = errors.get(precision, {}).get(judge)
    return found[figure] if found else None


def _goals(case: report.Record | None, errors: report.Record) -> list[report.Record]:
    mjx = {figure: _error(errors, "mjx-float32", "solved", figure) for figure in ("max", "median")}
    values: list[tuple[str, float, float | None, float | None]] = [
        (
            "one step, float64, largest error of a velocity, at most",
            1e-9,
            1e-11,
            _error(errors, "float64", "solved", "max"),
        ),
        (
            "one step, float32, largest error of a velocity, at most (stretch: MJX's)",
            5e-4,
            mjx["max"],
            _error(errors, "float32", "solved", "max"),
        ),
        (
            "one step, float32, median error, at most (stretch: MJX's)",
            2e-6,
            mjx["median"],
            _error(errors, "float32", "solved", "median"),
        ),
        (
            "times `mujoco.rollout`, with `cpu_flags()`, at least",
            6,
            10,
            least(case, "flags", "rollout"),
        ),
        ("times `mujoco.rollout`, at least", 1, 3, least(case, "all", "rollout")),
        ("times MJX at its defaults, at least", 100, 160, least(case, "all", "mjx")),
        ("times MJX at 4 and 8 iterations, at least", 50, 80, least(case, "all", "mjx-4-8")),
        ("times Brax, generalized, at least", 100, 190, least(case, "all", "brax-generalized")),
        ("times Brax, spring, at least", 20, 35, least(case, "all", "brax-spring")),
        (
            "a device on each core against one on one, at least",
            1.8,
            None,
            least(case, "all", "core"),
        ),
        (
            "seconds to compile, at most",
            20,
            8,
            case["compile_seconds"].get("all") if case else None,
        ),
    ]
    return [
        report.judged(goal, bound, found, stretch=stretch) for goal, bound, stretch, found in values
    ]


def block(result: report.Record) -> str:
    """Return the generated text of the README for a record."""
    settings = result["settings"]
    parts = [
        (
            f"Steps a second of all members together ({settings['members']:,} of ours; physics "
            "alone where nothing else is said), controls given, coordinates and velocities handed "
            "out after every step; in float32, MuJoCo and Gymnasium in float64:"
        ),
        _speed_table(result["cases"]),
        (
            "One step of physics from the same state: for each state the largest difference of any "
            f"velocity from MuJoCo's, over {_controls(result['errors'])}. MuJoCo's solver stops "
            "by default where its cost improves by less than 1e-8, which is not always at the "
            "minimum; *solved* lets it go on:"
        ),
        _error_table(result["errors"]),
        "What the project promises for the half cheetah, and what was found:",
        tables.goal_table(result),
        (
            "¹ At the fastest of several settings, each with the slow YNN reductions of jaxlib "
            "switched off: the setting is in brackets. ² Brax's half cheetah is another model, "
            "with fewer collisions; this compares speed alone. Half cheetahs go on from call to "
            f"call, hoppers and walkers begin upright every {settings['steps_upright']} steps. "
            f"{tables.provenance(result, 'locomotion')}"
        ),
    ]
    return "\n\n".join(parts)


def _controls(errors: Mapping[str, report.Record]) -> str:
    """Say what moved the motors, as far as it is known."""
    found = errors.get("half_cheetah", {}).get("float64", {})
    if "trained" in found.get("largest_by_control", {}):
        return "random, saturated and sinusoidal controls and those of trained policies"
    return "random, saturated and sinusoidal controls (in place of trained policies')"


def _speed_table(cases: report.Record) -> str:
    rows = []
    for family, title in FAMILIES.items():
        cells = [_fastest(case, family) for case in cases.values()]
        rows.append([title, *cells])
        if family == "rollout":
            for side, words in (("all", ""), ("flags", ", with `cpu_flags()`")):
                ratios = [least(case, side, family) for case in cases.values()]
                cells = ["–" if ratio is None else f"**{ratio:.1f}×**" for ratio in ratios]
                rows.append([f"times `mujoco.rollout`{words}", *cells])
    head = ["Environment steps a second", *(TITLES[name] for name in cases)]
    return tables.table(head, rows)


def _fastest(case: report.Record, family: str) -> str:
    rates = {
        name: rate["median"]
        for name, rate in case["steps_per_second"].items()
        if _family(name) == family
    }
    if not rates:
        return "–"
    name = max(rates, key=lambda name: rates[name])
    setting = name[len(family) :].strip()
    text = f"{rates[name] / 1e3:,.0f} k" if rates[name] >= 1e5 else f"{rates[name] / 1e3:.1f} k"
    return f"{text} ({setting})" if setting else text


def _error_table(errors: Mapping[str, report.Record]) -> str:
    rows = []
    for name, found in errors.items():
        for precision, summary in found.items():
            title = f"{TITLES[name]}, {precision.replace('mjx-', 'MJX in ')}"
            if "absent" in summary:
                rows.append([title, *["–"] * 5])
                continue
            figures = [
                f"{summary[judge][figure]:.1e}"
                for judge in ("solved", "default")
                for figure in ("max", "median")
            ]
            rows.append([title, f"{summary['states']:,}", *figures])
    head = [
        "One step",
        "states",
        "solved: largest",
        "median",
        "MuJoCo's default: largest",
        "median",
    ]
    return tables.table(head, rows)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, and write the JSON file; the exit status."""
    only = "compare single steps alone, and keep the speeds that the result file has"
    options = parse("locomotion", __doc__, "MuJoCo", RESULTS, arguments, errors_only=only)
    counts = {name: count // 50 if options.quick else count for name, count in STATES.items()}
    wrong = errors(counts, options.peer_python)
    found: dict[str, Found] = {}
    if options.errors_only:
        result = with_errors(json.loads(options.output.read_text(encoding="utf-8")), wrong)
    else:
        cores = len(os.sched_getaffinity(0))
        found = measure_all(cases(cores, options.quick), options.repeats, options.peer_python)
        result = record(found, wrong, options.repeats, options.quick)
    publish(result, block(result), options.output, found)
    for name, precisions in wrong.items():
        for precision, summary in precisions.items():
            if "absent" in summary:
                print(f"not compared: {name}, {precision}: {summary['absent']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
