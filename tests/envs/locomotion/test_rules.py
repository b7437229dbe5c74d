"""Observations, rewards, infos and ends, beside Gymnasium's own classes."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from tests.envs.locomotion.rivals import (
    BODIES,
    Floats,
    compiled,
    made,
    precision,
    rival,
    state_of,
    walk,
)

from hybridenv.envs.locomotion import LocomotionEnv
from hybridenv.envs.locomotion import env as module
from hybridenv.envs.planar.physics import PhysicsState

OPTIONS: list[dict[str, Any]] = [
    {},
    {"exclude_current_positions_from_observation": False, "forward_reward_weight": 2.5},
    {"ctrl_cost_weight": 0.7, "frame_skip": 2},
]
BALANCE_OPTIONS: list[dict[str, Any]] = [
    {"terminate_when_unhealthy": False, "healthy_reward": 0.25},
    {"healthy_z_range": (1.1, 1.3), "healthy_angle_range": (-0.05, 0.02)},
]
CASES = [
    (body, options)
    for body in BODIES
    for options in (OPTIONS if body == "half_cheetah" else [*OPTIONS, *BALANCE_OPTIONS])
]
STEPS = 60


class Told:
    """Physics that ends where it is told to."""

    def __init__(self) -> None:
        self.end: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))

    def advance(self, model: Any, state: PhysicsState, *_: Any) -> PhysicsState:
        assert model.nq == len(state.qpos)
        assert state.qpos[0] == 0
        dtype = state.qpos.dtype
        qpos, qvel = (jnp.asarray(part, dtype) for part in self.end)
        return replace(state, qpos=qpos, qvel=qvel)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("body", "options"), CASES)
def test_what_a_step_shows_and_pays_is_gymnasiums(
    body: str, options: dict[str, Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, told = rival(body, **options), Told()
    monkeypatch.setattr(module, "_steps", told.advance)
    # float32 rounds coordinates of up to 10 and velocities of up to 50 once.
    tolerance = (
        {"rtol": 3e-6, "atol": 3e-6} if dtype == "float32" else {"rtol": 1e-7, "atol": 1e-10}
    )
    ends = 0
    with precision(dtype):
        ours, params = made(body, dtype=dtype, **options)
        for qpos, qvel, action in walk(theirs, 5, STEPS):
            theirs.set_state(qpos, qvel)
            obs, reward, terminated, truncated, info = theirs.step(action)
            told.end = (theirs.data.qpos - [qpos[0], *[0] * (len(qpos) - 1)], theirs.data.qvel)
            state = state_of(ours, qpos, qvel)
            seen, after, paid, over, cut, said = ours.step_with(None, state, action, params)
            assert seen.dtype == dtype
            np.testing.assert_allclose(seen, obs, **tolerance)
            np.testing.assert_allclose(paid, reward, rtol=3e-6, atol=3e-6)
            assert (bool(over), bool(cut)) == (terminated, truncated)
            assert set(said) == set(info)
            for name, value in info.items():
                assert said[name].dtype == dtype
                np.testing.assert_allclose(said[name], value, err_msg=name, **tolerance)
            assert int(after.elapsed) == 1
            ends += bool(over)
            theirs.set_state(qpos, qvel)
    if body != "half_cheetah" and options.get("terminate_when_unhealthy", True):
        assert ends >= 1


@pytest.mark.parametrize("body", BODIES)
def test_whole_steps_are_gymnasiums_in_float64(body: str) -> None:
    theirs = rival(body)
    with precision("float64"):
        ours, params, step = compiled(body, "float64")
        worst = 0.0
        for qpos, qvel, action in walk(theirs, 3, 100):
            theirs.set_state(qpos, qvel)
            obs, reward, terminated, _, _ = theirs.step(action)
            state = state_of(ours, qpos, qvel)
            seen, _, paid, over, _, _ = step(None, state, action, params)
            worst = max(worst, float(np.abs(seen - obs).max()))
            assert bool(over) == terminated
            assert abs(float(paid) - reward) <= 1e-6 * max(1, abs(reward))
            theirs.set_state(qpos, qvel)
    # The physics is equal to 1e-9 a step of its own, and a step here has at most five of those.
    assert worst <= 1e-8


@pytest.mark.parametrize("body", [body for body in BODIES if body != "half_cheetah"])
def test_a_body_is_unhealthy_at_the_very_bounds(body: str) -> None:
    theirs = rival(body)
    ours, _ = made(body)
    low, high = ours.healthy_z_range
    least, most = ours.healthy_angle_range
    seen = set()
    for z in (np.nextafter(low, 0), low, np.nextafter(low, 9), min(high, 1.9), high):
        for angle in (least, np.nextafter(least, 0), 0.0, most):
            qpos = np.zeros(theirs.model.nq)
            qpos[1:3] = z, angle
            theirs.data.qpos[:] = qpos
            theirs.data.qvel[:] = 0
            with precision("float64"):
                exact, _ = made(body, dtype="float64")
                healthy = bool(exact.is_healthy(state_of(exact, qpos, np.zeros_like(qpos)).physics))
            assert healthy == theirs.is_healthy
            seen.add(healthy)
    assert seen == {False, True}


def test_a_hopper_is_unhealthy_where_anything_is_too_large() -> None:
    ours, _ = made("hopper", healthy_state_range=(-5.0, 7.0))
    theirs = rival("hopper", healthy_state_range=(-5.0, 7.0))
    for i in range(12):
        for value in (-5.5, -4.5, 6.5, 7.5, np.nan):
            numbers = np.zeros(12)
            numbers[1] = 1.25
            numbers[i] = value
            theirs.data.qpos[:], theirs.data.qvel[:] = numbers[:6], numbers[6:]
            state = state_of(ours, numbers[:6], numbers[6:])
            assert bool(ours.is_healthy(state.physics)) == theirs.is_healthy, (i, value)


def test_velocities_do_not_suffer_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body a kilometre away is paid for what it did, not for what float32 keeps of its place."""
    ours, params = made("half_cheetah")
    told = Told()
    monkeypatch.setattr(module, "_steps", told.advance)
    told.end = (np.array([0.123456, *[0.0] * 8]), np.zeros(9))
    paid = {}
    for x in (0.0, 1_000.0):
        state = state_of(ours, np.array([x, *[0.0] * 8]), np.zeros(9))
        action = np.zeros(6, np.float32)
        _, after, _, _, _, info = ours.step_with(None, state, action, params)
        paid[x] = float(info["reward_forward"])
        assert abs(float(after.physics.qpos[0]) - x - 0.123456) < 1e-4
    assert paid[0.0] == paid[1_000.0]


@pytest.mark.parametrize("body", BODIES)
def test_the_time_limit_truncates(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told()
    monkeypatch.setattr(module, "_steps", told.advance)

    def cut(ours: LocomotionEnv, elapsed: int, height: float) -> tuple[bool, bool]:
        nq, nu = ours.model.nq, ours.model.nu
        told.end = (np.array([0, height, *[0.0] * (nq - 2)]), np.zeros(nq))
        state = state_of(ours, told.end[0], told.end[1], elapsed)
        _, _, _, over, truncated, _ = ours.step_with(
            None, state, np.zeros(nu, np.float32), ours.default_params
        )
        return bool(over), bool(truncated)

    ours, _ = made(body)
    assert cut(ours, 998, 1.25) == (False, False)
    assert cut(ours, 999, 1.25) == (False, True)
    assert cut(ours, 1_500, 1.25) == (False, True)
    if body != "half_cheetah":
        assert cut(ours, 999, 0.0) == (True, False)
    assert cut(made(body, time_limit=3)[0], 2, 1.25) == (False, True)
    assert cut(made(body, time_limit=None)[0], 5_000, 1.25) == (False, False)
