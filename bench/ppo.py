"""PPO's steps a second on Pong, and the time it takes to learn it: ``python -m bench.ppo``.

Writes ``bench/results/ppo.json``, from which `bench.readme_table` makes the README's table.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bench import report, tables
from bench.cases import PEERS, ROOT
from bench.pong import Found, Plan, measure_all, publish
from bench.ppo_sides import HORIZON

#: The file that the README's table is generated from.
RESULTS = ROOT / "bench" / "results" / "ppo.json"
SCHEMA = 1

GAMES, FRAME_SKIP = 1_024, 8

#: PufferLib 3.0.0 with PyTorch 2.13 on two threads of a two-core AMD EPYC, the same network,
#: horizon, epochs and minibatches; recorded there once and not measured again, because its build
#: downloads archives and so does not install here.
RECORDED = {"mlp": 532e3, "lstm": 105e3}

SEEDS = 5
LEVEL = 15.0


def cases(cores: int) -> dict[str, dict[str, Plan]]:
    """Return each case: its name, and the plans of its sides."""

    def plan(side: str, devices: int, flags: bool = False, calls: int = 16, cores: int = 0) -> Plan:
        return Plan(side, devices, flags, GAMES, FRAME_SKIP, HORIZON * calls, cores)

    return {
        "mlp": {
            "all": plan("ppo-mlp", cores),
            "one": plan("ppo-mlp", 1),
            "core": plan("ppo-mlp", 1, cores=1),
            "flags": plan("ppo-mlp", cores, True),
            "torch": plan("torch-ppo", 1, calls=1),
            "torch-ours": plan("torch-ppo-ours", 1),
        },
        "lstm": {
            "all": plan("ppo-lstm", cores),
            "one": plan("ppo-lstm", 1),
            "core": plan("ppo-lstm", 1, cores=1),
            "flags": plan("ppo-lstm", cores, True),
        },
    }


def learn(seeds: int) -> list[dict[str, float]]:
    """Train on Pong with its default settings, a run for each seed, up to a mean score of +15.

    Args:
        seeds: How many runs.

    Returns:
        For each run the steps and seconds (without and with compiling) at which the mean score of
        the games that ended in an iteration reached the level, and the mean score of the likeliest
        actions at the end of the whole run.
    """
    from hybridenv.envs import make
    from hybridenv.train import Config, evaluate, train

    found = []
    for seed in range(seeds):
        config = Config.of("pong", {"seed": seed})
        result = train(config)
        reached = next((row for row in result.rows if row["score"] >= LEVEL), None)
        games = evaluate(*make("pong", **config.env_args), result.policy, result.params)
        last = result.rows[-1]
        found.append(
            {
                "seed": seed,
                "steps": reached["steps"] if reached else np.inf,
                "seconds": (reached["seconds"] - result.compile_seconds if reached else np.inf),
                "compile_seconds": result.compile_seconds,
                "steps_in_all": last["steps"],
                "seconds_in_all": result.seconds,
                "last_score": last["score"],
                "greedy_score": float(games.scores.mean()),
            }
        )
    return found


def record(found: Mapping[str, Found], runs: list[dict[str, float]], repeats: int) -> report.Record:
    """Return everything that a run found, with where and how it was found."""
    return {
        **report.origin(SCHEMA),
        "load_average": os.getloadavg()[0],
        "settings": {
            "repeats": repeats,
            "games": GAMES,
            "horizon": HORIZON,
            "frame_skip": FRAME_SKIP,
            "level": LEVEL,
        },
        "recorded": RECORDED,
        "cases": {name: case.record("all") for name, case in found.items()},
        "learning": runs,
        "goals": _goals(found, runs),
    }


def _goals(found: Mapping[str, Found], runs: list[dict[str, float]]) -> list[report.Record]:
    mlp, lstm = found["mlp"], found["lstm"]
    ratios = {name: mlp.ratio("all", name) for name in ("core", "torch")}
    torch, core = ratios["torch"], ratios["core"]
    values: list[tuple[str, float, float | None]] = [
        ("MLP, steps a second, at least", 2.5e6, mlp.median("all")),
        ("LSTM, steps a second, at least", 0.14e6, lstm.median("all")),
        (
            "MLP, times PyTorch with games in Python, at least",
            20,
            torch["median"] if torch else None,
        ),
        (
            "MLP, a device on each of two cores against one on one, at least",
            1.8,
            core["median"] if core else None,
        ),
        ("seconds to compile, at most", 20, mlp.compiled.get("all")),
        (
            f"seconds to a mean score of +{LEVEL:.0f}, slowest seed, at most",
            30,
            max((run["seconds"] for run in runs), default=None),
        ),
        (
            "mean score after training, worst seed, at least",
            20,
            min((run["greedy_score"] for run in runs), default=None),
        ),
    ]
    return [report.judged(*value) for value in values]


def block(result: report.Record) -> str:
    """Return the generated text of the README for a record."""
    mlp, lstm = result["cases"]["mlp"], result["cases"]["lstm"]
    rows = [
        ["hybridenv", _rate(mlp, "all"), _rate(lstm, "all")],
        ["hybridenv, one XLA device", _rate(mlp, "one"), _rate(lstm, "one")],
        ["hybridenv, on one core", _rate(mlp, "core"), _rate(lstm, "core")],
        ["hybridenv, with `cpu_flags()`", _rate(mlp, "flags"), _rate(lstm, "flags")],
        ["PyTorch in CleanRL's manner, our games", _rate(mlp, "torch-ours"), "–"],
        ["PyTorch in CleanRL's manner, games in Python", _rate(mlp, "torch"), "–"],
        ["PufferLib 3.0.0, recorded¹", *(f"{rate / 1e6:.3g} M" for rate in RECORDED.values())],
    ]
    head = ["PPO on Pong, steps a second", "MLP-128", "LSTM-128"]
    parts = [
        (
            "Training, end to end: 1,024 games at frame skip 8, 64 steps an iteration, one epoch "
            "of two minibatches, the same network and as many updates on every side:"
        ),
        tables.table(head, rows),
    ]
    if runs := result["learning"]:
        seconds = [run["seconds"] for run in runs]
        parts.append(
            f"With its default settings it reaches a mean score of +{LEVEL:.0f} of 21 in "
            f"{min(seconds):.1f} to {max(seconds):.1f} s of training over {len(runs)} seeds, and "
            f"at least +{min(run['greedy_score'] for run in runs):.1f} at the end."
        )
    note = (
        "¹ With PyTorch 2.13 on two threads of the same kind of machine; recorded once, as it does "
        f"not install from the registry. {tables.provenance(result, 'ppo')}"
    )
    parts += [tables.goal_table(result), note]
    return "\n\n".join(parts)


def _rate(case: report.Record, side: str) -> str:
    rates = case["steps_per_second"].get(side)
    return f"{rates['median'] / 1e6:.3g} M" if rates else "–"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, and write the JSON file; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.ppo", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="measurements of each side")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="runs that learn Pong; 0 for none")
    parser.add_argument("--peer-python", type=Path, default=PEERS, help="interpreter with PyTorch")
    parser.add_argument("--output", type=Path, default=RESULTS, help="result file")
    options = parser.parse_args(arguments)
    plans = cases(len(os.sched_getaffinity(0)))
    found = measure_all(plans.items(), options.repeats, options.peer_python)
    result = record(found, learn(options.seeds), options.repeats)
    publish(result, block(result), options.output, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
