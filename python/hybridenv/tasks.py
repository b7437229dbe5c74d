"""Ready tasks."""

from hybridenv.buttons import Button
from hybridenv.task import Compare, Delta, Field, Task

__all__ = ["POLAR_POST"]

_GAME_OVER = 3

POLAR_POST = Task(
    fields={
        "state": Field(0xC002),
        "level": Field(0xC003),
        "lives": Field(0xC004),
        "score": Field(0xC005, size=2),
        "progress": Field(0xC00A, size=2),
        "rng": Field(0xC012, size=2),
    },
    reward=(Delta("score", weight=0.01, low=0),),
    terminated=(Compare("state", "==", _GAME_OVER),),
    max_steps=2_250,
    info=("score", "lives", "level", "progress"),
    start=((0, 30),),
    opening=((Button.START, 8), (0, 1)),
    randomize=("rng",),
)
"""The embedded game: a hundredth of the points scored in the step, over with the last life.

The reward is never negative: losing a life costs only what could have been scored with it, and a
score that starts over at zero is no loss. An episode starts in the first frame of a game. What its
sea holds comes from the game's random generator, `rng`: a seed gives that one of its 65,535 states,
all equally likely. Without a seed all episodes start alike. `info` has `score`, `lives` (3 at
first), `level` (from 1) and `progress` (pixels travelled in the level). An episode is cut off after
2,250 steps: five minutes of the game at 8 frames a step, fifteen at 24.

Source: the memory map in `docs/game.md`.
"""
