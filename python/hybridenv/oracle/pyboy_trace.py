"""One frame of PyBoy, instruction by instruction: the slow half of `hybridenv.oracle.trace`.

Run as ``python -m hybridenv.oracle.pyboy_trace FRAME dmg|cgb < input``. The input is a button mask
for each frame up to ``FRAME``, a byte each, and then the ROM image. PyBoy's compiled modules cannot
be looked into, but its package also ships the Python sources that they were compiled from; this
process imports those instead, plays up to ``FRAME`` and prints, before every instruction of that
frame, the numbers that `hybridenv.TRACE_COLUMNS` names, in hexadecimal. Lines that begin with
``L`` say with which registers PyBoy draws a line of the picture.
"""

# ruff: noqa: T201 - a command line

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from hybridenv.oracle.reference import BOOT_FRAMES, build_pyboy, press


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
    return " ".join(
        f"{value:X}"
        for value in (
            cpu.cycles,
            cpu.PC,
            cpu.A << 8 | cpu.F,
            cpu.B << 8 | cpu.C,
            cpu.D << 8 | cpu.E,
            cpu.HL,
            cpu.SP,
            cpu.interrupts_flag_register | 0xE0,
            cpu.interrupts_enabled_register,
            lcd._LCDC.value,
            lcd._STAT.value,
            lcd.LY,
            timer.DIV,
            timer.TIMA,
        )
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
    """Play the masks of standard input and print the last frame."""
    frame, color = int(arguments[0]), arguments[1] == "cgb"
    given = sys.stdin.buffer.read()
    masks, rom = given[: frame + 1], given[frame + 1 :]
    sys.meta_path.insert(0, _SourcesOnly())
    emulator = build_pyboy(rom, color=color, sound=True)
    emulator.mb.cartridge.rombanks = _Banks(emulator.mb.cartridge.rombanks)
    # An instance's first rendered frame has the window one line off: render one that has none.
    emulator.tick(BOOT_FRAMES, True)
    held = 0
    for number, mask in enumerate(masks):
        press(emulator, held, mask)
        held = mask
        if number == frame:
            _watch(emulator.mb)
        # Drawing in plain Python is slow; the window counter needs the frame before drawn too.
        emulator.tick(1, number >= frame - 1)
    print(_line(emulator.mb))
    emulator.stop(save=False)


if __name__ == "__main__":
    main(sys.argv[1:])
