"""Pong does what the sequential reference does: single steps, whole games, and its generator."""

import ctypes
import ctypes.util
import itertools
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.envs.pong.games import (
    FIELDS,
    at_random,
    chase,
    first_difference,
    play_reference,
    reference_at,
    replay,
)

from hybridenv.envs.pong import PongEnv, PongParams, State, rules
from hybridenv.envs.pong.env import MAX_FRAME_SKIP
from hybridenv.envs.pong.rand_r import advance, parity

FRAME_SKIPS = (1, 4, 8)
ENVS = [PongEnv(skip, continuous=kind) for skip in FRAME_SKIPS for kind in (False, True)]
NAMES = [f"{env.frame_skip}-{'continuous' if env.continuous else 'discrete'}" for env in ENVS]


@partial(jax.jit, static_argnums=0)
def one_step(env: PongEnv, state: State, action: Any, draw: Any) -> Any:
    obs, state, reward, terminated, *_ = env.step_with(draw, state, action, PongParams())
    return obs, state, reward, terminated


begin_round = jax.jit(rules.begin_round)


@partial(jax.jit, static_argnums=0)
def many_steps(env: PongEnv, state: State, action: Any, draw: Any) -> Any:
    return jax.vmap(partial(one_step, env))(state, action, draw)


def state_of(values: Any, scores: Any) -> State:
    """A state in play: six floats and two scores, or arrays of them."""
    fields = dict(zip(FIELDS, map(np.float32, values), strict=True))
    left, right = map(np.int32, scores)
    serve = np.full(np.shape(left), rules.IN_PLAY, np.float32)
    return State(**fields, serve=serve, left_score=left, right_score=right)


def assert_same_step(env: PongEnv, state: State, action: Any, draw: int, seen: Any) -> None:
    """Compare one step of the environment with one of the reference."""
    game = reference_at(state, env, draw)
    observation, reward, end = game.step(float(np.ravel(action)[0]))
    obs, after, earned, ended = seen
    assert (earned, ended) == (reward, end)
    if end:
        obs, after = env.restart_with(None, after, PongParams())
    assert np.array_equal(obs, observation)
    assert (after.serve == rules.IN_PLAY) == (abs(reward) != 1 or end)
    field = begin_round(after)
    for name in FIELDS:
        assert getattr(field, name) == getattr(game, name), name
    assert (after.left_score, after.right_score) == (game.left_score, game.right_score)


# -- L1: single steps from any state ---------------------------------------------------------------


def floats(low: float, high: float) -> Any:
    """Float32 numbers, none so small that XLA takes it for zero; no game comes to such a one."""
    every = st.floats(low, high, width=32)
    return every.map(lambda number: number if abs(number) > 1e-6 else 0.0)


heights = st.integers(-35, 605) | st.sampled_from([-35, 605]) | floats(-35, 605)
states = st.tuples(
    heights,
    heights,
    st.integers(-10, 478) | st.sampled_from([0, 8, 458, 468]) | floats(-10, 478),
    st.integers(-13, 621) | st.sampled_from([0, 608]) | floats(-13, 621),
    st.sampled_from([10, -10]),
    st.integers(-13, 13) | floats(-13, 13) | floats(-3.125, 3.125),
)
scores = st.tuples(st.integers(0, 20), st.integers(0, 20))
directions = st.sampled_from([-1.0, 0.0, 1.0]) | floats(-1, 1)


@pytest.mark.parametrize("env", ENVS, ids=NAMES)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(states, scores, directions, st.integers(0, 2), st.integers(0, 1))
def test_a_step_from_any_state_is_that_of_the_reference(
    env: PongEnv, values: Any, score: Any, direction: float, choice: int, draw: int
) -> None:
    state = state_of(values, score)
    action = np.float32([direction]) if env.continuous else np.int32(choice)
    seen = one_step(env, state, action, np.int32(draw))
    assert_same_step(env, state, action, draw, jax.tree.map(np.asarray, seen))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(states, scores, st.integers(0, 2))
def test_a_step_keeps_what_always_holds(values: Any, score: Any, action: int) -> None:
    state = state_of(values, score)
    obs, after, reward, end = one_step(ENVS[2], state, np.int32(action), np.int32(0))
    assert -35 <= after.left_y <= 605
    assert -35 <= after.right_y <= 605
    assert abs(after.ball_vx) == 10
    assert abs(after.ball_vy) <= 13
    assert float(reward) in (0, float(np.float32(0.1)), 1, -1)
    assert (after.serve == rules.IN_PLAY) == (abs(reward) != 1)
    assert int(after.left_score + after.right_score) == sum(score) + (abs(reward) == 1)
    assert end == (max(after.left_score, after.right_score) == 21)
    assert obs.dtype == np.float32


# -- L2: everything that can happen at once --------------------------------------------------------


@pytest.mark.parametrize("env", ENVS, ids=NAMES)
def test_steps_near_every_edge_are_those_of_the_reference(env: PongEnv) -> None:
    # The ball one sub-step before and behind each goal line and wall, paddles just out of reach,
    # touching and in the way, every sign of speed, scores that end the game and do not.
    corners = itertools.product(
        (-70, -69, -1, 31, 32, 33),  # the opponent's paddle over the ball
        (-71, -70, -32, 31, 32),  # the agent's
        (-8, 2, 10, 452, 458, 468),
        (-9, 2, 13, 604, 615),
        (10, -10),
        (-13, -3, 0, 2.99, 13),
    )
    places = np.array(list(corners), np.float32)
    rng = np.random.default_rng(5)
    places = places[rng.random(len(places)) < 0.2]
    assert len(places) >= 1_500
    places[:, :2] = np.clip(places[:, :2] + places[:, 3:4], -35, 605)
    score = rng.choice([0, 7, 20], (2, len(places)))
    draws = rng.integers(0, 2, len(places)).astype(np.int32)
    if env.continuous:
        actions = rng.choice(np.float32([-1, -0.997, 0, 0.3, 1]), (len(places), 1))
    else:
        actions = rng.integers(0, 3, len(places)).astype(np.int32)
    states = state_of(places.T, score)
    seen = jax.tree.map(np.asarray, many_steps(env, states, actions, draws))
    happened = {float(reward) for reward in seen[2]}
    assert len(happened) == 4
    assert seen[3].any()
    for i, draw in enumerate(draws):
        row = jax.tree.map(lambda column, i=i: column[i], (states, seen))
        assert_same_step(env, row[0], actions[i], int(draw), row[1])


def test_a_level_ball_is_made_to_rise_up_to_exactly_a_hundredth() -> None:
    env = PongEnv(1, continuous=True)
    below, above = np.float32(0.01), np.nextafter(np.float32(0.01), np.float32(1))
    assert float(below) < 0.01 < float(above)
    for vy, rising in ((below, 3), (above, above), (-below, 3), (-above, -above), (0, 3)):
        state = state_of((300, 300, 460, 310, 10, vy), (0, 0))
        _, after, reward, _ = one_step(env, state, np.zeros(1, np.float32), np.int32(0))
        assert reward == np.float32(0.1)
        assert after.ball_vy == np.float32(rising)


def test_the_picture_stays_while_a_new_round_waits() -> None:
    env = PongEnv(4)
    state = state_of((100, 100, 455, 400, 10, 3), (0, 0))
    obs, lost, reward, _ = one_step(env, state, np.int32(0), np.int32(1))
    assert reward == -1
    assert obs[2] == np.float32(465) / np.float32(500)  # one sub-step, then the point
    _, after, reward, _ = one_step(env, lost, np.int32(1), np.int32(0))
    assert reward == 0
    assert after.ball_x == 140
    assert after.ball_vy == 0
    assert after.right_y == 285 + 32


# -- L3: whole games -------------------------------------------------------------------------------


def assert_games_agree(env: PongEnv, steps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for policy in (at_random(env.continuous), chase(env.continuous)):
        game = play_reference(env, policy, steps, rng)
        replayed = replay(env, game.first_draw, game.draws, game.actions)
        assert first_difference(game, replayed) is None
    assert (game.rewards == np.float32(0.1)).any()


@pytest.mark.parametrize("env", [*ENVS, PongEnv(MAX_FRAME_SKIP)], ids=[*NAMES, "longest"])
def test_games_are_those_of_the_reference(env: PongEnv) -> None:
    assert_games_agree(env, steps=3_000, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("env", ENVS, ids=NAMES)
def test_a_million_steps_are_those_of_the_reference(env: PongEnv) -> None:
    assert_games_agree(env, steps=500_000, seed=2)


# -- the generator of PufferLib 4 ------------------------------------------------------------------


def libc() -> Any:
    name = ctypes.util.find_library("c")
    library = ctypes.CDLL(name) if name else None
    if library is None or not hasattr(library, "rand_r"):
        pytest.skip("the C library has no rand_r to compare with")
    return library


def test_the_generator_is_that_of_the_c_library() -> None:
    library = libc()
    for seed in (0, 1, 7, 2**31, 2**32 - 1):
        state, ours = ctypes.c_uint(seed), jnp.uint32(seed)
        for _ in range(50):
            number = library.rand_r(ctypes.byref(state))
            ours = advance(ours)
            assert int(ours) == state.value
            assert int(parity(ours)) == number % 2


@pytest.mark.parametrize("frame_skip", [4, 8])
def test_games_with_the_c_generator_are_those_of_the_reference(frame_skip: int) -> None:
    library = libc()
    env = PongEnv(frame_skip, chance="rand_r")
    for seed in (3, 2**31 + 5):
        state = ctypes.c_uint(seed)
        game = play_reference(
            env,
            chase(continuous=False, mistakes=0.5),
            4_000,
            np.random.default_rng(seed),
            draws=lambda state=state: library.rand_r(ctypes.byref(state)),
        )
        assert game.ends.any()
        replayed = replay(env, np.uint32(seed), None, game.actions)
        assert first_difference(game, replayed) is None


# -- arithmetic ------------------------------------------------------------------------------------


def test_observations_divide_as_ieee_754_says() -> None:
    values = np.arange(-45, 640, dtype=np.float32)
    full = dict.fromkeys(FIELDS, values)
    counts = np.zeros(len(values), np.int32)
    state = State(**full, serve=values, left_score=counts, right_score=counts + 21)
    wanted = np.stack(
        (
            (values + np.float32(35)) / np.float32(640),
            (values + np.float32(35)) / np.float32(640),
            values / np.float32(500),
            values / np.float32(640),
            (values + np.float32(10)) / np.float32(20),
            (values + np.float32(13)) / np.float32(26),
            counts,
            counts + 1,
        ),
        axis=-1,
        dtype=np.float32,
    )
    for observe in (rules.observe, jax.jit(rules.observe), jax.jit(jax.vmap(rules.observe))):
        assert np.array_equal(observe(state), wanted)
