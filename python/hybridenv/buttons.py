"""The eight buttons of a Game Boy as bits of an action."""

from enum import IntFlag


class Button(IntFlag):
    """A button, or several joined by ``|``.

    The value is the byte that `GameBoyBatch.step` takes: ``Button.RIGHT | Button.A`` is 0b10001.
    """

    RIGHT = 0x01
    LEFT = 0x02
    UP = 0x04
    DOWN = 0x08
    A = 0x10
    B = 0x20
    SELECT = 0x40
    START = 0x80
