"""Pong as an environment: spaces, chance and options around `hybridenv.envs.pong.rules`."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hybridenv.checks import choice, flag, whole
from hybridenv.envs._contract import ChanceEnvironment, Info
from hybridenv.envs._spaces import Box, Discrete
from hybridenv.envs.pong import rules
from hybridenv.envs.pong.rand_r import advance, parity
from hybridenv.envs.pong.render import draw

Chance = Literal["keys", "rand_r"]

OBSERVATIONS = Box(
    low=np.array([0, 0, -0.1, -0.1, 0, 0, 0, 0], np.float32),
    high=np.array([1, 1, 1.1, 1.1, 1, 1, 1, 1], np.float32),
    shape=(8,),
)
MAX_FRAME_SKIP = 32
"""A serve takes more sub-steps than this to reach a goal, so no step can hold a whole round."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class PongParams:
    """Nothing: the rules of Pong have no free numbers."""


@dataclass(frozen=True)
class PongEnv(ChanceEnvironment[rules.State, PongParams]):
    """Pong against an opponent that follows the ball, first to 21 points.

    Args:
        frame_skip: Sub-steps a step, 1 to 32. The reference plays 1, 4 or 8.
        continuous: Take the paddle's direction (float32[1], -1 down to 1 up) instead of one of the
            actions 0 still, 1 up and 2 down. Directions beyond are cut off.
        chance: `"keys"` draws from JAX's keys. `"rand_r"` gives each game a generator of its own
            in its state, seeded by its first `reset`: the one of PufferLib 4, draw for draw.

    Raises:
        ArgumentError: An option is not one of these.

    Source: PufferLib's Pong (MIT); `docs/pong.md` has the rules and every quirk.
    """

    frame_skip: int = 4
    _: KW_ONLY
    continuous: bool = False
    chance: Chance = "keys"

    def __post_init__(self) -> None:
        whole("frame_skip", self.frame_skip, 1, MAX_FRAME_SKIP)
        flag("continuous", self.continuous)
        choice("chance", self.chance, Chance)

    @property
    def name(self) -> str:
        """`"pong"`."""
        return "pong"

    def score(self, reward: Array) -> Array:
        """Count points: rewards of 1 and -1, without the 0.1 for touching the ball."""
        return jnp.trunc(reward)

    @property
    def default_params(self) -> PongParams:
        """The only parameters."""
        return PongParams()

    def observation_space(self, params: PongParams) -> Box:
        """float32[8], see `rules.observe`."""
        del params
        return OBSERVATIONS

    def action_space(self, params: PongParams) -> Discrete | Box:
        """Three actions, or a direction."""
        del params
        return Box(-1, 1, (1,)) if self.continuous else Discrete(3)

    def reset_draws(self, key: Array, params: PongParams, shape: tuple[int, ...] = ()) -> Array:
        """Draw the first serves, int32[*shape]; with `rand_r` the seeds, uint32[*shape]."""
        del params
        if self.chance == "rand_r":
            return jax.random.bits(key, shape, jnp.uint32)
        return _coins(key, shape)

    def step_draws(
        self, key: Array, params: PongParams, shape: tuple[int, ...] = ()
    ) -> Array | None:
        """Draw a serve for each step, int32[*shape]; with `rand_r` there is nothing to draw."""
        del params
        return None if self.chance == "rand_r" else _coins(key, shape)

    def reset_with(self, draws: Array, params: PongParams) -> tuple[Array, rules.State]:
        """Start a game with a serve (even falls, odd flies level) or, with `rand_r`, a seed."""
        if self.chance == "rand_r":
            rng = advance(draws)
            state = rules.new_game(parity(rng), rng)
        else:
            state = rules.new_game(draws)
        return self.observe(state, params), state

    def restart_with(
        self, draws: Array, state: rules.State, params: PongParams
    ) -> tuple[Array, rules.State]:
        """Start the next game with the serve that the step before has drawn already."""
        del draws
        new = rules.new_game((state.serve + 1).astype(jnp.int32), state.rng)
        return self.observe(new, params), new

    def step_with(
        self, draws: Array | None, state: rules.State, action: Array, params: PongParams
    ) -> tuple[Array, rules.State, Array, Array, Array, Info]:
        """Play one step with the serve that follows if it ends a round.

        `info["score"]` (int32[]) is the agent's points less the opponent's, -21 to 21.
        """
        direction = self._direction(action)
        if draws is not None:
            after, reward, done = rules.step(state, direction, draws, self.frame_skip)
        else:
            old = jnp.asarray(state.rng)
            rng = advance(old)
            after, reward, done = rules.step(state, direction, parity(rng), self.frame_skip)
            after = replace(after, rng=jnp.where(after.serve != rules.IN_PLAY, rng, old))
        info: Info = {"score": after.right_score - after.left_score}
        return self.observe(after, params), after, reward, done, jnp.zeros_like(done), info

    def observe(self, state: rules.State, params: PongParams) -> Array:
        """Look at a game, see `rules.observe`."""
        del params
        return rules.observe(state)

    @property
    def render_fps(self) -> float:
        """Pictures a second of a film in which a sub-step is a sixtieth."""
        return 60 / self.frame_skip

    def render(self, state: rules.State, params: PongParams) -> NDArray[np.uint8]:
        """Draw one game outside of JAX, see `render.draw`: uint8[320, 250, 3]."""
        del params
        return draw(state)

    def _direction(self, action: Array) -> Array:
        if self.continuous:
            return jnp.clip(action[0], -1, 1)
        return (action == 1).astype(jnp.float32) - (action == 2).astype(jnp.float32)


def _coins(key: Array, shape: tuple[int, ...]) -> Array:
    """Toss a coin for each entry, int32[*shape] of 0 and 1, 32 from each word of the generator."""
    count = int(np.prod(shape, dtype=np.int64))
    words = jax.random.bits(key, ((count + 31) // 32, 1), jnp.uint32)
    bits = (words >> jnp.arange(32, dtype=jnp.uint32)) & 1
    return bits.reshape(-1)[:count].reshape(shape).astype(jnp.int32)
