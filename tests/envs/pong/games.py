"""Games of Pong played by the reference and by the environment, to be compared."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hybridenv.envs import AutoReset
from hybridenv.envs.pong import PongEnv, PongParams, State
from hybridenv.envs.pong.reference import PongReference

Policy = Callable[[PongReference, np.random.Generator], float]

FIELDS = ("left_y", "right_y", "ball_x", "ball_y", "ball_vx", "ball_vy")


@dataclass
class Game:
    """What was done and what came of it, for T steps.

    Attributes:
        first_draw: Draw of the first round.
        draws: Draw for each step, used where a round begins, int32[T].
        actions: int32[T] or float32[T].
        observations: float32[T + 1, 8].
        rewards: float32[T].
        ends: bool[T].
    """

    first_draw: int
    draws: NDArray[np.int32]
    actions: NDArray[Any]
    observations: NDArray[np.float32]
    rewards: NDArray[np.float32]
    ends: NDArray[np.bool_]


def at_random(continuous: bool) -> Policy:
    """Play without looking."""
    if continuous:
        return lambda _, rng: float(np.float32(rng.uniform(-1, 1)))
    return lambda _, rng: int(rng.integers(3))


def chase(continuous: bool, mistakes: float = 0.1) -> Policy:
    """Follow the ball, with mistakes, so that rallies are long and the ball becomes fast."""
    at_random_instead = at_random(continuous)

    def policy(game: PongReference, rng: np.random.Generator) -> float:
        if rng.random() < mistakes:
            return at_random_instead(game, rng)
        gap = float(game.ball_y + 16 - (game.right_y + 35))
        if continuous:
            return float(np.float32(np.clip(gap / 30, -1, 1)))
        return 1 if gap > 12 else 2 if gap < -12 else 0

    return policy


def play_reference(
    env: PongEnv, policy: Policy, steps: int, rng: np.random.Generator, draws: Any = None
) -> Game:
    """Play with the reference.

    Args:
        env: What to play: its frame skip and its kind of action.
        policy: Who plays.
        steps: Steps T.
        rng: Chance of the player, and of the draws.
        draws: Gives each draw as it is needed; `None` draws from `rng`, one for each step.
    """
    tape = rng.integers(0, 2, steps + 1).astype(np.int32)
    now = 0
    game = PongReference(
        draws or (lambda: int(tape[now])), env.frame_skip, continuous=env.continuous
    )
    observations, rewards, ends = [game.observation.copy()], [], []
    actions = []
    for step in range(steps):
        now = step + 1
        actions.append(policy(game, rng))
        observation, reward, end = game.step(actions[-1])
        observations.append(observation)
        rewards.append(reward)
        ends.append(end)
    dtype = np.float32 if env.continuous else np.int32
    return Game(
        int(tape[0]),
        tape[1:],
        np.array(actions, dtype),
        np.array(observations),
        np.array(rewards),
        np.array(ends),
    )


@partial(jax.jit, static_argnums=0)
def replay(env: PongEnv, first: Any, draws: Any, actions: Any) -> Any:
    """Play with the environment: observations float32[T + 1, 8], rewards, ends."""
    games, params = AutoReset(env), PongParams()
    obs, state = games.reset_with(first, params)

    def step(state: Any, now: Any) -> Any:
        draw, action = now
        obs, state, reward, terminated, _, _ = games.step_with(
            (draw, None), state, action[None] if env.continuous else action, params
        )
        return state, (obs, reward, terminated)

    _, (later, rewards, ends) = jax.lax.scan(step, state, (draws, actions))
    return jnp.concatenate((obs[None], later)), rewards, ends


def first_difference(game: Game, replayed: Any) -> str | None:
    """Where a replay differs from a game, or `None`; 0.0 and -0.0 are equal."""
    names = ("observations", "rewards", "ends")
    for name, theirs in zip(names, map(np.asarray, replayed), strict=True):
        ours = getattr(game, name)
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        if not np.array_equal(ours, theirs):
            where = tuple(int(i) for i in np.argwhere(ours != theirs)[0])
            return f"{name}{list(where)}: {ours[where]!r} and {theirs[where]!r}"
    return None


def reference_at(state: State, env: PongEnv, draw: int) -> PongReference:
    """A reference that stands where a state does, in play."""
    game = PongReference(lambda: draw, env.frame_skip, continuous=env.continuous)
    for name in FIELDS:
        setattr(game, name, np.float32(getattr(state, name)))
    game.left_score, game.right_score = int(state.left_score), int(state.right_score)
    game._observe()
    return game
