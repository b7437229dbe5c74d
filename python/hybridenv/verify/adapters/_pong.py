"""Pong's sequential reference as one side: it records its serves for others to replay."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hybridenv.envs.pong.env import OBSERVATIONS
from hybridenv.envs.pong.reference import PongReference
from hybridenv.verify._target import Seen


class _OneGame(PongReference):
    """The reference, with the last picture of a game in place of the first one of the next.

    The reference starts over within the step that ends a game and so never shows that picture; what
    it would show is the picture before the last point with the score after it.
    """

    def _end_round(
        self, reward: np.float32, score: int
    ) -> tuple[NDArray[np.float32], np.float32, bool]:
        last = self.observation.copy()
        last[6:] = self.left_score // 21, self.right_score // 21
        obs, reward, done = super()._end_round(reward, score)
        return (last if done else obs), reward, done


class PongReferenceGame:
    """Pong by `hybridenv.envs.pong.reference`, with Gymnasium's methods.

    Args:
        frame_skip: Sub-steps a step.
        continuous: The action is a direction, float32[1].
    """

    def __init__(self, frame_skip: int = 4, continuous: bool = False) -> None:
        self._frame_skip, self._continuous = frame_skip, continuous
        self.observation_space = OBSERVATIONS.to_gymnasium()
        self.action_space: spaces.Space[Any] = (
            spaces.Box(-1, 1, (1,), np.float32) if continuous else spaces.Discrete(3)
        )
        self._rng = np.random.default_rng(0)
        self._taken: list[int] = []
        self._game: _OneGame | None = None

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start a game."""
        del options
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._taken = []
        self._game = _OneGame(self._draw, self._frame_skip, continuous=self._continuous)
        return self._game.observation.copy(), {}

    def step(self, action: Any) -> Seen:
        """Play one step; `info["score"]` is the agent's points less the opponent's."""
        game = self._game
        if game is None:
            raise RuntimeError("step: got no reset before, expected one")
        before = game.right_score - game.left_score
        obs, reward, done = game.step(float(np.ravel(action)[0]))
        point = int(np.sign(reward)) if abs(float(reward)) == 1 else 0
        # After the last point the reference has begun the next game, whose score is 0.
        return obs, reward, done, False, {"score": np.int32(before + point)}

    def take_chance(self) -> list[int]:
        """Return the serves drawn since the last call: none or one, for a game that goes on."""
        taken, self._taken = self._taken[:1], []
        return taken

    def _draw(self) -> int:
        self._taken.append(int(self._rng.integers(2)))
        return self._taken[-1]
