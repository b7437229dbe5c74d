"""`JaxEnv`: one game of an environment of `hybridenv.envs` behind Gymnasium's plain interface."""

from typing import Any

from gymnasium.vector import AutoresetMode

from hybridenv.gym._one import OneEnv
from hybridenv.gym.jax_vector import JaxVectorEnv


class JaxEnv(OneEnv[Any]):
    """One game: a `JaxVectorEnv` of one without its leading axis.

    A call costs about as much as one for a hundred games; for more than one take `JaxVectorEnv`.

    Args:
        env: As for `JaxVectorEnv`.
        **options: Every other keyword of it but `num_envs` and `autoreset_mode`.

    Attributes:
        vector: The vector environment underneath.
        metadata: This instance's own copy, with its `render_fps`.

    Raises:
        ArgumentError: An option is not one of those; the message names it.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # Gymnasium's protocol; instances own a copy
        key: value for key, value in JaxVectorEnv.metadata.items() if key != "autoreset_mode"
    }

    vector: JaxVectorEnv

    def __init__(self, env: Any, **options: Any) -> None:
        super().__init__(JaxVectorEnv(env, 1, autoreset_mode=AutoresetMode.DISABLED, **options))
