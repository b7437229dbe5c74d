"""Resets: where bodies begin, and that it differs."""

import jax
import numpy as np
import pytest
from tests.envs.locomotion.rivals import BODIES, made, precision, rival

from hybridenv.envs import AutoReset, Batch
from hybridenv.envs.locomotion import Noise

MANY = 20_000


@pytest.mark.parametrize("body", BODIES)
def test_resets_are_distributed_as_gymnasiums(body: str) -> None:
    """Means, deviations and bounds of every coordinate, over 20,000 resets of each."""
    theirs = rival(body)
    samples = []
    for seed in range(MANY // 100):
        theirs.reset(seed=seed)
        for _ in range(100):
            theirs.reset_model()
            samples.append(theirs.state_vector())
    expected = np.array(samples)
    ours, params = made(body)
    games = Batch(ours, MANY)
    _, state = jax.jit(games.reset)(jax.random.key(0), params)
    got = np.concatenate([state.physics.qpos, state.physics.qvel], axis=1)
    scale = ours.reset_noise_scale
    # Both are means of 20,000: their difference has a deviation of 0.01 of that of one number.
    np.testing.assert_allclose(got.mean(0), expected.mean(0), atol=0.05 * scale)
    np.testing.assert_allclose(got.std(0), expected.std(0), rtol=0.04)
    usual, nq = np.asarray(ours.model.qpos0), ours.model.nq
    assert np.abs(got[:, :nq] - usual).max() <= scale * 1.0001
    even = body != "half_cheetah"
    assert (np.abs(got[:, nq:]).max() <= scale * 1.0001) == even
    assert not np.asarray(state.physics.warm).any()
    assert not np.asarray(state.elapsed).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("body", BODIES)
def test_draws_can_be_injected(body: str, dtype: str, rng: np.random.Generator) -> None:
    with precision(dtype):
        ours, params = made(body, dtype=dtype, reset_noise_scale=0.25)
        nq = ours.model.nq
        noise = Noise(rng.uniform(-1, 1, nq), rng.normal(size=nq))
        obs, state = ours.reset_with(noise, params)
        np.testing.assert_allclose(
            state.physics.qpos,
            np.add(ours.model.qpos0, 0.25 * noise.position),
            rtol=1e-6,
            atol=1e-7,
        )
        np.testing.assert_allclose(state.physics.qvel, 0.25 * noise.velocity, rtol=1e-6)
        assert obs.dtype == state.physics.qpos.dtype == dtype
        drawn = ours.reset_draws(jax.random.key(1), params, (2, 3))
        assert drawn.position.shape == drawn.velocity.shape == (2, 3, nq)
        assert drawn.position.dtype == dtype


@pytest.mark.parametrize("body", BODIES)
def test_without_noise_bodies_begin_where_the_model_is_drawn(body: str) -> None:
    ours, params = made(body, reset_noise_scale=0)
    _, state = ours.reset(jax.random.key(3), params)
    assert np.array_equal(state.physics.qpos, np.asarray(ours.model.qpos0, np.float32))
    assert not np.asarray(state.physics.qvel).any()


def test_every_restart_draws_anew() -> None:
    ours, params = made("hopper", time_limit=1, terminate_when_unhealthy=False)
    games = Batch(AutoReset(ours), 16)

    def play(state, key):  # type: ignore[no-untyped-def]
        obs, state, *_ = games.step(key, state, np.zeros((16, 3), np.float32), params)
        return state, obs

    _, state = games.reset(jax.random.key(0), params)
    _, seen = jax.jit(lambda s, k: jax.lax.scan(play, s, k))(
        state, jax.random.split(jax.random.key(1), 4)
    )
    begun = np.asarray(seen).reshape(-1, 11)
    assert len(np.unique(begun, axis=0)) == 64
