"""What a trainer needs to know: its devices, and an environment's specs and what its score is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hybridenv.envs import Box, Discrete
from hybridenv.errors import ConfigError
from hybridenv.train.config import Config
from hybridenv.train.networks import ActionSpec, ObsSpec


def chosen_devices(config: Config) -> list[jax.Device]:
    """Return the devices that a configuration asks for.

    Raises:
        ConfigError: There are not so many.
    """
    found = jax.devices()
    if len(found) < config.devices:
        raise ConfigError(
            f"devices: got {config.devices}, expected 1 to {len(found)}, or 0 for all; "
            "hybridenv.envs.host_devices says how there could be more"
        )
    return found[: config.devices or None]


def specs(observations: Any, actions: Any, name: str) -> tuple[ObsSpec, ActionSpec]:
    """Return what a network needs to know of an environment's spaces.

    Args:
        observations: The space of one observation, of `hybridenv.envs` or of Gymnasium.
        actions: The space of one action, likewise.
        name: Name of the environment, for messages.

    Raises:
        ConfigError: No network here fits such a space.
    """
    shape, dtype = tuple(observations.shape or ()), np.dtype(observations.dtype or np.object_)
    if not shape or (dtype != np.uint8 and not np.issubdtype(dtype, np.floating)):
        raise ConfigError(
            f"{name}: got observations {observations}, expected a Box of uint8 or of floats"
        )
    high = float(np.max(observations.high)) if dtype == np.uint8 else 1.0
    obs = ObsSpec(shape, "uint8" if dtype == np.uint8 else "float32", max(high, 1.0))
    size = getattr(actions, "n", None)
    if isinstance(actions, Discrete) or (type(actions).__name__ == "Discrete" and size):
        if getattr(actions, "start", 0) != 0:
            raise ConfigError(f"{name}: got actions {actions}, expected them to start at 0")
        return obs, ActionSpec(int(actions.n), shown=name in _SHOWN)
    bounded = isinstance(actions, Box) or type(actions).__name__ == "Box"
    if bounded and len(actions.shape) == 1 and np.issubdtype(actions.dtype, np.floating):
        low, high_ = (tuple(map(float, bound)) for bound in (actions.low, actions.high))
        return obs, ActionSpec(actions.shape[0], True, low, high_)
    raise ConfigError(
        f"{name}: got actions {actions}, expected a Discrete or a Box of floats with one axis"
    )


_SHOWN = frozenset(("pokemon", "hybridenv/Pokemon-v0"))
"""Environments whose observations begin with which actions are legal, see `ActionSpec.shown`."""


def _points(reward: Array) -> Array:
    """Pong's points: rewards of 1 and -1, without the 0.1 for touching the ball."""
    return jnp.trunc(reward)


_SCORES: dict[str, Callable[[Array], Array]] = {"pokemon": jnp.round, "pong": _points}


def score(name: str) -> Callable[[Array], Array]:
    """Return what turns rewards of an environment into its score; often they are the same."""
    return _SCORES.get(name, lambda reward: reward)


def clipped(action: Array, spec: ActionSpec) -> Array:
    """Return an action within the bounds of its space."""
    if not spec.continuous:
        return action
    return jnp.clip(action, jnp.asarray(spec.low), jnp.asarray(spec.high))
