"""Contact sheets, GIFs and terminal previews from screens."""

import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rich.text import Text

from hybridenv.checks import written
from hybridenv.errors import ArgumentError

SHADES = ((0xE8, 0xF0, 0xD0), (0x98, 0xB8, 0x80), (0x40, 0x70, 0x58), (0x10, 0x28, 0x30))
"""Colours of shades 0 to 3, lightest first, a little like the real screen."""

GAP = 2
"""Pixels between the screens of a sheet."""

LUMA = (2, 5, 1)
"""Weights of red, green and blue in a colour's brightness, in eighths."""


def sheet(screens: NDArray[np.uint8], columns: int) -> NDArray[np.uint8]:
    """Lay screens out in rows.

    Args:
        screens: Shades uint8[n, h, w], each 0 to 3, or colours uint8[n, h, w, 3].
        columns: Screens a row, at least 1.

    Returns:
        uint8[rows * (h + 2) + 2, columns * (w + 2) + 2] of shades on a dark ground, or the same
        with three more numbers a pixel.
    """
    n, height, width, *channels = screens.shape
    lines = -(-n // columns)
    size = (lines * (height + GAP) + GAP, columns * (width + GAP) + GAP, *channels)
    page = np.full(size, SHADES[3] if channels else 3, np.uint8)
    for i, screen in enumerate(screens):
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


def image(screen: NDArray[np.uint8]) -> Image.Image:
    """Colour shades.

    Args:
        screen: Shades uint8[h, w], each 0 to 3, or colours uint8[h, w, 3].

    Returns:
        A palette image of four colours, or one of the given colours.
    """
    picture = Image.fromarray(screen)
    if screen.ndim == 3:
        return picture
    picture.putpalette([channel for colour in SHADES for channel in colour])
    return picture


def check_writable(what: str, path: Path | None) -> None:
    """Refuse a place where a file cannot go, before there is work that would be lost.

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


def save_png(path: Path, screen: NDArray[np.uint8]) -> None:
    """Write a picture.

    Args:
        path: Where to, in a folder that exists.
        screen: Shades uint8[h, w], each 0 to 3, or colours uint8[h, w, 3].

    Raises:
        OSError: The file cannot be written.
    """
    with written(path):
        image(screen).save(path, format="PNG", optimize=True)


def save_gif(path: Path, frames: Sequence[NDArray[np.uint8]], milliseconds: int) -> None:
    """Write an endless animation.

    Args:
        path: Where to, in a folder that exists.
        frames: Pictures of one size, shades uint8[h, w], each 0 to 3, or colours uint8[h, w, 3]; at
            least one.
        milliseconds: Time that each is shown; a GIF counts in steps of 10.

    Raises:
        OSError: The file cannot be written.
    """
    first, *rest = (image(frame) for frame in frames)
    with written(path):
        first.save(
            path, format="GIF", save_all=True, append_images=rest, duration=milliseconds, loop=0
        )


BLOCKS = " ░▒█"
"""Characters of shades 0 to 3."""

ASCII = " .+#"
"""The same where the terminal has no blocks."""


def preview(screen: NDArray[np.uint8], colour: bool, encoding: str = "utf-8") -> Text:
    """Draw a screen with characters, at half its size.

    Args:
        screen: Shades uint8[144, 160], each 0 to 3, or colours uint8[144, 160, 3].
        colour: Use colours, two pixels a character; otherwise a character for their average.
        encoding: What the terminal can show; without block characters, ASCII stands for them.

    Returns:
        36 lines of 80 characters.
    """
    blocks = _shows(BLOCKS + "▀", encoding)
    characters = BLOCKS if blocks else ASCII
    small = screen[::2, ::2]
    if screen.ndim == 3:
        colours, darkness = small, 3 - small @ np.array(LUMA) // 512
    else:
        colours, darkness = np.array(SHADES)[small], small.astype(np.int64)
    text = Text(no_wrap=True, end="")
    for y in range(0, len(small), 2):
        for x in range(small.shape[1]):
            if colour and blocks:
                top, bottom = (f"rgb({r},{g},{b})" for r, g, b in colours[y : y + 2, x])
                text.append("▀", style=f"{top} on {bottom}")
            else:
                text.append(characters[(int(darkness[y : y + 2, x].sum()) + 1) // 2])
        text.append("\n")
    return text


def _shows(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
