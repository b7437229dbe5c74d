"""`GameBoyEnv`: one Game Boy behind Gymnasium's plain interface."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from hybridenv.gym._one import OneEnv
from hybridenv.gym.vector import GameBoyVectorEnv


class GameBoyEnv(OneEnv[np.uint8]):
    """One Game Boy: a `GameBoyVectorEnv` of one machine without its leading axis.

    For more than one machine take `GameBoyVectorEnv`, which steps them together and in parallel.

    Args:
        **options: Every keyword of `GameBoyVectorEnv` but `num_envs` and `autoreset_mode`.

    Attributes:
        vector: The vector environment underneath; `vector.batch` is the machine.
        metadata: This instance's own copy, with its `render_fps`.

    Raises:
        HybridEnvError: An option is not one of those; the message names it.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # Gymnasium's protocol; instances own a copy
        key: value for key, value in GameBoyVectorEnv.metadata.items() if key != "autoreset_mode"
    }

    vector: GameBoyVectorEnv

    def __init__(self, **options: Any) -> None:
        super().__init__(GameBoyVectorEnv(1, autoreset_mode=AutoresetMode.DISABLED, **options))
