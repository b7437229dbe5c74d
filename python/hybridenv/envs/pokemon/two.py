"""`PokemonParallelEnv`: battles of two players behind PettingZoo's parallel interface.

Needs the extra: ``pip install "hybridenv[pettingzoo]"``.
"""

import secrets
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hybridenv.checks import SEEDS, choice, whole_or_none
from hybridenv.envs.pokemon import env, observe
from hybridenv.envs.pokemon.choice import ACTIONS
from hybridenv.envs.pokemon.state import FIELD, State, Winner, unpack
from hybridenv.errors import (
    ActionError,
    ArgumentError,
    ClosedError,
    MissingDependencyError,
    NotResetError,
)

try:
    from gymnasium.spaces import Box, Discrete
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise MissingDependencyError(
        "hybridenv.envs.pokemon.two needs PettingZoo, which is not installed: "
        "pip install 'hybridenv[pettingzoo]'"
    ) from error

Infos = dict[str, dict[str, Any]]
AGENTS = ("player_0", "player_1")


class PokemonParallelEnv(ParallelEnv[str, NDArray[np.float32], int]):  # type: ignore[misc,unused-ignore]
    """A battle of two players who choose at the same time.

    Both always answer; what who waits answers means nothing. Every info has `action_mask`
    (int8[10], 1 where an action is legal), `winner` (0 while it goes on, 1 for `player_0`, 2 for
    `player_1`, 3 for neither) and `turn`. Actions and rewards are those of `PokemonEnv`.

    Args:
        observation: `"known"`, what each player would know, or `"full"`, see `observe`.
        params: The teams: `ours` of `player_0`, `theirs` of `player_1`; `None` takes those of
            Showdown's random battles.
        render_mode: `None`; a battle has no picture.

    Attributes:
        state: The battle, for `save_battles`; assign one to go on from it, after a `reset`.

    Raises:
        ArgumentError: An option is not one of these.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # PettingZoo's protocol
        "name": "hybridenv_pokemon_v0",
        "render_modes": [],
        "is_parallelizable": True,
    }

    def __init__(
        self,
        *,
        observation: Literal["known", "full"] = "known",
        params: env.PokemonParams | None = None,
        render_mode: None = None,
    ) -> None:
        choice("observation", observation, Literal["known", "full"])
        if render_mode is not None:
            raise ArgumentError(f"render_mode: got {render_mode!r}, expected None: no picture")
        self.render_mode = render_mode
        self._env = env.PokemonEnv(observation=observation)
        self._params = self._env.default_params if params is None else params
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        box = self._env.observation_space(self._params).to_gymnasium()
        self.observation_spaces: dict[str, Box[Any]] = {
            agent: Box(box.low, box.high, box.shape, np.float32) for agent in AGENTS
        }
        self.action_spaces: dict[str, Discrete[Any]] = {
            agent: Discrete(ACTIONS) for agent in AGENTS
        }
        self._key = jax.random.key(secrets.randbits(31))
        self._closed = False
        self.state: State | None = None

    def observation_space(self, agent: str) -> "Box[Any]":
        """Return the space of a player's observations: float32[n], -1 to 1."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> "Discrete[Any]":
        """Return the space of a player's actions, ten."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], Infos]:
        """Begin a battle.

        Args:
            seed: Draws the teams and Showdown's seed; `None` goes on with the stream of before.
            options: Ignored: there are none.

        Returns:
            Observations and infos of both players.

        Raises:
            ArgumentError: `seed` is no whole number 0 to 2**64 - 1.
            ClosedError: The environment is closed.
        """
        if self._closed:
            raise ClosedError("reset: the environment is closed")
        del options
        seed = whole_or_none("seed", seed, 0, SEEDS - 1)
        if seed is not None:
            key = jax.random.key(seed & 0xFFFFFFFF)
            self._key = jax.random.fold_in(key, seed >> 32) if seed >> 32 else key
        self._key, now = jax.random.split(self._key)
        self.state = _begin(self._env, now, self._params)
        self.agents = list(AGENTS)
        return self._look()

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, NDArray[np.float32]],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        Infos,
    ]:
        """Play a decision of both players.

        Args:
            actions: 0 to 9 for each player; one that is not legal counts as the first that is.

        Returns:
            Observations, rewards, terminations, truncations (never) and infos of both.

        Raises:
            ActionError: An action is missing or is none of the ten.
            ClosedError: The environment is closed.
            NotResetError: There was no `reset`, or the battle is over.
        """
        if self._closed:
            raise ClosedError("step: the environment is closed")
        if self.state is None or not self.agents:
            raise NotResetError("step: the battle is over or never began, expected a reset first")
        both = tuple(self._action(agent, actions) for agent in AGENTS)
        self.state = _step(self.state, both)
        winner = int(unpack(FIELD, self.state.field).winner)
        observations, infos = self._look()
        done = winner != Winner.NONE
        won = {Winner.FIRST: 1.0, Winner.SECOND: -1.0}.get(winner, 0.0)
        if done:
            self.agents = []
        rewards = dict(zip(AGENTS, (won, -won), strict=True))
        ends, cuts = dict.fromkeys(AGENTS, done), dict.fromkeys(AGENTS, False)
        return observations, rewards, ends, cuts, infos

    def close(self) -> None:
        """Let go of the battle. Closing twice is allowed."""
        self._closed = True
        self.state = None

    def render(self) -> None:
        """Show nothing: a battle has no picture."""

    def _action(self, agent: str, actions: dict[str, int]) -> Any:
        action = np.asarray(actions.get(agent) if isinstance(actions, dict) else None)
        if action.shape != () or action.dtype.kind not in "iu" or not 0 <= action < ACTIONS:
            got = actions.get(agent) if isinstance(actions, dict) else actions
            raise ActionError(f"actions[{agent!r}]: got {got!r}, expected 0 to {ACTIONS - 1}")
        return jnp.asarray(action, jnp.int32)

    def _look(self) -> tuple[dict[str, NDArray[np.float32]], Infos]:
        seen, masks = _look(self.state, full=self._env.observation == "full")
        field = unpack(FIELD, self.state.field)  # type: ignore[union-attr]  # there is a battle
        observations = {agent: np.array(seen[i]) for i, agent in enumerate(AGENTS)}
        infos: Infos = {
            agent: {
                "action_mask": np.array(masks[i], np.int8),
                "winner": int(field.winner),
                "turn": int(field.turn),
            }
            for i, agent in enumerate(AGENTS)
        }
        return observations, infos


@partial(jax.jit, static_argnums=0)
def _begin(environment: env.PokemonEnv, key: jax.Array, params: env.PokemonParams) -> State:
    return environment.reset(key, params)[1]


_step = jax.jit(env.step)


@partial(jax.jit, static_argnames="full")
def _look(state: Any, *, full: bool) -> tuple[Any, Any]:
    look = observe.full_vector if full else observe.vector
    return [look(state, player) for player in (0, 1)], [env.legal(state, p) for p in (0, 1)]
