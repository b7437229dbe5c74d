"""Pictures: size, what is where, the camera, and films."""

from pathlib import Path
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest
from PIL import Image
from tests.envs.locomotion.rivals import BODIES, made, state_of

import hybridenv.gym
from hybridenv.envs.locomotion.render import GROUND, LIMBS, METRES_HIGH, TRUNK, draw
from hybridenv.film import save_film

assert hybridenv.gym.JAX_IDS


def painted(picture: Any, colour: Any) -> Any:
    """Where a picture has a colour: rows and columns."""
    return np.argwhere((picture == colour.astype(np.uint8)).all(axis=-1))


@pytest.mark.parametrize("body", BODIES)
def test_a_body_stands_on_the_floor_in_the_middle(body: str) -> None:
    env, params = made(body, reset_noise_scale=0, width=400, height=260)
    _, state = env.reset(jax.random.key(0), params)
    picture = env.render(state, params)
    assert picture.shape == (260, 400, 3)
    assert picture.dtype == np.uint8
    trunk = painted(picture, TRUNK)
    legs = np.concatenate([painted(picture, limb) for limb in LIMBS])
    assert min(len(trunk), len(legs)) > 200
    assert not len(painted(picture, LIMBS[2]))  # nobody has three legs
    metre, floor = 260 / METRES_HIGH, 260 * (1 - GROUND)
    assert abs(legs[:, 0].max() - floor) < 0.15 * metre
    assert trunk[:, 0].max() < floor - 0.4 * metre
    assert abs(trunk[:, 1].mean() - 200) < 0.3 * metre


def test_the_camera_follows_and_the_floor_passes_by() -> None:
    env, params = made("half_cheetah", width=300, height=200)
    pictures = [
        env.render(state_of(env, np.array([x, *[0.0] * 8]), np.zeros(9)), params)
        for x in (0.0, 0.3, 10.0)
    ]
    bodies = [painted(picture, TRUNK) for picture in pictures]
    assert len(bodies[0]) > 100
    assert all(np.array_equal(bodies[0], other) for other in bodies[1:])
    assert not np.array_equal(pictures[0], pictures[1])
    assert np.array_equal(pictures[0], pictures[2])  # ten metres are two long marks


def test_turning_forwards_lowers_the_head() -> None:
    env, _ = made("half_cheetah")
    level, forwards = (
        painted(draw(env.model, np.array([0, 1, angle, *[0.0] * 6]), 480, 320), TRUNK)
        for angle in (0.0, 0.6)
    )
    heads = [rows[rows[:, 1] > 300][:, 0].mean() for rows in (level, forwards)]
    assert heads[1] > heads[0] + 20


@pytest.mark.parametrize("z", [30.0, -30.0])
def test_bodies_far_up_are_followed_and_far_down_are_out_of_sight(z: float) -> None:
    env, _ = made("hopper")
    picture = draw(env.model, np.array([0, z, *[0.0] * 4]), 240, 160)
    assert (len(painted(picture, TRUNK)) > 0) == (z > 0)


def test_what_is_no_number_shows_the_floor_alone() -> None:
    env, _ = made("walker2d")
    picture = draw(env.model, np.full(9, np.nan), 240, 160)
    assert picture.shape == (160, 240, 3)
    assert not len(painted(picture, TRUNK))


def test_pictures_make_a_film(tmp_path: Path) -> None:
    envs = gymnasium.make_vec(
        "hybridenv/HalfCheetah-v5", num_envs=2, render_mode="rgb_array", width=96, height=64
    )
    envs.reset(seed=0)
    envs.action_space.seed(0)
    pictures = []
    for _ in range(4):
        envs.step(envs.action_space.sample())
        frames = envs.render()
        assert frames is not None
        pictures.append(frames[0])
    assert envs.metadata["render_fps"] == pytest.approx(20)
    save_film(tmp_path / "run.gif", pictures, fps=envs.metadata["render_fps"])
    with Image.open(tmp_path / "run.gif") as film:
        assert film.size == (96, 64)
        assert getattr(film, "n_frames", 0) == 4
