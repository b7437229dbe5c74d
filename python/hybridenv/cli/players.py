"""Who presses the buttons: nobody, chance, or a script."""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hybridenv.combinations import parse_buttons
from hybridenv.errors import ActionError

RANDOM_COMBINATIONS = (
    "",
    "right",
    "left",
    "up",
    "down",
    "a",
    "b",
    "right+a",
    "left+a",
    "right+b",
    "left+b",
    "start",
)
"""What a random player chooses from, each as likely as the others."""

HOLD_FRAMES = 24
"""Frames for which a random player holds its choice."""


def random_masks(rng: np.random.Generator, n: int) -> NDArray[np.uint8]:
    """Choose buttons for n machines.

    Args:
        rng: Source of chance.
        n: Number of machines.

    Returns:
        uint8[n] of button masks.
    """
    masks = np.array([int(parse_buttons(one)) for one in RANDOM_COMBINATIONS], dtype=np.uint8)
    return rng.choice(masks, n)


def parse_script(script: str) -> list[tuple[int, int]]:
    """Read a script such as `"60 start*5 30 right+a*120"`.

    Args:
        script: Words divided by blanks or commas. A number waits so many frames;
            `BUTTONS*FRAMES` holds buttons so long; `BUTTONS` alone holds them one frame.

    Returns:
        Button masks, each with a number of frames, at least 1.

    Raises:
        ActionError: A word is none of these, or there is none.
    """
    steps = []
    for word in re.split(r"[\s,]+", script.strip()):
        buttons, star, count = word.partition("*")
        if buttons.isdecimal() and not star:
            buttons, count = "", buttons
        elif buttons and not star:
            count = "1"
        frames = int(count) if count.isdecimal() else 0
        if frames < 1:
            raise ActionError(
                f"script: got {word!r}, expected FRAMES, BUTTONS or BUTTONS*FRAMES, such as "
                '"60", "start" or "right+a*120"'
            )
        steps.append((int(parse_buttons(buttons)), frames))
    return steps


def script_masks(script: list[tuple[int, int]]) -> Iterator[int]:
    """Play a script frame by frame, then press nothing for ever.

    Args:
        script: What `parse_script` returned.

    Yields:
        One button mask a frame.
    """
    for mask, frames in script:
        for _ in range(frames):
            yield mask
    while True:
        yield 0
