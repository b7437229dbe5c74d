"""Contact sheets, GIFs and terminal previews from screens."""

import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rich.text import Text

from hybridenv.errors import ArgumentError

SHADES = ((0xE8, 0xF0, 0xD0), (0x98, 0xB8, 0x80), (0x40, 0x70, 0x58), (0x10, 0x28, 0x30))
"""Colours of shades 0 to 3, lightest first, a little like the real screen."""

GAP = 2
"""Pixels between the screens of a sheet."""


def sheet(shades: NDArray[np.uint8], columns: int) -> NDArray[np.uint8]:
    """Lay screens out in rows.

    Args:
        shades: uint8[n, h, w], each 0 to 3.
        columns: Screens a row, at least 1.

    Returns:
        uint8[rows * (h + 2) + 2, columns * (w + 2) + 2] of shades on a dark ground.
    """
    n, height, width = shades.shape
    lines = -(-n // columns)
    page = np.full((lines * (height + GAP) + GAP, columns * (width + GAP) + GAP), 3, np.uint8)
    for i, screen in enumerate(shades):
        top = GAP + i // columns * (height + GAP)
        left = GAP + i % columns * (width + GAP)
        page[top : top + height, left : left + width] = screen
    return page


def columns_for(n: int) -> int:
    """Choose how many screens a row make a sheet near 16:9 with few empty places.

    Args:
        n: Number of screens, at least 1.

    Returns:
        Screens a row, 1 to n.
    """

    def cost(columns: int) -> float:
        lines = -(-n // columns)
        shape = columns * 160 / (lines * 144)
        return abs(math.log(shape / (16 / 9))) + 5 * (1 - n / (columns * lines))

    return min(range(1, n + 1), key=cost)


def image(shades: NDArray[np.uint8]) -> Image.Image:
    """Colour shades.

    Args:
        shades: uint8[h, w], each 0 to 3.

    Returns:
        A palette image of four colours.
    """
    picture = Image.fromarray(shades)
    picture.putpalette([channel for colour in SHADES for channel in colour])
    return picture


def check_writable(what: str, path: Path | None) -> None:
    """Refuse a place where a picture cannot go, before there is work that would be lost.

    Args:
        what: Name of the option for the message.
        path: Where the file is to go; `None` for nowhere.

    Raises:
        ArgumentError: The folder does not exist or may not be written, or `path` is a folder.
    """
    if path is None:
        return
    folder = path.parent
    if path.is_dir() or not path.name:
        raise ArgumentError(f"{what}: got the folder {path}, expected the path of a file")
    check_folder(what, folder)
    if path.exists() and not os.access(path, os.W_OK):
        raise ArgumentError(f"{what}: got {path}, which may not be written")


def check_folder(what: str, folder: Path) -> None:
    """Refuse a folder that files cannot be written into.

    Args:
        what: Name of the option for the message.
        folder: The folder.

    Raises:
        ArgumentError: It does not exist, is a file, or may not be written.
    """
    if not folder.is_dir():
        raise ArgumentError(f"{what}: got {folder}, which is no folder; expected an existing one")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ArgumentError(f"{what}: got {folder}, where files may not be written")


def save_png(path: Path, shades: NDArray[np.uint8]) -> None:
    """Write a picture.

    Args:
        path: Where to, in a folder that exists.
        shades: uint8[h, w], each 0 to 3.

    Raises:
        OSError: The file cannot be written.
    """
    image(shades).save(path, format="PNG", optimize=True)


def save_gif(path: Path, frames: Sequence[NDArray[np.uint8]], milliseconds: int) -> None:
    """Write an endless animation.

    Args:
        path: Where to, in a folder that exists.
        frames: Pictures uint8[h, w] of one size, each 0 to 3; at least one.
        milliseconds: Time that each is shown; a GIF counts in steps of 10.

    Raises:
        OSError: The file cannot be written.
    """
    first, *rest = (image(frame) for frame in frames)
    first.save(path, format="GIF", save_all=True, append_images=rest, duration=milliseconds, loop=0)


BLOCKS = " ░▒█"
"""Characters of shades 0 to 3."""

ASCII = " .+#"
"""The same where the terminal has no blocks."""


def preview(shades: NDArray[np.uint8], colour: bool, encoding: str = "utf-8") -> Text:
    """Draw a screen with characters, at half its size.

    Args:
        shades: uint8[144, 160], each 0 to 3.
        colour: Use colours, two pixels a character; otherwise a character for their average.
        encoding: What the terminal can show; without block characters, ASCII stands for them.

    Returns:
        36 lines of 80 characters.
    """
    names = [f"rgb({r},{g},{b})" for r, g, b in SHADES]
    blocks = _shows(BLOCKS + "▀", encoding)
    characters = BLOCKS if blocks else ASCII
    small = shades[::2, ::2]
    text = Text(no_wrap=True, end="")
    for upper, lower in zip(small[::2], small[1::2], strict=True):
        for top, bottom in zip(upper, lower, strict=True):
            if colour and blocks:
                text.append("▀", style=f"{names[top]} on {names[bottom]}")
            else:
                text.append(characters[(int(top) + int(bottom) + 1) // 2])
        text.append("\n")
    return text


def _shows(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
