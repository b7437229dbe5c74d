"""Pong against its sequential reference, whose serves it replays."""

import pytest

from hybridenv.envs import names
from hybridenv.verify import Verdict, verify


@pytest.mark.parametrize(
    "options",
    [
        "",
        pytest.param("?continuous=true", marks=pytest.mark.slow),
        pytest.param("?frame_skip=8", marks=pytest.mark.slow),
    ],
)
def test_pong_equals_its_reference(options: str) -> None:
    report = verify(
        f"hybridenv:pong/reference{options}",
        f"hybridenv:pong/jax{options}",
        level=3,
        chance="tape",
        episodes=4,
        examples=5,
        max_steps=1_024,
    )
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.isolated == ("hybridenv.envs.pong.reference",)
    assert report.levels[3].counts["steps"] >= 500


@pytest.mark.slow
def test_a_hundred_games_of_pong_equal_the_reference() -> None:
    report = verify("hybridenv:pong/reference", "hybridenv:pong/jax", chance="tape", episodes=100)
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.levels[3].counts["steps"] >= 20_000


def test_another_frame_skip_is_told_apart() -> None:
    report = verify(
        "hybridenv:pong/reference?frame_skip=4",
        "hybridenv:pong/jax?frame_skip=8",
        chance="tape",
        levels=[3],
        episodes=1,
        shrink=False,
    )
    assert report.verdict is Verdict.DIFFERENT


def test_pong_is_among_the_names() -> None:
    assert "pong" in names()
