"""CartPole in NumPy, written anew, and faults that can be switched on in it."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces

HIGH = np.array([4.8, np.inf, np.deg2rad(24), np.inf], np.float32)
ANGLE = 12 * 2 * math.pi / 360


class Cart:
    """CartPole-v1: the same dynamics, generator and limits as Gymnasium's.

    Source: Barto, Sutton and Anderson, 1983, with Euler steps of 0.02 seconds.
    """

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-HIGH, HIGH, dtype=np.float32)
        self.action_space = spaces.Discrete(2)
        self.rng = np.random.default_rng()
        self.state = np.zeros(4)
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self.rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
        self.state = self.rng.uniform(-0.05, 0.05, 4)
        self.steps = 0
        return self.look(), {}

    def look(self) -> Any:
        return self.state.astype(np.float32)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.state = self.move(float(self.force(action)))
        self.steps += 1
        terminated = self.fallen()
        return self.look(), 1.0, terminated, self.steps >= 500, {}

    def force(self, action: Any) -> float:
        return 10.0 if action == 1 else -10.0

    def move(self, force: float) -> Any:
        x, speed, angle, spin = self.state
        cosine, sine = np.cos(angle), np.sin(angle)
        push = (force + 0.05 * np.square(spin) * sine) / 1.1
        turn = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * np.square(cosine) / 1.1))
        drive = push - 0.05 * turn * cosine / 1.1
        return np.array(
            [x + 0.02 * speed, speed + 0.02 * drive, angle + 0.02 * spin, spin + 0.02 * turn]
        )

    def fallen(self) -> bool:
        x, _, angle, _ = self.state
        return bool(x < -2.4 or x > 2.4 or angle < -ANGLE or angle > ANGLE)

    def get_state(self) -> dict[str, Any]:
        return {"state": self.state.copy(), "elapsed_steps": np.int64(self.steps)}

    def set_state(self, state: Any) -> Any:
        self.state = np.array(state["state"])
        self.steps = int(state.get("elapsed_steps", 0))
        return self.look()


def make() -> Cart:
    return Cart()


class TooGenerous(Cart):
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward + (self.steps == 12), terminated, truncated, info


def too_generous() -> Cart:
    return TooGenerous()


def wrapper() -> Any:
    import gymnasium

    return gymnasium.make("CartPole-v1")
