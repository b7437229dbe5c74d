"""Running normalisation: the measures, that they are used, kept, and off unless asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import PartitionSpec
from tests.train.games import HostSigns, Signs

from hybridenv.errors import ConfigError
from hybridenv.train.config import Config
from hybridenv.train.evaluate import evaluate
from hybridenv.train.host import HostLoop
from hybridenv.train.networks import ActionSpec, ObsSpec, build
from hybridenv.train.normalize import Moments, RewardScale, discounted, measured
from hybridenv.train.ppo import AXIS, Program
from hybridenv.train.run import load, train

SMALL: dict[str, Any] = {
    "env": "signs", "n_envs": 16, "horizon": 8, "minibatches": 2, "hidden": (16,), "chunk": 32,
    "calls": 2, "lr": 1e-2, "gamma": 0.5,
}  # fmt: skip
ON = {"normalize_observations": True, "scale_rewards": True}


class FarSigns(Signs):
    """The same game, shown from far away and paid in another currency."""

    def observe(self, state: Any, params: None) -> jax.Array:
        return 300 + 0.05 * super().observe(state, params)

    def step(self, key: Any, state: Any, action: Any, params: None) -> Any:
        obs, after, reward, *rest = super().step(key, state, action, params)
        return obs, after, 1_000 * reward, *rest


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_moments_of_parts_join_to_those_of_the_whole(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = [rng.normal(3, 2, (size, 2, 3)).astype(np.float32) for size in sizes]
    now = Moments.none((3,))
    for part in numbers:
        now = now.joined(measured(jnp.asarray(part), None, None))
    whole = np.concatenate(numbers).reshape(-1, 3)
    assert int(now.count) == len(whole)
    if len(whole):
        np.testing.assert_allclose(now.mean, whole.mean(0), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(now.variance, whole.var(0), rtol=1e-4, atol=1e-5)
    else:
        assert now.mean.tolist() == [0, 0, 0]
        assert now.variance.tolist() == [1, 1, 1]


def test_steps_without_weight_are_not_measured(rng: np.random.Generator) -> None:
    numbers = rng.normal(size=(5, 4, 2)).astype(np.float32)
    weight = (rng.random((5, 4)) < 0.5).astype(np.float32)
    got = measured(jnp.asarray(numbers), jnp.asarray(weight), None)
    counted = numbers[weight == 1]
    assert int(got.count) == len(counted) > 4
    np.testing.assert_allclose(got.mean, counted.mean(0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got.variance, counted.var(0), rtol=1e-5)


def test_devices_measure_together(two_devices: list[jax.Device], rng: np.random.Generator) -> None:
    numbers = rng.normal(5, 3, (6, 8, 2)).astype(np.float32)
    mesh = jax.sharding.Mesh(np.array(two_devices), (AXIS,))
    both = jax.jit(
        jax.shard_map(
            lambda x: measured(x, None, AXIS),
            mesh=mesh,
            in_specs=PartitionSpec(None, AXIS),
            out_specs=PartitionSpec(),
            check_vma=False,
        )
    )(numbers)
    np.testing.assert_allclose(both.mean, numbers.mean((0, 1)), rtol=1e-5)
    np.testing.assert_allclose(both.variance, numbers.var((0, 1)), rtol=1e-5)
    assert int(both.count) == 48


def test_sums_of_rewards_begin_anew_with_each_episode() -> None:
    rewards = jnp.asarray([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    ended = jnp.asarray([[False, False], [True, False], [False, False]])
    sums, after = discounted(rewards, ended, jnp.asarray([8.0, 0.0]), 0.5)
    assert sums.tolist() == [[5, 1], [4.5, 2.5], [4, 5.25]]
    assert after.tolist() == [4, 5.25]
    _, after = discounted(rewards, jnp.ones((3, 2), bool), jnp.zeros(2), 0.5)
    assert after.tolist() == [0, 0]


def test_rewards_are_divided_by_the_deviation_of_their_sums(rng: np.random.Generator) -> None:
    scale, total, seen = RewardScale.none(4), np.zeros(4), []
    for _ in range(3):
        rewards = rng.normal(2, 30, (5, 4)).astype(np.float32)
        ended = rng.random((5, 4)) < 0.3
        scaled, scale = scale.apply(jnp.asarray(rewards), jnp.asarray(ended), 0.9, None, None)
        for reward, over in zip(rewards, ended, strict=True):
            total = 0.9 * total + reward
            seen.append(total.copy())
            total[over] = 0
        np.testing.assert_allclose(scaled, rewards / np.std(seen), rtol=1e-4)
        np.testing.assert_allclose(scale.sums, total, rtol=1e-4, atol=1e-4)


def program(devices: list[jax.Device], env: Any = None, **changes: Any) -> Program:
    return Program(env or Signs(), None, Config(**SMALL | changes), devices)


def leaves(params: Any) -> dict[str, Any]:
    return {
        jax.tree_util.keystr(path): np.asarray(leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(params)
    }


def test_a_network_sees_what_is_normalised_by_all_before(two_devices: list[jax.Device]) -> None:
    made = program(two_devices, FarSigns(), **ON)
    state = made.init()
    first = leaves(state.params)
    measures = [name for name in first if "normalizer" in name]
    assert len(measures) == 3
    state, metrics = made.run(state)
    assert np.isfinite(np.asarray(metrics["loss"])).all()
    after = leaves(state.params)
    count, mean, variance = (
        next(after[name] for name in measures if part in name)
        for part in ("count", "mean", "variance")
    )
    assert count == 2 * 8 * 16
    assert np.all(np.abs(mean - 300) < 0.05)
    assert np.all((variance > 1e-6) & (variance < 1e-3))
    # The measures are no weights: Adam has left them alone, and its own memory of them is empty.
    moments = [leaf for name, leaf in leaves(state.opt_state).items() if "normalizer" in name]
    assert len(moments) == 6
    assert not any(leaf.any() for leaf in moments)
    # What the network makes of observations is what it makes of normalised ones.
    plain_policy, _ = build(made.policy.obs, made.policy.action, Config(**SMALL))
    plain_params, _ = jax.tree.flatten({k: v for k, v in after.items() if "normalizer" not in k})
    plain = jax.tree.unflatten(jax.tree.structure(program(two_devices).init().params), plain_params)
    obs = 300 + 0.05 * np.random.default_rng(0).random((32, 4)).astype(np.float32)
    normal = np.clip((obs - mean) / np.sqrt(variance + 1e-8), -10, 10)
    got: Any = made.policy.step(state.params, jnp.asarray(obs), ())
    wanted: Any = plain_policy.step(plain, jnp.asarray(normal), ())
    np.testing.assert_allclose(got[0].log_probs, wanted[0].log_probs, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got[1], wanted[1], rtol=1e-4, atol=1e-5)


def test_acting_and_learning_have_one_measure(one_device: list[jax.Device]) -> None:
    """With a step size of nothing the ratio of both stays 1, also where the measure changes."""
    made = program(one_device, FarSigns(), lr=1e-30, epochs=3, calls=4, **ON)
    _, metrics = made.run(made.init())
    assert np.abs(np.asarray(metrics["approx_kl"])).max() < 1e-6
    assert not np.asarray(metrics["clip_fraction"]).any()


def test_far_away_games_are_learned_with_it_and_not_without(
    two_devices: list[jax.Device],
) -> None:
    reached = {}
    for on in (True, False):
        changes = ON if on else {}
        made = program(two_devices, FarSigns(), n_envs=64, calls=40, **changes)
        state, metrics = made.run(made.init())
        env = made._env.unwrapped
        reached[on] = evaluate(env, None, made.policy, state.params, episodes=64).returns.mean()
        assert float(metrics["return"][-1]) > 1_000  # as it is paid, not as it is scaled
    assert reached[True] > 4_500 > 3_000 > reached[False]


def test_without_it_nothing_is_there(one_device: list[jax.Device]) -> None:
    made = program(one_device)
    state = made.init()
    assert state.scale is None
    assert not any("normalizer" in name for name in leaves(state.params))
    assert made.policy.observed(state.params, state.obs[None], None, None) is state.params
    scaled = program(one_device, **ON).init()
    assert len(jax.tree.leaves(scaled)) == len(jax.tree.leaves(state)) + 3 + 6 + 4


def test_bytes_are_not_normalised_twice() -> None:
    config = Config(env="pixels", normalize_observations=True)
    with pytest.raises(ConfigError, match=r"normalize_observations: got true for .* uint8"):
        build(ObsSpec((8, 8), "uint8"), ActionSpec(3), config)


def test_runs_go_on_from_checkpoints_with_their_measures(
    tmp_path: Path, one_device: list[jax.Device]
) -> None:
    def run(steps: int, resume: bool = False, out: Path | None = None) -> Any:
        made = program(one_device, FarSigns(), steps=steps, **ON)
        return train(made.config, out=out, resume=resume, trainer=made)

    whole = run(1_024)
    run(512, out=tmp_path / "run")
    resumed = run(1_024, resume=True, out=tmp_path / "run")
    assert len(resumed.rows) == 4
    assert leaves(whole.params).keys() == leaves(resumed.params).keys()
    for name, leaf in leaves(whole.params).items():
        np.testing.assert_array_equal(leaf, leaves(resumed.params)[name], err_msg=name)


def test_policies_are_loaded_with_their_measures(tmp_path: Path) -> None:
    config = Config.of(
        "pong", {"steps": 256, "n_envs": 8, "horizon": 8, "minibatches": 2, "chunk": 0,
                 "calls": 2, "hidden": [8], **ON},
    )  # fmt: skip
    result = train(config, out=tmp_path / "run")
    _, policy, params = load(tmp_path / "run")
    assert policy.normalized
    for name, leaf in leaves(result.params).items():
        np.testing.assert_array_equal(leaf, leaves(params)[name], err_msg=name)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_environments_of_the_host_are_measured_too(mode: AutoresetMode) -> None:
    config = Config(**SMALL | {"n_envs": 4, "minibatches": 1, "calls": 1} | ON)
    loop = HostLoop(config, lambda n: HostSigns(n, mode))
    try:
        state, _ = loop.run(loop.init())
        count = next(v for k, v in leaves(state.params).items() if "count" in k)
        assert state.scale is not None
        # Episodes have three steps, and in the next-step mode a fourth in which nothing is done.
        steps = 8 * 4 if mode is AutoresetMode.SAME_STEP else 6 * 4
        assert int(count) == int(state.scale.moments.count) == steps
        sums = np.asarray(state.scale.sums)
        again, _ = loop.run(state)
        assert again.scale is not None
        loop.cut()
        begun, _ = loop._begin(again)
        assert begun.scale is not None
        assert not np.asarray(begun.scale.sums).any()
    finally:
        loop.close()
    assert sums.shape == (4,)
