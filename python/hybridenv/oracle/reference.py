"""PyBoy, as far as a comparison needs it.

Traps of PyBoy that this module steps around:

- With sound off, PyBoy reads 0 from every sound register, so sound is emulated.
- The first frame that an instance ever renders has the window one line off; PyBoy's boot frames
  are rendered, so that frame is one of them.
- ``start_game()`` of PyBoy's game wrappers randomises DIV; it is never called.
- PyBoy refuses a wrong header checksum and some cartridges; `OracleError` says so.
- While OAM DMA runs, PyBoy's memory view reads FF from all of OAM, which is then left out of
  the comparison (`Snapshot.oam` is ``None``).
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import numpy.typing as npt

from hybridenv.errors import MissingDependencyError, OracleError

#: The release that ``profile="pyboy"`` reproduces.
PYBOY_VERSION = "2.8.1"

#: Frames that PyBoy completes inside its own boot code. The next one ends in the game, 3,992 clock
#: cycles after the game's first instruction, and is the first that both sides play.
#: Source: measured on PyBoy 2.8.1.
BOOT_FRAMES = 64

#: T-cycles since power-on at which PyBoy's boot code jumps to the game.
BOOT_CYCLES = 4_507_360

#: PyBoy's names of the buttons, in the order of the project's bit mask.
BUTTONS = ("right", "left", "up", "down", "a", "b", "select", "start")

Shades = npt.NDArray[np.uint8]

# Red channel of PyBoy's default palette (FFFFFF, 999999, 555555, 000000) to shade.
_SHADE_OF_RED = np.full(256, 255, np.uint8)
_SHADE_OF_RED[[0xFF, 0x99, 0x55, 0x00]] = (0, 1, 2, 3)


@dataclass(frozen=True)
class Snapshot:
    """What one side shows after a frame.

    Attributes:
        screen: uint8[144, 160], shades 0 (lightest) to 3; of a Game Boy Color uint8[144, 160, 3],
            five bits each of red, green and blue.
        wram: 8 KiB from C000.
        hram: FF80 to FFFF, IE included.
        vram: 8 KiB from 8000.
        oam: 160 bytes, or ``None`` while it cannot be read.
        registers: A, F, B, C, D, E, H, L and SP (high, low), a byte each. PC is left out: PyBoy
            waits on a HALT, hybridenv behind it.
        clock: T-cycles of the processor since power-on.
    """

    screen: Shades
    wram: bytes
    hram: bytes
    vram: bytes
    oam: bytes | None
    registers: bytes
    clock: int


def pyboy_version() -> str | None:
    """Tell which PyBoy is installed.

    Returns:
        Its version, or `None` where there is none.
    """
    try:
        return version("pyboy")
    except PackageNotFoundError:
        return None


def build_pyboy(rom: bytes, *, color: bool | None, sound: bool) -> Any:
    """Build a PyBoy without a window, a speed limit or files.

    Args:
        rom: ROM image.
        color: Whether it is a Game Boy Color; `None` for what PyBoy makes of the ROM.
        sound: Whether it emulates sound.

    Returns:
        The ``pyboy.PyBoy``, still in its boot code; `BOOT_FRAMES` frames lead to the game.

    Raises:
        MissingDependencyError: PyBoy is not installed.
        OracleError: PyBoy refuses the ROM.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its SDL binding reports which library it found
        try:
            from pyboy import PyBoy
        except ImportError as error:
            raise MissingDependencyError(
                "the comparison needs PyBoy, which is not installed: "
                f"pip install 'hybridenv[pyboy]' ({error})"
            ) from error
    try:
        emulator: Any = PyBoy(
            io.BytesIO(rom),
            window="null",
            sound_emulated=sound,
            cgb=color,
            log_level="CRITICAL",
        )
    except Exception as error:
        raise OracleError(f"PyBoy {pyboy_version()} refuses the ROM: {error}") from error
    emulator.set_emulation_speed(0)
    return emulator


def changes(held: int, mask: int) -> Iterator[tuple[str, bool]]:
    """Yield PyBoy's name of each button that two masks differ in, and whether it is now held."""
    for bit, name in enumerate(BUTTONS):
        if (held ^ mask) >> bit & 1:
            yield name, bool(mask >> bit & 1)


def press(emulator: Any, held: int, mask: int) -> None:
    """Hold the buttons of ``mask`` after ``held``; PyBoy applies them as its next frame begins."""
    for name, pressed in changes(held, mask):
        (emulator.button_press if pressed else emulator.button_release)(name)


def shades_of(pixels: Shades) -> Shades:
    """Return the shades of a picture in PyBoy's default palette.

    Args:
        pixels: uint8[144, 160, 3 or more], as PyBoy's screen has them.

    Returns:
        uint8[144, 160], 0 (lightest) to 3; 255 for a colour that is not in the palette.
    """
    return _SHADE_OF_RED[pixels[:, :, 0]]


class PyBoySide:
    """PyBoy, from the first frame that its game code runs in.

    Args:
        rom: ROM image.
        color: Whether it is a Game Boy Color.

    Raises:
        MissingDependencyError: PyBoy is not installed.
        OracleError: PyBoy refuses the ROM.
    """

    def __init__(self, rom: bytes, *, color: bool) -> None:
        self.emulator = build_pyboy(rom, color=color, sound=True)
        self._held = 0
        self._color = color
        for _ in range(BOOT_FRAMES):
            self.emulator.tick(1, True)

    def frame(self, mask: int) -> Snapshot:
        """Play one frame under ``mask``."""
        press(self.emulator, self._held, mask)
        self._held = mask
        self.emulator.tick(1, True)
        memory = self.emulator.memory
        oam = bytes(memory[0xFE00:0xFEA0])
        pixels = self.emulator.screen.ndarray
        r = self.emulator.register_file
        return Snapshot(
            screen=pixels[:, :, :3] >> 3 if self._color else shades_of(pixels),
            wram=bytes(memory[0xC000:0xE000]),
            hram=bytes(memory[0xFF80:0x10000]),
            vram=bytes(memory[0x8000:0xA000]),
            oam=None if oam.count(0xFF) == len(oam) else oam,
            registers=bytes(
                (r.A, r.F, r.B, r.C, r.D, r.E, r.HL >> 8, r.HL & 0xFF, r.SP >> 8, r.SP & 0xFF)
            ),
            clock=self.emulator._cycles(),
        )

    def close(self) -> None:
        """Stop PyBoy without writing a `.ram` file."""
        self.emulator.stop(save=False)
