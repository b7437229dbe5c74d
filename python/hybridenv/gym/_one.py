"""`OneEnv`: what plain environments share, each of which is a vector environment of one."""

from typing import Any, TypeVar

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from hybridenv.checks import SEEDS, whole_or_none

Pixel = TypeVar("Pixel", bound=np.generic)


class OneEnv(gymnasium.Env[NDArray[Pixel], Any]):
    """A vector environment of one without its leading axis.

    Args:
        vector: The vector environment, whose autoreset mode is `DISABLED`.

    Attributes:
        vector: The same.
        metadata: This instance's own copy, with its `render_fps`.
    """

    def __init__(self, vector: VectorEnv[NDArray[Pixel], Any, NDArray[Any]]) -> None:
        self.vector = vector
        self.render_mode = vector.render_mode
        self.metadata = {**type(self).metadata, "render_fps": vector.metadata["render_fps"]}
        self.action_space = vector.single_action_space
        self.observation_space = vector.single_observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Pixel], dict[str, Any]]:
        """Start a new episode.

        Args:
            seed: Seeds the environment; `None` goes on with its stream of random numbers.
            options: `None` or empty: there are no options for one environment. Never changed.

        Returns:
            The observation (owned by the caller) and the info, as `vector` gives it.

        Raises:
            ArgumentError: `options` is not empty, or `seed` is no whole number 0 to 2**64 - 1.
            ClosedError: The environment is closed.
            HybridEnvError: As the `reset` of `vector`.
        """
        seed = whole_or_none("seed", seed, 0, SEEDS - 1)
        super().reset(seed=seed)
        obs, columns = self.vector.reset(seed=seed, options=options)
        return obs[0], _info(columns)

    def step(self, action: Any) -> tuple[NDArray[Pixel], float, bool, bool, dict[str, Any]]:
        """Play one step.

        Args:
            action: One action, see `action_space`.

        Returns:
            Observation (owned by the caller), reward, terminated, truncated and info.

        Raises:
            ActionError: The action has another shape, kind of number or value.
            ClosedError: The environment is closed.
            NotResetError: There was no `reset`, or the episode has ended.
            HybridEnvError: As the `step` of `vector`.
        """
        obs, reward, terminated, truncated, columns = self.vector.step(np.asarray([action]))
        return obs[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), _info(columns)

    def render(self) -> NDArray[np.uint8] | None:
        """Show what there is to see.

        Returns:
            uint8[h, w, 3], or `None` where `render_mode` is `None`.

        Raises:
            ClosedError: The environment is closed.
            HybridEnvError: As the `render` of `vector`.
        """
        frames: Any = self.vector.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Free what the environment holds. Closing twice is allowed."""
        self.vector.close()


def _info(columns: dict[str, Any]) -> dict[str, Any]:
    """The info of the only environment."""
    return {key: values[0] for key, values in columns.items() if not key.startswith("_")}
