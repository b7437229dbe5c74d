"""The embedded game in PyBoy: its RAM block keeps its promises while it is played."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pyboy") is None, reason="PyBoy is not installed"
)

ROM = Path(__file__).resolve().parents[2] / "python" / "hybridenv" / "data" / "polar_post.gb"
BUTTONS = ("right", "left", "up", "down", "a", "b", "select", "start")
START = 0x80
TITLE, PLAYING, LEVEL_CLEAR, GAME_OVER = range(4)
BLOCK = slice(0xC000, 0xC0C0)
AFTER_DIV_READ = 0x156  # the boot holds DIV in A here


class Player:
    """The game in PyBoy, with buttons as bits."""

    def __init__(self, console: Any) -> None:
        self.console = console
        self.held = 0

    def tick(self, frames: int, buttons: int = 0) -> bytes:
        for bit, name in enumerate(BUTTONS):
            if (buttons ^ self.held) >> bit & 1:
                press = buttons >> bit & 1
                (self.console.button_press if press else self.console.button_release)(name)
        self.held = buttons
        self.console.tick(frames, False)
        return bytes(self.console.memory[BLOCK])

    def begin(self) -> bytes:
        self.tick(120)
        self.tick(8, START)
        return self.tick(1)


@contextmanager
def powered_on(div: int | None = None) -> Iterator[Player]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its import of SDL warns
        import pyboy

    console = pyboy.PyBoy(str(ROM), window="null", log_level="ERROR")
    try:
        if div is not None:

            def seed(_: object) -> None:
                console.register_file.A = div

            console.hook_register(0, AFTER_DIV_READ, seed, None)
        yield Player(console)
    finally:
        console.stop(save=False)


def score(block: bytes) -> int:
    return int.from_bytes(block[5:7], "little")


def test_title_then_start_then_playing() -> None:
    with powered_on() as player:
        block = player.tick(120)
        assert block[:3] == bytes((0x50, 1, TITLE))
        player.tick(8, START)
        block = player.tick(1)
        assert block[2:5] == bytes((PLAYING, 1, 3))
        assert score(block) == 0


def test_random_play() -> None:
    chance = np.random.default_rng(1)
    scores: list[int] = []
    steps = moved = 0
    with powered_on() as player:
        before = player.begin()
        while len(scores) < 3 and steps < 4_000:
            block = player.tick(8, int(chance.integers(256)))
            steps += 1
            assert block[2] in (PLAYING, LEVEL_CLEAR, GAME_OVER)
            assert int(block[7:10].hex()) == score(block), "both counters agree"
            assert any(block[0x12:0x14]), "the generator never stops"
            assert block[0x1B] == 0, "each V-blank found a finished frame"
            moved += block[0x30:0x80] != before[0x30:0x80]
            if block[2] == GAME_OVER:
                assert block[4] == 0
                scores.append(score(block))
                player.tick(70)
                player.tick(4, START)
                block = player.tick(1)
                assert block[2] == PLAYING
                assert score(block) == 0
            before = block
    assert len(scores) == 3
    assert min(scores) > 0
    assert moved > steps // 2
    assert steps > 3 * 20 * 60 / 8, "a game lasts at least about 20 s"


def test_the_divider_chooses_the_episode() -> None:
    def episode(div: int) -> bytes:
        with powered_on(div) as player:
            player.begin()
            return player.tick(900)[0x30:0xC0]

    dividers = (0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF)
    episodes = [episode(div) for div in dividers]
    assert len(set(episodes)) == len(dividers)
    assert episode(dividers[0]) == episodes[0]
