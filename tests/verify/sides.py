"""Small sides that misbehave, named by the tests so that they can run in processes of their own."""

import os
import time
from typing import Any

import numpy as np
from gymnasium import spaces
from tests.verify.cartpole import Cart


class Counter:
    """Counts right and left; never ends by itself before 1,000 steps."""

    limit = 1_000

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
        self.action_space = spaces.Discrete(4)
        self.rights = 0
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.rights = self.steps = 0
        return self.look(), {}

    def look(self) -> Any:
        return np.array([self.rights, self.steps], np.float64)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.rights += int(action) == 1
        self.steps += 1
        return self.look(), 0.0, False, self.steps >= self.limit, {}


class Counting(Counter):
    """Written once more, so that neither calls the other."""


class TenthRight(Counter):
    """Pays for every tenth step to the right, counted in a way that nobody sees."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, _, terminated, truncated, info = super().step(action)
        return obs, float(self.rights >= 10 and int(action) == 1), terminated, truncated, info


class Deep(Counter):
    """A fault that random play reaches about step 500: ten times a rare action."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Discrete(50)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, _, terminated, truncated, info = super().step(action)
        return obs, float(self.rights >= 10), terminated, truncated, info


class Shallow(Counter):
    """What `Deep` should be."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Discrete(50)


class Endless(Counter):
    limit = 10**12


class Lever:
    """Actions of several parts, which must have the types of their space."""

    late = 10**6

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float64)
        push = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        parts = spaces.Tuple((spaces.Discrete(2), push))
        self.action_space = spaces.Dict({"pull": parts, "hold": spaces.Discrete(3)})
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.steps = 0
        return np.zeros(1), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action):
            raise TypeError(f"no action: {action}")
        self.steps += 1
        wrong = self.steps >= self.late
        return np.array([self.steps + wrong], np.float64), 0.0, False, self.steps >= 9, {}


class LooseLever(Lever):
    late = 3


class Hanging(Cart):
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        time.sleep(60)
        return super().step(action)


class Dying(Cart):
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        os._exit(7)


class Raising(Cart):
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.steps == 3:
            raise ZeroDivisionError("three steps are enough")
        return super().step(action)


class Leaving(Cart):
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        raise SystemExit(0)


class Secretive(Cart):
    """Hands out what only lives in its own process."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        *seen, _ = super().step(action)
        obs, reward, terminated, truncated = seen
        return obs, reward, terminated, truncated, {"how": lambda: 3}


class Stubborn(Cart):
    """Hands out states and takes none."""

    def set_state(self, state: Any) -> Any:
        raise KeyError("not now")


class Moody(Cart):
    """Not the same twice under one seed."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return super().reset(seed=None)


class LateWrapper(Cart):
    """Imports the reference only when it is played, and hides the error."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        from gymnasium.envs.classic_control import CartPoleEnv

        inner: Any = CartPoleEnv()
        inner.state = self.state
        seen: tuple[Any, float, bool, bool, dict[str, Any]] = inner.step(action)
        return seen


class FileWrapper(Cart):
    """Runs the reference's file without importing it."""

    def __init__(self) -> None:
        super().__init__()
        import gymnasium

        place = os.path.join(
            os.path.dirname(gymnasium.__file__), "envs", "classic_control", "cartpole.py"
        )
        with open(place, encoding="utf-8") as file:
            self.source = file.read()


def not_an_environment() -> int:
    return 3


def broken() -> Cart:
    raise OSError("no such simulator")
