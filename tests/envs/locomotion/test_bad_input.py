"""What is no action or no state of a body, and what Gymnasium makes of odd ones."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.envs.locomotion.rivals import BODIES, compiled, made, precision, rival, state_of

from hybridenv.errors import ActionError, ArgumentError, StateError


@pytest.mark.parametrize("body", BODIES)
def test_a_nan_turns_all_motors_off_and_spoils_the_reward_as_in_gymnasium(body: str) -> None:
    theirs = rival(body)
    with precision("float64"):
        env, params, step = compiled(body, "float64")
        _, state = env.reset(jax.random.key(0), params)
        action = np.full(env.model.nu, 0.5, np.float32)
        action[1] = np.nan
        theirs.set_state(np.array(env.model.qpos0), np.zeros(env.model.nq))
        with np.errstate(invalid="ignore"):
            obs, reward, *_ = theirs.step(action)
        seen, _, paid, _, _, info = step(None, state, action, params)
        off = step(None, state, np.zeros_like(action), params)
        assert np.array_equal(seen, off[0])
        np.testing.assert_allclose(seen, obs, rtol=0, atol=1e-8)
        assert np.isnan(reward)
        assert np.isnan(paid)
        assert np.isnan(info["reward_ctrl"])


@pytest.mark.parametrize("size", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("body", BODIES)
def test_motors_are_limited_but_costs_are_not_as_in_gymnasium(body: str, size: float) -> None:
    theirs = rival(body)
    with precision("float64"):
        env, params, step = compiled(body, "float64")
        _, state = env.reset(jax.random.key(0), params)
        action = np.full(env.model.nu, -size, np.float32)
        theirs.set_state(np.array(env.model.qpos0), np.zeros(env.model.nq))
        obs, _, _, _, expected = theirs.step(action)
        seen, _, _, _, _, info = step(None, state, action, params)
        np.testing.assert_allclose(seen, obs, rtol=0, atol=1e-8)
        np.testing.assert_allclose(info["reward_ctrl"], expected["reward_ctrl"], rtol=1e-6)
        at_bound = step(None, state, np.full_like(action, -1), params)[0]
        assert np.array_equal(seen, at_bound)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.zeros(6, np.float16), r"got float16\[6\], expected float32\[6\]"),
        (jnp.zeros(6, jnp.bfloat16), r"got bfloat16\[6\]"),
        (np.zeros(6, np.int32), r"got int32\[6\]"),
        (np.zeros(5, np.float32), r"got float32\[5\]"),
        (np.zeros((1, 6), np.float32), r"got float32\[1, 6\]"),
        (0.0, r"got float32\[\]"),
        (None, "action: got NoneType, expected"),
        ("forwards", "action: got str, expected"),
        ([[1.0], [1.0, 2.0]], "action: got list, expected"),
    ],
)
def test_other_actions_are_refused(action: Any, message: str) -> None:
    env, params = made("half_cheetah")
    _, state = env.reset(jax.random.key(0), params)
    with pytest.raises(ActionError, match=message):
        env.step(jax.random.key(0), state, action, params)


def test_64_bit_actions_are_for_64_bit_environments() -> None:
    with precision("float64"):
        env, params = made("half_cheetah")
        _, state = env.reset(jax.random.key(0), params)
        with pytest.raises(ActionError, match=r"got float64\[6\], expected float32\[6\]"):
            env.step_with(None, state, np.zeros(6), params)
        exact, params, step = compiled("half_cheetah", "float64")
        _, state = exact.reset(jax.random.key(0), params)
        seen = [step(None, state, np.zeros(6, kind), params)[0] for kind in (np.float32, float)]
        assert seen[0].dtype == seen[1].dtype == np.float64
        assert np.array_equal(*seen)
        with pytest.raises(ActionError, match=r"expected float32\[6\] or float64\[6\]"):
            exact.step_with(None, state, np.zeros(6, np.float16), params)


def test_states_of_other_bodies_and_precisions_are_refused() -> None:
    hopper, _ = made("hopper")
    cheetah, params = made("half_cheetah")
    action = np.zeros(6, np.float32)
    other = state_of(hopper, np.zeros(6), np.zeros(6))
    with pytest.raises(StateError, match=r"half_cheetah state: got qpos float32\[6\], expected"):
        cheetah.step_with(None, other, action, params)
    with pytest.raises(StateError, match=r"got qpos float32\[6\], expected"):
        cheetah.observe(other, params)
    with pytest.raises(StateError, match=r"got qpos float32\[6\], expected"):
        cheetah.render(other, params)
    for nothing in (None, np.zeros(17, np.float32)):
        with pytest.raises(
            StateError, match=r"state: got \w+ of \w+, expected a State, as reset and step"
        ):
            cheetah.step_with(None, nothing, action, params)
    half = jax.tree.map(lambda x: x.astype(jnp.float16), state_of(cheetah, *[np.zeros(9)] * 2))
    with pytest.raises(StateError, match=r"got qpos float16\[9\], expected float32\[9\]"):
        cheetah.step_with(None, half, action, params)
    with precision("float64"):
        exact, _ = made("half_cheetah", dtype="float64")
        with pytest.raises(StateError, match=r"got qpos float32\[9\], expected float64\[9\]"):
            exact.step_with(None, state_of(cheetah, *[np.zeros(9)] * 2), action, params)


def test_64_bits_are_asked_for_again_where_episodes_begin() -> None:
    with precision("float64"):
        exact, params = made("half_cheetah", dtype="float64")
        noise = exact.reset_draws(jax.random.key(0), params)
    with pytest.raises(ArgumentError, match="while JAX has no 64-bit numbers"):
        exact.reset_with(noise, params)
