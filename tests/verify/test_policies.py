"""Policies from checkpoints and modules earn the same on both sides, or are shown not to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.verify.cartpole import Cart
from tests.verify.mutants import Balancing

from hybridenv.errors import ArgumentError
from hybridenv.train import Config, train
from hybridenv.verify import Verdict, load_policies, load_policy, verify
from hybridenv.verify._results import L4Result


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a short training run on CartPole."""
    folder = tmp_path_factory.mktemp("runs")
    small: dict[str, Any] = {"n_envs": 4, "steps": 1_024, "horizon": 32}
    train(Config.of("CartPole-v1", small), out=folder / "cart")
    return folder


def test_a_checkpoint_plays_the_same_on_both_sides(runs: Path) -> None:
    policies = load_policies(runs)
    assert list(policies) == ["cart"]
    report = verify(
        "gym:CartPole-v1", Cart, levels=[3, 4], margin=5, episodes=12, policies=policies,
        actions=[f"policy:{runs / 'cart'}"],
    )  # fmt: skip
    assert report.verdict is Verdict.EQUAL, str(report)
    fourth = report.levels[4]
    assert isinstance(fourth, L4Result)
    assert fourth.test is not None
    assert fourth.test.outcome == "IDENTICAL"
    assert fourth.test.n == 12


def test_a_checkpoint_draws_its_actions_from_the_keys(runs: Path) -> None:
    [policy] = load_policies(runs, draws=True).values()
    [greedy] = load_policies(runs).values()
    obs = np.array([0.01, 0.0, 0.01, 0.0], np.float32)
    keys = np.random.default_rng(0).integers(2**63, size=60).tolist()
    drawn = [int(policy.act(obs, key)) for key in keys]
    assert drawn == [int(policy.act(obs, key)) for key in keys]
    assert set(drawn) == {0, 1}
    assert len({int(greedy.act(obs, key)) for key in keys}) == 1
    report = verify(
        "gym:CartPole-v1", Cart, levels=[4], margin=5, episodes=6, policies={"drawn": policy}
    )
    assert report.verdict is Verdict.EQUAL, str(report)


def test_a_policy_of_a_module_is_loaded() -> None:
    assert isinstance(load_policy("tests.verify.mutants:Balancing"), Balancing)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nothing", "expected module:function or a folder"),
        ("no_module:x", "no_module"),
        ("tests.verify.mutants:nothing", "has no attribute"),
        ("tests.verify.cartpole:make", "without act"),
    ],
)
def test_a_policy_that_is_none_is_refused(place: str, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        load_policy(place)


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="expected a folder with training runs"):
        load_policies(tmp_path)


def test_a_policy_that_raises_is_an_error() -> None:
    class Lost:
        def act(self, obs: Any, key: int) -> int:
            raise RuntimeError("no idea")

    report = verify("gym:CartPole-v1", Cart, levels=[4], margin=1, policies={"lost": Lost()})
    assert report.verdict is Verdict.ERROR
    assert "policy 'lost' on the reference" in report.reason
    assert "no idea" in report.reason
