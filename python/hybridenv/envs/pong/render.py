"""The picture of a game of Pong, drawn with NumPy."""

import numpy as np
from numpy.typing import NDArray

from hybridenv.envs.pong.rules import BALL, HEIGHT, PADDLE_HEIGHT, WIDTH, State

SCALE = 2
"""Units of the field a pixel."""
PADDLE_WIDTH = 20.0
GROUND, NET, OPPONENT, AGENT, WHITE = (
    np.array(colour, np.uint8)
    for colour in ((16, 24, 32), (40, 56, 68), (232, 96, 72), (72, 196, 180), (240, 240, 232))
)
DIGIT = 6
"""Pixels of a digit's dot; a digit has 3 x 5 dots."""
DIGITS = (
    "111101101101111",
    "010110010010111",
    "111001111100111",
    "111001111001111",
    "101101111001001",
    "111100111001111",
    "111100111101111",
    "111001010010010",
    "111101111101111",
    "111101111001111",
)


def draw(state: State) -> NDArray[np.uint8]:
    """Draw one game: the opponent at the left, the agent at the right, the scores above.

    Args:
        state: The game, each field one number.

    Returns:
        uint8[320, 250, 3], red, green and blue; up is up.
    """
    picture = np.empty((int(HEIGHT) // SCALE, int(WIDTH) // SCALE, 3), np.uint8)
    picture[:] = GROUND
    middle = picture.shape[1] // 2
    for top in range(0, picture.shape[0], 20):
        picture[top : top + 10, middle - 1 : middle + 1] = NET
    _number(picture, int(state.left_score), middle - 24, OPPONENT)
    _number(picture, int(state.right_score), middle + 24 + 7 * DIGIT, AGENT)
    _rectangle(picture, 0, float(state.left_y), PADDLE_WIDTH, PADDLE_HEIGHT, OPPONENT)
    right = WIDTH - PADDLE_WIDTH
    _rectangle(picture, right, float(state.right_y), PADDLE_WIDTH, PADDLE_HEIGHT, AGENT)
    _rectangle(picture, float(state.ball_x), float(state.ball_y), BALL, BALL, WHITE)
    return picture


def _rectangle(
    picture: NDArray[np.uint8],
    x: float,
    y: float,
    width: float,
    height: float,
    colour: NDArray[np.uint8],
) -> None:
    """Fill a rectangle given by its lower left corner, as far as it is in the field."""
    left, right = (max(0, round(edge / SCALE)) for edge in (x, x + width))
    top, bottom = (max(0, round((HEIGHT - edge) / SCALE)) for edge in (y + height, y))
    picture[top:bottom, left:right] = colour


def _number(picture: NDArray[np.uint8], number: int, right: int, colour: NDArray[np.uint8]) -> None:
    """Write a number of at most two digits that ends at a column."""
    for place, digit in enumerate(reversed(str(number))):
        dots = np.array([dot == "1" for dot in DIGITS[int(digit)]]).reshape(5, 3)
        mask = np.kron(dots, np.ones((DIGIT, DIGIT), np.bool_))
        left = right - 3 * DIGIT - place * 4 * DIGIT
        picture[12 : 12 + 5 * DIGIT, left : left + 3 * DIGIT][mask] = colour
