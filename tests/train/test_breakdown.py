"""Where the time goes: parts that do what the whole does, and references that fit."""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import median
from typing import Any

import jax
import numpy as np
import pytest
from tests.train.games import Signs, Tape

from hybridenv.envs import make
from hybridenv.errors import ArgumentError, ConfigError
from hybridenv.train import Config
from hybridenv.train.breakdown import (
    _ROUNDS,
    PARTS,
    SAMPLES,
    Breakdown,
    _divided,
    _draw_plainly,
    _Parts,
    measure,
    write,
)
from hybridenv.train.ppo import Program
from hybridenv.train.references import REFERENCES, make_reference

SMALL: dict[str, Any] = {
    "n_envs": 8, "horizon": 6, "minibatches": 2, "epochs": 1, "hidden": (8,), "calls": 1,
    "chunk": 0, "shuffle": "envs",
}  # fmt: skip


def parts(env: Any, env_params: Any, config: Config) -> tuple[Program, _Parts]:
    program = Program(env, env_params, config)
    return program, _Parts(program, env, env_params)


@pytest.mark.parametrize(("network", "continuous"), [("mlp", False), ("gru", True)])
def test_parts_do_again_what_was_recorded(
    two_devices: list[jax.Device], network: str, continuous: bool
) -> None:
    """Environments of two devices: episodes end, actions lie outside of their bounds."""
    config = Config(env="signs", network=network, **SMALL)
    program, apart = parts(Signs(3, continuous=continuous), None, config)
    state, _ = program.run(program.init())
    recorded = apart.record(state)
    data = jax.device_get(recorded.data)
    assert data.restart[1:].any()
    assert not continuous or np.abs(data.action).max() > 1

    _, (obs, reward, terminated, truncated) = apart.environment(recorded)
    assert obs.shape == (_ROUNDS, 6, 8, 4)
    assert np.array_equal(obs[0, :-1], data.obs[1:])
    assert np.array_equal((terminated | truncated)[0, :-1], data.restart[1:])
    assert len({leaf.tobytes() for leaf in np.asarray(obs)}) > _ROUNDS / 2  # it plays on
    assert np.isfinite(reward).all()

    action, log_prob, value = apart.forward((state.params, recorded))
    np.testing.assert_allclose(action, data.action, atol=1e-5)
    np.testing.assert_allclose(log_prob, data.log_prob, atol=1e-5)
    np.testing.assert_allclose(value, data.value, atol=1e-5)

    before = jax.device_get(state.params)
    after, again = apart.backward((state, recorded))
    changed = [
        not np.array_equal(*pair)
        for pair in zip(jax.tree.leaves(before), jax.tree.leaves(after.params), strict=True)
    ]
    assert all(changed)
    assert np.array_equal(again.data.obs, data.obs)
    assert int(jax.tree.leaves(after.opt_state)[0]) == 4  # two updates here, two in the run before


def test_every_network_learns_as_much_from_a_step() -> None:
    sizes = {2_000_000: 16, 20_000_000: 4, 200_000_000: 1}
    for size, updates in sizes.items():
        config = _divided(Config(env="pong", n_envs=64, minibatches=1, devices=1), size, SAMPLES)
        assert (config.minibatches, config.batch) == (updates, updates * SAMPLES)
    odd = _divided(Config(env="pong", n_envs=6, minibatches=1, devices=2), 1_000, 4)
    assert (odd.horizon, odd.minibatches) == (3, 3)  # 6 steps an update: one of each environment


def test_matrices_are_drawn_plainly_and_what_is_measured_is_not() -> None:
    env, env_params = make("half_cheetah")
    config = Config(env="half_cheetah", normalize_observations=True, **SMALL)
    program = Program(env, env_params, config)
    usual = jax.jit(program.make_params)(jax.random.key(1))
    _draw_plainly(program)
    plain = jax.jit(program.make_params)(jax.random.key(1))
    kept, drawn = 0, 0
    for before, after in zip(jax.tree.leaves(usual), jax.tree.leaves(plain), strict=True):
        same = np.array_equal(before, after)
        assert same == (before.ndim < 2)
        kept, drawn = kept + same, drawn + (not same)
        assert same or 0.1 < float(after.std()) * max(after.shape) ** 0.5 < 2
    assert (kept, drawn) == (6, 2)  # biases, deviation, three measures; the layer and the heads


def test_iterations_divide() -> None:
    spent = {"environment": [1.0, 3.0, 2.0], "forward": [1.0, 1.0, 6.0]}
    one = Breakdown("pong", 9, n_envs=4, horizon=5, updates=1, repeats=spent, iterations=[4.0, 2.0])
    assert one.seconds == {"environment": 2.0, "forward": 1.0}
    assert one.shares["environment"] == pytest.approx(2 / 3)
    assert one.share_in_repeats("environment") == [0.5, 0.75, 0.25]
    assert one.steps_per_second == pytest.approx(20 / 3)


@pytest.mark.parametrize("env", ["pong", "pong-python", "CartPole-v1"])
def test_where_the_time_goes(env: str, tmp_path: Path) -> None:
    one = measure(env, 2_000, n_envs=8, samples=16, repeats=2)
    assert 1_000 < one.params <= 2_000
    assert (one.n_envs, one.horizon) == (8, 2 * one.updates)
    assert set(one.repeats) == set(PARTS)
    assert {len(times) for times in (*one.repeats.values(), one.iterations)} == {2}
    for part in PARTS[:-1]:
        assert min(one.repeats[part]) > 0
    assert sum(one.shares.values()) == pytest.approx(1)
    paths = write([one, one], tmp_path)
    assert [path.name for path in paths] == ["breakdown.json", "breakdown.png"]
    rows = json.loads(paths[0].read_text())
    assert rows[1]["shares"] == pytest.approx(one.shares)
    assert paths[1].read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(ConfigError, match="params: got 3, expected at least"):
        measure("pong", 3)
    with pytest.raises(ArgumentError, match="samples"):
        measure("pong", 2_000, samples=0)


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_shows_and_takes_what_ours_does(name: str) -> None:
    needed = {"-mujoco": "mujoco", "-pyboy": "pyboy"}
    for end, package in needed.items():
        if name.endswith(end):
            pytest.importorskip(package, reason=f"{package} is not installed")
    ours = Config.of(REFERENCES[name].of)
    theirs = make_reference(Config.of(ours.env).with_changes({"env": name}), 2)
    try:
        if ours.env == "gameboy":
            shape: tuple[int, ...] = (144, 160)
        else:
            env, env_params = make(ours.env, **ours.env_args)
            shape = env.observation_space(env_params).shape
            assert env.action_space(env_params).to_gymnasium() == theirs.single_action_space
        assert theirs.single_observation_space.shape == shape
        obs, _ = theirs.reset(seed=1)
        assert obs.shape == (2, *shape)
        theirs.action_space.seed(1)
        for _ in range(3):
            obs, reward, *_ = theirs.step(theirs.action_space.sample())
        assert obs.shape == (2, *shape)
        assert np.isfinite(reward).all()
    finally:
        theirs.close()


def test_there_are_references() -> None:
    assert {reference.of for reference in REFERENCES.values()} == {
        "pong", "half_cheetah", "hopper", "walker2d", "gameboy",
    }  # fmt: skip


@pytest.mark.slow
def test_environments_cost_apart_what_they_cost_inside() -> None:
    """A whole iteration takes longer than one with recorded data by the environments' part."""
    jax.config.update("jax_disable_most_optimizations", False)  # `compile_fast` restores it
    env, env_params = make("half_cheetah")
    config = Config(env="half_cheetah", **SMALL | {"n_envs": 64, "horizon": 128, "lr": 1e-9})
    program, apart = parts(env, env_params, config)
    state, _ = program.run(program.init())
    recorded = apart.record(state)
    tape = Program(env, env_params, config)
    rows = config.n_envs // len(tape.devices)
    tape._env = Tape(tape._env, np.asarray(recorded.data.obs)[:, :rows])  # type: ignore[assignment]
    taped, _ = tape.run(tape.init())
    jax.block_until_ready(apart.environment(recorded))

    def seconds(function: Any, argument: Any) -> tuple[float, Any]:
        begin = time.perf_counter()
        result = jax.block_until_ready(function(argument))
        return time.perf_counter() - begin, result

    inside, outside = [], []
    for _ in range(15):
        whole, (state, _) = seconds(program.run, state)
        without, (taped, _) = seconds(tape.run, taped)
        environment, _ = seconds(apart.environment, recorded)
        inside.append(whole - without)
        outside.append(environment / _ROUNDS)
    assert 0.6 < median(inside) / median(outside) < 1.6
