"""Whole episodes of real pairs, compared at every step: ``python -m bench.pairs``.

Level 3 of `hybridenv.verify` at full size. Writes ``bench/results/pairs.json``, from which
`bench.readme_table` makes a table of ``docs/verify.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from contextlib import chdir
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from bench import report, tables
from bench.cases import ROOT, games
from hybridenv.verify import Report, verify
from hybridenv.verify._results import L3Result

#: The file that the table is generated from.
RESULTS = ROOT / "bench" / "results" / "pairs.json"
SCHEMA = 1
EPISODES = 100

#: Steps of an episode of a game without a task, which has no end of its own.
GAME_STEPS = 60
#: Both sides compute in double precision, where a step of numbers of order 10 leaves errors of
#: about 1e-13, more where a contact begins; rewards are float32 by the contract of
#: `hybridenv.envs`.
PHYSICS_TOL = {"obs": 1e-9, "info": 1e-9, "reward": 1e-6}
#: MuJoCo's solver stops where a step of it improves by less than 1e-8. How far that leaves a step
#: of HalfCheetah from what MuJoCo comes to with a tolerance of 0 is measured with MuJoCo alone
#: (`stopping_error`; the largest of 100,000 steps was 8e-6 and 2.3e-5 in two runs), and this is the
#: next power of ten. The candidate is judged closely, by `PHYSICS_TOL`, against `converged`.
STOPPED_TOL = {"obs": 1e-4, "info": 1e-4, "reward": 1e-4}


class Follower:
    """A policy of Pong that follows the ball, so that rallies last."""

    def act(self, obs: Any, key: int) -> int:
        """Go towards the ball, and now and then elsewhere, so that points are lost too."""
        if key % 16 == 0:
            return key // 16 % 3
        gap = float(obs[3] - obs[1])
        return 0 if abs(gap) < 0.02 else 1 + (gap < 0)


@dataclass(frozen=True)
class Case:
    """One pair.

    Attributes:
        name: Title in the table.
        judge: Who the reference is, likewise.
        reference: Target.
        candidate: Target.
        options: How `hybridenv.verify.verify` compares them.
        double: Whether the candidate's process computes in double precision.
        stops: Gymnasium's id of a reference whose own `stopping_error` is measured beside it.
    """

    name: str
    judge: str
    reference: str
    candidate: str
    options: dict[str, Any] = field(default_factory=dict)
    double: bool = False
    stops: str = ""


def _gameboy(name: str, query: str) -> Case:
    return Case(
        name, "PyBoy", f"hybridenv:gameboy/pyboy{query}", f"hybridenv:gameboy/hybridenv{query}"
    )


def _pong(name: str, query: str, *actions: str) -> Case:
    return Case(
        name,
        "PufferLib's rules in NumPy",
        f"hybridenv:pong/reference{query}",
        f"hybridenv:pong/jax{query}",
        {"chance": "tape", "actions": list(actions or ("uniform",))},
    )


def converged(env: str) -> Any:
    """Make an environment of Gymnasium whose MuJoCo solves every contact to the end.

    Args:
        env: Its id.
    """
    made: Any = gymnasium.make(env, disable_env_checker=True)
    options = made.unwrapped.model.opt
    options.tolerance, options.iterations = 0, 200
    options.ls_tolerance, options.ls_iterations = 1e-12, 200
    return made


@cache
def stopping_error(env: str, episodes: int) -> report.Record:
    """Measure how far MuJoCo, as it is, stops from what it comes to when it solves to the end.

    Both take a step from the same state with the same random action.

    Args:
        env: Id of an environment of Gymnasium.
        episodes: Of 1,000 steps each.

    Returns:
        ``steps``, the ``largest`` difference of any number shown, and the steps beyond 1e-9.
    """
    import mujoco

    plain: Any = gymnasium.make(env, disable_env_checker=True).unwrapped
    solved = converged(env).unwrapped
    solved.reset(seed=0)
    plain.action_space.seed(0)
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(plain.model, kind))
    errors = []
    for seed in range(episodes):
        plain.reset(seed=seed)
        for _ in range(1_000):
            mujoco.mj_getState(plain.model, plain.data, state, kind)
            mujoco.mj_setState(solved.model, solved.data, state, kind)
            action = plain.action_space.sample()
            errors.append(np.abs(plain.step(action)[0] - solved.step(action)[0]).max())
    beyond = int(sum(error > PHYSICS_TOL["obs"] for error in errors))
    return {"steps": len(errors), "largest": float(max(errors)), "beyond": beyond}


def _physics(
    name: str,
    ours: str,
    reference: str,
    judge: str,
    tol: dict[str, float] = PHYSICS_TOL,
    stops: str = "",
) -> Case:
    return Case(
        name,
        judge,
        reference,
        f"hybridenv:{ours}/jax?dtype=float64",
        {
            "chance": "inject",
            "anchor": True,
            "tol": tol,
            "ignore": ["reset_info"],
            "timeout": 600,
        },
        double=True,
        stops=stops,
    )


def cases() -> list[Case]:
    """Return every pair whose data is at hand."""
    mujoco = "Gymnasium with MuJoCo"
    found = [_gameboy("Polar Post, the embedded game", "")]
    found += [
        _gameboy(game.name, f"?rom={game.path}&max_steps={GAME_STEPS}")
        for game in games()
        if game.group == "dmg" and game.path.is_file()
    ]
    found += [
        _pong("Pong", "", "uniform", "policy:bench.pairs:Follower"),
        _pong("Pong, frame skip 8", "?frame_skip=8"),
        _pong("Pong, continuous", "?continuous=true"),
        _physics(
            "HalfCheetah",
            "half_cheetah",
            "gym:HalfCheetah-v5",
            mujoco,
            STOPPED_TOL,
            stops="HalfCheetah-v5",
        ),
        _physics(
            "HalfCheetah, solved to the end",
            "half_cheetah",
            "bench.pairs:converged?env=HalfCheetah-v5",
            "MuJoCo, solver's tolerance 0",
        ),
        _physics("Hopper", "hopper", "gym:Hopper-v5", mujoco),
        _physics("Walker2d", "walker2d", "gym:Walker2d-v5", mujoco),
    ]
    return found


def compare(case: Case, episodes: int) -> Report:
    """Play all episodes of a case on both sides."""
    # The candidate's process inherits it; MuJoCo writes its log into the current folder.
    os.environ["JAX_ENABLE_X64"] = str(int(case.double))
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return verify(
            case.reference,
            case.candidate,
            levels=[3],
            episodes=episodes,
            progress=True,
            **case.options,
        )


def record(found: list[tuple[Case, Report]], episodes: int) -> report.Record:
    """Return everything that was found, with where and how it was found."""
    return {
        **report.origin(SCHEMA),
        "settings": {"episodes": episodes, "game_steps": GAME_STEPS},
        "cases": [_case(case, one, episodes) for case, one in found],
    }


def _case(case: Case, found: Report, episodes: int) -> report.Record:
    third = found.levels.get(3)
    if not isinstance(third, L3Result):
        raise RuntimeError(f"{case.name}: {found}")
    anchored = third.anchored if case.options.get("anchor") else None
    return {
        "name": case.name,
        "judge": case.judge,
        "verdict": found.verdict.value,
        "summary": third.summary,
        "tol": case.options.get("tol", {}),
        "ignore": case.options.get("ignore", []),
        "chance": case.options.get("chance", "shared"),
        "isolated_from": list(found.isolated or ()),
        "counts": third.counts,
        "sources": [asdict(source) | {"largest": None} for source in third.sources],
        "one_step": None if anchored is None else _streams(*[one.largest for one in third.sources]),
        "free": None
        if anchored is None
        else _streams(anchored.free) | {"episodes": anchored.episodes},
        "versions": found.environment,
        "seconds": third.seconds,
    } | ({"stops": stopping_error(case.stops, episodes)} if case.stops else {})


def _streams(*errors: dict[str, float]) -> dict[str, float]:
    """Largest error of each stream."""
    found: dict[str, float] = {}
    for columns in errors:
        for column, error in columns.items():
            name = column.partition("[")[0]
            found[name] = max(found.get(name, 0.0), error)
    return found


def merged(result: report.Record, path: Path) -> report.Record:
    """Return a record with those pairs of an older one, at a path, that it does not have itself."""
    old = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.is_file() else []
    known = {case["name"]: case for case in (*old, *result["cases"])}
    order = [case.name for case in cases()]
    names = sorted(known, key=lambda name: order.index(name) if name in order else len(order))
    return {**result, "cases": [known[name] for name in names]}


def block(result: report.Record) -> str:
    """Return the generated text for a record."""
    rows = []
    for case in result["cases"]:
        ends = {
            kind: sum(source[kind] for source in case["sources"])
            for kind in ("terminated", "truncated", "cut")
        }
        how = ", ".join(f"{count:,} {kind}" for kind, count in ends.items() if count)
        equal = "every bit"
        if case["tol"]:
            one_step, free = (case[kind]["obs"] for kind in ("one_step", "free"))
            equal = f"one step within {one_step:.1g}; free runs {free:.1g} apart"
        rows.append(
            [
                case["name"],
                case["judge"],
                f"{case['counts']['episodes']:,} ({how})",
                f"{case['counts']['steps']:,}",
                f"{case['verdict']}: {equal}" if case["verdict"] == "EQUAL" else case["verdict"],
            ]
        )
    head = ["Pair", "Judge", "Episodes", "Steps", "Observation, reward, flags, info"]
    parts = [tables.table(head, rows)]
    parts += [
        f"MuJoCo alone, {case['name']}, as Gymnasium runs it against solved to the end, from the "
        f"same states: {stops['beyond']} of {stops['steps']:,} steps beyond "
        f"{PHYSICS_TOL['obs']:.0e}, the largest {stops['largest']:.1g} apart."
        for case in result["cases"]
        if (stops := case.get("stops"))
    ]
    return "\n\n".join([*parts, tables.source(result, "pairs", "verify-pairs")])


def main(arguments: list[str] | None = None) -> int:
    """Compare, print the table, and write the JSON file; 1 where a pair is not equal."""
    parser = argparse.ArgumentParser(prog="python -m bench.pairs", description=__doc__)
    parser.add_argument("--episodes", type=int, default=EPISODES, help="of each source of actions")
    parser.add_argument(
        "--only", action="append", help="pairs whose name contains this; others are kept"
    )
    parser.add_argument("--output", type=Path, default=RESULTS, help="result file")
    options = parser.parse_args(arguments)
    found: list[tuple[Case, Report]] = []
    chosen = [
        case
        for case in cases()
        if not options.only or any(part.lower() in case.name.lower() for part in options.only)
    ]
    if not chosen:
        parser.error(f"--only: no pair's name contains {options.only}")
    for case in chosen:
        print(f"{case.name}: ", end="", flush=True)
        one = compare(case, options.episodes)
        print(one.verdict.value, one.reason[:200], flush=True)
        found.append((case, one))
        result = record(found, options.episodes)
        if options.only:
            result = merged(result, options.output)
        report.write(result, options.output)  # after each, so that nothing measured is lost
    print(block(result))
    print(f"written to {options.output}")
    return int(not all(one.ok for _, one in found))


if __name__ == "__main__":
    sys.exit(main())
