"""The Game Boy Color: which console runs, and what its pictures look like."""

import numpy as np
import pytest

from hybridenv import ArgumentError, GameBoyBatch, StateError

from .conftest import MakeBatch, MakeRom


def color_rom(make_rom: MakeRom) -> bytes:
    """A cartridge for the Color that makes the background red and waits."""
    image = bytearray(make_rom())
    image[0x143] = 0xC0
    image[0x14D] = -sum(byte + 1 for byte in image[0x134:0x14D]) & 0xFF
    program = bytes.fromhex(
        "3e80e068"  # BCPS = 80: count up
        "f041e60320fa"  # wait for mode 0
        "3e1fe069afe069"  # BCPD = 1F, 00: red
        "18fe"  # jr self
    )
    image[0x150 : 0x150 + len(program)] = program
    return bytes(image)


def test_the_cartridge_or_the_caller_chooses_the_console(
    make: MakeBatch, make_rom: MakeRom
) -> None:
    old, new = make_rom(), color_rom(make_rom)
    assert make([old, new], n=2).models == ("dmg", "cgb")
    assert make([old, new], n=2, model="cgb").models == ("cgb", "cgb")
    assert make([old, new], n=2, model="dmg").models == ("dmg", "dmg")


def test_colours_come_out_as_bytes_and_shades(make: MakeBatch, make_rom: MakeRom) -> None:
    batch = make(color_rom(make_rom), n=2, frame_skip=3, obs="rgb", palette=[(1, 2, 3)] * 4)
    batch.reset()
    obs = batch.step(np.zeros(2, dtype=np.uint8)).obs
    blank = np.all(obs == (255, 0, 0), axis=-1)
    assert blank.mean() > 0.9, "all but the logo is colour 0"
    shades = batch.screen("shades")
    assert np.all(shades[blank] == 3), "the brightness of red is 62 of 248"
    packed = batch.screen("packed")
    assert packed.shape == (2, 144, 40)
    assert np.array_equal(packed[..., 0] >> 6, shades[..., 0])


def test_an_old_game_gets_the_colours_of_the_console(make: MakeBatch) -> None:
    batch = make(n=1, model="cgb", obs="rgb", frame_skip=60)
    batch.reset()
    obs = batch.step(np.zeros(1, dtype=np.uint8)).obs
    colours = {tuple(map(int, pixel)) for pixel in np.unique(obs.reshape(-1, 3), axis=0)}
    assert any(len(set(colour)) > 1 for colour in colours), colours


def test_a_state_belongs_to_its_console(make: MakeBatch) -> None:
    dmg, cgb = make(n=1, model="dmg"), make(n=1, model="cgb")
    dmg.reset()
    cgb.reset()
    with pytest.raises(StateError, match="model Cgb, expected Dmg"):
        dmg.load_state(0, cgb.save_state())
    state = cgb.save_state()
    after = [cgb.step(np.zeros(1, dtype=np.uint8)).obs.copy()]
    cgb.load_state(0, state)
    after.append(cgb.step(np.zeros(1, dtype=np.uint8)).obs.copy())
    assert np.array_equal(*after)


def test_an_unknown_console_is_refused() -> None:
    with pytest.raises(ArgumentError, match="model: got 'gba'"):
        GameBoyBatch(model="gba")  # type: ignore[arg-type]
