"""The embedded game, Polar Post: a ROM written for this package (see `games/polar_post`)."""

from importlib.resources import files

EMBEDDED_ROM = "polar_post.gb"
"""Name of the ROM in this folder."""


def embedded_rom() -> bytes:
    """Read the embedded game.

    Returns:
        The ROM image, 32 KiB.
    """
    return files(__name__).joinpath(EMBEDDED_ROM).read_bytes()
