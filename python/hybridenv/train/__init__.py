"""Training with PPO: a whole run in one compiled program, or around environments of the host.

    from hybridenv.train import Config, train
    result = train(Config(env="pong", steps=10_000_000))

Needs the extra: ``pip install "hybridenv[train]"``. `import hybridenv` alone never imports JAX.
"""

try:
    import flax  # noqa: F401
    import jax  # noqa: F401
    import optax  # noqa: F401
except ImportError as error:
    from hybridenv.errors import MissingDependencyError

    raise MissingDependencyError(
        f"hybridenv.train needs {error.name}, which is not installed: "
        "pip install 'hybridenv[train]'"
    ) from error

from hybridenv.train.config import Config

__all__ = ["Config"]
