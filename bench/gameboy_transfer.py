"""Policies of PyBoy and of this package on both: ``python -m bench.gameboy_transfer``.

Trains small policies on either side of the Game Boy pair, lets each play the same evaluation seeds
on both, and tests for equivalence: level 4 of `hybridenv.verify`. Writes
``bench/results/gameboy_transfer.json``, from which `bench.readme_table` makes a table in
``docs/verify.md``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import report, tables
from bench.cases import ROOT

if TYPE_CHECKING:  # it imports JAX, which whoever only makes a table does without
    from bench.gameboy_transfer_sides import Learned
    from hybridenv.verify import Report

#: The file that the table is generated from.
RESULTS = ROOT / "bench" / "results" / "gameboy_transfer.json"
SCHEMA = 1

FRAME_SKIP = 12
#: Difference of mean returns that counts as none, fixed before anything was measured: that of the
#: paper whose claims the project takes up, for its Game Boy.
MARGIN = 0.5
#: Seeds of the policies of each side, and how they learn: small enough for PyBoy.
SEEDS = {"pyboy": (0, 1), "hybridenv": (2, 3)}
TRAINING: dict[str, Any] = {
    "steps": 131_072,
    "n_envs": 16,
    "horizon": 128,
    "epochs": 3,
    "minibatches": 4,
    "hidden": [128],
    "channels": [16, 32],
    "lr": 1e-3,
}
EPISODES = 25
#: Policies draw their actions, as they did when they learned: some always take the same likeliest
#: one after so short a training.
DRAWS = True


def train_all(out: Path, training: dict[str, Any]) -> list[Learned]:
    """Train every policy of every side.

    Args:
        out: Folder of the runs; runs that are there are kept.
        training: Settings of the runs.
    """
    from bench.gameboy_transfer_sides import learn

    return [learn(side, seed, training, out) for side, seeds in SEEDS.items() for seed in seeds]


def judge(runs: Path, episodes: int) -> Report:
    """Let all policies play on both sides.

    Args:
        runs: Folder of the runs.
        episodes: Evaluation seeds of each policy.
    """
    from hybridenv.verify import load_policies, verify

    options = f"?frame_skip={FRAME_SKIP}&memory=false"
    return verify(
        f"hybridenv:gameboy/pyboy{options}",
        f"hybridenv:gameboy/hybridenv{options}",
        levels=[4],
        policies=load_policies(runs, draws=DRAWS),
        margin=MARGIN,
        episodes=episodes,
        progress=True,
    )


def record(learned: list[Learned], found: Report, training: dict[str, Any]) -> report.Record:
    """Return everything that was found, with where and how it was found."""
    from hybridenv.verify._results import L4Result

    fourth = found.levels[4]
    if not isinstance(fourth, L4Result) or fourth.test is None:
        raise RuntimeError(f"gameboy_transfer: {found}")
    return {
        **report.origin(SCHEMA),
        "settings": {"frame_skip": FRAME_SKIP, "draws": DRAWS, "training": training},
        "versions": found.environment,
        "verdict": found.verdict.value,
        "isolated_from": list(found.isolated or ()),
        "policies": [
            {
                **asdict(one),
                "outcome": fourth.by_policy[f"{one.side}-{one.seed}"].outcome,
                **_spread(fourth.returns[f"{one.side}-{one.seed}"]),
            }
            for one in learned
        ],
        "test": asdict(fourth.test),
        "counts": fourth.counts,
        "seconds": found.seconds,
    }


def _spread(returns: tuple[list[float], list[float]]) -> dict[str, float]:
    ours, theirs = returns
    return {
        "mean_pyboy": statistics.fmean(ours),
        "mean_hybridenv": statistics.fmean(theirs),
        "deviation": statistics.stdev(ours),
        "pairs": len(ours),
        "different_pairs": sum(a != b for a, b in zip(ours, theirs, strict=True)),
    }


def block(result: report.Record) -> str:
    """Return the generated text for a record."""
    names = {"pyboy": "in PyBoy", "hybridenv": "here"}
    rows = [
        [
            f"{names[one['side']]}, seed {one['seed']}",
            f"{one['first']:.2f} → {one['last']:.2f}",
            f"{one['mean_pyboy']:.3f}",
            f"{one['mean_hybridenv']:.3f}",
            f"{one['deviation']:.2f}",
            f"{one['different_pairs']} of {one['pairs']}",
        ]
        for one in result["policies"]
    ]
    head = ["Trained", "Return as it learned", "In PyBoy", "Here", "Deviation", "Pairs that differ"]
    test, training = result["test"], result["settings"]["training"]
    words = (
        f"**{test['outcome']}**: {test['n']} pairs of episodes, difference "
        f"{test['difference']:+.4f} ({100 * (1 - 2 * test['alpha']):g} % interval "
        f"{test['low']:+.4f} to {test['high']:+.4f}), margin ±{test['margin']:g}, TOST p = "
        f"{test['p_tost']:.3g}. The policies are small networks that see the picture; they learned "
        f"for {training['steps']:,} steps of {result['settings']['frame_skip']} frames and draw "
        f"their actions as they did then, from the same keys on both sides. "
        f"{tables.source(result, 'gameboy_transfer', 'transfer-gameboy')}"
    )
    return "\n\n".join([tables.table(head, rows), words])


def main(arguments: list[str] | None = None) -> int:
    """Train, judge, print the table, and write the JSON file; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.gameboy_transfer", description=__doc__)
    parser.add_argument("--episodes", type=int, default=EPISODES, help="seeds of each policy")
    parser.add_argument(
        "--runs",
        type=Path,
        default=ROOT / "target" / "bench" / "gameboy-transfer",
        help="folder of the training runs; those that are there are not trained anew",
    )
    parser.add_argument("--output", type=Path, default=RESULTS, help="result file")
    options = parser.parse_args(arguments)
    learned = train_all(options.runs, TRAINING)
    found = judge(options.runs, options.episodes)
    result = record(learned, found, TRAINING)
    report.write(result, options.output)
    print(block(result))
    print(f"written to {options.output}")
    return found.exit_code


if __name__ == "__main__":
    sys.exit(main())
