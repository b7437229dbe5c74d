"""Policies that learned in PyBoy and here, on both: level 4 of the Game Boy pair, small."""

from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from bench.gameboy_transfer_sides import SIDES, games
from hybridenv.oracle.reference import pyboy_version
from hybridenv.train import Config, load, train
from hybridenv.train.host import HostLoop
from hybridenv.verify import Verdict, load_policies, verify
from hybridenv.verify._results import L4Result

if pyboy_version() is None:
    pytest.skip("PyBoy is not installed", allow_module_level=True)

SMALL: dict[str, Any] = {
    "n_envs": 2,
    "steps": 64,
    "horizon": 32,
    "epochs": 1,
    "minibatches": 1,
    "network": "mlp",
    "hidden": [16],
    "shrink": 8,
    "env_args": {"frame_skip": 12, "profile": "pyboy"},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the same settings on each side."""
    folder = tmp_path_factory.mktemp("runs")
    for side in SIDES:
        config = Config.of("gameboy", SMALL)
        train(config, out=folder / side, trainer=HostLoop(config, partial(games, side)))
    return folder


def test_the_same_run_learns_the_same_on_both_sides(runs: Path) -> None:
    ours, theirs = (jax.tree.leaves(load(runs / side)[2]) for side in SIDES)
    assert len(ours) == len(theirs) >= 4
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one, other)


def test_policies_of_either_side_earn_the_same_on_both(runs: Path) -> None:
    options = "?frame_skip=12&memory=false"
    report = verify(
        f"hybridenv:gameboy/pyboy{options}",
        f"hybridenv:gameboy/hybridenv{options}",
        levels=[4],
        margin=0.5,
        episodes=2,
        max_steps=80,
        policies=load_policies(runs),
    )
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.isolated == ("pyboy",)
    fourth = report.levels[4]
    assert isinstance(fourth, L4Result)
    assert set(fourth.by_policy) == set(SIDES)
    assert fourth.test is not None
    assert fourth.test.outcome == "IDENTICAL"
