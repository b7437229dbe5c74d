"""The package's contract, Gymnasium's, and that both count alike."""

from typing import Any

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordEpisodeStatistics
from tests.envs.locomotion.rivals import BODIES, IDS, made, precision

import hybridenv.gym
from hybridenv.envs import EpisodeStatistics, TimeLimit, check_env
from hybridenv.gym import check_vector_modes
from hybridenv.gym.jax_single import JaxEnv
from hybridenv.gym.jax_vector import JaxVectorEnv

LIMIT = 12


@pytest.mark.parametrize(
    ("body", "dtype"), [*((body, "float32") for body in BODIES), ("hopper", "float64")]
)
def test_the_contract_is_kept(body: str, dtype: str) -> None:
    with precision(dtype):
        env, params = made(body, dtype=dtype, time_limit=LIMIT)
        # Differently compiled programs round differently, and a step multiplies that by what a
        # contact does with it.
        report = check_env(env, params, tolerance=1e-3, keys_matter=True)
    assert report.restarts >= 3
    assert not set(report.not_exercised) - {"legal"}


@pytest.mark.parametrize("body", BODIES)
def test_every_autoreset_mode_of_gymnasium_is_kept(body: str) -> None:
    reports = check_vector_modes(
        lambda mode: gymnasium.make_vec(
            f"hybridenv/{IDS[body]}", num_envs=3, max_episode_steps=LIMIT, autoreset_mode=mode
        ),
        reward_dtype=np.float32,
        seeds_matter=True,
    )
    assert set(reports) == set(AutoresetMode)
    assert all(report.restarts >= 1 for report in reports.values())


@pytest.mark.parametrize("body", BODIES)
def test_ids_are_registered_as_gymnasiums(body: str) -> None:
    ours, theirs = gymnasium.spec(f"hybridenv/{IDS[body]}"), gymnasium.spec(IDS[body])
    assert hybridenv.gym.JAX_IDS[ours.id] == body
    assert ours.max_episode_steps == theirs.max_episode_steps == 1_000
    assert ours.reward_threshold == theirs.reward_threshold
    assert made(body)[0].time_limit == theirs.max_episode_steps


@pytest.mark.filterwarnings("ignore:.*A Box observation space m.*infinity")  # as Gymnasium's own
def test_the_single_environment_passes_gymnasiums_check() -> None:
    env = gymnasium.make("hybridenv/Hopper-v5", render_mode="rgb_array")
    assert isinstance(env.unwrapped, JaxEnv)
    gymnasium_check(env.unwrapped)
    assert round(env.metadata["render_fps"]) == 125
    env.close()


def played(env: Any, steps: int) -> list[tuple[int, float]]:
    """Lengths and returns of episodes that Gymnasium's wrappers count over random steps."""
    env = RecordEpisodeStatistics(env)
    env.action_space.seed(1)
    env.reset(seed=4)
    found = []
    for _ in range(steps):
        *_, terminated, truncated, info = env.step(env.action_space.sample())
        if terminated or truncated:
            found.append((info["episode"]["l"], float(info["episode"]["r"])))
            env.reset()
    return found


def test_time_and_returns_are_counted_as_by_gymnasium() -> None:
    """The environment's limit, the wrappers here and Gymnasium's come to the same episodes."""
    outside = gymnasium.make("hybridenv/Hopper-v5", max_episode_steps=LIMIT)
    inside = JaxEnv("hopper", time_limit=LIMIT)
    ours = played(inside, 150)
    theirs = played(outside, 150)
    assert len(ours) >= 8
    assert [length for length, _ in ours] == [length for length, _ in theirs]
    np.testing.assert_allclose([r for _, r in ours], [r for _, r in theirs], rtol=1e-5)
    assert max(length for length, _ in ours) == LIMIT

    env, params = made("hopper", time_limit=LIMIT)
    stats = EpisodeStatistics(env)
    step = jax.jit(stats.step)
    _, state = stats.reset(jax.random.key(0), params)
    total = 0.0
    for i in range(LIMIT):
        action = np.zeros(3, np.float32)
        _, state, reward, over, cut, info = step(jax.random.key(i), state, action, params)
        total += float(reward)
        assert int(info["episode_length"]) == i + 1
        np.testing.assert_allclose(info["episode_return"], total, rtol=1e-6)
    assert (bool(over), bool(cut)) == (False, True)


def test_gymnasiums_own_limit_can_be_longer() -> None:
    """`time_limit` is off behind the ids, so that `max_episode_steps` alone decides."""
    cheetah = "hybridenv/HalfCheetah-v5"
    one: Any = gymnasium.make(cheetah, max_episode_steps=3_000).unwrapped
    assert one.vector.env.time_limit is None
    for options, expected in (({"max_episode_steps": 3_000}, 3_000), ({}, 1_000)):
        many: Any = gymnasium.make_vec(cheetah, num_envs=2, **options)
        assert isinstance(many, JaxVectorEnv)
        limit = many._playing
        assert isinstance(limit, TimeLimit)
        assert limit.max_steps == expected
