"""Environments written in JAX: rules that run inside `jax.jit`, many games at once.

    env, params = hybridenv.make("pong")
    games = Batch(AutoReset(env), 4096)
    obs, state = jax.jit(games.reset)(jax.random.key(0), params)

Needs the extra: ``pip install "hybridenv[jax]"``. `import hybridenv` alone never imports JAX.
"""

try:
    import jax  # noqa: F401
except ImportError as error:
    from hybridenv.errors import MissingDependencyError

    raise MissingDependencyError(
        "hybridenv.envs needs JAX, which is not installed: pip install 'hybridenv[jax]'"
    ) from error

from hybridenv.envs._check import EnvReport, check_env
from hybridenv.envs._contract import ChanceEnvironment, Environment, with_chance
from hybridenv.envs._devices import compiler_options, host_devices
from hybridenv.envs._fusion import once
from hybridenv.envs._registry import make, names
from hybridenv.envs._spaces import Box, Discrete, Space
from hybridenv.envs._wrappers import (
    AutoReset,
    Batch,
    Episode,
    EpisodeStatistics,
    Timed,
    TimeLimit,
    Wrapper,
)

__all__ = [
    "AutoReset",
    "Batch",
    "Box",
    "ChanceEnvironment",
    "Discrete",
    "EnvReport",
    "Environment",
    "Episode",
    "EpisodeStatistics",
    "Space",
    "TimeLimit",
    "Timed",
    "Wrapper",
    "check_env",
    "compiler_options",
    "host_devices",
    "make",
    "names",
    "once",
    "with_chance",
]
