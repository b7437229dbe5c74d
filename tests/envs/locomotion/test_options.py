"""Options: Gymnasium's names and defaults, and what is refused."""

import inspect
from dataclasses import fields
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from tests.envs.locomotion.rivals import BODIES, made, precision, rival

from hybridenv.errors import ArgumentError

NOT_HERE = {"self", "xml_file", "default_camera_config", "kwargs"}
"""Options of Gymnasium's classes that are about MuJoCo's files and cameras."""


@pytest.mark.parametrize("body", BODIES)
def test_options_have_gymnasiums_names_and_defaults(body: str) -> None:
    theirs = inspect.signature(type(rival(body)).__init__).parameters
    expected = {k: p.default for k, p in theirs.items() if k not in NOT_HERE}
    assert len(expected) >= 5
    ours, _ = made(body)
    assert {name: getattr(ours, name) for name in expected} == expected


@pytest.mark.parametrize("body", BODIES)
def test_spaces_and_times_are_gymnasiums(body: str) -> None:
    theirs = rival(body)
    ours, params = made(body)
    assert ours.dt == theirs.dt
    assert round(ours.render_fps) == theirs.metadata["render_fps"]
    assert ours.action_space(params).to_gymnasium() == theirs.action_space
    assert ours.observation_space(params).shape == theirs.observation_space.shape
    wide, params = made(body, exclude_current_positions_from_observation=False)
    assert wide.observation_space(params).shape == (2 * wide.model.nq,)
    with precision("float64"):
        exact, params = made(body, dtype="float64")
        assert exact.observation_space(params).to_gymnasium() == theirs.observation_space


@pytest.mark.parametrize(
    ("body", "options", "message"),
    [
        ("half_cheetah", {"frame_skip": 0}, "frame_skip: got 0, expected a whole number 1 to 1000"),
        ("half_cheetah", {"frame_skip": 2.0}, r"frame_skip: got 2\.0"),
        (
            "half_cheetah",
            {"forward_reward_weight": "1"},
            "forward_reward_weight: got '1', expected",
        ),
        ("half_cheetah", {"ctrl_cost_weight": float("nan")}, "ctrl_cost_weight: got nan"),
        ("half_cheetah", {"ctrl_cost_weight": True}, "ctrl_cost_weight: got True"),
        ("half_cheetah", {"reset_noise_scale": -0.1}, "a finite number of at least 0"),
        ("half_cheetah", {"exclude_current_positions_from_observation": 1}, "got 1, expected True"),
        ("half_cheetah", {"time_limit": 0}, "time_limit: got 0"),
        ("half_cheetah", {"dtype": "float16"}, "got 'float16', expected one of 'float32'"),
        ("half_cheetah", {"dtype": jnp.float32}, "dtype: got"),
        ("half_cheetah", {"dtype": "float64"}, "JAX has no 64-bit numbers"),
        ("half_cheetah", {"width": 8}, "width: got 8, expected a whole number 16 to 4096"),
        ("half_cheetah", {"height": 5_000}, "height: got 5000"),
        ("half_cheetah", {"healthy_reward": 1.0}, "'healthy_reward'"),
        ("hopper", {"healthy_z_range": (2.0, 1.0)}, "two numbers, the lower one first"),
        ("hopper", {"healthy_z_range": 1.0}, "healthy_z_range: got 1.0, expected two numbers"),
        ("hopper", {"healthy_state_range": (0.0,)}, "healthy_state_range: got"),
        ("hopper", {"healthy_angle_range": (0.0, "a")}, "healthy_angle_range: got"),
        ("walker2d", {"healthy_angle_range": (0.0, float("nan"))}, "healthy_angle_range: got"),
        ("walker2d", {"healthy_reward": float("inf")}, "healthy_reward: got inf"),
        ("walker2d", {"terminate_when_unhealthy": None}, "terminate_when_unhealthy: got None"),
        ("walker2d", {"healthy_state_range": (0.0, 1.0)}, "'healthy_state_range'"),
    ],
)
def test_other_options_are_refused(body: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        made(body, **options)


@pytest.mark.parametrize("body", BODIES)
def test_equal_options_share_programs(body: str) -> None:
    one, two = made(body)[0], made(body, width=64, height=48)[0]
    assert one == two
    assert hash(one) == hash(two)
    assert one != made(body, frame_skip=3)[0]
    assert len(fields(one)) >= 9


def test_ranges_may_be_lists_and_arrays() -> None:
    tuples = made("hopper", healthy_z_range=(0.5, 2.0))[0]
    assert made("hopper", healthy_z_range=[0.5, 2])[0] == tuples
    assert made("hopper", healthy_z_range=np.array([0.5, 2.0]))[0] == tuples
    assert hash(made("hopper", healthy_z_range=[0.5, 2])[0]) == hash(tuples)
