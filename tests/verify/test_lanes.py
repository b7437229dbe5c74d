"""Episodes of policies side by side: the same returns as one after the other."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridenv.errors import TargetError
from hybridenv.verify import Target, Verdict, resolve, verify
from hybridenv.verify._results import L4Result

REFERENCE = "gym:CartPole-v1"
EXAMPLE = "cartpole_jax:CartPole"


class Wobbly:
    """Sometimes leans the wrong way, so that episodes are of many lengths."""

    def act(self, obs: Any, key: int) -> int:
        right = int(obs[2] + obs[3] > 0)
        return 1 - right if key % 3 == 0 else right


class ManyWobbly(Wobbly):
    """The same for several episodes."""

    def __init__(self) -> None:
        self.widths: list[int] = []

    def begin_many(self, n: int) -> None:
        self.widths.append(n)

    def act_many(self, obs: Sequence[Any], keys: Sequence[int]) -> list[int]:
        return [self.act(*one) for one in zip(obs, keys, strict=True)]


def played(candidate: Any, chance: Any, policy: Any, episodes: int = 40) -> L4Result:
    report = verify(
        REFERENCE, candidate, levels=[4], margin=5, episodes=episodes, chance=chance,
        policies={"one": policy}, max_steps=300, isolate=False,
    )  # fmt: skip
    found = report.levels[4]
    assert isinstance(found, L4Result)
    return found


@pytest.mark.parametrize(("candidate", "chance"), [(REFERENCE, "shared"), (EXAMPLE, "inject")])
def test_returns_are_those_of_single_episodes(
    candidate: str, chance: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(root / "docs" / "examples")
    many = ManyWobbly()
    together, alone = (played(candidate, chance, policy) for policy in (many, Wobbly()))
    assert many.widths == [32, 32, 32, 32]  # 40 episodes in two rounds, on both sides
    assert together.returns == alone.returns
    assert together.counts == alone.counts
    assert len(set(together.returns["one"][0])) > 5
    sys.modules.pop("cartpole_jax", None)


def test_few_episodes_take_few_lanes() -> None:
    many = ManyWobbly()
    found = played(REFERENCE, "shared", many, episodes=3)
    assert many.widths == [3, 3]
    assert found.test is not None
    assert found.test.outcome == "IDENTICAL"


def test_a_candidate_in_a_process_of_its_own_has_lanes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(root / "docs" / "examples")
    many = ManyWobbly()
    report = verify(
        REFERENCE, EXAMPLE, levels=[4], margin=5, episodes=4, chance="inject",
        policies={"one": many}, max_steps=60,
    )  # fmt: skip
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.isolated
    assert many.widths == [4, 4]


def test_a_policy_that_raises_for_several_is_named() -> None:
    class Lost(ManyWobbly):
        def act_many(self, obs: Sequence[Any], keys: Sequence[int]) -> list[int]:
            raise RuntimeError("no idea")

    report = verify(REFERENCE, REFERENCE, levels=[4], margin=1, episodes=4, isolate=False,
                    policies={"lost": Lost()})  # fmt: skip
    assert report.verdict is Verdict.ERROR
    assert "policy 'lost' on the reference, 4 seeds from" in report.reason
    assert "step 1: RuntimeError: no idea" in report.reason


def test_a_target_without_lanes_says_so() -> None:
    class Bare(Target):
        def reset(self, seed: int | None) -> Any: ...

        def step(self, action: Any) -> Any: ...

    bare = Bare()
    bare.identity = resolve(REFERENCE).identity
    with pytest.raises(TargetError, match="start_lanes"):
        bare.start_lanes([1])
    with pytest.raises(TargetError, match="step_lanes"):
        bare.step_lanes([0])


def test_a_lane_rests_when_its_episode_has_ended() -> None:
    target = resolve(f"{REFERENCE}?max_episode_steps=3")
    first, states = target.start_lanes([1, 2], None, True)
    assert states is not None
    for seen, state in zip(first, states, strict=True):
        np.testing.assert_array_equal(seen, state["state"].astype(np.float32))
    with pytest.raises(TargetError, match="set_state returned None"):
        target.start_lanes([1, 2], states)
    target.start_lanes([1, 2])
    for t in range(4):
        obs, rewards, ended = target.step_lanes([0, 1])
        assert ended.tolist() == [t == 2] * 2
        assert rewards.tolist() == [float(t < 3)] * 2
        assert (obs[0] is None) == (t == 3)
    target.close()
