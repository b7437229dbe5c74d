"""Ready tasks."""

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
    },
    reward=(Delta("score", low=0),),
    terminated=(Compare("state", "==", _GAME_OVER),),
    max_steps=9_000,
    info=("score", "lives", "level", "progress"),
    start=((0, 30),),
)
"""The embedded game: a reward of one a point scored, over when the last life is lost.

An episode starts at the title, which A or Start leaves; what the sea holds depends on the machine's
seed and on when that happens. `info` has `score`, `lives` (from 3), `level` (from 1) and
`progress` (pixels travelled in the level). After 9,000 steps the episode is cut off.

Source: the memory map in `games/polar_post/README.md`.
"""
