"""Registry, spaces, wrappers, devices and flags of the JAX environments."""

import os
import subprocess
import sys
import time
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from tests.envs.walks import LENGTH, Plain, Walk

import hybridenv
from hybridenv.envs import (
    AutoReset,
    Batch,
    Box,
    Discrete,
    EpisodeStatistics,
    TimeLimit,
    check_env,
    make,
    names,
    once,
)
from hybridenv.envs.pong import PongEnv
from hybridenv.errors import ArgumentError, HybridEnvError

# -- registry --------------------------------------------------------------------------------------


def test_every_name_makes_an_environment() -> None:
    assert "pong" in names()
    for name in names():
        env, params = hybridenv.make(name)
        assert env.name == name
        assert env.default_params == params
        assert hash(env) == hash(make(name)[0])
        assert env == make(name)[0]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("chess", {}, "got environment 'chess', expected one of 'half_cheetah', 'hopper'"),
        (3, {}, "got environment 3"),
        ("pong", {"speed": 2}, r"make\('pong'\): .*'speed'"),
        ("pong", {"frame_skip": 0}, "frame_skip: got 0, expected a whole number 1 to 32"),
        ("pong", {"frame_skip": 33}, "frame_skip: got 33"),
        ("pong", {"frame_skip": 2.0}, "frame_skip: got 2.0"),
        ("pong", {"continuous": 1}, "continuous: got 1, expected True or False"),
        ("pong", {"chance": "dice"}, "chance: got 'dice', expected one of 'keys', 'rand_r'"),
    ],
)
def test_unknown_environments_and_options_are_refused(
    name: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        make(name, **options)


@pytest.mark.parametrize("options", [{}, {"continuous": True, "chance": "rand_r"}])
def test_pong_keeps_the_contract(options: dict[str, Any]) -> None:
    env, params = make("pong", frame_skip=8, **options)
    report = check_env(env, params, keys_matter=True)
    assert report.episodes >= 3
    assert report.restarts >= 3
    assert set(report.not_exercised) == {"legal"}


def test_modules_have_no_other_attribute() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        hybridenv.nothing  # noqa: B018


# -- spaces ----------------------------------------------------------------------------------------

SPACES = [
    Discrete(3),
    Box(-1, 1, (2,)),
    Box(np.array([0, -5.0]), np.array([1, 5.0]), (2,)),
    Box(0, 255, (4, 3), np.dtype(np.uint8)),
    Box(-1, 1, ()),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_spaces_contain_what_they_draw_and_so_do_gymnasiums(space: Any) -> None:
    draws = space.sample(jax.random.key(0), (5, 40))
    assert draws.shape == (5, 40, *space.shape)
    assert draws.dtype == space.dtype
    assert np.asarray(space.contains(draws)).shape == (5, 40)
    assert bool(space.contains(draws).all())
    outside = draws.astype(jnp.float32) + 300
    assert not bool(space.contains(outside).any())
    theirs = space.to_gymnasium()
    for draw in np.asarray(draws).reshape(200, *space.shape)[:20]:
        assert theirs.contains(np.asarray(draw, theirs.dtype))
    assert len(np.unique(draws)) >= 3


def test_spaces_are_values() -> None:
    assert len(SPACES) >= 5
    for i, one in enumerate(SPACES):
        assert [one == other for other in SPACES] == [i == j for j in range(len(SPACES))]
    assert Box(-1, 1, (2,)) == Box(-1.0, 1.0, (2,))
    assert Discrete(3).to_gymnasium() == spaces.Discrete(3)


@pytest.mark.parametrize(
    ("make_space", "message"),
    [
        (lambda: Discrete(0), "Discrete n: got 0"),
        (lambda: Box(1, 0, (2,)), "Box: got low"),
        (lambda: Box([0, 1, 2], 5, (2,)), r"Box low: got shape \(3,\)"),
        (lambda: Box(0, np.inf, ()).sample(jax.random.key(0)), "infinite bounds"),
    ],
)
def test_spaces_that_make_no_sense_are_refused(make_space: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make_space()


# -- wrappers --------------------------------------------------------------------------------------


def rollout(env: Any, steps: int, n: int) -> Any:
    """Play a batch: what each step returned, with a leading axis of steps."""
    games, params = Batch(env, n), env.default_params

    def step(state: Any, key: Any) -> Any:
        obs, state, *flags, info = games.step(key, state, jnp.ones(n, jnp.int32), params)
        return state, (obs, *flags, info)

    obs, state = games.reset(jax.random.key(0), params)
    keys = jax.random.split(jax.random.key(1), steps)
    return obs, jax.tree.map(np.asarray, jax.jit(lambda s: jax.lax.scan(step, s, keys))(state)[1])


def test_autoreset_keeps_the_final_observation() -> None:
    _, (obs, _, terminated, truncated, info) = rollout(AutoReset(Walk()), 40, 3)
    ended = terminated | truncated
    assert ended.sum() == 3 * (40 // LENGTH)
    assert np.array_equal(info["_final_obs"], ended)
    assert np.all(info["final_obs"][ended][:, 1] == LENGTH)  # the age that ended the episode
    assert np.all(obs[ended][:, 1] == 0)
    assert np.array_equal(obs[~ended], info["final_obs"][~ended])
    assert len(np.unique(obs[ended][:, 0])) == ended.sum()  # every episode begins elsewhere


def test_statistics_are_those_of_each_episode() -> None:
    _, (_, reward, terminated, _, info) = rollout(AutoReset(EpisodeStatistics(Walk())), 30, 2)
    for game in range(2):
        total, length = np.float32(0), 0
        for step in range(30):
            total, length = total + reward[step, game], length + 1
            assert info["episode_return"][step, game] == total
            assert info["episode_length"][step, game] == length
            if terminated[step, game]:
                total, length = np.float32(0), 0


def test_a_time_limit_truncates_and_lets_ends_be_ends() -> None:
    for limit, cut, over in ((4, 6, 0), (LENGTH, 0, 3)):
        _, (_, _, terminated, truncated, _) = rollout(AutoReset(TimeLimit(Walk(), limit)), 27, 1)
        assert (truncated.sum(), terminated.sum()) == (cut, over)


def test_any_environment_goes_into_a_batch() -> None:
    one, (ours, *_) = rollout(AutoReset(Plain()), 20, 3)
    assert one.shape == (3, 2)
    assert ours.shape == (20, 3, 2)
    assert Batch(Plain(), 3).unwrapped.name == "plain"


def test_legal_actions_go_through_wrappers() -> None:
    for env, shape in ((Walk(), (3, 3)), (PongEnv(), None)):
        games = Batch(AutoReset(TimeLimit(EpisodeStatistics(env), 5)), 3)
        _, state = games.reset(jax.random.key(0), env.default_params)
        legal = games.legal_actions(state, env.default_params)
        assert (None if legal is None else legal.shape) == shape


def test_wrappers_of_the_same_are_equal() -> None:
    assert Batch(AutoReset(PongEnv(8)), 4) == Batch(AutoReset(PongEnv(8)), 4)
    assert hash(TimeLimit(PongEnv(8), 4)) == hash(TimeLimit(PongEnv(8), 4))
    assert TimeLimit(PongEnv(8), 4) != TimeLimit(PongEnv(8), 5)
    assert AutoReset(PongEnv(8)) != AutoReset(PongEnv(4))


def test_wrappers_refuse_what_is_no_number() -> None:
    with pytest.raises(ArgumentError, match="Batch n: got 0"):
        Batch(Walk(), 0)
    with pytest.raises(ArgumentError, match=r"max_steps: got 1\.5"):
        TimeLimit(Walk(), 1.5)


# -- what XLA computes once ------------------------------------------------------------------------


def collatz(x: Any) -> Any:
    for _ in range(12):
        x = jnp.where(x % 2 == 0, x // 2, 3 * x + 1)
    return x


def many(x: Any, compute: Any) -> Any:
    shared = compute(collatz, x)
    return [shared * i + x for i in range(5)]


def test_once_changes_nothing() -> None:
    x = jnp.arange(64)
    plain = many(x, lambda function, x: function(x))
    for way in (lambda f: f, jax.jit, jax.vmap, lambda f: jax.jit(jax.vmap(f))):
        for one, two in zip(plain, way(partial(many, compute=once))(x), strict=True):
            assert np.array_equal(one, two)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="other devices need no such thing")
def test_once_puts_a_wall_between_what_xla_would_merge() -> None:
    for compute, walls in ((once, 1), (lambda function, x: function(x), 0)):
        program = jax.jit(partial(many, compute=compute)).lower(jnp.arange(64)).compile()
        assert str(program.as_text()).count("conditional(") == walls


def test_pong_compiles_quickly_into_a_small_program() -> None:
    env, params = make("pong", frame_skip=8)
    games = Batch(AutoReset(env), 64)
    state = jax.eval_shape(games.reset, jax.random.key(0), params)[1]
    arguments = (jax.random.key(0), state, jnp.zeros(64, jnp.int32), params)
    begin = time.process_time()
    program = str(jax.jit(games.step).lower(*arguments).compile().as_text())
    assert time.process_time() - begin < 10  # seconds; about 0.5 on a quiet computer
    assert 100 < len(program.splitlines()) < 3_000


# -- devices and flags -----------------------------------------------------------------------------


def python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints, or the last line of its error."""
    kept = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "HYBRIDENV_HOST_DEVICES")}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**kept, **environment}
    )
    return (result.stdout or result.stderr).strip().splitlines()[-1]


COUNT = "from hybridenv.envs import host_devices; print(len(host_devices()))"


@pytest.mark.parametrize(
    ("code", "environment", "printed"),
    [
        (COUNT, {}, str(len(os.sched_getaffinity(0)))),
        (COUNT, {"HYBRIDENV_HOST_DEVICES": "3"}, "3"),
        (COUNT, {"HYBRIDENV_HOST_DEVICES": "1"}, "1"),
        (COUNT, {"XLA_FLAGS": "--xla_force_host_platform_device_count=5"}, "5"),
        (COUNT.replace("host_devices()", "host_devices(4)"), {}, "4"),
        ("import jax; jax.devices(); " + COUNT, {}, "1"),
    ],
)
def test_devices_are_set_up_before_jax_starts(
    code: str, environment: dict[str, str], printed: str
) -> None:
    assert python(code, **environment) == printed


def test_devices_that_cannot_be_are_refused() -> None:
    assert jax.devices()  # now JAX has started
    with pytest.raises(ArgumentError, match="host_devices n: got 0"):
        hybridenv.envs.host_devices(0)
    with pytest.raises(ArgumentError, match=r"got n=1000, but JAX has \d+"):
        hybridenv.envs.host_devices(1000)
    error = python(COUNT, HYBRIDENV_HOST_DEVICES="two")
    assert "ArgumentError: HYBRIDENV_HOST_DEVICES: got 'two'" in error


def test_each_device_of_a_cpu_keeps_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = jax.devices("cpu")
    assert len(devices) == 2
    assert hybridenv.envs.compiler_options(devices[:1]) == {}
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=here --xla_disable_hlo_passes=algsimp")
    options = hybridenv.envs.compiler_options(devices)
    assert options["xla_disable_hlo_passes"] == "algsimp,cpu-parallel-task-assigner"

    def long_loop(x: jax.Array) -> jax.Array:
        return jnp.sin(x) * jnp.cos(x)

    def pieces(**given: Any) -> int:
        compiled = jax.jit(long_loop, **given).lower(jnp.ones(1_000_000)).compile()
        return str(compiled.as_text()).count('"outer_dimension_partitions":["')

    monkeypatch.delenv("XLA_FLAGS")
    assert pieces() == 1
    assert pieces(compiler_options=hybridenv.envs.compiler_options(devices)) == 0


def test_flags_are_offered_and_set_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    flags = hybridenv.cpu_flags()
    assert "XLA_FLAGS" not in os.environ
    assert "xla_cpu_use_multi_output_fusion" in flags
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=here --xla_backend_extra_options=a,b")
    more = hybridenv.cpu_flags().split()
    assert more[0] == "--xla_dump_to=here"
    assert "--xla_backend_extra_options=a,b,xla_cpu_use_multi_output_fusion" in more
    monkeypatch.setenv("XLA_FLAGS", flags)
    assert hybridenv.cpu_flags() == flags
    with pytest.raises(ArgumentError, match="apply: got 1"):
        hybridenv.cpu_flags(apply=1)


def test_flags_come_before_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    with pytest.raises(HybridEnvError, match="before `import jax`"):
        hybridenv.cpu_flags(apply=True)
    code = (
        "import hybridenv; hybridenv.cpu_flags(apply=True)\n"
        "import jax, os; jax.numpy.ones(3).block_until_ready(); print(os.environ['XLA_FLAGS'])"
    )
    assert python(code) == hybridenv.cpu_flags()
