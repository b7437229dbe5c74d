"""One frame of PyBoy, instruction by instruction: the oracle's half of `tests.oracle.diverge`.

Run as ``python -m tests.oracle.pyboy_trace ROM FRAME < masks``, with one button mask a frame on
standard input. PyBoy's compiled modules cannot be looked into, but its package also ships the
Python sources that they were compiled from; this process imports those instead, plays up to
``FRAME`` and prints, before every instruction of that frame, the line that
`tests/oracle/trace.rs` prints for the other side. Lines that begin with ``L`` say with which
registers PyBoy draws a line of the picture.
"""

# ruff: noqa: T201 - a command line

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import io
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.oracle.pyboy_lockstep import BOOT_FRAMES, BUTTONS


class _SourcesOnly(importlib.abc.MetaPathFinder):
    """Finds PyBoy's modules as Python sources and hides the compiled ones."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,  # noqa: ARG002 - part of the protocol
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != "pyboy":
            return None
        loader = (importlib.machinery.SourceFileLoader, [".py"])
        for folder in path or sys.path:
            if spec := importlib.machinery.FileFinder(folder, loader).find_spec(fullname):
                return spec
        # PyBoy falls back to a Python module where a compiled one is missing.
        raise ModuleNotFoundError(f"{fullname} has no Python source", name=fullname)


class _Banks:
    """ROM banks with the indices of C: before a bank's first byte lies the last of the bank before.

    PyBoy fetches an instruction that begins at 3FFE or 3FFF with a negative index, to which
    Python would give another meaning.
    """

    def __init__(self, banks: Any) -> None:
        self._rom: bytes = banks.tobytes()
        self._banks = len(banks)

    def __len__(self) -> int:
        return self._banks

    def __getitem__(self, place: tuple[int, int]) -> int:
        bank, offset = place
        return self._rom[bank * 0x4000 + offset]


def _line(board: Any) -> str:
    cpu, lcd, timer = board.cpu, board.lcd, board.timer
    flags, enabled = cpu.interrupts_flag_register | 0xE0, cpu.interrupts_enabled_register
    return (
        f"{cpu.cycles} {cpu.PC:04X} {cpu.A:02X}{cpu.F:02X} {cpu.B:02X}{cpu.C:02X} "
        f"{cpu.D:02X}{cpu.E:02X} {cpu.HL:04X} {cpu.SP:04X} {flags:02X} {enabled:02X} "
        f"{lcd._LCDC.value:02X} {lcd._STAT.value:02X} {lcd.LY:02X} {timer.DIV:02X} "
        f"{timer.TIMA:02X}"
    )


def _watch(board: Any) -> None:
    """Print a line before each instruction and each drawn line from now on."""
    cpu, lcd, renderer = board.cpu, board.lcd, board.lcd.renderer
    execute, draw = cpu.fetch_and_execute, renderer.scanline

    def watched_execute() -> Any:
        print(_line(board))
        return execute()

    def watched_draw(y: int) -> None:
        registers = (
            lcd._LCDC.value,
            lcd.SCY,
            lcd.SCX,
            lcd.WY,
            lcd.WX,
            lcd.BGP.value,
            lcd.OBP0.value,
            lcd.OBP1.value,
        )
        shown = " ".join(f"{value:02X}" for value in registers)
        print(f"L {cpu.cycles} {y} {shown} window {renderer.ly_window}")
        draw(y)

    cpu.fetch_and_execute, renderer.scanline = watched_execute, watched_draw


def main(arguments: Sequence[str]) -> None:
    """Play the masks of standard input up to the frame and print that frame."""
    rom, frame = Path(arguments[0]).read_bytes(), int(arguments[1])
    masks = sys.stdin.buffer.read()
    sys.meta_path.insert(0, _SourcesOnly())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyboy
    emulator: Any = pyboy.PyBoy(
        io.BytesIO(rom), window="null", sound_emulated=True, cgb=False, log_level="CRITICAL"
    )
    emulator.set_emulation_speed(0)
    emulator.mb.cartridge.rombanks = _Banks(emulator.mb.cartridge.rombanks)
    # An instance's first rendered frame has the window one line off: render one that has none.
    emulator.tick(BOOT_FRAMES, True)
    held = 0
    for number, mask in enumerate(masks[: frame + 1]):
        for bit, name in enumerate(BUTTONS):
            if (held ^ mask) >> bit & 1:
                (emulator.button_press if mask >> bit & 1 else emulator.button_release)(name)
        held = mask
        if number == frame:
            _watch(emulator.mb)
        # Drawing in plain Python is slow; the window counter needs the frame before drawn too.
        emulator.tick(1, number >= frame - 1)
    print(_line(emulator.mb))
    emulator.stop(save=False)


if __name__ == "__main__":
    main(sys.argv[1:])
