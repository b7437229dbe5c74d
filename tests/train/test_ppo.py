"""The compiled program: what it records, what it learns, and that it always does the same."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec
from tests.train.games import Signs

from hybridenv.errors import ConfigError
from hybridenv.train.config import Config
from hybridenv.train.evaluate import evaluate
from hybridenv.train.networks import emptied
from hybridenv.train.ppo import Program

SMALL: dict[str, Any] = {
    "env": "signs", "n_envs": 16, "horizon": 8, "minibatches": 2, "hidden": (16,), "chunk": 32,
    "calls": 2, "lr": 1e-2, "gamma": 0.5,
}  # fmt: skip


def program(devices: list[jax.Device], env: Any = None, **changes: Any) -> Program:
    return Program(env or Signs(), None, Config(**SMALL | changes), devices)


def same(a: Any, b: Any) -> None:
    jax.tree.map(
        lambda x, y: np.testing.assert_array_equal(
            *(np.asarray(jax.random.key_data(z) if is_key(z) else z) for z in (x, y))
        ),
        a,
        b,
    )


def is_key(x: Any) -> bool:
    return bool(jnp.issubdtype(x.dtype, jax.dtypes.prng_key))


@pytest.mark.parametrize("network", ["mlp", "gru"])
def test_a_rollout_holds_what_happened(one_device: list[jax.Device], network: str) -> None:
    made = program(one_device, network=network, chunk=0)
    state = made.init()
    own = PartitionSpec()

    def collect(state: Any) -> Any:
        return made.rollout(state, state.key)[:2]

    after, data = jax.jit(
        jax.shard_map(collect, mesh=made._mesh, in_specs=own, out_specs=own, check_vma=False)
    )(state)
    obs, restart = np.asarray(data.obs), np.asarray(data.restart)
    sign = obs[..., :3].argmax(-1)
    reward = (np.asarray(data.action) == sign).astype(np.float32)
    steps = np.round(obs[..., 3] * 5).astype(int)
    assert np.array_equal(restart, steps == 0)
    over = steps == 4
    terminated = over & (sign % 2 == 0)
    assert terminated.any()
    assert (over & ~terminated).any()

    # Advantages once more, in NumPy: what a cut-off episode would have been worth comes from the
    # network's look at an observation that the rollout does not hold.
    gamma, lam = made.config.gamma, made.config.gae_lambda
    value = np.asarray(data.value)
    carry = state.carry
    for t in range(8):
        memory = emptied(carry, data.restart[t])
        _, v, carry = made.policy.step(state.params, data.obs[t], memory)
        np.testing.assert_allclose(v, value[t], atol=1e-5)
    _, last, _ = made.policy.step(state.params, after.obs, emptied(after.carry, after.restart))
    advantage = np.asarray(data.advantage)
    following = np.concatenate([value[1:], np.asarray(last)[None]])
    later = np.concatenate([advantage[1:], np.zeros((1, 16), np.float32)])
    wanted = reward + gamma * following - value + gamma * lam * later
    wanted = np.where(terminated, reward - value, wanted)
    known = ~over | terminated
    np.testing.assert_allclose(advantage[known], wanted[known], atol=1e-5)
    # The true final observation shows five steps done and one of three signs.
    possible = np.zeros((3, 16, 4), np.float32)
    for i in range(3):
        possible[i, :, i] = 1
    possible[..., 3] = 1
    carry = state.carry
    for t in range(8):
        memory = emptied(carry, data.restart[t])
        _, _, carry = made.policy.step(state.params, data.obs[t], memory)
        worth = [made.policy.step(state.params, jnp.asarray(p), carry)[1] for p in possible]
        rows = np.flatnonzero(over[t] & ~terminated[t])
        for row in rows:
            got = (advantage[t, row] - reward[t, row] + value[t, row]) / gamma
            assert min(abs(float(w[row]) - got) for w in worth) < 1e-4


@pytest.mark.parametrize("continuous", [False, True])
def test_it_learns(two_devices: list[jax.Device], continuous: bool) -> None:
    made = program(two_devices, Signs(continuous=continuous), n_envs=64, calls=40)
    state = made.init()
    env = made._env.unwrapped
    before = evaluate(env, None, made.policy, state.params, episodes=64)
    state, metrics = made.run(state)
    after = evaluate(env, None, made.policy, state.params, episodes=64)
    assert after.lengths.tolist() == [5.0] * 64
    assert after.returns.mean() > 4.5 > 3 > before.returns.mean()
    assert metrics["loss"].shape == (40,)
    assert metrics["episodes"].sum() == pytest.approx(40 * 8 * 64 / 5, abs=64)
    assert float(metrics["return"][-1]) > float(metrics["return"][0]) + 1
    # both devices hold the same parameters
    for leaf in jax.tree.leaves(state.params):
        one, two = (np.asarray(shard.data) for shard in leaf.addressable_shards)
        assert np.array_equal(one, two)


def test_a_run_is_the_same_each_time_and_in_any_company(one_device: list[jax.Device]) -> None:
    runs = []
    for seed in (3, 4):
        made = program(one_device, seed=seed)
        state, metrics = made.run(made.init())
        runs.append((state, metrics))
    again = program(one_device, seed=3)
    same(again.run(again.init()), runs[0])
    both = program(one_device, seed=3, n_seeds=2)
    together = both.run(both.init())
    for i, run in enumerate(runs):
        same(jax.tree.map(lambda leaf: leaf[i], together), run)  # noqa: B023
    assert not np.array_equal(runs[0][1]["loss"], runs[1][1]["loss"])


def test_calls_do_not_matter(one_device: list[jax.Device]) -> None:
    long = program(one_device, calls=4)
    wanted, _ = long.run(long.init())
    short = program(one_device, calls=2)
    got, _ = short.run(short.init())
    got, _ = short.run(got)
    same(got, wanted)


@pytest.mark.parametrize(
    "changes",
    [{}, {"network": "gru"}, {"normalize_observations": True, "scale_rewards": True}],
    ids=["plain", "memory", "scaled"],
)
@pytest.mark.parametrize("continuous", [False, True])
def test_new_numbers_compile_nothing(
    one_device: list[jax.Device], continuous: bool, changes: dict[str, Any]
) -> None:
    made = program(one_device, Signs(continuous=continuous), **changes)
    state, _ = made.run(made.init())
    made.run(state)
    assert made.run._cache_size() == 1


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("network", ["mlp", "gru", "lstm"])
def test_a_call_keeps_every_type(
    one_device: list[jax.Device], network: str, continuous: bool
) -> None:
    """With other types, weak ones too, the second call would compile the program again."""
    made = program(
        one_device,
        Signs(continuous=continuous),
        network=network,
        normalize_observations=True,
        scale_rewards=True,
        separate_value=network == "mlp",
    )
    state = made.init()
    after, _ = jax.eval_shape(made.run, state)
    jax.tree.map(
        lambda x, y: np.testing.assert_equal(
            (x.shape, x.dtype, x.weak_type), (y.shape, y.dtype, y.weak_type)
        ),
        jax.tree.map(jax.typeof, state),
        after,
    )


def test_devices_are_checked(two_devices: list[jax.Device]) -> None:
    with pytest.raises(ConfigError, match="n_envs: got 15, which 2 devices"):
        program(two_devices, n_envs=15, minibatches=1)
    with pytest.raises(ConfigError, match="devices: got 999, expected 1 to"):
        Program(Signs(), None, Config(**SMALL | {"devices": 999}))
