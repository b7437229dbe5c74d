"""MountainCar in JAX as the tutorial writes it, and a policy that reaches its goal."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def example(name: str) -> ModuleType:
    """A module of the tutorial."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there for their module
    spec.loader.exec_module(module)
    return module


MountainCar: Any = example("mountain_car_jax").MountainCar


class Rocking:
    """A policy that drives with the motion and so reaches the goal."""

    def act(self, obs: Any, key: int) -> int:
        return 2 if obs[1] >= 0 else 0
