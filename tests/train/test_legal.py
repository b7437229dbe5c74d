"""Policies that are shown what is legal choose nothing else."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.wrappers.vector import NormalizeObservation, RecordEpisodeStatistics
from tests.train.games import Doors, Signs

from hybridenv.envs import Box, TimeLimit, check_env
from hybridenv.errors import ConfigError
from hybridenv.gym import JaxVectorEnv
from hybridenv.train import evaluate, evaluate_vector, train
from hybridenv.train.config import Config
from hybridenv.train.distributions import Categorical
from hybridenv.train.games import vector_shows
from hybridenv.train.host import HostLoop
from hybridenv.train.networks import ActionSpec, ObsSpec, build, permitted
from hybridenv.train.ppo import Program

SMALL: dict[str, Any] = {
    "env": "doors", "n_envs": 16, "horizon": 16, "minibatches": 2, "hidden": (16,), "chunk": 0,
    "calls": 8, "steps": 16 * 16 * 24, "lr": 1e-2, "gamma": 0.5,
}  # fmt: skip


def trainer(env: Any, loop: str) -> Program | HostLoop:
    config = Config(**SMALL)
    if loop == "program":
        return Program(env, env.default_params, config)
    return HostLoop(config, lambda n: RecordEpisodeStatistics(JaxVectorEnv(env, n)))


def test_only_legal_choices_are_drawn_and_counted() -> None:
    key = jax.random.key(0)
    legal = jax.random.bernoulli(key, 0.4, (4_096, 5)).at[:, 2].set(True)
    obs = jnp.concatenate([legal, jax.random.normal(key, (4_096, 3))], -1).astype(jnp.float32)
    policy, make = build(ObsSpec((8,)), ActionSpec(5, shown=True), Config(env="x", hidden=(8,)))
    distribution, _, _ = policy.step(make(key), obs, ())
    noise = policy.action.noise(key, (4_096,))
    for action in (distribution.sample(noise), distribution.mode()):
        assert np.asarray(legal)[np.arange(4_096), np.asarray(action)].all()
    assert isinstance(distribution, Categorical)
    rare = np.exp(np.asarray(distribution.log_probs)).T[~np.asarray(legal)]
    assert len(rare) > 0
    assert rare.max() < 1e-16
    most = np.log(np.asarray(legal).sum(-1))
    assert (np.asarray(distribution.entropy()) <= most + 1e-5).all()


def test_logits_stay_finite_and_their_gradients_too() -> None:
    legal = jnp.array([[True, False, True]])

    def loss(logits: jax.Array) -> jax.Array:
        return Categorical.of(permitted(logits, legal)).log_prob(jnp.array([2])).sum()

    gradient = np.asarray(jax.grad(loss)(jnp.array([[90.0], [1e4], [-90.0]])))
    assert np.isfinite(gradient).all()
    assert gradient[1] == 0
    assert gradient[0] < 0 < gradient[2]


@pytest.mark.parametrize("loop", ["program", "host"])
@pytest.mark.parametrize("shown", [True, False])
def test_anybodys_environment_says_what_it_shows_and_scores(loop: str, shown: bool) -> None:
    """Closed doors pay best: with the mask nobody ever takes one, without it hardly anything else.

    The score counts them, though a step through the best open door pays as well.
    """
    env = Doors(shown)
    made = trainer(env, loop)
    assert made.policy.action.shown == shown
    result = train(made.config, trainer=made)
    ended = [row for row in result.rows if row["episodes"]]
    assert len(ended) >= 20
    if shown:
        assert {row["score"] for row in ended} == {0}
        assert ended[-1]["return"] > 2.8 > 2.4 > ended[0]["return"]  # best 3.3, by chance 2
    else:
        assert ended[-1]["score"] > 6 > 4 > ended[0]["score"]  # of 8, a third of them by chance
        assert all(row["return"] >= row["score"] for row in ended)
    games = evaluate(env, env.default_params, result.policy, result.params, episodes=16)
    host = evaluate_vector(JaxVectorEnv(env, 16), result.policy, result.params)
    for found in (games, host):
        assert (found.scores == 0).all() if shown else found.scores.mean() > 6
        assert (found.returns > found.scores).all() or not shown


def test_doors_keep_the_contract() -> None:
    assert check_env(Doors(shown=True)).restarts >= 3


def test_what_says_nothing_of_itself_is_scored_by_its_rewards() -> None:
    made = trainer(TimeLimit(Signs(), 3), "program")
    assert not made.policy.action.shown
    row = train(made.config, trainer=made).rows[-1]
    assert row["score"] == row["return"] > 1


def test_a_wrapper_that_makes_other_observations_shows_nothing() -> None:
    envs = NormalizeObservation(JaxVectorEnv(Doors(shown=True), 2))
    assert not vector_shows(envs)
    assert vector_shows(envs.env)


@pytest.mark.parametrize("loop", ["program", "host"])
def test_what_cannot_show_it_is_refused(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Doors, "observation_space", lambda *_: Box(0, 8, (2,)))
    with pytest.raises(ConfigError, match=r"doors: got observations .*the 3 legal actions"):
        trainer(Doors(shown=True), loop)
