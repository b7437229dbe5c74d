"""Pong once more, as one would write it down from the rules: one game, one sub-step after another.

It shares no code with `hybridenv.envs.pong.rules`, does in every sub-step what the reference does,
in its order and in float32, and is what the fast version is compared with.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

F = np.float32


def _clip(value: np.float32, low: np.float32, high: np.float32) -> np.float32:
    return min(max(value, low), high)


class PongReference:
    """One game of Pong in NumPy, sequential and slow.

    Args:
        draw: Gives the next draw of a round, a whole number.
        frame_skip: Sub-steps a step.
        continuous: The action is a direction instead of 0 still, 1 up, 2 down.

    Attributes:
        observation: float32[8], what the player sees; written at the end of each sub-step.
        left_y: float32, lower edge of the opponent's paddle.
        right_y: float32, lower edge of the agent's paddle.
        ball_x: float32, left edge of the ball.
        ball_y: float32, lower edge of the ball.
        ball_vx: float32, its speed to the right, a sub-step.
        ball_vy: float32, its speed upwards.
        left_score: Points of the opponent.
        right_score: Points of the agent.
    """

    ball_vx: np.float32
    ball_vy: np.float32

    def __init__(
        self, draw: Callable[[], int], frame_skip: int = 4, *, continuous: bool = False
    ) -> None:
        self._draw = draw
        self._frame_skip = frame_skip
        self._continuous = continuous
        self.observation = np.zeros(8, F)
        self.reset()

    def reset(self) -> NDArray[np.float32]:
        """Start a game.

        Returns:
            The first observation, float32[8].
        """
        self.left_score = self.right_score = 0
        self._start_round()
        self._observe()
        return self.observation.copy()

    def step(self, action: float) -> tuple[NDArray[np.float32], np.float32, bool]:
        """Play one step; after the end of a game, the next one has begun.

        Args:
            action: 0 still, 1 up or 2 down; or the direction, -1 to 1.

        Returns:
            The observation (float32[8]), the reward, and whether the game ended.
        """
        direction = F(action) if self._continuous else F({0: 0, 1: 1, 2: -1}[int(action)])
        reward = F(0)
        for _ in range(self._frame_skip):
            self._move_paddles(direction)
            self._move_ball()
            if self.ball_x < 0:
                if not self._meets(self.left_y):
                    self.right_score += 1
                    return self._end_round(F(1), self.right_score)
                self.ball_vx = -self.ball_vx
            if self.ball_x + F(32) > F(500):
                if not self._meets(self.right_y):
                    self.left_score += 1
                    return self._end_round(F(-1), self.left_score)
                reward = F(0.1)
                self._bounce(direction)
            self._observe()
        return self.observation.copy(), reward, False

    def _start_round(self) -> None:
        self.left_y = self.right_y = F(285)
        self.ball_x, self.ball_y = F(100), F(304)
        self.ball_vx, self.ball_vy = F(10), F(self._draw() % 2 - 1)

    def _end_round(
        self, reward: np.float32, score: int
    ) -> tuple[NDArray[np.float32], np.float32, bool]:
        """Go on with a new round, whose picture is not yet shown, or with a new game, whose is."""
        if score == 21:
            return self.reset(), reward, True
        self._start_round()
        return self.observation.copy(), reward, False

    def _move_paddles(self, direction: np.float32) -> None:
        self.right_y = _clip(self.right_y + F(8) * direction, F(-35), F(605))
        centre = self.left_y + F(35)
        chase = _clip(self.ball_y - centre, F(-8), F(8))
        self.left_y = _clip(self.left_y + chase, F(-35), F(605))

    def _move_ball(self) -> None:
        self.ball_x += self.ball_vx
        self.ball_y += self.ball_vy
        if self.ball_y < 0 or self.ball_y + F(32) > F(640):
            self.ball_vy = -self.ball_vy

    def _meets(self, paddle_y: np.float32) -> bool:
        """Whether the ball overlaps a paddle in height."""
        return bool(paddle_y < self.ball_y + F(32) and paddle_y + F(70) > self.ball_y)

    def _bounce(self, direction: np.float32) -> None:
        """Return the ball from the agent's paddle."""
        self.ball_vx = -self.ball_vx
        self.ball_vy = _clip(self.ball_vy + F(3) * direction, F(-13), F(13))
        if abs(float(self.ball_vy)) < 0.01:
            self.ball_vy = F(3)
        self.ball_x = _clip(self.ball_x, F(0), F(500 - 32))
        self.ball_y = _clip(self.ball_y, F(0), F(640 - 32))

    def _observe(self) -> None:
        self.observation[:] = (
            (self.left_y + F(35)) / F(640),
            (self.right_y + F(35)) / F(640),
            self.ball_x / F(500),
            self.ball_y / F(640),
            (self.ball_vx + F(10)) / F(20),
            (self.ball_vy + F(13)) / F(26),
            self.left_score // 21,
            self.right_score // 21,
        )
