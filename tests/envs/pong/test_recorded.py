"""Pong replays what PufferLib's Pong was recorded to do, exactly."""

from pathlib import Path

import numpy as np
import pytest
from tests.envs.pong.games import Game, first_difference, replay

from bench.cases import shared_folder
from hybridenv.envs.pong import PongEnv
from hybridenv.envs.pong.reference import PongReference

FRAME_SKIPS = (1, 4, 8)
STEPS = 20_000


@pytest.fixture(scope="module")
def folder() -> Path:
    path = shared_folder() / "data" / "pong"
    if not path.is_dir():
        pytest.skip(f"recorded Pong: {path} is missing (set HYBRIDENV_SHARED)")
    return path


def recorded(folder: Path, frame_skip: int) -> Game:
    """A recording, with the draws that can be seen in it: the ball falls or flies level."""
    with np.load(folder / f"frameskip{frame_skip}.npz") as file:
        actions, observations = file["actions"], file["observations"]
        rewards, ends = file["rewards"], file["terminals"]
    assert actions.shape == (STEPS,)
    level = np.abs(observations[:, 5] * 26 - 13) < 0.5
    # A new game shows its ball in the step that ends the old one, a new round one step later.
    shown = np.minimum(np.arange(STEPS) + np.where(ends, 1, 2), STEPS)
    draws = level[shown].astype(np.int32)
    return Game(int(level[0]), draws, actions.astype(np.int32), observations, rewards, ends)


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("frame_skip", FRAME_SKIPS)
def test_recording_is_reproduced(folder: Path, frame_skip: int, continuous: bool) -> None:
    game = recorded(folder, frame_skip)
    assert (np.abs(game.rewards) == 1).sum() >= 40
    assert game.ends.sum() >= 1
    env = PongEnv(frame_skip, continuous=continuous)
    actions = np.array([0, 1, -1], np.float32)[game.actions] if continuous else game.actions
    assert first_difference(game, replay(env, game.first_draw, game.draws, actions)) is None


@pytest.mark.parametrize("frame_skip", FRAME_SKIPS)
def test_reference_reproduces_the_recording(folder: Path, frame_skip: int) -> None:
    game = recorded(folder, frame_skip)
    now = 0
    draws = np.concatenate(([game.first_draw], game.draws))
    reference = PongReference(lambda: int(draws[now]), frame_skip)
    assert np.array_equal(reference.observation, game.observations[0])
    for step in range(5_000):
        now = step + 1
        observation, reward, end = reference.step(int(game.actions[step]))
        assert np.array_equal(observation, game.observations[step + 1]), step
        assert (reward, end) == (game.rewards[step], game.ends[step]), step


def test_a_wrong_draw_is_noticed(folder: Path) -> None:
    game = recorded(folder, 8)
    replayed = replay(PongEnv(8), game.first_draw, 1 - game.draws, game.actions)
    assert first_difference(game, replayed) is not None
