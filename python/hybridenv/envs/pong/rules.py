"""The rules of Pong as plain functions: `(state, action, draw) -> (state, reward, done)`.

Everything is elementwise, so the same functions play one game, a batch of any shape, or a traced
batch inside `jax.jit`. Nothing here draws chance: `serve` and `step` are told how the ball starts.

Source: the C environment Pong of PufferLib 3.0.0, float32 throughout; y grows upwards.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from hybridenv.envs._fusion import once

WIDTH, HEIGHT = 500.0, 640.0
PADDLE_HEIGHT = 70.0
BALL = 32.0
"""Length of the ball's edge."""
PADDLE_LOW, PADDLE_HIGH = -PADDLE_HEIGHT / 2, HEIGHT - PADDLE_HEIGHT / 2
PADDLE_SPEED = 8.0
PADDLE_START = 285.0
BALL_START = (100.0, 304.0)
BALL_SPEED = 10.0
"""Horizontal speed of the ball, which only changes its sign."""
SPIN = 3.0
"""What a moving paddle adds to the ball's vertical speed, and what a level ball is given."""
MAX_RISE = 13.0
"""Largest vertical speed of the ball."""
LEVEL = np.nextafter(np.float32(0.01), np.float32(1))
"""A ball flies level where its vertical speed is below this, the first float32 above 0.01."""
WINNING_SCORE = 21
HIT_REWARD = np.float32(0.1)
FLIES, SAVED, HIT, WON, LOST, OVER = range(6)
"""What happens in a sub-step: nothing, a paddle meets the ball (left, right), a point for the agent
or for the opponent; or the round had ended before."""
IN_PLAY = 1.0
"""`State.serve` while a round is on; a serve is -1 or 0."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """A game of Pong; every field has the same shape, `()` for one game.

    A point ends the step in which it is made, but the picture stays that of the last sub-step in
    which the ball was in play. So the state keeps that picture, and the new round, which begins
    with known positions, waits in `serve` for the next step.

    Attributes:
        left_y: float32, lower edge of the opponent's paddle, -35 to 605.
        right_y: float32, lower edge of the agent's paddle, -35 to 605.
        ball_x: float32, left edge of the ball.
        ball_y: float32, lower edge of the ball.
        ball_vx: float32, 10 or -10 a sub-step.
        ball_vy: float32, -13 to 13 a sub-step.
        serve: float32, vertical speed with which the next step starts a round (-1 or 0), or
            `IN_PLAY`.
        left_score: int32, points of the opponent, 0 to 21.
        right_score: int32, points of the agent, 0 to 21.
        rng: uint32, the state of the game's own generator; `None` where chance comes from keys.
    """

    left_y: Array
    right_y: Array
    ball_x: Array
    ball_y: Array
    ball_vx: Array
    ball_vy: Array
    serve: Array
    left_score: Array
    right_score: Array
    rng: Array | None = None


class Field(NamedTuple):
    """Paddles and ball within a step, and the reward so far; float32 each."""

    left_y: Array
    right_y: Array
    ball_x: Array
    ball_y: Array
    ball_vx: Array
    ball_vy: Array
    reward: Array


def new_game(draw: Array, rng: Array | None = None) -> State:
    """Start a game.

    Args:
        draw: Integer or bool of any shape: the ball starts downwards where it is even or false,
            level where it is odd or true.
        rng: uint32 of the same shape, or `None`.

    Returns:
        The state, of that shape.
    """

    def full(value: float) -> Array:
        return jnp.full(jnp.shape(draw), value, jnp.float32)

    def none() -> Array:  # an array for each, so that a state can be donated
        return jnp.zeros(jnp.shape(draw), jnp.int32)

    return State(
        left_y=full(PADDLE_START),
        right_y=full(PADDLE_START),
        ball_x=full(BALL_START[0]),
        ball_y=full(BALL_START[1]),
        ball_vx=full(BALL_SPEED),
        ball_vy=serve(draw),
        serve=full(IN_PLAY),
        left_score=none(),
        right_score=none(),
        rng=rng,
    )


def serve(draw: Array) -> Array:
    """Turn a draw into the vertical speed of a round's ball: its parity minus one, float32."""
    return (draw & 1).astype(jnp.float32) - 1


@partial(jax.jit, static_argnames="frame_skip")
def step(
    state: State, direction: Array, draw: Array, frame_skip: int
) -> tuple[State, Array, Array]:
    """Play one step.

    Args:
        state: The game.
        direction: float32 like the state's fields: 1 up, -1 down, or between.
        draw: The draw of the round that begins if this step ends one, see `new_game`.
        frame_skip: Sub-steps a step, at least 1.

    Returns:
        The game after the step; the reward (float32: 1, -1, 0.1 or 0, the last one that was set);
        and whether the game is over (bool).
    """
    field = once(partial(_play, frame_skip), direction, state)
    won, lost = field.reward == 1, field.reward == -1
    point = won | lost
    left, right = _scores(state)
    left, right = left + lost, right + won
    done = jnp.maximum(left, right) >= WINNING_SCORE
    after = replace(
        state,
        **{name: getattr(field, name) for name in Field._fields[:-1]},
        serve=jnp.where(point, serve(draw), jnp.float32(IN_PLAY)),
        left_score=left,
        right_score=right,
    )
    return after, field.reward, done


def observe(state: State) -> Array:
    """Look at a game.

    Args:
        state: The game, fields of any shape s.

    Returns:
        float32[*s, 8]: heights of the left and right paddle, x and y of the ball, its vx and vy,
        each scaled to about 0 to 1, and whether the opponent and the agent have won (the scores
        divided by 21 in integers).
    """
    return jnp.stack(
        (
            _ratio(state.left_y - PADDLE_LOW, HEIGHT),
            _ratio(state.right_y - PADDLE_LOW, HEIGHT),
            _ratio(state.ball_x, WIDTH),
            _ratio(state.ball_y, HEIGHT),
            _ratio(state.ball_vx + BALL_SPEED, 2 * BALL_SPEED),
            _ratio(state.ball_vy + MAX_RISE, 2 * MAX_RISE),
            (state.left_score >= WINNING_SCORE).astype(jnp.float32),
            (state.right_score >= WINNING_SCORE).astype(jnp.float32),
        ),
        axis=-1,
    )


def begin_round(state: State) -> Field:
    """Look at the field that the next step starts from.

    Args:
        state: The game.

    Returns:
        Paddles and ball as they are; where a new round waits, as it begins.
    """
    waiting = state.serve != IN_PLAY

    def fresh(value: float | Array, old: Array) -> Array:
        return jnp.where(waiting, value, old)

    return Field(
        left_y=fresh(PADDLE_START, state.left_y),
        right_y=fresh(PADDLE_START, state.right_y),
        ball_x=fresh(BALL_START[0], state.ball_x),
        ball_y=fresh(BALL_START[1], state.ball_y),
        ball_vx=fresh(BALL_SPEED, state.ball_vx),
        ball_vy=fresh(state.serve, state.ball_vy),
        reward=jnp.zeros_like(state.ball_x),
    )


def _play(frame_skip: int, direction: Array, state: State) -> Field:
    """All sub-steps of a step."""
    field = begin_round(state)
    if frame_skip == 1:
        return _advance(direction, field)
    last: Field = lax.fori_loop(0, frame_skip, lambda _, now: _advance(direction, now), field)
    return last


def _scores(state: State) -> tuple[Array, Array]:
    """Scores at the start of a step: a game that is over begins anew."""
    over = jnp.maximum(state.left_score, state.right_score) >= WINNING_SCORE
    return jnp.where(over, 0, state.left_score), jnp.where(over, 0, state.right_score)


def _advance(direction: Array, field: Field) -> Field:
    """One sub-step, which leaves a field whose round has ended as it is."""
    left_y, right_y, event = once(_judge, direction, field)
    x, y = field.ball_x + field.ball_vx, field.ball_y + field.ball_vy
    vy = jnp.where((y < 0) | (y + BALL > HEIGHT), -field.ball_vy, field.ball_vy)
    hit = event == HIT

    # Three times the direction as sums, which no compiler can fuse into an inexact multiply-add.
    spun = jnp.clip(vy + (direction + direction + direction), -MAX_RISE, MAX_RISE)
    spun = jnp.where(jnp.abs(spun) < LEVEL, SPIN, spun)
    vx = jnp.where(hit | (event == SAVED), -field.ball_vx, field.ball_vx)
    vy = jnp.where(hit, spun, vy)
    x = jnp.where(hit, jnp.clip(x, 0, WIDTH - BALL), x)
    y = jnp.where(hit, jnp.clip(y, 0, HEIGHT - BALL), y)
    reward = jnp.where(hit, HIT_REWARD, field.reward)
    reward = jnp.where(event == WON, 1, jnp.where(event == LOST, -1, reward))

    def keep(new: Array, old: Array) -> Array:
        return jnp.where(event >= WON, old, new)

    return Field(
        left_y=keep(left_y, field.left_y),
        right_y=keep(right_y, field.right_y),
        ball_x=keep(x, field.ball_x),
        ball_y=keep(y, field.ball_y),
        ball_vx=keep(vx, field.ball_vx),
        ball_vy=keep(vy, field.ball_vy),
        reward=reward,
    )


def _judge(direction: Array, field: Field) -> tuple[Array, Array, Array]:
    """Move the paddles, and say what happens to the ball: their heights, and an event (int32)."""
    right_y = jnp.clip(field.right_y + PADDLE_SPEED * direction, PADDLE_LOW, PADDLE_HIGH)
    chase = field.ball_y - (field.left_y + PADDLE_HEIGHT / 2)
    left_y = field.left_y + jnp.clip(chase, -PADDLE_SPEED, PADDLE_SPEED)
    left_y = jnp.clip(left_y, PADDLE_LOW, PADDLE_HIGH)
    x, y = field.ball_x + field.ball_vx, field.ball_y + field.ball_vy
    at_left = jnp.where(_meets(left_y, y), SAVED, WON)
    at_right = jnp.where(_meets(right_y, y), HIT, LOST)
    event = jnp.where(x < 0, at_left, jnp.where(x + BALL > WIDTH, at_right, FLIES))
    ended = jnp.abs(field.reward) == 1
    return left_y, right_y, jnp.where(ended, OVER, event).astype(jnp.int32)


def _meets(paddle_y: Array, ball_y: Array) -> Array:
    return (paddle_y < ball_y + BALL) & (paddle_y + PADDLE_HEIGHT > ball_y)


def _ratio(value: Array, divisor: float) -> Array:
    """Divide exactly as IEEE 754 says.

    XLA turns a division by a constant, or by one number for a whole array, into a multiplication
    by its reciprocal, which is 1 ulp off in a fifth of all cases. So the divisor is made to depend
    on the value: no finite one ever changes it.
    """
    return value / jnp.where(jnp.isinf(value), value, jnp.float32(divisor))
