"""Bodies in JAX against MuJoCo: errors of one step are tiny, those of a free run grow."""

from pathlib import Path

import pytest

from bench.pairs import PHYSICS_TOL
from bench.policy import SavedPolicy
from hybridenv.verify import Verdict, verify
from hybridenv.verify._results import L3Result, L4Result

for package in ("mujoco", "imageio"):
    pytest.importorskip(package, reason=f"{package} is not installed: hybridenv[mujoco]")


BODIES = {
    "half_cheetah": "HalfCheetah-v5",
    "hopper": "Hopper-v5",
    "walker2d": "Walker2d-v5",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(BODIES))
def test_a_step_is_mujocos(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAX_ENABLE_X64", "1")  # for the candidate's own process
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log where it is run
    report = verify(
        f"gym:{BODIES[name]}",
        f"hybridenv:{name}/jax?dtype=float64",
        levels=[0, 3],
        episodes=3,
        max_steps=100,
        chance="inject",
        anchor=True,
        tol=PHYSICS_TOL,
        ignore=["reset_info"],  # Gymnasium's reset has one, that contract's has none
        timeout=300,
        shrink=False,
    )
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.isolated == ("gymnasium.envs.mujoco",)
    third = report.levels[3]
    assert isinstance(third, L3Result)
    assert third.counts["steps"] >= 30
    assert third.anchored is not None
    assert third.anchored.one_step["obs"] < PHYSICS_TOL["obs"]


def test_a_trained_policy_earns_the_same_in_half_cheetah(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A small level 4; `make bench-transfer` is the one with twenty policies."""
    monkeypatch.chdir(tmp_path)
    report = verify(
        "gym:HalfCheetah-v5",
        "hybridenv:half_cheetah/jax",
        levels=[4],
        policies={"saved": SavedPolicy.load("half_cheetah")},
        episodes=64,
        margin=100,
        chance="inject",
        timeout=300,
    )
    assert report.verdict is Verdict.EQUAL, str(report)
    fourth = report.levels[4]
    assert isinstance(fourth, L4Result)
    assert fourth.test is not None
    assert fourth.test.outcome == "EQUIVALENT"
    assert fourth.test.n == 64
    assert fourth.counts["steps"] == 2 * 64 * 1_000
    assert fourth.test.mean_reference > 4_000
