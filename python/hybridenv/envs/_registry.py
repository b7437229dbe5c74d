"""Environments by name."""

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any, Protocol

from hybridenv.envs._contract import ChanceEnvironment
from hybridenv.errors import ArgumentError


class Maker(Protocol):
    """Makes an environment from its options."""

    def __call__(self, **options: Any) -> ChanceEnvironment[Any, Any]:
        """Make it."""


_PLACES = {
    "half_cheetah": "hybridenv.envs.locomotion:HalfCheetahEnv",
    "hopper": "hybridenv.envs.locomotion:HopperEnv",
    "pokemon": "hybridenv.envs.pokemon:PokemonEnv",
    "pong": "hybridenv.envs.pong:PongEnv",
    "walker2d": "hybridenv.envs.locomotion:Walker2dEnv",
}


def names() -> tuple[str, ...]:
    """Return the names that `make` knows, in alphabetical order."""
    return tuple(sorted(_PLACES))


def make(name: str, **options: Any) -> tuple[ChanceEnvironment[Any, Any], Any]:
    """Make an environment.

    Args:
        name: One of `names()`.
        **options: Options of that environment, see its class.

    Returns:
        The environment and its default parameters. Episodes do not begin anew by themselves: wrap
        it in `AutoReset`, and in `Batch` for many games.

    Raises:
        ArgumentError: There is no such environment, or it has no such option or value.

    Example:
        ```python
        env, params = hybridenv.make("pong", frame_skip=8)
        obs, state = env.reset(jax.random.key(0), params)
        ```
    """
    place = _PLACES.get(name) if isinstance(name, str) else None
    if place is None:
        known = ", ".join(map(repr, names()))
        raise ArgumentError(f"make: got environment {name!r}, expected one of {known}")
    module, _, member = place.partition(":")
    maker: Callable[..., ChanceEnvironment[Any, Any]] = getattr(import_module(module), member)
    allowed = sorted(signature(maker).parameters)
    if unknown := sorted(set(options) - set(allowed)):
        raise ArgumentError(
            f"make({name!r}): got option {', '.join(map(repr, unknown))}, expected one of "
            f"{', '.join(map(repr, allowed))}"
        )
    env = maker(**options)
    return env, env.default_params
