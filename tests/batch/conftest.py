"""Cartridges and batches for the tests of this folder."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hybridenv import GameBoyBatch

MakeBatch = Callable[..., GameBoyBatch]
MakeRom = Callable[..., bytes]

CODE = bytes.fromhex(
    "2100c0"  # ld hl, C000
    "34"  # loop: inc (hl)
    "3e10e000f000ea01c0"  # C001 = P1 with the buttons A, B, Select and Start
    "f004ea02c0"  # C002 = DIV
    "18ef"  # jr loop
)


def build_rom(mark: int = 0, kind: int = 0, ram: int = 0) -> bytes:
    """A cartridge that counts its rounds; `mark` tells one image from another."""
    image = bytearray(0x8000)
    image[0x100:0x104] = bytes.fromhex("00c35001")  # nop; jp 0150
    image[0x134:0x138] = b"TINY"
    image[0x147], image[0x149], image[0x14C] = kind, ram, mark
    image[0x14D] = -sum(byte + 1 for byte in image[0x134:0x14D]) & 0xFF
    image[0x150 : 0x150 + len(CODE)] = CODE
    return bytes(image)


@pytest.fixture(scope="session")
def make_rom() -> MakeRom:
    """Build a small cartridge."""
    return build_rom


@pytest.fixture
def make() -> Iterator[MakeBatch]:
    """Build batches that are closed after the test."""
    batches: list[GameBoyBatch] = []

    def make_batch(*args: Any, **kwargs: Any) -> GameBoyBatch:
        batch = GameBoyBatch(*args, **kwargs)
        batches.append(batch)
        return batch

    yield make_batch
    for batch in batches:
        batch.close()


@pytest.fixture(scope="session")
def actions() -> NDArray[np.uint8]:
    """Buttons for 40 steps of up to 64 envs, uint8[40, 64]; row by row new ones."""
    rng = np.random.default_rng(11)
    table = rng.integers(0, 256, size=(40, 64), dtype=np.uint8)
    table[:4] = 0x80  # Start leaves the title of the embedded game
    return table
