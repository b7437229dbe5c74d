"""The tutorial's pairs: Gymnasium's CartPole and MountainCar against those that it writes."""

from typing import Any

import pytest
from tests.verify.mountain import EXAMPLES, Rocking
from tests.verify.mutants import Balancing

from hybridenv.verify import Verdict, by_policy, verify
from hybridenv.verify._results import L3Result

LONGEST = 80


def names() -> list[str]:
    return [path.stem for path in sorted(EXAMPLES.glob("*_jax.py"))]


def test_the_examples_are_short() -> None:
    assert len(names()) == 2
    for name in names():
        lines = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
        assert len(lines) < LONGEST, name


@pytest.mark.parametrize(
    ("reference", "candidate", "policy", "tol"),
    [
        ("gym:CartPole-v1", "cartpole_jax:CartPole", Balancing(), 1e-4),
        ("gym:MountainCar-v0", "mountain_car_jax:MountainCar", Rocking(), 1e-4),
    ],
)
def test_the_examples_equal_gymnasiums(
    reference: str, candidate: str, policy: Any, tol: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    shared: dict[str, Any] = {"chance": "inject", "isolate": True}
    report = verify(reference, candidate, tol={"obs": tol}, examples=20, **shared)
    assert report.verdict is Verdict.EQUAL, str(report)

    # Long episodes let a rounding error grow; one step at a time shows its size.
    anchored = verify(
        reference,
        candidate,
        levels=[3],
        actions=[by_policy(policy, "expert")],
        episodes=10,
        anchor=True,
        tol={"obs": 1e-6},
        **shared,
    )
    assert anchored.verdict is Verdict.EQUAL, str(anchored)
    third = anchored.levels[3]
    assert isinstance(third, L3Result)
    assert third.anchored is not None
    assert third.anchored.one_step["obs"] <= 1e-6


def test_a_long_episode_of_cartpole_needs_the_anchor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    report = verify(
        "gym:CartPole-v1",
        "cartpole_jax:CartPole",
        levels=[3],
        actions=[by_policy(Balancing(), "expert")],
        episodes=4,
        chance="inject",
        tol={"obs": 1e-6},
        shrink=False,
    )
    assert report.verdict is Verdict.DIFFERENT
    third = report.levels[3]
    assert isinstance(third, L3Result)
    assert third.anchored is not None
    assert third.anchored.one_step["obs"] <= 1e-6 < third.anchored.free["obs"]
