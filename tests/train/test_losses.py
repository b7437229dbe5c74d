"""Advantages and losses against computations in NumPy that share no code with them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridenv.train import losses
from hybridenv.train.config import Config
from hybridenv.train.learner import Batch, Learner
from hybridenv.train.networks import ActionSpec, ObsSpec, build


def slow_gae(r: Any, v: Any, nv: Any, term: Any, over: Any, gamma: float, lam: float) -> Any:
    """The definition: a sum over the future of each step, until its episode ends."""
    t, n = r.shape
    out = np.zeros((t, n))
    for i in range(n):
        for begin in range(t):
            weight = 1.0
            for k in range(begin, t):
                future = 0.0 if term[k, i] else gamma * nv[k, i]
                out[begin, i] += weight * (r[k, i] + future - v[k, i])
                if over[k, i]:
                    break
                weight *= gamma * lam
    return out


def case(rng: np.random.Generator, t: int = 9, n: int = 5) -> tuple[Any, ...]:
    r, v, nv = rng.normal(size=(3, t, n)).astype(np.float32)
    term = rng.random((t, n)) < 0.15
    over = term | (rng.random((t, n)) < 0.15)
    return r, v, nv, term, over


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.floats(0, 1), st.floats(0, 1))
def test_gae_is_its_definition(seed: int, gamma: float, lam: float) -> None:
    data = case(np.random.default_rng(seed))
    got = losses.gae(*map(jnp.asarray, data), gamma, lam)
    # float32 sums of nine terms of order one
    np.testing.assert_allclose(got, slow_gae(*data, gamma, lam), atol=1e-5)


def test_gae_without_memory_is_the_one_step_error(rng: np.random.Generator) -> None:
    r, v, nv, term, over = case(rng)
    got = losses.gae(r, v, nv, term, over, 0.9, 0.0)
    np.testing.assert_allclose(got, r + 0.9 * np.where(term, 0, nv) - v, rtol=1e-5, atol=1e-6)


def test_gae_looks_past_no_end(rng: np.random.Generator) -> None:
    r, v, nv, term, over = case(rng)
    over[4] = True
    before = losses.gae(r, v, nv, term, over, 0.99, 0.95)
    r[5:] += 100
    after = losses.gae(r, v, nv, term, over, 0.99, 0.95)
    assert np.array_equal(before[:5], after[:5])
    assert not np.array_equal(before[5:], after[5:])


def test_a_cut_off_episode_counts_its_future_and_a_finished_one_does_not() -> None:
    one = np.ones((1, 2), np.float32)
    got = losses.gae(one, 0 * one, 5 * one, np.array([[False, True]]), one > 0, 0.9, 0.95)
    np.testing.assert_allclose(got, [[1 + 0.9 * 5, 1]], rtol=1e-6)


@pytest.mark.parametrize("value_clip", [None, 0.1])
def test_terms_are_those_of_the_paper(rng: np.random.Generator, value_clip: float | None) -> None:
    new, old, advantage, value, old_value, entropy, target = rng.normal(size=(7, 64)) * 0.5
    got = losses.ppo_terms(
        *map(jnp.asarray, (new, old, advantage, value, old_value, entropy)),
        clip=0.2,
        value_clip=value_clip,
        target=jnp.asarray(target),
    )
    for i in range(64):
        ratio = np.exp(new[i] - old[i])
        surrogate = min(ratio * advantage[i], np.clip(ratio, 0.8, 1.2) * advantage[i])
        error = (value[i] - target[i]) ** 2
        if value_clip is not None:
            moved = np.clip(value[i], old_value[i] - value_clip, old_value[i] + value_clip)
            error = max(error, (moved - target[i]) ** 2)
        np.testing.assert_allclose(got.policy[i], -surrogate, rtol=1e-5)
        np.testing.assert_allclose(got.value[i], error / 2, rtol=1e-4)
        np.testing.assert_allclose(got.approx_kl[i], ratio - 1 - np.log(ratio), atol=1e-5)
        assert bool(got.clipped[i]) == (abs(ratio - 1) > 0.2)
    assert 0 < got.clipped.mean() < 1


def test_scales_ignore_rows_without_weight(rng: np.random.Generator) -> None:
    x = rng.normal(3, 2, (2, 10, 10)).astype(np.float32)
    weight = (rng.random(x.shape) < 0.5).astype(np.float32)
    found = losses.scales(jnp.asarray(x), jnp.asarray(weight), None)
    for i in range(2):
        some = x[i][weight[i] > 0]
        one = [scale[i] for scale in found]
        np.testing.assert_allclose(one, [some.size, some.mean(), some.std()], rtol=1e-5)
    whole = losses.scales(jnp.asarray(x), None, None)
    np.testing.assert_allclose(whole, [[100, 100], x.mean((1, 2)), x.std((1, 2))], rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_devices_agree_on_the_scales_of_all_rows(rng: np.random.Generator, weighted: bool) -> None:
    # Parts of very different sizes and means, which the sum of squares alone would get wrong.
    x = (1000 + rng.normal(0, 1, (3, 2, 50)) * [[[1], [5]]]).astype(np.float32)
    x[:, 1] += 30
    weight = (rng.random(x.shape) < [[[0.9], [0.1]]]).astype(np.float32)

    def part(x: Any, weight: Any) -> Any:
        return losses.scales(x, weight if weighted else None, "part")

    found = jax.vmap(part, in_axes=1, axis_name="part")(jnp.asarray(x), jnp.asarray(weight))
    alone = losses.scales(jnp.asarray(x), jnp.asarray(weight) if weighted else None, None)
    for shared, whole in zip(found, alone, strict=True):
        np.testing.assert_array_equal(shared[0], shared[1])
        np.testing.assert_allclose(shared[0], whole, rtol=1e-4)


def learner(**changes: Any) -> tuple[Learner, Any]:
    config = Config(env="signs", n_envs=8, horizon=4, **{"hidden": (8,), "epochs": 1} | changes)
    policy, make = build(ObsSpec((4,)), ActionSpec(3), config)
    return Learner(policy, config), make(jax.random.key(1))


def batch(rng: np.random.Generator, weight: Any = None) -> Batch:
    f = lambda *s: jnp.asarray(rng.normal(size=s), jnp.float32)  # noqa: E731
    return Batch(
        obs=f(4, 8, 4),
        action=jnp.asarray(rng.integers(0, 3, (4, 8)), jnp.int32),
        log_prob=f(4, 8) * 0.1 - 1.1,
        value=f(4, 8),
        advantage=f(4, 8),
        restart=jnp.zeros((4, 8), bool),
        carry=(),
        weight=weight,
    )


@pytest.mark.parametrize("shuffle", ["envs", "rows"])
def test_chunks_change_nothing_but_rounding(rng: np.random.Generator, shuffle: str) -> None:
    data = batch(rng)
    results = []
    for chunk in (0, 8, 4):
        made, params = learner(minibatches=2, chunk=chunk, shuffle=shuffle)
        state = made.optimizer.init(params)
        results.append(made.update(params, state, data, jax.random.key(3)))
    for params, _, metrics in results[1:]:
        # sums of 16 rows in another order, then Adam's division by a small root
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5), params, results[0][0]
        )
        np.testing.assert_allclose(metrics["loss"], results[0][2]["loss"], rtol=1e-5)


def test_rows_without_weight_teach_nothing(rng: np.random.Generator) -> None:
    weight = jnp.asarray(rng.random((4, 8)) < 0.6, jnp.float32)
    data = batch(rng, weight)
    spoilt = Batch(**{**vars(data), "advantage": data.advantage + 50 * (1 - weight)})
    made, params = learner(minibatches=1, chunk=0)
    state = made.optimizer.init(params)
    a, b = (made.update(params, state, one, jax.random.key(0))[0] for one in (data, spoilt))
    jax.tree.map(lambda x, y: np.testing.assert_array_equal(x, y), a, b)


def test_the_gradient_is_that_of_a_loss_written_from_the_paper(rng: np.random.Generator) -> None:
    made, params = learner(minibatches=1, chunk=0, activation="tanh", max_grad_norm=1e9)
    data = batch(rng)
    c = made.config
    leaves, shape = jax.tree.flatten(params)

    def loss(flat: Any) -> float:
        """In float64 NumPy, from the weights up."""
        p = jax.tree.unflatten(shape, flat)
        h = np.tanh(np.asarray(data.obs, float) @ p["trunk"]["layers"][0]["kernel"][...]
                    + p["trunk"]["layers"][0]["bias"][...])  # fmt: skip
        out = h @ np.transpose(p["heads"]["kernel"][...]) + p["heads"]["bias"][...]
        logits, value = out[..., :3], out[..., 3]
        logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        chosen = np.take_along_axis(logs, np.asarray(data.action)[..., None], -1)[..., 0]
        advantage = np.asarray(data.advantage, float)
        target = np.asarray(data.value, float) + advantage
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = np.exp(chosen - np.asarray(data.log_prob, float))
        policy = -np.minimum(ratio * advantage, np.clip(ratio, 0.8, 1.2) * advantage).mean()
        entropy = -(np.exp(logs) * logs).sum(-1).mean()
        return policy + c.value_coef * 0.5 * ((value - target) ** 2).mean() - 0.01 * entropy

    flat = [np.asarray(leaf, float) for leaf in leaves]
    _, _, metrics = made.update(params, made.optimizer.init(params), data, jax.random.key(0))
    np.testing.assert_allclose(metrics["loss"], loss(flat), rtol=1e-5)
    squares = 0.0
    for leaf in flat:
        for index in np.ndindex(leaf.shape):
            old = leaf[index]
            ends = []
            for step in (1e-5, -1e-5):
                leaf[index] = old + step
                ends.append(loss(flat))
            leaf[index] = old
            squares += ((ends[0] - ends[1]) / 2e-5) ** 2
    # central differences in float64 against float32 arithmetic
    np.testing.assert_allclose(metrics["grad_norm"], np.sqrt(squares), rtol=1e-4)
