"""The comparison itself: it sees what differs, counts it, and finds where traces part."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from hybridenv.oracle.lockstep import KINDS, Report, compare, script
from hybridenv.oracle.reference import Snapshot
from hybridenv.oracle.trace import Row, Trace, explain, split

PLAIN = Snapshot(
    screen=np.zeros((144, 160), np.uint8),
    wram=bytes(0x2000),
    hram=bytes(0x80),
    vram=bytes(0x2000),
    oam=bytes(0xA0),
    registers=bytes(10),
    clock=1000,
)


def test_equal_snapshots_have_no_difference() -> None:
    assert compare(0, PLAIN, dataclasses.replace(PLAIN)) == []


@pytest.mark.parametrize(
    ("kind", "base"), [("wram", 0xC000), ("hram", 0xFF80), ("vram", 0x8000), ("oam", 0xFE00)]
)
def test_a_changed_byte_is_found(kind: str, base: int) -> None:
    memory = bytearray(getattr(PLAIN, kind))
    memory[5], memory[9] = 0x12, 0x34
    changes: dict[str, Any] = {kind: bytes(memory)}
    changed = dataclasses.replace(PLAIN, **changes)
    (difference,) = compare(7, PLAIN, changed)
    assert (difference.kind, difference.frame, difference.count) == (kind, 7, 2)
    assert (difference.where, difference.expected) == (f"{base + 5:04X}", 0)
    assert difference.actual == 0x12


def test_a_changed_register_is_found() -> None:
    changed = dataclasses.replace(PLAIN, registers=bytes(8) + b"\xfe\xff")
    (difference,) = compare(2, PLAIN, changed)
    assert (difference.kind, difference.count) == ("registers", 2)
    assert (difference.where, difference.actual) == ("SP (high)", 0xFE)


def test_a_changed_pixel_and_clock_are_found() -> None:
    screen = PLAIN.screen.copy()
    screen[3, 8] = 2
    changed = dataclasses.replace(PLAIN, screen=screen, clock=1012)
    pixel, clock = compare(1, PLAIN, changed)
    assert (pixel.kind, pixel.where, pixel.actual) == ("screen", "x=8 y=3", 2)
    assert (clock.kind, clock.count) == ("clock", 12)


def test_unreadable_oam_is_left_out() -> None:
    assert compare(0, dataclasses.replace(PLAIN, oam=None), PLAIN) == []


def test_a_report_counts_frames_and_keeps_the_first_difference() -> None:
    report = Report()
    changed = dataclasses.replace(PLAIN, clock=1)
    for frame, other in enumerate((PLAIN, changed, changed, PLAIN)):
        report.add(PLAIN, compare(frame, PLAIN, other))
    assert (report.frames, report.equal_all, report.equal["clock"]) == (4, 2, 2)
    assert report.percent("screen") == 100
    assert len(report.pictures) == 1
    assert report.first["clock"].frame == 1
    assert all(kind in str(report) for kind in KINDS)


def test_scripts_are_reproducible_and_press_every_button() -> None:
    masks = script(1, 5000)
    assert masks == script(1, 6000)[:5000]
    assert masks != script(2, 5000)
    pressed = 0
    for mask in masks:
        pressed |= mask
    assert pressed == 0b1011_1111  # all but Select


def row(clock: int, pc: int, sp: int = 0xFFFE, requested: int = 0xE0) -> Row:
    return (clock, pc, 0x01B0, 0x0013, 0x00D8, 0x014D, sp, requested, 0, 0x91, 0x81, 0x90, 0, 0)


A, B, LATE = row(100, 0x150), row(104, 0x151), row(108, 0x152)
IRQ, END = row(124, 0x40, 0xFFFC), row(128, 0x41, 0xFFFC)


def text(*rows: Row) -> str:
    return "".join(" ".join(f"{number:X}" for number in one) + "\n" for one in rows)


def test_traces_part_where_a_register_differs() -> None:
    expected, actual = Trace([A, IRQ, END]), Trace([A, B, LATE, END])
    assert split(expected, actual) == 1
    lines = explain(expected, actual, 3).splitlines()
    assert lines[0] == "Instruction 1 of the frame is the first that differs, in cycles, PC, SP:"
    shown = [" ".join(line.split()) for line in lines]
    assert any(line.startswith("both 100 0150 01B0 ") for line in shown)
    assert any(line.startswith("> PyBoy 124 0040 01B0 ") for line in shown)
    assert any(line.startswith("> hybridenv 104 0151 01B0 ") for line in shown)
    assert lines[-1].endswith("(end of the frame)")


def test_traces_that_are_cut_short_show_what_there_is() -> None:
    expected, actual = Trace([A, IRQ, END]), Trace([B, IRQ, END])
    lines = explain(expected, actual, 0).splitlines()
    assert sum(line.startswith(">") for line in lines) == 2
    assert not any("both" in line or "end of the frame" in line for line in lines)


def test_a_halt_that_is_executed_again_counts_once() -> None:
    again, late = row(104, 0x150), row(108, 0x151)
    trace = Trace.of_pyboy(text(A, again, late, END))
    assert [one[0] for one in trace.rows] == [100, 108, 128]


def test_only_the_clock_of_a_frames_end_counts() -> None:
    trace = Trace([A, IRQ, END])
    assert split(trace, Trace([A, IRQ, row(128, 0x42, 0xFFFC)])) is None
    assert split(trace, Trace([A, IRQ, row(132, 0x41, 0xFFFC)])) == 2


def test_equal_traces_show_the_lines_drawn() -> None:
    trace = Trace.of_pyboy(text(A, END) + "L 100 7 91 00 00 00 00 FC FF FF window -1\n")
    assert trace.rows == [A, END]
    assert "the same 1 instructions at the same clock" in explain(trace, Trace([A, END]), 3)
    assert "  100 7 91" in explain(trace, Trace([A, END]), 3)
