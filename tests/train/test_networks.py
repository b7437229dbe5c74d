"""Networks: one step and whole sequences agree; distributions are what they say."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridenv.errors import ConfigError
from hybridenv.train.config import Config
from hybridenv.train.distributions import Categorical, DiagonalGaussian
from hybridenv.train.networks import ActionSpec, ObsSpec, build, count, emptied

VECTOR = ObsSpec((6,))
PICTURE = ObsSpec((13, 18), "uint8", 3.0)
CASES = {
    "mlp": (VECTOR, ActionSpec(3), {"hidden": (16, 8)}),
    "mlp, continuous": (VECTOR, ActionSpec(2, True, (-1, -1), (1, 1)), {"hidden": (8,)}),
    "lstm": (VECTOR, ActionSpec(3), {"network": "lstm", "hidden": (8,)}),
    "gru": (VECTOR, ActionSpec(3), {"network": "gru", "hidden": (16, 8)}),
    "cnn": (PICTURE, ActionSpec(4), {"network": "cnn", "channels": (4, 6), "hidden": (8,)}),
    "mlp, value apart": (VECTOR, ActionSpec(3), {"hidden": (8, 4), "separate_value": True}),
    "cnn, value apart": (
        PICTURE,
        ActionSpec(4),
        {"network": "cnn", "channels": (4, 6), "hidden": (8,), "separate_value": True},
    ),
    "gru over pictures": (PICTURE, ActionSpec(4), {"network": "gru", "hidden": (8,), "shrink": 2}),
}


def made(case: str) -> tuple[Any, Any, Any]:
    obs, action, changes = CASES[case]
    policy, make = build(obs, action, Config(env="x", **changes))
    return policy, make(jax.random.key(0)), policy.obs


def seen(obs: ObsSpec, rng: np.random.Generator, *shape: int) -> Any:
    if obs.dtype == "uint8":
        x = rng.integers(0, obs.high + 1, (*shape, *obs.shape)).astype(np.uint8)
        return jax.vmap(obs.look)(x) if len(shape) == 2 else obs.look(x)
    return jnp.asarray(rng.normal(size=(*shape, *obs.shape)), jnp.float32)


@pytest.mark.parametrize("case", CASES)
def test_steps_and_sequences_agree(case: str, rng: np.random.Generator) -> None:
    policy, params, obs = made(case)
    x = seen(obs, rng, 5, 3)
    restart = jnp.asarray(rng.random((5, 3)) < 0.3)
    distribution, values = jax.jit(policy.unroll)(params, x, policy.initial(3), restart)
    carry = policy.initial(3)
    step = jax.jit(policy.step)
    actions = distribution.mode()
    for t in range(5):
        one, value, carry = step(params, x[t], emptied(carry, restart[t]))
        # products of matrices of other shapes round otherwise
        np.testing.assert_allclose(value, values[t], atol=1e-5)
        np.testing.assert_allclose(
            one.log_prob(actions[t]), distribution.log_prob(actions)[t], atol=1e-5
        )
    assert count(params) > 50


@pytest.mark.parametrize("apart", [False, True])
def test_what_policy_and_value_share(apart: bool, rng: np.random.Generator) -> None:
    config = Config(env="x", hidden=(8,), separate_value=apart)
    policy, make = build(VECTOR, ActionSpec(3), config)
    params, x = make(jax.random.key(0)), seen(VECTOR, rng, 5)

    def touched(which: int) -> set[str]:
        def loss(params: Any) -> Any:
            distribution, value, _ = policy.step(params, x, ())
            return (distribution.log_prob(distribution.mode()) if which == 0 else value).sum()

        grads = jax.grad(loss)(params)
        return {name for name in grads if any(np.any(g) for g in jax.tree.leaves(grads[name]))}

    of_value = {"value_trunk", "value_head"} if apart else {"trunk", "heads"}
    assert touched(0) == {"trunk", "heads"}
    assert touched(1) == of_value


def test_actions_begin_with_the_noise_asked_for(rng: np.random.Generator) -> None:
    config = Config(env="x", hidden=(8,), initial_std=0.25)
    policy, make = build(VECTOR, ActionSpec(2, True, (-1, -1), (1, 1)), config)
    distribution, _, _ = policy.step(make(jax.random.key(0)), seen(VECTOR, rng, 5), ())
    assert isinstance(distribution, DiagonalGaussian)
    np.testing.assert_allclose(np.exp(distribution.log_std), 0.25, rtol=1e-6)


def test_a_memory_remembers_until_a_restart(rng: np.random.Generator) -> None:
    policy, params, obs = made("lstm")
    x = seen(obs, rng, 4, 2)
    other = x.at[0].add(1.0)
    never = jnp.zeros((4, 2), bool)
    values = [policy.unroll(params, one, policy.initial(2), never)[1] for one in (x, other)]
    assert not np.allclose(values[0][3], values[1][3])
    again = never.at[2].set(True)
    values = [policy.unroll(params, one, policy.initial(2), again)[1] for one in (x, other)]
    assert not np.allclose(values[0][1], values[1][1])
    assert np.array_equal(values[0][2:], values[1][2:])


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_a_cell_is_its_formula(kind: str, rng: np.random.Generator) -> None:
    policy, params, _ = made(kind)
    x = rng.normal(size=(3, 6))
    carry = [rng.normal(size=(3, 8)) for _ in policy.memory]
    _, _, got = policy.step(params, jnp.asarray(x), tuple(jnp.asarray(c) for c in carry))
    for layer in params["trunk"]["layers"].values():
        x = x @ layer["kernel"][...] + layer["bias"][...]
        x = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    cell = params["cell"]
    entry = x @ cell["entry"]["kernel"][...] + cell["entry"]["bias"][...]
    inner = carry[0] @ cell["memory"]["kernel"][...]
    if kind == "lstm":
        i, f, g, o = np.split(entry + inner, 4, axis=-1)
        c = sigmoid(f) * carry[1] + sigmoid(i) * np.tanh(g)
        wanted = [sigmoid(o) * np.tanh(c), c]
    else:
        inner = inner + cell["memory"]["bias"][...]
        (ri, ui, ni), (rh, uh, nh) = np.split(entry, 3, axis=-1), np.split(inner, 3, axis=-1)
        u = sigmoid(ui + uh)
        wanted = [u * carry[0] + (1 - u) * np.tanh(ni + sigmoid(ri + rh) * nh)]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_blocks_of_a_picture_become_their_means(rng: np.random.Generator) -> None:
    x = rng.integers(0, 4, (2, 16, 24)).astype(np.uint8)
    kept = ObsSpec((16, 24), "uint8", 3.0, shrink=4)
    got = np.asarray(kept.look(jnp.asarray(x)))
    assert got.dtype == np.uint8
    assert np.array_equal(got, x.reshape(2, 4, 4, 6, 4).sum((2, 4)))
    assert kept.kept_high == 48
    bright = ObsSpec((16, 24, 3), "uint8", 255.0, shrink=4)
    y = rng.integers(0, 256, (2, 16, 24, 3)).astype(np.uint8)
    got = np.asarray(bright.look(jnp.asarray(y)))
    assert np.array_equal(got, y.reshape(2, 4, 4, 6, 4, 3).sum((2, 4), dtype=int) // 16)
    odd = ObsSpec((13, 18), "uint8", 3.0, shrink=4)
    assert odd.look(jnp.full((1, 13, 18), 3, jnp.uint8)).shape == (1, *odd.kept_shape)
    assert int(odd.look(jnp.full((1, 13, 18), 3, jnp.uint8)).min()) == 48


def test_choices_come_as_often_as_they_should() -> None:
    n = 200_000
    p = np.array([0.5, 0.2, 0.3])
    one = Categorical.of(jnp.broadcast_to(jnp.log(p)[:, None] + 7, (3, n)))
    action = one.sample(Categorical.noise(jax.random.key(0), (n,), 3))
    shares = np.bincount(np.asarray(action), minlength=3) / n
    np.testing.assert_allclose(shares, p, atol=4 * np.sqrt(0.25 / n))  # four standard errors
    np.testing.assert_allclose(one.log_prob(action)[:9], np.log(p)[np.asarray(action[:9])], 1e-5)
    np.testing.assert_allclose(one.entropy()[0], -(p * np.log(p)).sum(), rtol=1e-6)
    assert int(one.mode()[0]) == 0
    sure = Categorical.of(jnp.array([[-200.0], [0.0], [-200.0]]))
    assert [int(sure.sample(jnp.float32(u))[0]) for u in (0.0, 0.5, 0.9999999)] == [1, 1, 1]


def test_numbers_are_spread_as_they_should_be() -> None:
    n = 100_000
    mean, deviation = np.array([1.0, -2.0]), np.array([0.5, 2.0])
    one = DiagonalGaussian(jnp.broadcast_to(mean, (n, 2)), jnp.log(deviation))
    x = np.asarray(one.sample(DiagonalGaussian.noise(jax.random.key(0), (n,), 2)))
    np.testing.assert_allclose(x.mean(0), mean, atol=0.03)
    np.testing.assert_allclose(x.std(0), deviation, rtol=0.02)
    density = np.exp(-0.5 * ((x - mean) / deviation) ** 2) / deviation / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(one.log_prob(x), np.log(density).sum(1), rtol=1e-3, atol=1e-4)
    # the entropy is the mean of minus the logarithm
    np.testing.assert_allclose(one.entropy()[0], -one.log_prob(x).mean(), rtol=0.01)


@pytest.mark.parametrize(
    ("obs", "changes", "word"),
    [
        (VECTOR, {"network": "cnn"}, "pictures"),
        (VECTOR, {"shrink": 2}, "shrink"),
        (ObsSpec((16, 16, 3), "float32"), {"shrink": 2}, "uint8"),
    ],
)
def test_networks_that_do_not_fit_are_refused(obs: ObsSpec, changes: Any, word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        build(obs, ActionSpec(2), Config(env="x", **changes))
