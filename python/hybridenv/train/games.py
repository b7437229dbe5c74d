"""What a trainer needs to know: its devices, and what an environment says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import VectorEnv
from jax import Array
from numpy.typing import NDArray

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


def specs(
    observations: Any, actions: Any, name: str, *, shown: bool = False
) -> tuple[ObsSpec, ActionSpec]:
    """Return what a network needs to know of an environment's spaces.

    Args:
        observations: The space of one observation, of `hybridenv.envs` or of Gymnasium.
        actions: The space of one action, likewise.
        name: Name of the environment, for messages.
        shown: Whether observations begin with the legal actions, see
            `hybridenv.envs.ChanceEnvironment.shows_legal_actions`.

    Raises:
        ConfigError: No network here fits such a space, or it has no room for what is shown.
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
        if shown and (len(shape) != 1 or shape[0] < actions.n):
            raise ConfigError(
                f"{name}: got observations {observations}, expected vectors that begin with the "
                f"{actions.n} legal actions, as shows_legal_actions says"
            )
        return obs, ActionSpec(int(actions.n), shown=shown)
    bounded = isinstance(actions, Box) or type(actions).__name__ == "Box"
    if bounded and len(actions.shape) == 1 and np.issubdtype(actions.dtype, np.floating):
        low, high_ = (tuple(map(float, bound)) for bound in (actions.low, actions.high))
        return obs, ActionSpec(actions.shape[0], True, low, high_)
    raise ConfigError(
        f"{name}: got actions {actions}, expected a Discrete or a Box of floats with one axis"
    )


def vector_score(envs: VectorEnv[Any, Any, Any]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return what turns rewards [n] of environments of the host into their score.

    Those that have no `score(reward)` of their own are scored by what they pay.
    """
    own = getattr(envs.unwrapped, "score", None)
    return own if callable(own) else lambda reward: reward


def vector_shows(envs: VectorEnv[Any, Any, Any]) -> bool:
    """Return whether environments of the host say that they show the legal actions.

    Where a wrapper made other observations of theirs, nobody knows.
    """
    inner = envs.unwrapped
    same = bool(envs.single_observation_space == inner.single_observation_space)
    return same and bool(getattr(inner, "shows_legal_actions", False))


def clipped(action: Array, spec: ActionSpec) -> Array:
    """Return an action within the bounds of its space."""
    if not spec.continuous:
        return action
    return jnp.clip(action, jnp.asarray(spec.low), jnp.asarray(spec.high))
