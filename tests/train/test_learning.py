"""What is learned: Pong and running in a short version and in full, and battles in full."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from hybridenv.envs import make
from hybridenv.train import Config, evaluate, evaluate_vector, make_trainer, train
from hybridenv.train.host import make_vector_env

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


def test_half_cheetah_begins_to_run() -> None:
    """A sixth of a run: from less than nothing to well beyond what crawling earns at first."""
    config = Config.of("half_cheetah", {"steps": 524_288, "calls": 8})
    result = train(config)
    env, params = make("half_cheetah")
    games = evaluate(env, params, result.policy, result.params, episodes=16)
    first = next(row["return"] for row in result.rows if row["episodes"])
    assert first < 100  # random actions earn about -280
    assert games.returns.mean() > 600
    assert result.rows[-1]["steps"] == 524_288


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("name", "wanted"), [("half_cheetah", 4_000), ("hopper", 300), ("walker2d", 1_000)]
)
def test_bodies_learn_to_run(name: str, wanted: float, seed: int) -> None:
    """Of hoppers no more is asked than to leap once, which random actions (20) do not."""
    config = Config.of(name, {"seed": seed})
    result = train(config)
    for greedy in (True, False):
        games = evaluate(
            *make(name), result.policy, result.params, episodes=64, seed=seed, greedy=greedy
        )
        assert games.returns.mean() >= wanted


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
    """Whole episodes must earn well more than those of a policy that knows nothing."""
    config = Config.of("gameboy", {"steps": 1_000_000})
    made = make_trainer(config)
    before = made.init().params
    result = train(config, trainer=made)
    means = []
    for params in (before, result.params):
        envs = make_vector_env(config, 64)
        params = jax.tree.map(np.asarray, params)
        found = evaluate_vector(envs, result.policy, params, seed=100, greedy=False)
        envs.close()
        means.append(found.returns.mean())
    assert means[1] > 1.5 * means[0] > 1


def least(wins: int, n: int, z: float = 1.96) -> float:
    """Return the lower bound of Wilson's 95 % interval of a share."""
    share, spread = wins / n, z * z / n
    half = z * np.sqrt(share * (1 - share) / n + spread / n / 4)
    return float((share + spread / 2 - half) / (1 + spread))


@pytest.mark.slow
def test_the_preset_learns_to_win() -> None:
    """A fifth of its steps, with any teams: hardly a battle is lost to chance, and half are won."""
    config = Config.of("pokemon", {"steps": 8_000_000})
    result = train(config)
    for opponent, wanted in (("random", 0.95), ("max_damage", 0.5)):
        env, params = make("pokemon", opponent=opponent)
        games = evaluate(
            env, params, result.policy, result.params, episodes=1_000, greedy=False, seed=1
        )
        assert least(int((games.scores > 0).sum()), 1_000) > wanted
