"""Memory, registers, headers, battery RAM, clocks and sound of single machines."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from hybridenv import GameBoyBatch, RtcTime, build_info
from hybridenv.data import embedded_rom

MakeBatch = Callable[..., GameBoyBatch]
MakeRom = Callable[..., bytes]

STILL = np.zeros(2, dtype=np.uint8)
MBC3_TIMER_RAM_BATTERY = 0x10


def test_memory_views_read_and_write(make: MakeBatch, make_rom: MakeRom) -> None:
    batch = make(make_rom(), n=2)
    batch.reset()
    memory, other = batch.memory(0), batch.memory(1)
    assert len(memory) == 0x10000
    assert memory[0:0x8000] == make_rom()
    assert memory[:] == memory[0:0x8000] + memory[0x8000:0x10000]
    memory[0xD000] = 7
    memory[0xD001:0xD004] = b"abc"
    memory[0xD004:0xD006] = bytes([1, 2])
    memory[int(np.uint16(0xD006))] = 9
    assert memory[0xD000:0xD007] == b"\x07abc\x01\x02\x09"
    assert memory[0xD001] == ord("a")
    assert other[0xD000:0xD007] == bytes(7)
    assert memory[0xD000:0xD000] == b""
    memory[0x0000] = 0xFF  # reaches the absent controller, not the ROM
    assert memory[0] == make_rom()[0]
    batch.write_memory(1, 0xD000, 200)
    assert batch.read_memory([0xD000, 0xD001]).tolist() == [[7, 97], [200, 0]]
    assert batch.read_memory([]).shape == (2, 0)
    assert "env 1" in repr(other)


def test_memory_views_are_read_as_a_whole(make: MakeBatch, make_rom: MakeRom) -> None:
    batch = make(make_rom(), n=1)
    batch.reset()
    memory = batch.memory()
    whole = memory[:]
    assert bytes(memory) == whole
    assert list(memory) == list(whole)
    for array in (np.array(memory), np.asarray(memory)):
        assert array.dtype == np.uint8
        assert array.tobytes() == whole
        assert array.flags.writeable
    assert np.array(memory, dtype=np.int32)[0x134] == ord("T")
    assert b"TINY" in memory
    assert ord("T") in memory
    assert b"no such text" not in memory
    assert max(memory) == max(whole)


def test_registers_and_clocks(make: MakeBatch, make_rom: MakeRom) -> None:
    batch = make(make_rom(), n=2)
    batch.reset()
    before = batch.registers(0)
    assert (before.a, before.f, before.sp, before.pc) == (0x01, 0xB0, 0xFFFE, 0x100)
    assert (before.b, before.c, before.d, before.e) == (0x00, 0x13, 0x00, 0xD8)
    clocks = batch.clocks
    batch.step(STILL)
    after = batch.registers(1)
    assert (after.h << 8 | after.l) == 0xC000
    assert 0x150 <= after.pc < 0x164
    assert not after.ime
    assert not after.halted
    assert np.abs((batch.clocks - clocks).astype(np.int64) - 24 * 70224).max() < 70224
    assert batch.frames.tolist() == [24, 24]
    assert not batch.stuck.any()


def test_an_undefined_opcode_shows_as_stuck(make: MakeBatch, make_rom: MakeRom) -> None:
    batch = make(make_rom(), n=2)
    batch.reset()
    batch.memory(1)[0xC010] = 0xD3
    image = bytearray(make_rom())
    image[0x150:0x153] = bytes.fromhex("c310c0")  # jp C010
    dead = make(bytes(image), n=2)
    dead.reset()
    dead.memory(1)[0xC010] = 0xD3
    dead.memory(0)[0xC010:0xC012] = bytes.fromhex("18fe")  # jr to itself
    dead.step(STILL)
    assert dead.stuck.tolist() == [False, True]
    dead.step(STILL)
    dead.reset()
    assert not dead.stuck.any()


def test_headers(make: MakeBatch, make_rom: MakeRom) -> None:
    tiny = make(make_rom(mark=3, kind=MBC3_TIMER_RAM_BATTERY, ram=3), n=1).header()
    assert (tiny.title, tiny.version, tiny.kind_code) == ("TINY", 3, MBC3_TIMER_RAM_BATTERY)
    assert (tiny.rom_size, tiny.ram_size) == (0x8000, 0x8000)
    assert tiny.kind == "MBC3+TIMER+RAM+BATTERY"
    assert tiny.battery
    assert tiny.rtc
    assert not tiny.rumble
    assert tiny.cgb == "none"
    embedded = make(n=1).header()
    assert embedded.title == "POLAR POST"
    assert embedded.global_checksum == embedded.computed_global_checksum
    assert embedded.rom_size == len(embedded_rom())


def test_battery_ram(make: MakeBatch, make_rom: MakeRom) -> None:
    batch = make(make_rom(kind=MBC3_TIMER_RAM_BATTERY, ram=3), n=2)
    batch.reset()
    assert batch.cart_ram(0) == bytes(0x8000)
    filled = bytes(range(256)) * 128
    for given in (bytes(0x8000), bytearray(filled), memoryview(filled)):
        batch.load_cart_ram(0, given)
        assert batch.cart_ram(0) == given
    assert batch.cart_ram(1) == bytes(0x8000)
    memory = batch.memory(0)
    memory[0x0000] = 0x0A  # enable
    memory[0x4000] = 0x00  # bank 0
    assert memory[0xA000:0xC000] == filled[:0x2000]
    assert make(make_rom(), n=1).cart_ram() == b""


def test_clock(make: MakeBatch, make_rom: MakeRom) -> None:
    batch = make(make_rom(kind=MBC3_TIMER_RAM_BATTERY, ram=3), n=2, frame_skip=60)
    batch.reset()
    time = RtcTime(days=300, hours=23, minutes=59, seconds=58)
    for i in range(2):
        batch.set_rtc(i, time)
        assert batch.rtc(i) == time
    batch.freeze_rtc(1)
    for _ in range(3):
        batch.step(STILL)
    running, frozen = batch.rtc(0), batch.rtc(1)
    assert running is not None
    assert running[:4] == (301, 0, 0, 1)
    assert frozen == time
    batch.freeze_rtc(1, False)
    batch.step(STILL)
    assert batch.rtc(1) != time
    assert make(make_rom(), n=1).rtc() is None


def test_sound(make: MakeBatch, actions: NDArray[np.uint8]) -> None:
    batch, silent = make(n=2, frame_skip=60), make(n=2, frame_skip=60)
    for each in (batch, silent):
        each.reset()
    assert batch.take_audio(0).shape == (0, 2)
    batch.set_audio(48_000)
    for row in actions[:6]:
        one, other = batch.step(row[:2]), silent.step(row[:2])
        assert np.array_equal(one.obs, other.obs)
    samples = batch.take_audio(0)
    assert samples.dtype == np.int16
    assert abs(len(samples) - 6 * 60 * 70224 / 4194304 * 48_000) < 1000
    assert samples.any()
    assert len(batch.take_audio(0)) < 10
    state = batch.save_state(1)
    batch.load_state(0, state)
    batch.copy([0], [1])
    batch.step(actions[7, :2])
    assert len(batch.take_audio(1)) > 10_000, "copying a machine turned the sound off"
    batch.set_audio(None)
    batch.step(actions[8, :2])
    assert batch.take_audio(1).shape == (0, 2)
    assert silent.take_audio(0).shape == (0, 2)


def test_build_info_names_the_build() -> None:
    info = build_info()
    assert info["profile"] in ("release", "debug")
    assert isinstance(info["debug_assertions"], bool)
    assert str(info["rustc"]).startswith("rustc ")
    assert "version" in info
    with pytest.raises(KeyError):
        info["nothing"]
