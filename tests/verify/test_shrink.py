"""A difference deep in an episode becomes the few actions that it takes."""

from typing import Any

import numpy as np
import pytest
from tests.verify.sides import Deep, Lever, LooseLever, Shallow

from hybridenv.errors import NotEquivalentError
from hybridenv.verify import scripted, uniform, verify


def test_ten_actions_are_left_of_five_hundred() -> None:
    report = verify(Shallow, Deep, levels=[3], episodes=3, seed=5)
    found = report.first_divergence
    assert found is not None
    assert found.step >= 350, "the fault should lie deep"
    assert found.shrunk is not None
    assert len(found.shrunk) == 10
    assert set(found.shrunk) == {1}
    assert found.shrunk_difference == "at step 10, reward: reference 0.0, candidate 1.0 (off by 1)"


def test_what_is_shrunk_still_differs_and_no_action_of_it_can_go() -> None:
    report = verify(Shallow, Deep, levels=[3], episodes=1, seed=11)
    found = report.first_divergence
    assert found is not None
    assert found.shrunk is not None

    def differs(actions: list[int]) -> bool:
        sides = [Shallow(), Deep()]
        for side in sides:
            side.reset(seed=found.seed)
        return any(not np.array_equal(sides[0].step(a)[1], sides[1].step(a)[1]) for a in actions)

    actions = list(found.shrunk)
    assert differs(actions)
    for i in range(len(actions)):
        assert not differs(actions[:i] + actions[i + 1 :])


def test_without_shrinking_the_actions_are_those_of_the_episode() -> None:
    report = verify(Shallow, Deep, levels=[3], episodes=1, shrink=False)
    found = report.first_divergence
    assert found is not None
    assert found.shrunk is None
    assert len(found.actions) == found.step


@pytest.mark.parametrize("odd", [False, True])
def test_a_test_is_written_for_actions_of_any_space(odd: bool) -> None:
    space = Lever().action_space
    push = np.array([np.inf, -np.inf], np.float32)
    action = {"pull": (np.int64(1), push), "hold": np.int64(2)}
    source = scripted([action] * 5) if odd else uniform(space)
    sides = ("tests.verify.sides:Lever", "tests.verify.sides:LooseLever")
    report = verify(*sides, levels=[3], episodes=1, actions=[source], isolate=False)
    found = report.first_divergence
    assert found is not None
    assert found.test is not None
    assert found.shrunk is not None
    assert len(found.shrunk) == LooseLever.late
    names: dict[str, Any] = {}
    exec(found.test, names)  # noqa: S102  # our own text
    [test] = [one for name, one in names.items() if name.startswith("test_")]
    with pytest.raises(NotEquivalentError, match="at step 3, obs"):
        test()
