"""Level 4 for HalfCheetah, policies of both sides on both sides: ``python -m bench.transfer``.

Ten policies are trained here on our HalfCheetah and ten by the same trainer on Gymnasium's; each
plays the same evaluation seeds, from the same first states, on both. Two one-sided tests then say
whether mean returns are equal within a margin that was fixed beforehand: 100, the paper's. Writes
``bench/results/transfer.json``, from which `bench.readme_table` makes the documentation's table.
Runs are kept in ``target/transfer`` and trained once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bench import report, tables
from bench.cases import ROOT
from hybridenv.train.config import DEFAULTS

#: The file that the table is generated from, and where the runs are.
RESULTS = ROOT / "bench" / "results" / "transfer.json"
RUNS = ROOT / "target" / "transfer"
SCHEMA = 1

SEEDS, EPISODES = 10, 64
MARGIN, ALPHA = 100.0, 0.05

REFERENCE, CANDIDATE = "gym:HalfCheetah-v5", "hybridenv:half_cheetah/jax"

#: Runs of both sides: the defaults of half cheetah, shorter, with fewer environments on the host.
COMMON = {**DEFAULTS["half_cheetah"], "horizon": 64, "shuffle": "envs", "chunk": 1_024}
SIDES: dict[str, tuple[str, dict[str, Any]]] = {
    "ours": ("half_cheetah", {**COMMON, "steps": 2_000_000, "n_envs": 128, "calls": 16}),
    "theirs": ("HalfCheetah-v5", {**COMMON, "steps": 1_000_000, "n_envs": 64, "calls": 1}),
}
TITLES = {"ours": "here", "theirs": "on Gymnasium's"}


def train_all(side: str, seeds: int, folder: Path) -> None:
    """Train the policies of a side, but for those that are there already.

    Args:
        side: Key of `SIDES`.
        seeds: How many.
        folder: Where their runs go.
    """
    from hybridenv.train import Config, train

    env, settings = SIDES[side]
    for seed in range(seeds):
        out = folder / f"{side}-{seed}"
        if (out / "checkpoints").is_dir():
            continue
        result = train(Config.of(env, {**settings, "seed": seed}), out=out)
        print(f"{out.name}: {result.seconds:.0f} s", flush=True)


def judge(side: str, precision: str, seeds: int, episodes: int, folder: Path) -> report.Record:
    """Let the policies of a side play on both, and test.

    Args:
        side: Key of `SIDES`.
        precision: ``"float32"`` or ``"float64"``, of our environment.
        seeds: How many of the policies.
        episodes: Evaluation seeds of each policy.
        folder: Where the runs are.

    Returns:
        Outcome, test, and the mean returns of each policy on both sides.
    """
    from hybridenv.verify import load_policies, verify

    policies: dict[str, Any] = {}
    for seed in range(seeds):
        policies |= load_policies(folder / f"{side}-{seed}")
    os.environ["JAX_ENABLE_X64"] = str(int(precision == "float64"))  # for the candidate's process
    found = verify(
        REFERENCE,
        f"{CANDIDATE}?dtype={precision}",
        levels=[4],
        policies=policies,
        episodes=episodes,
        margin=MARGIN,
        alpha=ALPHA,
        chance="inject",
        timeout=600,
        progress=True,
    )
    fourth: Any = found.levels.get(4)
    if fourth is None or fourth.test is None:
        raise RuntimeError(f"level 4 gave no test: {found}")
    print(side, precision, fourth.summary, flush=True)
    return {
        "policies": len(policies),
        "test": asdict(fourth.test),
        "means": {
            name: [float(np.mean(one)) for one in both] for name, both in fourth.returns.items()
        },
    }


def record(found: Mapping[str, report.Record], episodes: int) -> report.Record:
    """Return everything that a run found, with where and how it was found."""
    settings = {side: settings for side, (_, settings) in SIDES.items()}
    return {
        **report.origin(SCHEMA),
        "load_average": os.getloadavg()[0],
        "settings": {"episodes": episodes, "margin": MARGIN, "alpha": ALPHA, **settings},
        "cases": dict(found),
    }


def block(result: report.Record) -> str:
    """Return the generated text of the documentation for a record."""
    body = []
    for name, case in result["cases"].items():
        side, _, precision = name.partition(" ")
        test = case["test"]
        needed = "–" if test["n_for_power"] is None else f"{test['n_for_power']:,}"
        body.append(
            [
                f"trained {TITLES[side]}, {precision}",
                str(case["policies"]),
                f"{test['n']:,}",
                f"{test['mean_reference']:,.0f}",
                f"{test['mean_candidate']:,.0f}",
                f"{test['difference']:+.1f} ({test['low']:+.1f} to {test['high']:+.1f})",
                f"{test['p_tost']:.1e}",
                needed,
                f"**{test['outcome']}**",
            ]
        )
    head = ["Policies", "number", "pairs", "Gymnasium", "here", "difference, 90 % interval"]
    settings = result["settings"]
    return "\n\n".join(
        [
            (
                "Level 4: mean returns of the same policies from the same first states in "
                "Gymnasium's HalfCheetah-v5 with MuJoCo and in ours, "
                f"{settings['episodes']} episodes of 1,000 steps for each policy, margin "
                f"±{settings['margin']:.0f}, α = {settings['alpha']}; the last column but one is "
                "the number of pairs that 90 % power needs:"
            ),
            tables.table([*head, "p", "needed", "verdict"], body),
            tables.source(result, "transfer", "bench-transfer"),
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    """Train, compare, print the table, and write the JSON file; the exit status."""
    from hybridenv.envs import host_devices

    host_devices()
    parser = argparse.ArgumentParser(prog="python -m bench.transfer", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="policies of each side")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="of each policy")
    parser.add_argument("--train-only", choices=list(SIDES), help="train a side and stop")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder of the training runs")
    parser.add_argument("--output", type=Path, default=RESULTS, help="result file")
    options = parser.parse_args(arguments)
    for side in SIDES:
        if options.train_only in (None, side):
            train_all(side, options.seeds, options.runs)
    if options.train_only:
        return 0
    found = {
        f"{side} {precision}": judge(side, precision, options.seeds, options.episodes, options.runs)
        for precision in ("float32", "float64")
        for side in SIDES
    }
    result = record(found, options.episodes)
    report.write(result, options.output)
    print(f"\n\n{block(result)}\n\nwritten to {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
