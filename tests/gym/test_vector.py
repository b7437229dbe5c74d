"""`GameBoyVectorEnv` on real machines."""

import copy
import pickle
from collections.abc import Callable
from typing import Any, Literal

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hybridenv import (
    ArgumentError,
    ClosedError,
    Compare,
    Delta,
    Field,
    HybridEnvError,
    NotResetError,
    Task,
    TaskError,
    UncopyableError,
)
from hybridenv.gym import ENV_ID, GameBoyVectorEnv, check_vector_env, check_vector_modes
from hybridenv.tasks import POLAR_POST

N = 5
FRAMES_LOW = 0xC010
"""Low byte of the embedded game's count of frames."""

SHORT = Task(
    fields={"frames": Field(FRAMES_LOW, size=2), "score": Field(0xC005, size=2)},
    reward=(Delta("frames", weight=0.5),),
    terminated=(Compare("frames", ">=", 200),),
    max_steps=30,
    info=("frames", "score"),
    start=POLAR_POST.start,
)
"""Ends after about eight steps, so that resets are frequent."""


@pytest.fixture
def env() -> GameBoyVectorEnv:
    """Machines with short episodes in the default mode."""
    return GameBoyVectorEnv(N, task=SHORT)


def noops(n: int = N) -> NDArray[np.int64]:
    return np.zeros(n, dtype=np.int64)


# -- conformance -----------------------------------------------------------------------------------


@pytest.mark.parametrize("obs", ["shades", "rgb", "packed"])
@pytest.mark.parametrize("actions", ["buttons", ("", "a", "down", "up")])
def test_conforms_in_every_mode(obs: Literal["shades", "rgb", "packed"], actions: Any) -> None:
    reports = check_vector_modes(
        lambda mode: GameBoyVectorEnv(
            3,
            task=SHORT,
            obs=obs,
            actions=actions,
            autoreset_mode=mode,
            noop_max=10,
            render_mode="rgb_array",
        ),
        reward_dtype=np.float32,
    )
    assert set(reports) == set(AutoresetMode)
    for report in reports.values():
        assert report.episodes >= 3
        assert report.restarts >= 1
        assert len(report.rules) >= 14


def test_the_embedded_task_conforms() -> None:
    report = check_vector_env(
        lambda: GameBoyVectorEnv(6, max_episode_steps=40),
        episodes=6,
        reward_dtype=np.float32,
        seeds_matter=True,
    )
    assert report.episodes >= 6
    assert report.not_exercised == {}


# -- making it -------------------------------------------------------------------------------------


def test_registered_with_both_entry_points() -> None:
    spec = gymnasium.spec(ENV_ID)
    assert spec.entry_point is not None
    assert spec.vector_entry_point is not None
    envs = gymnasium.make_vec(ENV_ID, num_envs=3, obs="packed", autoreset_mode="SAME_STEP")
    assert isinstance(envs, GameBoyVectorEnv)
    assert envs.num_envs == 3
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.spec is not None
    assert envs.spec.id == ENV_ID
    obs, info = envs.reset(seed=0)
    assert obs.shape == (3, 144, 40)
    assert info["lives"].tolist() == [3] * 3


def test_registers_when_its_module_is_named() -> None:
    envs = gymnasium.make_vec(f"hybridenv.gym:{ENV_ID}", num_envs=2)
    assert isinstance(envs, GameBoyVectorEnv)


def test_gymnasium_can_also_batch_single_environments() -> None:
    envs = gymnasium.make_vec(ENV_ID, num_envs=2, vectorization_mode="sync", noop_max=60)
    obs, _ = envs.reset(seed=3)
    envs.close()
    assert np.array_equal(obs, GameBoyVectorEnv(2, noop_max=60).reset(seed=3)[0])


@pytest.mark.parametrize(
    ("obs", "shape", "high"),
    [("shades", (144, 160), 3), ("rgb", (144, 160, 3), 255), ("packed", (144, 40), 255)],
)
def test_spaces(obs: Any, shape: tuple[int, ...], high: int) -> None:
    env = GameBoyVectorEnv(2, obs=obs)
    single = spaces.Box(0, high, shape, np.uint8)
    assert env.single_observation_space == single
    assert env.observation_space == batch_space(single, 2)
    assert env.single_action_space == spaces.Discrete(11)
    assert env.action_space == spaces.MultiDiscrete([11, 11])


def test_metadata_belongs_to_the_instance() -> None:
    before = dict(GameBoyVectorEnv.metadata)
    env = GameBoyVectorEnv(1, frame_skip=4, autoreset_mode=AutoresetMode.DISABLED)
    assert env.metadata["render_fps"] == pytest.approx(14.93, abs=0.01)
    assert GameBoyVectorEnv.metadata == before
    assert before["autoreset_mode"] is AutoresetMode.NEXT_STEP


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "n: got 0, expected a whole number 1 to"),
        ({"render_mode": "human"}, "render_mode: got 'human'"),
        ({"autoreset_mode": "later"}, "autoreset_mode: got 'later', expected one of NEXT_STEP"),
        ({"actions": ["q"]}, "buttons: got 'q'"),
        ({"obs": "grey"}, "obs: got 'grey'"),
        ({"profile": "snes"}, "profile: got 'snes'"),
        ({"model": "snes"}, "model: got 'snes'"),
        ({"frame_skip": 0}, "frame_skip: got 0"),
        ({"max_episode_steps": 0}, "max_steps: got 0"),
        ({"rom": b"no rom"}, "ROM"),
        ({"reward_fn": lambda *_: (0, False, False)}, "ram_addresses: got none"),
        ({"reward_fn": 3, "ram_addresses": [0]}, "reward_fn: got 3, expected a function"),
        ({"reward_fn": max, "ram_addresses": [0x10000]}, "ram_addresses: got 65536"),
        ({"reward_fn": max, "ram_addresses": [0.5]}, "ram_addresses: got float64"),
        ({"reward_fn": max, "ram_addresses": 5}, r"ram_addresses: got int64 of shape \(\)"),
        ({"ram_addresses": [0xC000]}, r"ram_addresses: got \[49152\] without a reward_fn"),
        ({"actions": None}, "actions: got None, expected"),
        ({"rom": ""}, "rom: got ''"),
        ({"rom": "no/such/game.gb"}, "rom: no/such/game.gb: No such file"),
        ({"task": "score", "max_episode_steps": 3}, "task: got str, expected a Task"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(HybridEnvError, match=message):
        GameBoyVectorEnv(**options)


def test_a_missing_rom_is_a_file_error() -> None:
    with pytest.raises(FileNotFoundError):
        GameBoyVectorEnv(1, rom="no/such/game.gb")


# -- playing ---------------------------------------------------------------------------------------


def test_default_task_is_the_embedded_games() -> None:
    plain = GameBoyVectorEnv(2)
    plain.reset(seed=0)
    *_, info = plain.step(noops(2))
    assert set(info) == {f"{mask}{name}" for mask in ("", "_") for name in POLAR_POST.info}


@pytest.mark.parametrize("profile", ["hardware", "pyboy"])
def test_the_embedded_game_is_being_played_from_the_start(profile: Any) -> None:
    chance = [0xC012, 0xC013]  # the state of the game's generator
    objects = range(0xC030, 0xC080)
    env = GameBoyVectorEnv(32, frame_skip=8, profile=profile)
    first, _ = env.reset(seed=0)
    ram = env.batch.read_memory([0xC002, *chance])
    assert (ram[:, 0] == 1).all(), "not playing yet"
    assert len({row.tobytes() for row in ram[:, 1:]}) >= 20
    episode = [env.step(noops(32)) for _ in range(40)]
    seas = env.batch.read_memory(objects)
    assert len({row.tobytes() for row in seas}) >= 20
    again, _ = env.reset(seed=0)
    assert np.array_equal(again, first)
    for obs, reward, terminated, truncated, _ in episode:
        step = env.step(noops(32))
        for one, other in zip((obs, reward, terminated, truncated), step[:4], strict=True):
            assert np.array_equal(one, other)
    assert np.array_equal(env.batch.read_memory(objects), seas)


def test_the_embedded_game_pays_for_points_and_never_punishes(rng: np.random.Generator) -> None:
    env = GameBoyVectorEnv(16)
    env.reset(seed=0)
    before = np.zeros(16, dtype=np.int64)
    starting = np.zeros(16, dtype=np.bool_)
    paid, ends = 0.0, 0
    for _ in range(200):
        _, reward, terminated, truncated, info = env.step(rng.integers(0, 11, 16))
        points = np.where(starting, 0, info["score"] - before)
        assert (reward >= 0).all()
        assert reward.tolist() == (points * 0.01).astype(np.float32).tolist()
        before, starting = info["score"], terminated | truncated
        paid, ends = paid + float(reward.sum()), ends + int(starting.sum())
    assert paid > 10
    assert ends >= 10


def test_another_rom_has_no_task(root: Any) -> None:
    rom = (root / "python" / "hybridenv" / "data" / "polar_post.gb").read_bytes()
    env = GameBoyVectorEnv(2, rom=rom)
    env.reset(seed=0)
    for _ in range(20):
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert not reward.any()
        assert not (terminated | truncated).any()
        assert info == {}


def test_max_episode_steps_truncates() -> None:
    env = GameBoyVectorEnv(2, max_episode_steps=3)
    env.reset(seed=0)
    cuts = [env.step(noops(2))[3].tolist() for _ in range(8)]
    assert cuts == [[step in (2, 6)] * 2 for step in range(8)]


def test_next_step_restarts_without_playing(env: GameBoyVectorEnv) -> None:
    first, _ = env.reset(seed=7)
    ended = np.zeros(N, dtype=np.bool_)
    while not ended.any():
        obs, reward, terminated, truncated, info = env.step(noops())
        assert (reward > 0).all()
        ended = terminated | truncated
    assert ended.all()
    frames = env.batch.frames.copy()
    obs, reward, terminated, truncated, info = env.step(noops())
    assert np.array_equal(obs, first)  # without idle frames every start looks the same
    assert not reward.any()
    assert not (terminated | truncated).any()
    assert (env.batch.frames < frames).all()
    assert info["_frames"].all()


def test_same_step_hands_over_the_end() -> None:
    env = GameBoyVectorEnv(N, task=SHORT, autoreset_mode=AutoresetMode.SAME_STEP)
    plain = GameBoyVectorEnv(N, task=SHORT, autoreset_mode=AutoresetMode.DISABLED)
    first, start = env.reset(seed=7)
    plain.reset(seed=7)
    ended = np.zeros(N, dtype=np.bool_)
    while not ended.any():
        obs, reward, terminated, truncated, info = env.step(noops())
        last, same_reward, *_, same_info = plain.step(noops())
        ended = terminated | truncated
        assert np.array_equal(reward, same_reward)
    assert ended.all()
    assert np.array_equal(obs, first)
    assert np.array_equal(np.stack(info["final_obs"]), last)
    assert np.array_equal(info["final_info"]["frames"], same_info["frames"])
    for mask in ("_final_obs", "_final_info"):
        assert np.array_equal(info[mask], ended)
    assert np.array_equal(info["frames"], start["frames"])
    assert info["_frames"].all()
    *_, info = env.step(noops())
    assert "final_obs" not in info
    assert info["_frames"].all()


def test_some_machines_end_before_others() -> None:
    # Which machine ends when depends on its idle frames, so masks are neither all nor none.
    env = GameBoyVectorEnv(24, task=SHORT, noop_max=90, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=1)
    partial = 0
    for _ in range(40):
        _, _, terminated, truncated, info = env.step(noops(24))
        ended = terminated | truncated
        if not ended.any() or ended.all():
            continue
        partial += 1
        assert np.array_equal(info["_final_obs"], ended)
        assert [last is not None for last in info["final_obs"]] == ended.tolist()
        assert info["_frames"].all()
        assert (info["frames"][ended] < 200).all()
        assert not info["final_info"]["frames"][~ended].any()
        assert (info["final_info"]["frames"][ended] >= 200).all()
    assert partial >= 3


def test_disabled_waits_for_its_reset() -> None:
    env = GameBoyVectorEnv(N, task=SHORT, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=7)
    ended = np.zeros(N, dtype=np.bool_)
    while not ended.any():
        obs, _, terminated, truncated, _ = env.step(noops())
        ended = terminated | truncated
    with pytest.raises(NotResetError, match=r"machines \[0, 1, 2, 3, 4\] have ended"):
        env.step(noops())
    mask = np.array([True, False, True, False, False])
    options = {"reset_mask": mask}
    after, _ = env.reset(options=options)
    assert options == {"reset_mask": mask}
    assert np.array_equal(after[~mask], obs[~mask])
    with pytest.raises(NotResetError, match=r"machines \[1, 3, 4\] have ended"):
        env.step(noops())
    env.reset(options={"reset_mask": ~mask})
    env.step(noops())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask": 1}, r"reset options: got \['mask'\]"),
        ({"mask": 1, 3: 4}, r"reset options: got \[3, 'mask'\]"),
        (5, "reset options: got 5, expected a dict"),
        (0, "reset options: got 0, expected a dict"),
        ([], r"reset options: got \[\], expected a dict"),
        ({"reset_mask": [True] * N}, r'"reset_mask"\]: got list, expected bool array'),
        ({"reset_mask": np.ones(N)}, "got float64 array"),
        ({"reset_mask": np.ones(N + 1, dtype=bool)}, r"of shape \(6,\), expected"),
        ({"reset_mask": np.zeros(N, dtype=bool)}, "got no true value"),
    ],
)
def test_wrong_reset_options(env: GameBoyVectorEnv, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        env.reset(options=options)
    env.reset(options={})  # still usable


def test_seeds_are_per_machine() -> None:
    env = GameBoyVectorEnv(4, noop_max=60)
    by_one, _ = env.reset(seed=10)
    assert np.array_equal(by_one, env.reset(seed=[10, 11, 12, 13])[0])
    assert not np.array_equal(by_one, env.reset(seed=20)[0])
    again, _ = env.reset(seed=[10, None, 12, None])
    assert np.array_equal(again[::2], by_one[::2])


def test_without_a_seed_instances_differ() -> None:
    envs = [GameBoyVectorEnv(8, noop_max=200) for _ in range(2)]
    one, two = (env.reset()[0] for env in envs)
    assert not np.array_equal(one, two)


def test_wrong_actions_leave_the_machines_alone(env: GameBoyVectorEnv) -> None:
    env.reset(seed=0)
    frames = env.batch.frames.copy()
    with pytest.raises(HybridEnvError, match="actions"):
        env.step(np.full(N, 99))
    assert np.array_equal(env.batch.frames, frames)
    env.step(noops())


# -- the escape hatch ------------------------------------------------------------------------------


def test_reward_function_sees_memory_before_and_after() -> None:
    seen: list[tuple[Any, Any]] = []

    def reward(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> Any:
        seen.append((before, after))
        return after[:, 0].astype(np.int16) - before[:, 0], after[:, 1] == 99, False

    env = GameBoyVectorEnv(
        N,
        task=Task(fields={}, start=POLAR_POST.start),
        reward_fn=reward,
        ram_addresses=[FRAMES_LOW, 0xC002],
    )
    env.reset(seed=0)
    start = env.batch.read_memory([FRAMES_LOW])[:, 0]
    for k in range(3):
        _, rewards, terminated, truncated, _ = env.step(noops())
        assert rewards.dtype == np.float32
        assert rewards.tolist() == [24.0] * N
        assert terminated.dtype == truncated.dtype == np.bool_
        before, after = seen[-1]
        assert before.shape == after.shape == (N, 2)
        assert np.array_equal(before[:, 0], start + 24 * k)
        assert not before.flags.writeable
    assert len(seen) == 3


@pytest.mark.parametrize("mode", AutoresetMode)
def test_reward_function_starts_over_with_the_episode(mode: AutoresetMode) -> None:
    def reward(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> Any:
        moved = after[:, 0].astype(np.int16) - before[:, 0]
        return moved, after[:, 0] >= 150, np.False_

    task = Task(fields={}, start=POLAR_POST.start)
    env = GameBoyVectorEnv(
        2, task=task, reward_fn=reward, ram_addresses=[FRAMES_LOW], autoreset_mode=mode
    )
    env.reset(seed=0)
    ends = 0
    for _ in range(24):
        _, rewards, terminated, _, _ = env.step(noops(2))
        assert set(rewards.tolist()) <= {0.0, 24.0}  # no jump back to the start is ever paid
        ends += int(terminated.sum())
        if mode is AutoresetMode.DISABLED and terminated.any():
            env.reset(options={"reset_mask": terminated})
    assert ends >= 4


def test_reward_function_adds_to_the_task() -> None:
    def reward(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> Any:
        return 1, False, np.arange(len(after)) == 1

    env = GameBoyVectorEnv(3, task=SHORT, reward_fn=reward, ram_addresses=[0])
    env.reset(seed=0)
    _, rewards, terminated, truncated, _ = env.step(noops(3))
    assert rewards.tolist() == [13.0] * 3
    assert not terminated.any()
    assert truncated.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (1.0, "returned float, expected a tuple"),
        ((1.0, False), "returned tuple"),
        ((["a"] * 3, False, False), "reward has dtype"),
        ((0, 1, False), "terminated has dtype int64, expected bool"),
        ((0, False, np.zeros(2, dtype=bool)), r"truncated has shape \(2,\), expected \(3,\)"),
        ((np.array([0, np.nan, 0]), False, False), "reward of machine 1 is nan, expected a finite"),
        ((np.inf, False, False), "reward of machine 0 is inf"),
        ((1e300, False, False), r"reward of machine 0 is 1e\+300, expected a finite float32"),
        (([[0], [1, 2], 0], False, False), "reward: expected one column"),
    ],
)
def test_wrong_reward_functions(returned: Any, message: str) -> None:
    env = GameBoyVectorEnv(3, reward_fn=lambda *_: returned, ram_addresses=[0xC000])
    env.reset(seed=0)
    with pytest.raises(TaskError, match=message):
        env.step(noops(3))


def test_an_end_survives_a_wrong_reward_function() -> None:
    returned: list[Any] = [(np.nan, False, False), (1, False, False)]
    env = GameBoyVectorEnv(
        2, max_episode_steps=1, reward_fn=lambda *_: returned.pop(0), ram_addresses=[0xC000]
    )
    env.reset(seed=0)
    with pytest.raises(TaskError, match="nan"):
        env.step(noops(2))
    frames = env.batch.frames
    _, reward, _, truncated, _ = env.step(noops(2))
    assert (env.batch.frames < frames).all()
    assert not reward.any()
    assert not truncated.any()


# -- the rest --------------------------------------------------------------------------------------


@pytest.mark.parametrize("obs", ["shades", "rgb", "packed"])
def test_render_shows_every_machine_in_colour(obs: Any) -> None:
    palette = [[250, 240, 230], [180, 170, 160], [90, 80, 70], [1, 2, 3]]
    env = GameBoyVectorEnv(3, obs=obs, palette=palette, render_mode="rgb_array")
    env.reset(seed=0)
    frames = env.render()
    assert frames is not None
    assert [frame.shape for frame in frames] == [(144, 160, 3)] * 3
    colours = {tuple(pixel) for frame in frames for pixel in frame.reshape(-1, 3).tolist()}
    assert len(colours) >= 3
    assert colours <= {tuple(colour) for colour in palette}


def test_render_is_off_by_default(env: GameBoyVectorEnv) -> None:
    env.reset(seed=0)
    assert env.render() is None


def test_close_twice_then_refuse(env: GameBoyVectorEnv) -> None:
    obs, _ = env.reset(seed=0)
    kept = obs.copy()
    env.close()
    env.close()
    assert env.closed
    assert np.array_equal(obs, kept)
    with pytest.raises(ClosedError):
        env.step(noops())


def test_one_thread_or_many(rng: np.random.Generator) -> None:
    envs = [GameBoyVectorEnv(6, task=SHORT, num_threads=threads) for threads in (1, 2, 5)]
    for env in envs:
        env.reset(seed=0)
    for _ in range(20):
        actions = rng.integers(0, 11, 6)
        one, *others = (env.step(actions) for env in envs)
        for other in others:
            for left, right in zip(one[:4], other[:4], strict=True):
                assert np.array_equal(left, right)


def test_wrappers_of_gymnasium_work() -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(GameBoyVectorEnv(N, task=SHORT))
    envs.reset(seed=0)
    lengths: list[int] = []
    for _ in range(30):
        *_, info = envs.step(noops())
        if "episode" in info:
            lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert len(lengths) >= 2 * N
    assert len(set(lengths)) == 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_machines_are_not_copied(env: GameBoyVectorEnv, copied: Callable[[Any], Any]) -> None:
    env.reset(seed=0)
    with pytest.raises(UncopyableError, match="GameBoyBatch: got a copy or pickle"):
        copied(env.batch)
    env.step(noops())


def test_spec_survives_pickling() -> None:
    envs = gymnasium.make_vec(ENV_ID, num_envs=2, frame_skip=6)
    spec = pickle.loads(pickle.dumps(envs.spec))  # noqa: S301
    assert spec.kwargs["frame_skip"] == 6
