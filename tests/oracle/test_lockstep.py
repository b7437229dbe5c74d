"""PyBoy in lockstep: how many frames of real games are equal, held by a ratchet."""

from __future__ import annotations

from typing import Any

import pytest
from tests.oracle import ratchet

from hybridenv.oracle.lockstep import HybridenvSide, run, script
from hybridenv.oracle.reference import PYBOY_VERSION, PyBoySide, pyboy_version
from hybridenv.oracle.trace import Trace, split, trace_pyboy

CONTENT: dict[str, Any] = ratchet.read()
GAMES = ratchet.games(CONTENT)


needs_pyboy = pytest.mark.skipif(
    pyboy_version() != PYBOY_VERSION,
    reason=f"the oracle is PyBoy {PYBOY_VERSION}, installed: {pyboy_version()}",
)


def test_the_ratchet_covers_the_games() -> None:
    assert CONTENT["pyboy"] == PYBOY_VERSION
    assert CONTENT["frames"] >= 1200
    assert len(GAMES) >= 11, "ten shared games and the embedded one"
    assert sum(game.screens >= 97 for game in GAMES) >= 6


@needs_pyboy
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_frames_equal_as_recorded(game: ratchet.Game) -> None:
    if not game.path.is_file():
        pytest.skip(f"{game.path} is not here (set HYBRIDENV_SHARED)")
    rom = game.path.read_bytes()
    update = f"`python -m tests.oracle.ratchet --update --game '{game.name}'`"
    assert ratchet.hash_of(rom) == game.sha256, f"the ROM changed: check it, then run {update}"
    report = run(rom, script(CONTENT["seed"], CONTENT["frames"]))
    assert len(report.pictures) >= 30, "the script has to get somewhere"
    assert report.percent("screen") >= game.screens, report
    found = ratchet.counts(report)
    worse = {kind: n for kind, n in found.items() if n < game.counts[kind]}
    better = {kind: n for kind, n in found.items() if n > game.counts[kind]}
    assert not worse, f"fewer equal frames than recorded ({game.counts}): {report}"
    assert not better, f"more equal frames than recorded ({game.counts}): run {update}; {report}"


@needs_pyboy
def test_games_for_the_dmg_run_alike_on_the_color() -> None:
    """In its compatibility mode PyBoy keeps the Color's timing and draws as on the DMG."""
    roms = [game.path.read_bytes() for game in GAMES if game.path.is_file()]
    roms = [rom for rom in roms if rom[0x143] < 0x80]
    for rom in roms:
        report = run(rom, script(CONTENT["seed"], 300), model="cgb")
        assert report.equal_all == report.frames, report
    assert len(roms) >= 1


@needs_pyboy
def test_the_traces_of_both_sides_agree_with_each_other_and_with_what_was_traced() -> None:
    """PyBoy's Python sources, which are traced, run as its compiled modules do."""
    embedded = next(game.path for game in GAMES if game.path.is_relative_to(ratchet.ROOT))
    rom = embedded.read_bytes()
    masks = script(CONTENT["seed"], 60)
    oracle, ours = PyBoySide(rom, color=False), HybridenvSide(rom)
    clocks = [(oracle.frame(mask).clock, ours.frame(mask).clock) for mask in masks]
    expected, actual = trace_pyboy(rom, masks, color=False), Trace(ours.trace(masks[-1]))
    oracle.close()
    ours.close()
    assert len(actual.rows) >= 100
    assert len(expected.drawn) == 144
    assert split(expected, actual) is None
    assert [expected.rows[0][0] // 4, expected.rows[-1][0]] == [clocks[-2][0] // 4, clocks[-1][0]]
    assert actual.rows[-1][0] == clocks[-1][1]
