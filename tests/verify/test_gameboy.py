"""PyBoy is the judge of `profile="pyboy"`: components, operations, whole episodes."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from hybridenv.batch import Profile
from hybridenv.oracle.lockstep import HybridenvSide
from hybridenv.oracle.reference import PyBoySide, pyboy_version
from hybridenv.verify import Property, Status, Verdict, verify
from hybridenv.verify.levels.l1 import CounterexampleError, _Count, _try

if pyboy_version() is None:
    pytest.skip("PyBoy is not installed", allow_module_level=True)

REFERENCE, CANDIDATE = "hybridenv:gameboy/pyboy", "hybridenv:gameboy/hybridenv"
SHARED = Path(os.environ.get("HYBRIDENV_SHARED", Path(__file__).parents[3] / "shared"))
GAMES = {
    "2048": "data/gameboy/games/2048gb",
    "tobutobugirl": "data/gameboy/games/tobutobugirl",
}
FRAMES = 3
"""Frames that a component's program runs for."""
ROOM = 16
"""Bytes of work RAM that it writes its findings to."""


def image(code: bytes, banks: int = 2, logos: int = 1) -> bytes:
    """A cartridge of 16 KiB banks whose program starts with `code`; MBC1 where there are more.

    The first banks, as many as `logos`, hold the same bytes where a logo is.
    """
    rom = bytearray(banks * 0x4000)
    for bank in range(banks):
        rom[bank * 0x4000 + 0x3FFF] = rom[bank * 0x4000] = bank
        logo = slice(bank * 0x4000 + 0x104, bank * 0x4000 + 0x134)
        rom[logo] = range(1, 49) if bank < logos else bytes(48)
    rom[0x100:0x104] = bytes([0x00, 0xC3, 0x50, 0x01])
    rom[0x134:0x14D] = bytes(0x19)
    rom[0x147], rom[0x148] = int(banks > 2), banks.bit_length() - 2
    check = 0
    for byte in rom[0x134:0x14D]:
        check = (check - byte - 1) & 0xFF
    rom[0x14D] = check
    program = bytes([0xF3]) + code + bytes([0x18, 0xFE])
    for bank in range(banks):  # so that it goes on whichever bank is at 0000
        rom[bank * 0x4000 + 0x150 : bank * 0x4000 + 0x150 + len(program)] = program
    return bytes(rom)


def put(register: int, value: int) -> bytes:
    return bytes([0x3E, value, 0xE0, register])


def note(register: int, place: int) -> bytes:
    return bytes([0xF0, register, 0xEA, place, 0xC0])


def wait(turns: int, nops: int = 0) -> bytes:
    return bytes([0x06, max(1, turns), 0x05, 0x20, 0xFD]) + bytes(nops)


def found(side: Callable[[bytes], Any], rom: bytes, mask: int = 0) -> bytes:
    """What a program leaves in work RAM, and the registers of its last frame."""
    machine = side(rom)
    try:
        shot = [machine.frame(mask) for _ in range(FRAMES)][-1]
    finally:
        machine.close()
    return bytes(shot.wram[:ROOM]) + bytes(shot.registers) + int(shot.clock).to_bytes(8, "big")


def timer(tac: int, tma: int, tima: int, turns: int, nops: int) -> bytes:
    code = put(0x06, tma) + put(0x05, tima) + put(0x07, tac) + wait(turns, nops)
    return image(code + note(0x05, 0) + note(0x04, 1) + note(0x0F, 2) + note(0x07, 3))


def joypad(select: int, turns: int) -> bytes:
    return image(put(0x00, select) + wait(turns) + note(0x00, 0) + note(0x0F, 1))


def bank(number: int, high: int, mode: int, banks: int = 32, logos: int = 1) -> bytes:
    def write(address: int, value: int) -> bytes:
        return bytes([0x3E, value, 0xEA, address & 0xFF, address >> 8])

    code = write(0x2000, number) + write(0x4000, high) + write(0x6000, mode)
    look = bytes([0xFA, 0x00, 0x40, 0xEA, 0x00, 0xC0, 0xFA, 0xFF, 0x3F, 0xEA, 0x01, 0xC0])
    return image(code + look, banks, logos)


def games(number: int, high: int, mode: int, logos: int) -> bytes:
    return bank(number, high, mode, 64, logos)


def line(lcdc: int, lyc: int, stat: int, turns: int, nops: int) -> bytes:
    code = put(0x45, lyc) + put(0x41, stat) + put(0x40, lcdc) + wait(turns, nops)
    return image(code + note(0x44, 0) + note(0x41, 1) + note(0x0F, 2))


def component(name: str, make: Callable[..., bytes], *parts: Any, masks: Any = None) -> Property:
    def run(side: Callable[[bytes], Any], mask: int, *values: int) -> bytes:
        return found(side, make(*values), mask)

    strategy = st.tuples(st.just(0) if masks is None else masks, *parts)
    return Property(
        name, partial(run, partial(PyBoySide, color=False)), partial(run, HybridenvSide), strategy
    )


byte, turn, few = st.integers(0, 255), st.integers(1, 255), st.integers(0, 12)
COMPONENTS = (
    component("timer", timer, st.integers(0, 7), byte, byte, turn, few),
    component("joypad", joypad, st.sampled_from((0x00, 0x10, 0x20, 0x30)), turn, masks=byte),
    component("cartridge banks", bank, byte, st.integers(0, 3), st.integers(0, 1)),
    component(
        "a cartridge with several games",
        games,
        byte,
        st.integers(0, 3),
        st.integers(0, 1),
        st.sampled_from((1, 63, 64)),
    ),
    component(
        "PPU line",
        line,
        st.sampled_from((0x80, 0x91, 0xB3)),
        byte,
        st.sampled_from((0, 0x08, 0x20, 0x40)),
        turn,
        few,
    ),
)


@pytest.mark.parametrize("one", COMPONENTS, ids=lambda one: one.name)
def test_a_component_does_what_pyboys_does(one: Property) -> None:
    tried = _Count()
    _try(one, 20, tried)
    assert tried.value >= 15


def test_a_component_that_differs_is_found() -> None:
    wrong = Property("timer", COMPONENTS[0].reference, lambda *_: b"", COMPONENTS[0].strategy)
    with pytest.raises(CounterexampleError, match="result: reference"):
        _try(wrong, 3, _Count())


def test_the_embedded_game_equals_pyboys_at_the_levels_0_to_3() -> None:
    report = verify(REFERENCE, CANDIDATE, level=3, episodes=2, examples=3, max_steps=120)
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.isolated == ("pyboy",)
    assert report.levels[3].counts["steps"] >= 200


def test_the_other_profile_is_told_apart() -> None:
    from hybridenv.verify.adapters._gameboy import HybridenvGame

    class Hardware(HybridenvGame):
        profile: Profile = "hardware"

    report = verify(REFERENCE, Hardware, levels=[3], episodes=1, max_steps=60, shrink=False)
    assert report.verdict is Verdict.DIFFERENT


@pytest.mark.slow
def test_a_hundred_episodes_of_the_embedded_game_are_equal() -> None:
    report = verify(REFERENCE, CANDIDATE, levels=[3], episodes=100)
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.levels[3].counts["steps"] >= 5_000


@pytest.mark.parametrize("episodes", [2, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("game", list(GAMES))
def test_episodes_of_shared_games_are_equal(game: str, episodes: int) -> None:
    roms = sorted((SHARED / GAMES[game]).glob("*.gb"))
    if not roms:
        pytest.skip(f"{SHARED / GAMES[game]} has no ROM: set HYBRIDENV_SHARED")
    options = f"?rom={roms[0]}&max_steps=40"
    report = verify(REFERENCE + options, CANDIDATE + options, levels=[0, 3], episodes=episodes)
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.levels[3].counts["steps"] == 40 * episodes
    assert report.levels[0].status is Status.PASSED
