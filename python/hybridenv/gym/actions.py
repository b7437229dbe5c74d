"""From Gymnasium actions to button masks.

A Game Boy has eight buttons, so a raw action is one of 256 masks. Most games use a handful of
combinations: a `Discrete` action chooses from a written list of them, and `"buttons"` leaves all
eight free as `MultiBinary(8)`.

Any combination may be written, opposite directions such as `"left+right"` as well: the pad of a
real Game Boy cannot press them together, but the machine can see them, and games may do odd things.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hybridenv.buttons import Button
from hybridenv.combinations import parse_buttons
from hybridenv.errors import ActionError

Actions: TypeAlias = Literal["buttons"] | Sequence[str]
"""What the `actions` option takes."""

DEFAULT_ACTIONS: tuple[str, ...] = (
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
)
"""The default `Discrete(11)`: nothing, the pad, A, B, and moving while A or B is held.

Start and Select are left out: they pause a game, and an agent that can pause a game will."""


class ActionTable:
    """The action space of one machine and the way from its actions to button masks.

    Args:
        actions: `"buttons"`, or the button combinations of a `Discrete` space.

    Attributes:
        space: The action space of one machine.

    Raises:
        ActionError: A combination is not written as `"right+a"`, or there is none.
    """

    def __init__(self, actions: Actions) -> None:
        self.space: spaces.Discrete | spaces.MultiBinary
        self._masks: NDArray[np.uint8] | None
        if isinstance(actions, str):
            if actions != "buttons":
                raise ActionError(
                    f'actions: got {actions!r}, expected "buttons" or a list of combinations '
                    'such as ["", "right", "right+a"]'
                )
            self.space = spaces.MultiBinary(len(Button))
            self._masks = None
            return
        if not isinstance(actions, Sequence):
            raise ActionError(
                f'actions: got {actions!r}, expected "buttons" or a list of combinations'
            )
        if not actions:
            raise ActionError("actions: got an empty list, expected at least one combination")
        masks = [int(parse_buttons(combination)) for combination in actions]
        self.space = spaces.Discrete(len(masks))
        self._masks = np.array(masks, dtype=np.uint8)

    def to_buttons(self, actions: NDArray[np.integer[Any]], n: int) -> NDArray[np.uint8]:
        """Translate one action a machine.

        Args:
            actions: Integers `[n]`, each 0 to k-1, for a `Discrete(k)` space; zeros and ones, or
                bools, `[n, 8]` for `MultiBinary(8)`. Anything that NumPy reads as such an array.
                It is not changed.
            n: Number of machines.

        Returns:
            uint8[n] of button masks, owned by the caller.

        Raises:
            ActionError: The shape, the kind of number or a value is wrong.
        """
        try:
            array = np.asarray(actions)
        except ValueError as error:  # rows of different lengths
            raise ActionError(f"actions: expected one array, but {error}") from None
        shape, limit = ((n, 8), 2) if self._masks is None else ((n,), len(self._masks))
        if array.shape != shape:
            raise ActionError(f"actions: got shape {array.shape}, expected {shape}")
        if array.dtype.kind not in ("iu" if self._masks is not None else "iub"):
            raise ActionError(f"actions: got dtype {array.dtype}, expected integers")
        if self._masks is not None and not isinstance(actions, np.ndarray):
            _refuse_bools(actions)
        wrong = (array < 0) | (array >= limit)
        if wrong.any():
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise ActionError(
                f"actions{list(where)}: got {array[where]}, expected 0 to {limit - 1}"
            )
        if self._masks is None:
            return np.packbits(array.astype(np.bool_), axis=1, bitorder="little")[:, 0]
        return self._masks[array]


def _refuse_bools(actions: Sequence[object]) -> None:
    """Find the bools in a list of integers, which NumPy would take for 0 and 1."""
    for i, action in enumerate(actions):
        if isinstance(action, bool | np.bool_):
            raise ActionError(f"actions[{i}]: got {action}, expected an integer")
