"""`GameBoyEnv`: one Game Boy behind Gymnasium's plain interface."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from hybridenv.checks import whole_or_none
from hybridenv.gym.vector import GameBoyVectorEnv


class GameBoyEnv(gymnasium.Env[NDArray[np.uint8], Any]):
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

    def __init__(self, **options: Any) -> None:
        self.vector = GameBoyVectorEnv(1, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.render_mode = self.vector.render_mode
        self.metadata = {
            **type(self).metadata,
            "render_fps": self.vector.metadata["render_fps"],
        }
        self.action_space = self.vector.single_action_space
        self.observation_space = self.vector.single_observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Start a new episode.

        Args:
            seed: Seeds the machine; `None` goes on with its stream of random numbers.
            options: `None` or empty: there are no options for one machine. Never changed.

        Returns:
            The observation (uint8[...], owned by the caller) and the info, with the keys of
            `step`.

        Raises:
            ArgumentError: `options` is not empty, or `seed` is no whole number.
            HybridEnvError: As `hybridenv.GameBoyBatch.reset`.
        """
        seed = whole_or_none("seed", seed, 0, 2**64 - 1)
        super().reset(seed=seed)
        obs, columns = self.vector.reset(seed=seed, options=options)
        return obs[0], _info(columns)

    def step(self, action: Any) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Run one step.

        Args:
            action: One action, see `action_space`.

        Returns:
            Observation uint8[...] (owned by the caller), reward, terminated, truncated and info.

        Raises:
            ActionError: The action has another shape, kind of number or value.
            NotResetError: The episode has ended.
            HybridEnvError: As `hybridenv.GameBoyBatch.step`.
        """
        obs, reward, terminated, truncated, columns = self.vector.step(np.asarray([action]))
        return (
            obs[0],
            float(reward[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            _info(columns),
        )

    def render(self) -> NDArray[np.uint8] | None:
        """Show what the machine shows.

        Returns:
            uint8[144, 160, 3], or `None` where `render_mode` is `None`.
        """
        frames = self.vector.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Free the machine. Closing twice is allowed."""
        self.vector.close()


def _info(columns: dict[str, Any]) -> dict[str, Any]:
    """The info of the only machine."""
    return {key: values[0] for key, values in columns.items() if not key.startswith("_")}
