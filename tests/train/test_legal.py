"""Policies that are shown what is legal choose nothing else."""

import jax
import jax.numpy as jnp
import numpy as np

from hybridenv.train.config import Config
from hybridenv.train.distributions import Categorical
from hybridenv.train.networks import ActionSpec, ObsSpec, build, permitted


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
