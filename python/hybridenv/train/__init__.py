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

from hybridenv.train.checkpoint import Checkpoints
from hybridenv.train.config import Config
from hybridenv.train.evaluate import Evaluation, evaluate, evaluate_vector
from hybridenv.train.run import Result, load, make_trainer, train

__all__ = [
    "Checkpoints",
    "Config",
    "Evaluation",
    "Result",
    "evaluate",
    "evaluate_vector",
    "load",
    "make_trainer",
    "train",
]
