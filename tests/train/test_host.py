"""Training around environments of the host: the data, both ways to start over, and the Game Boy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from tests.train.games import HostSigns

from hybridenv import make
from hybridenv.errors import ArgumentError, ConfigError
from hybridenv.train import Checkpoints, Config, evaluate, evaluate_vector, train
from hybridenv.train.host import HostLoop, _NoClock

SMALL: dict[str, Any] = {
    "env": "host", "n_envs": 8, "horizon": 7, "minibatches": 2, "epochs": 1, "hidden": (8,),
    "calls": 2, "chunk": 0, "shuffle": "rows", "devices": 1, "gamma": 0.9,
}  # fmt: skip


def loop(mode: AutoresetMode, **changes: Any) -> HostLoop:
    return HostLoop(Config(**SMALL | changes), lambda n: HostSigns(n, mode))


@pytest.mark.parametrize("network", ["mlp", "gru"])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_rollout_holds_what_happened(mode: AutoresetMode, network: str) -> None:
    shuffle = "rows" if network == "mlp" else "envs"
    made = loop(mode, network=network, shuffle=shuffle)
    state = made.init()
    groups = made._start(state.key)
    params = jax.tree.map(lambda leaf: leaf.addressable_data(0), state.params)
    data, sums = made._rollout(params, groups, jax.random.key(5), _NoClock())
    made.close()

    # Seven steps: episodes of three, which in NEXT_STEP are followed by a step that only resets.
    wasted = mode is AutoresetMode.NEXT_STEP
    shown = [0, 1, 2, 3, 0, 1, 2] if wasted else [0, 1, 2, 0, 1, 2, 0]
    assert np.array_equal(data.obs[..., 0], np.tile(shown, (8, 1)).T)
    over = [0, 0, 1, 0, 0, 0, 1] if wasted else [0, 0, 1, 0, 0, 1, 0]
    assert np.array_equal(data.ended[:, 0], np.array(over, bool))
    weight = [1, 1, 1, 0, 1, 1, 1] if wasted else [1] * 7
    assert np.array_equal(data.weight[:, 3], np.float32(weight))
    begins = np.array([1, 0, 0, 0, 1, 0, 0] if wasted else [1, 0, 0, 1, 0, 0, 1], bool)
    assert np.array_equal(data.restart[:, 7], begins)
    paid = [1, 2, 3, 0, 1, 2, 3] if wasted else [1, 2, 3, 1, 2, 3, 1]
    assert np.array_equal(data.reward[:, 0], np.float32(paid))
    assert sums == {"count": 16.0, "total": 96.0, "score": 96.0, "length": 48.0}
    assert not data.terminated.any()

    # The value that follows a cut is that of the observation that it led to, (3, first sign).
    first = data.obs[0, :, 1]
    carry = made.policy.initial(8)
    for t in range(3):
        _, value, carry = made.policy.step(params, data.obs[t], carry)
        np.testing.assert_allclose(value, data.value[t], atol=1e-5)
    final = np.stack([np.full(8, 3), first], axis=1).astype(np.float32)
    _, value, _ = made.policy.step(params, final, carry)
    np.testing.assert_allclose(data.next_value[2], value, atol=1e-5)
    np.testing.assert_allclose(data.next_value[0], data.value[1])
    # and what the environments were given is what was written down
    envs: list[Any] = made._envs
    given = np.concatenate([np.stack(env.actions) for env in envs], axis=1)
    assert np.array_equal(given, data.action)
    assert given.shape == (7, 8)


@pytest.mark.parametrize("n", [1, 7])
def test_an_odd_number_makes_groups_of_unequal_size(n: int) -> None:
    made = loop(AutoresetMode.SAME_STEP, n_envs=n, minibatches=1)
    envs: list[Any] = made._envs
    assert [env.num_envs for env in envs] == ([4, 3] if n == 7 else [1])
    state = made.init()
    params = jax.tree.map(lambda leaf: leaf.addressable_data(0), state.params)
    data, _ = made._rollout(params, made._start(state.key), jax.random.key(5), _NoClock())
    given = np.concatenate([np.stack(env.actions) for env in envs], axis=1)
    assert np.array_equal(given, data.action)
    assert np.array_equal(data.obs[..., 0], np.tile([0, 1, 2, 0, 1, 2, 0], (n, 1)).T)
    _, metrics = made.run(state)
    made.close()
    assert np.isfinite(metrics["loss"]).all()


def test_groups_and_threads_change_nothing() -> None:
    results = []
    for _ in range(2):
        made = loop(AutoresetMode.NEXT_STEP, n_envs=6)
        state, metrics = made.run(made.init())
        made.close()
        results.append((state.params, metrics))
    jax.tree.map(np.testing.assert_array_equal, *results)
    assert results[0][1]["loss"].shape == (2,)


@pytest.mark.parametrize("network", ["gru", "lstm"])
def test_a_memory_is_trained_on_several_devices(
    two_devices: list[jax.Device], network: str
) -> None:
    results = []
    for devices in (1, len(two_devices)):
        made = loop(AutoresetMode.SAME_STEP, network=network, shuffle="envs", devices=devices,
                    minibatches=1)  # fmt: skip
        state, metrics = made.run(made.init())
        made.close()
        assert np.isfinite(metrics["loss"]).all()
        results.append(flat(state.params))
    # One minibatch of all environments: the same gradient, summed up in another order.
    np.testing.assert_allclose(*results, atol=1e-5)


def test_overlap_acts_with_the_parameters_before(tmp_path: Path) -> None:
    made = loop(AutoresetMode.SAME_STEP, overlap=True)
    first = made.init()
    state, _ = made.run(first)
    made.close()
    assert not np.array_equal(*map(flat, (state.actor, state.params)))
    plain = loop(AutoresetMode.SAME_STEP)
    after, _ = plain.run(plain.init())
    plain.close()
    assert np.array_equal(*map(flat, (after.actor, after.params)))


def flat(params: Any) -> Any:
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(params)])


def test_a_run_that_goes_on_is_the_run_that_never_stopped(tmp_path: Path) -> None:
    def go(name: str, calls: int, resume: bool = False) -> Any:
        config = Config(**SMALL | {"steps": calls * 112, "checkpoint_every": 112})
        trainer = HostLoop(config, lambda n: HostSigns(n, AutoresetMode.NEXT_STEP))
        return train(config, out=tmp_path / name, trainer=trainer, resume=resume)

    whole = go("whole", 4)
    go("parts", 2)
    rest = go("parts", 4, resume=True)
    jax.tree.map(np.testing.assert_array_equal, rest.params, whole.params)
    assert len(rest.rows) == 4
    assert len(whole.rows) == 8


class Failing(HostSigns):
    """Raises in a step."""

    after = 25

    def step(self, actions: Any) -> Any:
        if len(self.actions) == self.after:
            raise ArithmeticError("the game broke")
        return super().step(actions)


def test_an_environment_that_raises_loses_only_its_call(tmp_path: Path) -> None:
    def go(made: type[HostSigns], **options: Any) -> Any:
        config = Config(**SMALL | {"steps": 8 * 56})
        trainer = HostLoop(config, lambda n: made(n, AutoresetMode.NEXT_STEP))
        return train(config, out=tmp_path, trainer=trainer, **options)

    with pytest.raises(ArithmeticError, match="the game broke") as e:
        go(Failing)  # in the fourth iteration, which is in the second call of two
    assert Checkpoints(tmp_path / "checkpoints").steps() == [2 * 56]
    assert e.value.__notes__ == [f"112 steps are kept in checkpoint {tmp_path}/checkpoints/112"]
    rest = go(HostSigns, resume=True)
    assert [row["iteration"] for row in rest.rows] == list(range(3, 9))


def test_an_environment_that_raises_at_once_leaves_nothing(tmp_path: Path) -> None:
    trainer = HostLoop(Config(**SMALL), lambda n: Failing(n, AutoresetMode.NEXT_STEP))
    trainer._envs[1].after = 3  # type: ignore[attr-defined]
    with pytest.raises(ArithmeticError) as e:
        train(trainer.config, out=tmp_path, trainer=trainer)
    assert Checkpoints(tmp_path / "checkpoints").steps() == []
    assert not hasattr(e.value, "__notes__")


def test_an_iteration_keeps_every_type_and_place(two_devices: list[jax.Device]) -> None:
    """With others, the second one would compile the update again."""
    made = loop(AutoresetMode.SAME_STEP, devices=2, scale_rewards=True, calls=1)
    first = made.init()
    made.cut()
    second, _ = made.run(first)
    made.cut()
    third, _ = made.run(second)
    made.close()
    for later in (second, third):
        jax.tree.map(
            lambda x, y: np.testing.assert_equal(
                (jax.typeof(x), x.sharding), (jax.typeof(y), y.sharding)
            ),
            first,
            later,
        )


def test_the_phases_of_an_iteration_are_timed() -> None:
    made = loop(AutoresetMode.NEXT_STEP)
    state, seconds = made.timed(made.init())
    made.close()
    assert int(state.iteration) == 1
    assert set(seconds) == {"environment", "forward", "backward", "transfer", "rest"}
    assert min(seconds.values()) > 0


def test_game_boys_are_trained(tmp_path: Path) -> None:
    config = Config.of(
        "gameboy",
        {"n_envs": 4, "horizon": 6, "steps": 48, "minibatches": 2, "hidden": [16], "epochs": 1,
         "env_args": {"max_episode_steps": 4}},
    )  # fmt: skip
    result = train(config, out=tmp_path)
    assert len(result.rows) == 2
    assert np.isfinite([row["loss"] for row in result.rows]).all()
    assert result.rows[0]["length"] == 4
    assert result.policy.obs.kept_shape == (36, 40)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_the_first_episode_of_each_environment_is_judged(mode: AutoresetMode) -> None:
    made = loop(mode)
    state = made.init()
    params = jax.tree.map(lambda leaf: leaf.addressable_data(0), state.params)
    seen: list[int] = []
    found = evaluate_vector(HostSigns(4, mode), made.policy, params, on_step=lambda: seen.append(1))
    made.close()
    assert found.returns.tolist() == [1 + 2 + 3] * 4
    assert found.lengths.tolist() == [3] * 4
    assert len(seen) == 3


def test_what_cannot_be_judged_is_refused() -> None:
    mode = AutoresetMode.NEXT_STEP
    made, games = loop(mode), HostSigns(2, mode)
    params = made.init().params
    with pytest.raises(ArgumentError, match="max_steps: got 0"):
        evaluate_vector(games, made.policy, params, max_steps=0)
    with pytest.raises(ArgumentError, match="seed: got -1"):
        evaluate_vector(games, made.policy, params, seed=-1)
    with pytest.raises(ArgumentError, match="expected a vector environment"):
        evaluate_vector(gymnasium.make("CartPole-v1"), made.policy, params)  # type: ignore[arg-type]
    words = r"got one of observations float32\[2\] and 2 actions .*, which has .* float32\[4\]"
    with pytest.raises(ArgumentError, match=words):
        evaluate_vector(gymnasium.make_vec("CartPole-v1", num_envs=2), made.policy, params)
    words = r"for hopper, which has observations float32\[11\] and float32\[3\] as action"
    with pytest.raises(ArgumentError, match=words):
        evaluate(*make("hopper"), made.policy, params, episodes=1)
    made.close()


def test_any_gymnasium_environment_is_trained() -> None:
    config = Config.of("CartPole-v1", {"n_envs": 4, "steps": 2_000, "horizon": 32})
    result = train(config)
    assert result.rows[-1]["steps"] >= 2_000
    assert result.rows[-1]["return"] > 10


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"env": "Chess-v9"},
            "env: got 'Chess-v9', expected one of .*'pong', 'walker2d', 'gameboy'",
        ),
        ({"env": "gameboy", "env_args": {"frames": 2}}, "env_args: got .*frames"),
        ({"env": "CartPole-v1", "env_args": {"moons": 2}}, "env_args: got .*moons"),
        ({"env": "no_such_module:Chess-v0"}, "'no_such_module:Chess-v0' .*ModuleNotFoundError"),
        (
            {"env": "FrozenLake-v1", "env_args": {"map_name": "nowhere"}},
            "'FrozenLake-v1' with env_args .*nowhere.* cannot be made: KeyError",
        ),
        ({"env": "Blackjack-v1"}, "Blackjack-v1: got observations"),
        ({"env": "CartPole-v1", "n_seeds": 2}, "n_seeds: got 2, expected 1"),
        ({"env": "CartPole-v1", "devices": 999, "steps": 8}, "devices: got 999, expected 1 to"),
    ],
)
def test_what_cannot_be_trained_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        train(Config(**SMALL | changes))


def test_episodes_must_start_over_by_themselves() -> None:
    with pytest.raises(ConfigError, match=r"autoreset_mode: got .*DISABLED"):
        loop(AutoresetMode.DISABLED)
