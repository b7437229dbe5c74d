"""The environment: rewards, masks, opponents, options, Gymnasium, PettingZoo."""

from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridenv
import hybridenv.gym
from hybridenv.envs import AutoReset, Batch, check_env
from hybridenv.envs.pokemon import PokemonEnv, PokemonParams, engine, observe, teams
from hybridenv.envs.pokemon.env import against, legal
from hybridenv.envs.pokemon.policies import POLICIES
from hybridenv.errors import ActionError, ArgumentError, ClosedError, NotResetError

N, STEPS = 32, 120


@pytest.fixture(scope="module")
def rollout() -> dict[str, Any]:
    """32 games of 120 steps with restarts, legal actions by chance, shaped rewards."""
    env, params = hybridenv.make("pokemon", opponent="random", shaping=0.5)
    games = Batch(AutoReset(env), N)

    @jax.jit
    def play(key: Any) -> Any:
        first, state = games.reset(key, params)
        draws = games.step_draws(key, params, (STEPS,))

        def step(state: Any, now: Any) -> Any:
            draw, key = now
            mask = games.legal_actions(state, params)
            action = jax.random.categorical(key, jnp.where(mask, 0.0, -jnp.inf))
            obs, after, reward, ended, cut, info = games.step_with(draw, state, action, params)
            last = info.pop("final_obs")
            seen = {"obs": obs, "last": last, "reward": reward, "ended": ended, "cut": cut}
            return after, {**seen, "mask": mask, "winner": info["winner"]}

        return first, jax.lax.scan(step, state, (draws, jax.random.split(key, STEPS)))[1]

    first, seen = play(jax.random.key(5))
    return {"first": np.asarray(first), **{k: np.asarray(v) for k, v in seen.items()}}


def test_battles_end_and_begin_anew(rollout: dict[str, Any]) -> None:
    ended, winner = rollout["ended"], rollout["winner"]
    assert ended.sum() > N // 2
    assert np.array_equal(ended, winner > 0)
    assert not rollout["cut"].any()
    assert {1, 2} <= set(winner[ended].tolist())
    turn = next(part for part in observe.layout(False) if part.name == "turn")
    assert (rollout["obs"][ended][:, turn.start] * 1024 == 1).all()
    assert (rollout["last"][ended][:, turn.start] * 1024 > 1).all()


def test_the_reward_is_the_result_and_a_share_of_hit_points(rollout: dict[str, Any]) -> None:
    reward, ended, winner = rollout["reward"], rollout["ended"], rollout["winner"]
    assert reward.dtype == np.float32
    assert (reward[ended & (winner == 1)] > 0.7).all()
    assert (reward[ended & (winner == 2)] < -0.7).all()
    assert (np.abs(reward[~ended]) < 0.3).all()
    assert (reward[~ended] != 0).mean() > 0.3
    for game in range(N):
        ends = np.flatnonzero(ended[:, game])
        if len(ends):  # what is gained on the way is at most the weight
            total = reward[: ends[0] + 1, game].sum()
            assert abs(total - {1: 1, 2: -1, 3: 0}[winner[ends[0], game]]) <= 0.5


def test_the_observation_begins_with_the_mask(rollout: dict[str, Any]) -> None:
    mask, obs = rollout["mask"][1:], rollout["obs"][:-1]
    shown = obs[..., :10] > 0
    waits = next(part for part in observe.layout(False) if part.name == "request").start + 2
    assert mask.any(-1).all()
    assert np.array_equal(shown, mask)
    waiting = obs[..., waits] > 0
    assert waiting.any()
    assert (mask[waiting] == np.eye(10, dtype=bool)[0]).all()
    assert not mask[..., 4].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opponent": "ash"}, "opponent: got 'ash', expected one of 'random', 'max_damage'"),
        ({"opponent": 3}, "opponent: got 3"),
        ({"observation": "all"}, "observation: got 'all', expected one of 'known', 'full'"),
        ({"shaping": 2.0}, "shaping: got 2.0, expected 0 to 1"),
        ({"shaping": "much"}, "shaping: got 'much'"),
        ({"speed": 2}, r"make\('pokemon'\): .*'speed'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        hybridenv.make("pokemon", **options)


def test_teams_are_parameters() -> None:
    pool = teams.pool([[{"species": "Tauros", "moves": ["Body Slam"]}]])
    env, params = PokemonEnv(), PokemonParams.of(pool)
    _, state = env.reset(jax.random.key(0), params)
    known = observe.known(state, 0)
    assert known["own_species"].tolist() == [128, 0, 0, 0, 0, 0]
    assert params == PokemonParams.of(pool)
    assert params != env.default_params
    with pytest.raises(ArgumentError, match="theirs: got 0 teams"):
        PokemonParams.of(pool, teams.Pool(*[getattr(pool, name)[:0] for name in vars(pool)]))


def test_an_illegal_action_is_the_first_legal_one() -> None:
    env, params = hybridenv.make("pokemon", opponent="random")
    _, state = env.reset(jax.random.key(1), params)
    first = int(np.flatnonzero(legal(state, 0))[0])
    bits = jnp.uint32(5)
    ends = [env.step_with(bits, state, jnp.int32(a), params)[1] for a in (first, 4, 99, -3)]
    for other in ends[1:]:
        for ours, theirs in zip(*map(jax.tree.leaves, (ends[0], other)), strict=True):
            assert np.array_equal(ours, theirs)


def test_a_function_may_be_the_opponent() -> None:
    def first(battle: Any, player: int, bits: Any) -> Any:
        return 0 * battle.field[0]

    env = PokemonEnv(first)
    _, state = env.reset(jax.random.key(1), env.default_params)
    after = env.step_with(jnp.uint32(0), state, jnp.int32(0), env.default_params)[1]
    wanted = engine.step(state, (jnp.int32(0), jnp.int32(0)))
    for ours, theirs in zip(*map(jax.tree.leaves, (after, wanted)), strict=True):
        assert np.array_equal(ours, theirs)
    assert against(first) is against(first)
    assert len(POLICIES) == 3


def test_gymnasium_is_told_what_is_legal() -> None:
    envs = gymnasium.make_vec(
        "hybridenv/Pokemon-v0",
        num_envs=4,
        opponent="random",
        autoreset_mode="SAME_STEP",
    )
    obs, info = envs.reset(seed=3)
    ends = 0
    for _ in range(150):
        mask = info["action_mask"]
        assert mask.shape == (4, 10)
        assert mask.any(-1).all()
        assert np.array_equal(mask, obs[:, :10] > 0)
        actions = np.array([np.flatnonzero(row)[0] for row in mask])
        obs, _, ended, _, info = envs.step(actions)
        ends += int(ended.sum())
    assert ends > 0
    envs.close()


@pytest.mark.slow
def test_the_contract_is_kept() -> None:
    report = check_env(PokemonEnv(shaping=0.5), keys_matter=True)
    assert report.restarts >= 3
    reports = hybridenv.gym.check_vector_modes(
        lambda mode: gymnasium.make_vec("hybridenv/Pokemon-v0", num_envs=3, autoreset_mode=mode),
        reward_dtype=np.float32,
        seeds_matter=True,
    )
    assert all(report.restarts >= 1 for report in reports.values())


class TestTwoPlayers:
    """PettingZoo."""

    @pytest.fixture
    def env(self) -> Any:
        pytest.importorskip("pettingzoo")
        from hybridenv.envs.pokemon.two import PokemonParallelEnv

        return PokemonParallelEnv()

    def test_its_own_check_passes(self, env: Any) -> None:
        from pettingzoo.test import parallel_api_test

        parallel_api_test(env, num_cycles=300)

    def test_a_battle_is_played_to_its_end(self, env: Any) -> None:
        obs, infos = env.reset(seed=4)
        rng, rewards = np.random.default_rng(0), {}
        for _ in range(1_000):
            masks = {agent: np.flatnonzero(infos[agent]["action_mask"]) for agent in env.agents}
            actions = {agent: int(rng.choice(mask)) for agent, mask in masks.items()}
            obs, rewards, ends, cuts, infos = env.step(actions)
            assert all(obs[agent] in env.observation_space(agent) for agent in obs)
            assert not any(cuts.values())
            if all(ends.values()):
                break
        assert env.agents == []
        assert sum(rewards.values()) == 0
        assert infos["player_0"]["winner"] == {1.0: 1, -1.0: 2, 0.0: 3}[rewards["player_0"]]
        with pytest.raises(NotResetError):
            env.step(actions)

    def test_seeds_repeat_battles(self, env: Any) -> None:
        first, again, other = (env.reset(seed=seed)[0]["player_0"] for seed in (7, 7, 7 + 2**40))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)

    def test_bad_input_is_refused(self, env: Any) -> None:
        with pytest.raises(NotResetError):
            env.step({"player_0": 0, "player_1": 0})
        env.reset(seed=1)
        for actions in ({"player_0": 0}, {"player_0": 0, "player_1": 10}, 3):
            with pytest.raises(ActionError, match="expected 0 to 9"):
                env.step(actions)
        with pytest.raises(ArgumentError, match="render_mode"):
            type(env)(render_mode="human")
        env.close()
        with pytest.raises(ClosedError):
            env.reset()
