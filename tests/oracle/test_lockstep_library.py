"""The comparison itself: it sees what differs, counts it, and finds where traces part."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from tests.oracle.diverge import Trace, explain, split
from tests.oracle.pyboy_lockstep import KINDS, Report, Snapshot, compare, script

PLAIN = Snapshot(
    screen=np.zeros((144, 160), np.uint8),
    wram=bytes(0x2000),
    hram=bytes(0x80),
    vram=bytes(0x2000),
    oam=bytes(0xA0),
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


A = "100 0150 01B0 0013 00D8 014D FFFE E0 00 91 81 90 00 00"
B = "104 0151 01B0 0013 00D8 014D FFFE E1 01 91 81 90 00 00"
IRQ = "124 0040 01B0 0013 00D8 014D FFFC E0 01 91 81 90 00 00"
END = "128 0041 01B0 0013 00D8 014D FFFC E0 01 91 81 90 00 00"
LATE = "108 0152 01B0 0013 00D8 014D FFFE E1 01 91 81 90 00 00"


def test_traces_part_where_a_register_differs() -> None:
    expected = Trace.parse("\n".join((A, IRQ, END)))
    actual = Trace.parse("\n".join((A, B, LATE, END)))
    assert split(expected, actual) == 1
    text = explain(expected, actual, 3)
    assert "> 124 0040" in text
    assert "> 104 0151" in text


def test_an_instruction_that_an_interrupt_forestalls_is_not_executed() -> None:
    trace = Trace.parse("\n".join((A, B, IRQ, END)))
    assert [row[1] for row in trace.rows] == ["0150", "0040", "0041"]
    assert split(trace, Trace.parse("\n".join((A, IRQ, END)))) is None


def test_a_halt_that_is_executed_again_counts_once() -> None:
    again = A.replace("100 ", "104 ")
    late = B.replace("104 ", "108 ")
    trace = Trace.parse("\n".join((A, again, late, END)))
    assert [row[0] for row in trace.rows] == ["100", "108", "128"]


def test_only_the_clock_of_a_frames_end_counts() -> None:
    trace = Trace.parse("\n".join((A, IRQ, END)))
    elsewhere = Trace.parse("\n".join((A, IRQ, END.replace("0041", "0042"))))
    later = Trace.parse("\n".join((A, IRQ, END.replace("128", "132"))))
    assert split(trace, elsewhere) is None
    assert split(trace, later) == 2


def test_equal_traces_show_the_lines_drawn() -> None:
    trace = Trace.parse("\n".join((A, "L 100 7 91 00 00 00 00 FC FF FF window -1")))
    assert "L 100 7 91" in explain(trace, trace, 3)
