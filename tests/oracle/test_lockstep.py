"""PyBoy in lockstep: how many frames of real games are equal, held by a ratchet."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import pytest
from tests.oracle import ratchet
from tests.oracle.diverge import trace_oracle
from tests.oracle.pyboy_lockstep import PYBOY_VERSION, PyBoySide, for_color, run, script

CONTENT: dict[str, Any] = ratchet.read()
GAMES = ratchet.games(CONTENT)


def installed_pyboy() -> str | None:
    try:
        return importlib.metadata.version("pyboy")
    except importlib.metadata.PackageNotFoundError:
        return None


needs_pyboy = pytest.mark.skipif(
    installed_pyboy() != PYBOY_VERSION,
    reason=f"the oracle is PyBoy {PYBOY_VERSION}, installed: {installed_pyboy()}",
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
    report = run(rom, CONTENT["seed"], CONTENT["frames"])
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
    roms = [rom for rom in roms if not for_color(rom)]
    for rom in roms:
        report = run(rom, CONTENT["seed"], 300, color=True)
        assert report.equal_all == report.frames, report
    assert len(roms) >= 1


@needs_pyboy
def test_the_traced_oracle_is_the_oracle() -> None:
    """PyBoy's Python sources, which `diverge` traces, run as its compiled modules do."""
    embedded = next(game.path for game in GAMES if game.path.is_relative_to(ratchet.ROOT))
    masks = script(CONTENT["seed"], 8)
    oracle = PyBoySide(embedded.read_bytes())
    clocks = [oracle.frame(mask).clock for mask in masks]
    oracle.close()
    trace = trace_oracle(embedded, 7, masks)
    assert len(trace.rows) >= 100
    assert [int(trace.rows[0][0]) // 4, int(trace.rows[-1][0])] == [clocks[6] // 4, clocks[7]]
