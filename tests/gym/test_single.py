"""`GameBoyEnv` is one machine of `GameBoyVectorEnv`."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from hybridenv import ActionError, ArgumentError, NotResetError
from hybridenv.gym import ENV_ID, GameBoyEnv, GameBoyVectorEnv


@pytest.mark.parametrize(
    "options",
    [{}, {"obs": "rgb", "actions": "buttons"}, {"obs": "packed", "noop_max": 30}],
    ids=["default", "rgb and buttons", "packed"],
)
def test_passes_the_checker_of_gymnasium(options: dict[str, Any]) -> None:
    env = gymnasium.make(ENV_ID, render_mode="rgb_array", **options)
    check_env(env.unwrapped)


def test_registers_when_its_module_is_named() -> None:
    env = gymnasium.make(f"hybridenv.gym:{ENV_ID}")
    assert isinstance(env.unwrapped, GameBoyEnv)


def test_equals_one_machine_of_many(rng: np.random.Generator) -> None:
    vector = GameBoyVectorEnv(3, max_episode_steps=60)
    single = GameBoyEnv(max_episode_steps=60)
    batch, columns = vector.reset(seed=40)
    obs, info = single.reset(seed=42)
    assert np.array_equal(obs, batch[2])
    assert {key: int(value) for key, value in info.items()} == {
        key: int(values[2]) for key, values in columns.items() if not key.startswith("_")
    }
    assert info["lives"] == 3
    for _ in range(59):
        actions = rng.integers(0, 11, 3)
        batch, rewards, terminated, truncated, columns = vector.step(actions)
        obs, reward, over, cut, info = single.step(actions[2])
        assert np.array_equal(obs, batch[2])
        assert (reward, over, cut) == (rewards[2], terminated[2], truncated[2])
        assert info == {key: columns[key][2] for key in info}
        assert set(info) == {"score", "lives", "level", "progress"}
        if over or (terminated | truncated).any():
            break


def test_types_are_those_of_gymnasium() -> None:
    env = GameBoyEnv()
    env.reset(seed=0)
    obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
    assert env.observation_space.contains(obs)
    assert type(reward) is float
    assert type(terminated) is bool
    assert type(truncated) is bool
    assert all(isinstance(value, np.int64) for value in info.values())


def test_after_the_end_it_wants_a_reset() -> None:
    env = GameBoyEnv(max_episode_steps=1)
    env.reset(seed=0)
    assert env.step(0)[3]
    with pytest.raises(NotResetError, match="have ended"):
        env.step(0)
    env.reset()
    env.step(0)


def test_render() -> None:
    env = GameBoyEnv(render_mode="rgb_array", frame_skip=2)
    env.reset(seed=0)
    frame = env.render()
    assert frame is not None
    assert frame.shape == (144, 160, 3)
    assert env.metadata["render_fps"] == pytest.approx(29.86, abs=0.01)
    assert "autoreset_mode" not in env.metadata
    silent = GameBoyEnv()
    assert silent.render() is None
    silent.close()


def test_options_and_keywords_are_checked() -> None:
    env = GameBoyEnv()
    for seed in (-1, 1.5, "7", [3], True):
        with pytest.raises(ArgumentError, match="seed: got"):
            env.reset(seed=seed)
    env.reset(seed=np.int64(7))
    with pytest.raises(ActionError, match="got dtype bool"):
        env.step(True)
    with pytest.raises(ArgumentError, match="got \\['level'\\]"):
        env.reset(options={"level": 2})
    with pytest.raises(TypeError, match="num_envs"):
        GameBoyEnv(num_envs=2)
    with pytest.raises(TypeError, match="frame_skips"):
        GameBoyEnv(frame_skips=2)
