"""What is learned: Pong, in a short version and in full."""

from __future__ import annotations

from typing import Any

import pytest

from hybridenv.envs import make
from hybridenv.train import Config, evaluate, train

SEEDS = range(5)


def pong(**changes: Any) -> tuple[Config, Any]:
    config = Config.of("pong", changes)
    return config, train(config)


def test_pong_is_learned_in_part() -> None:
    """A tenth of a run: from losing every point to winning some."""
    config, result = pong(steps=2_400_000, n_envs=512, chunk=512)
    first, last = result.rows[0], result.rows[-1]
    assert first["score"] != first["score"] or first["score"] < -20.5  # NaN: no game ended yet
    games = evaluate(*make("pong", **config.env_args), result.policy, result.params, episodes=64)
    assert last["score"] > -16
    assert games.scores.mean() > 0
    assert games.scores.shape == (64,)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_pong_is_won(seed: int) -> None:
    config, result = pong(seed=seed)
    games = evaluate(*make("pong", **config.env_args), result.policy, result.params)
    assert games.scores.mean() >= 20
    assert max(row["score"] for row in result.rows[-8:]) >= 15
    assert result.rows[-1]["steps"] <= 17_000_000


@pytest.mark.slow
def test_the_embedded_game_is_learned() -> None:
    """The mean reward of a step must be well above that of random buttons."""
    result = train(Config.of("gameboy", {"steps": 1_000_000}))
    rewards = [row["reward"] for row in result.rows]
    random, learned = sum(rewards[:4]) / 4, sum(rewards[-16:]) / 16
    assert learned > 1.5 * random
