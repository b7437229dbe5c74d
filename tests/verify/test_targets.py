"""Every kind of target is played right, and what it offers is found."""

import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from tests.verify.cartpole import Cart
from tests.verify.courier import Courier
from tests.verify.mountain import MountainCar
from tests.verify.vector_cart import Carts

from hybridenv.errors import TargetError
from hybridenv.verify import Verdict, adapt, resolve, verify
from hybridenv.verify._record import Play
from hybridenv.verify.adapters._process import space_of

REFERENCE = "gym:CartPole-v1"
FOREIGN = f"cmd:{sys.executable} -m tests.verify.foreign"


@pytest.mark.parametrize(
    ("make", "offers"),
    [
        (lambda: gymnasium.make("CartPole-v1"), {"state"}),
        (Cart, {"state"}),
        (Courier, {"mask", "tape", "chance"}),
        (MountainCar, {"state"}),
        (Carts, set()),
    ],
)
def test_offers_are_found(make: Any, offers: set[str]) -> None:
    assert adapt(make()).offers == offers


def test_ours_are_found_by_name() -> None:
    for name, offers in (("pong/jax", {"state", "chance"}), ("pong/reference", {"tape"})):
        target = resolve(f"hybridenv:{name}")
        assert target.offers == offers
        target.close()


def test_options_of_a_target_stand_behind_a_question_mark() -> None:
    target: Any = resolve("gym:CartPole-v1?sutton_barto_reward=true&max_episode_steps=7")
    target.reset(1)
    assert target.env.unwrapped._sutton_barto_reward
    assert target._limit._max_episode_steps == 7


def test_a_foreign_process_is_compared_like_any_other() -> None:
    report = verify(REFERENCE, FOREIGN, episodes=5, examples=5)
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.levels[2].counts["operations"] >= 50


@pytest.mark.parametrize(
    ("mood", "words"),
    [
        ("hang", "hangs: no answer to 'step'"),
        ("die", "its process ended during 'step'"),
        ("mumble", "expected one line of JSON"),
    ],
)
def test_a_foreign_process_that_misbehaves_is_an_error(mood: str, words: str) -> None:
    report = verify(REFERENCE, f"{FOREIGN} {mood}", levels=[3], episodes=1, timeout=2)
    assert report.verdict is Verdict.ERROR
    assert words in report.reason


def test_a_foreign_exception_is_a_difference() -> None:
    report = verify(REFERENCE, f"{FOREIGN} raise", levels=[3], episodes=1, shrink=False)
    assert report.verdict is Verdict.DIFFERENT
    found = report.first_divergence
    assert found is not None
    assert found.candidate == "OverflowError: too far"


@pytest.mark.parametrize(
    "space",
    [
        {"type": "Discrete", "n": 3, "start": 1},
        {"type": "MultiDiscrete", "nvec": [2, 3]},
        {"type": "MultiBinary", "n": 4},
        {"type": "Tuple", "spaces": [{"type": "Discrete", "n": 2}]},
        {"type": "Dict", "spaces": {"a": {"type": "Discrete", "n": 2}}},
        {"type": "Box", "low": 0, "high": 255, "shape": [2, 2], "dtype": "uint8"},
    ],
)
def test_spaces_are_read(space: dict[str, Any]) -> None:
    assert type(space_of(space, "x")).__name__ == space["type"]


@pytest.mark.parametrize("space", [{"type": "Ball"}, {}, None, {"type": "Box"}, 3])
def test_other_spaces_are_refused(space: Any) -> None:
    with pytest.raises(TargetError, match="got the space"):
        space_of(space, "x")


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_lanes_equal_plain_environments_in_every_mode(mode: AutoresetMode) -> None:
    report = verify(REFERENCE, lambda: Carts(mode), levels=[0, 3], episodes=10)
    assert report.verdict is Verdict.EQUAL, str(report)
    assert isinstance(report.to_dict()["levels"][1]["sources"], list)
    assert report.levels[3].counts["steps"] > 10 * 25, "both episodes of a lane are played"


def test_gymnasiums_own_vector_of_plain_environments_is_compared_too() -> None:
    made = gymnasium.make_vec("CartPole-v1", 3, vectorization_mode="sync")
    assert verify(Cart, made, levels=[0, 3], episodes=7).verdict is Verdict.EQUAL


def test_a_batch_of_jax_episodes_is_what_single_steps_give() -> None:
    target = adapt(MountainCar())
    rng = np.random.default_rng(0)
    plays = [Play(seed, list(rng.integers(0, 3, 30 + 50 * seed))) for seed in range(5)]
    together = target.rollouts(plays)
    for play, seen in zip(plays, together, strict=True):
        alone = target.rollout(play)
        assert alone.columns.keys() == seen.columns.keys()
        for name, column in alone.columns.items():
            assert np.array_equal(column, seen.columns[name]), name


def test_anything_else_is_refused() -> None:
    with pytest.raises(TargetError, match="without observation_space"):
        adapt(3)


def test_spaces_of_integers_may_have_any_type() -> None:
    class Narrow(Cart):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.Discrete(2, dtype=np.int32)

    assert verify(REFERENCE, Narrow, levels=[0]).ok
