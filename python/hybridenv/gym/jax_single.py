"""`JaxEnv`: one game of an environment of `hybridenv.envs` behind Gymnasium's plain interface."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from hybridenv.checks import SEEDS, whole_or_none
from hybridenv.gym.jax_vector import JaxVectorEnv


class JaxEnv(gymnasium.Env[NDArray[Any], Any]):
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

    def __init__(self, env: Any, **options: Any) -> None:
        self.vector = JaxVectorEnv(env, 1, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.render_mode = self.vector.render_mode
        self.metadata = {
            **type(self).metadata,
            "render_fps": self.vector.metadata["render_fps"],
        }
        self.action_space = self.vector.single_action_space
        self.observation_space = self.vector.single_observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start a new episode.

        Args:
            seed: Seeds the game; `None` goes on with its stream of random numbers.
            options: `None` or empty: there are no options for one game. Never changed.

        Returns:
            The observation (owned by the caller) and an empty info.

        Raises:
            ArgumentError: `options` is not empty, or `seed` is no whole number 0 to 2**64 - 1.
            ClosedError: The environment is closed.
        """
        seed = whole_or_none("seed", seed, 0, SEEDS - 1)
        super().reset(seed=seed)
        obs, _ = self.vector.reset(seed=seed, options=options)
        return obs[0], {}

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Play one step.

        Args:
            action: One action, see `action_space`.

        Returns:
            Observation (owned by the caller), reward, terminated, truncated and info.

        Raises:
            ActionError: The action has another shape, kind of number or value.
            ClosedError: The environment is closed.
            NotResetError: There was no `reset`, or the episode has ended.
        """
        obs, reward, terminated, truncated, columns = self.vector.step(np.asarray([action]))
        info = {key: values[0] for key, values in columns.items() if not key.startswith("_")}
        return obs[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> NDArray[np.uint8] | None:
        """Show the game.

        Returns:
            uint8[h, w, 3], or `None` where `render_mode` is `None`.

        Raises:
            ClosedError: The environment is closed.
            NotResetError: There was no `reset`.
        """
        frames = self.vector.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Let go of the game. Closing twice is allowed."""
        self.vector.close()
