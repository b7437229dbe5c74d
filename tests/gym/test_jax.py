"""JAX environments behind Gymnasium: all modes, seeds, actions, pictures and films."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from PIL import Image
from tests.envs.walks import LENGTH, Plain, Walk

import hybridenv.gym
from hybridenv.envs.pong import PongEnv
from hybridenv.errors import ActionError, ArgumentError, ClosedError, NotResetError
from hybridenv.film import save_film
from hybridenv.gym import check_vector_modes
from hybridenv.gym.jax_single import JaxEnv
from hybridenv.gym.jax_vector import JaxVectorEnv

PONG = "hybridenv/Pong-v0"
NEXT, SAME, MANUAL = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED


def pongs(n: int = 3, **options: Any) -> JaxVectorEnv:
    envs = gymnasium.make_vec(PONG, num_envs=n, frame_skip=8, **options)
    assert isinstance(envs, JaxVectorEnv)
    return envs


@pytest.mark.parametrize("options", [{}, {"continuous": True, "max_episode_steps": 150}])
def test_pong_keeps_the_vector_contract_in_every_mode(options: dict[str, Any]) -> None:
    reports = check_vector_modes(
        lambda mode: pongs(autoreset_mode=mode, render_mode="rgb_array", **options),
        reward_dtype=np.float32,
        seeds_matter=True,
    )
    assert set(reports) == set(AutoresetMode)
    assert all(report.restarts >= 1 for report in reports.values())


@pytest.mark.parametrize("env", [Walk(), Plain()])
def test_anybodys_environment_keeps_it_too(env: Any) -> None:
    reports = check_vector_modes(
        lambda mode: JaxVectorEnv(env, 2, autoreset_mode=mode), seeds_matter=True
    )
    assert all(report.episodes >= 3 for report in reports.values())


def test_the_single_environment_passes_gymnasiums_check() -> None:
    env = gymnasium.make(PONG, render_mode="rgb_array")
    assert isinstance(env.unwrapped, JaxEnv)
    check_env(env.unwrapped)
    assert env.metadata["render_fps"] == 15
    env.close()


def test_one_game_is_the_first_of_many() -> None:
    one, many = JaxEnv("pong", frame_skip=8), pongs(4)
    ours, _ = one.reset(seed=9)
    theirs, _ = many.reset(seed=9)
    rng = np.random.default_rng(0)
    for _ in range(120):
        assert np.array_equal(ours, theirs[0])
        actions = rng.integers(0, 3, 4)
        ours, reward, terminated, truncated, info = one.step(actions[0])
        theirs, rewards, ends, cuts, infos = many.step(actions)
        assert (reward, terminated, truncated) == (rewards[0], ends[0], cuts[0])
        assert info == {"score": infos["score"][0]}
        if terminated or truncated:
            break


def test_seeds_beyond_32_bits_differ() -> None:
    envs = pongs(64)
    first, _ = envs.reset(seed=5)
    again, _ = envs.reset(seed=5 + 2**40)
    assert not np.array_equal(first, again)
    last, _ = envs.reset(seed=2**64 - 1)  # game 1 has seed 0
    zero, _ = envs.reset(seed=0)
    assert np.array_equal(last[1:], zero[:-1])


def test_a_game_without_a_seed_goes_on_with_its_stream() -> None:
    envs, twin = pongs(32), pongs(32)
    for env in (envs, twin):
        env.reset(seed=1)
    seeds = [None if i % 2 else 70 + i for i in range(32)]
    ours, _ = envs.reset(seed=seeds)
    theirs, _ = twin.reset()
    seeded, _ = twin.reset(seed=70)
    assert np.array_equal(ours[1::2], theirs[1::2])
    assert np.array_equal(ours[0::2], seeded[0::2])


def test_truncation_hands_over_the_last_observation() -> None:
    envs = JaxVectorEnv(Walk(), 2, max_episode_steps=LENGTH - 4, autoreset_mode="SAME_STEP")
    envs.reset(seed=0)
    for _ in range(LENGTH - 5):
        obs, _, terminated, truncated, _ = envs.step(np.ones(2, np.int64))
    assert not (terminated | truncated).any()
    obs, _, terminated, truncated, info = envs.step(np.ones(2, np.int64))
    assert truncated.all()
    assert not terminated.any()
    assert [last[1] for last in info["final_obs"]] == [LENGTH - 4] * 2
    assert np.all(obs[:, 1] == 0)


def test_pictures_make_a_film(tmp_path: Path) -> None:
    envs = pongs(2, render_mode="rgb_array")
    envs.reset(seed=0)
    film = []
    for action in (1, 1, 2):
        frames = envs.render()
        assert frames is not None
        film.append(frames[0])
        envs.step(np.full(2, action))
    assert film[0].shape == (320, 250, 3)
    save_film(tmp_path / "pong.gif", film, envs.metadata["render_fps"])
    with Image.open(tmp_path / "pong.gif") as gif:
        assert gif.n_frames == 3  # type: ignore[attr-defined]
    heights = [np.flatnonzero((picture == (72, 196, 180)).all(-1)[:, -1]).min() for picture in film]
    assert heights == [142, 110, 78]  # upwards by 64 of 640 in a step
    balls = [np.flatnonzero((picture == (240, 240, 232)).all(-1).any(0)).min() for picture in film]
    assert balls == [50, 90, 130]
    assert pongs(2).render() is None


@pytest.mark.parametrize("score", [0, 7, 10, 21])
def test_scores_of_any_size_are_drawn(score: int) -> None:
    env = PongEnv()
    _, state = env.reset_with(np.int32(0), env.default_params)
    fields = {**vars(state), "left_score": score, "right_score": score}
    assert env.render(type(state)(**fields), env.default_params).shape == (320, 250, 3)


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("continuous", "actions", "message"),
    [
        (False, np.zeros(2, int), r"got shape \(2,\), expected \(3,\)"),
        (False, np.zeros(3), "got dtype float64, expected integers"),
        (False, np.zeros(3, bool), "got dtype bool, expected integers"),
        (False, np.array([0, 3, 0]), r"actions\[1\]: got 3, expected 0 to 2"),
        (False, [0, -1, 0], r"actions\[1\]: got -1"),
        (False, [[0], [0, 1], 2], "expected one array"),
        (True, np.zeros(3, np.float32), r"got shape \(3,\), expected \(3, 1\)"),
        (True, np.full((3, 1), "up"), "expected real numbers"),
        (True, np.array([[0], [np.nan], [1]]), r"actions\[1, 0\]: got nan, expected finite"),
    ],
)
def test_wrong_actions_are_refused(continuous: bool, actions: Any, message: str) -> None:
    envs = pongs(continuous=continuous)
    obs, _ = envs.reset(seed=0)
    with pytest.raises(ActionError, match=message):
        envs.step(actions)
    envs.reset(seed=0)
    assert np.array_equal(envs.reset(seed=0)[0], obs)


def test_directions_beyond_the_space_are_cut_off() -> None:
    envs = pongs(2, continuous=True)
    envs.reset(seed=0)
    obs, *_ = envs.step(np.array([[1.0], [50.0]]))
    assert obs[0, 1] == obs[1, 1] == np.float32(285 + 35 + 64) / np.float32(640)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"env": "chess"}, "expected one of 'half_cheetah'"),
        ({"env": 3}, "env: got int"),
        ({"env": Walk(), "frame_skip": 8}, r"options: got \['frame_skip'\]"),
        ({"env": Walk(), "render_mode": "rgb_array"}, "walk has no picture"),
        ({"env": "pong", "render_mode": "human"}, "render_mode: got 'human'"),
        ({"env": "pong", "num_envs": 0}, "num_envs: got 0"),
        ({"env": "pong", "max_episode_steps": 0}, "max_steps: got 0"),
        ({"env": "pong", "autoreset_mode": "LATER"}, "autoreset_mode: got 'LATER'"),
        ({"env": "pong", "speed": 3}, "'speed'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        JaxVectorEnv(**options)


def test_calls_out_of_order_are_refused() -> None:
    envs = pongs(2, autoreset_mode=MANUAL, render_mode="rgb_array")
    for call in (lambda: envs.step(np.zeros(2, int)), envs.render):
        with pytest.raises(NotResetError, match="expected a reset first"):
            call()
    with pytest.raises(NotResetError, match="before the first episodes"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=0)
    with pytest.raises(ArgumentError, match="reset options"):
        envs.reset(options={"mask": 1})
    with pytest.raises(ArgumentError, match="expected one, or n = 2"):
        envs.reset(seed=[1, 2, 3])
    ended = np.zeros(2, bool)
    while not ended.any():
        _, _, ended, _, _ = envs.step(np.zeros(2, int))
    with pytest.raises(NotResetError, match="have ended"):
        envs.step(np.zeros(2, int))
    envs.close()
    with pytest.raises(ClosedError, match="reset: the environment is closed"):
        envs.reset()


def test_every_id_is_registered() -> None:
    assert hybridenv.gym.JAX_IDS[PONG] == "pong"
    assert set(hybridenv.gym.JAX_IDS.values()) <= set(hybridenv.envs.names())
    for name in hybridenv.gym.JAX_IDS:
        assert name in gymnasium.registry
