"""The benchmark runner: fixed work, honest ratios, failures recorded, tables generated."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import hybridenv
from bench import measure, readme_table, report
from bench.cases import HOLD_FRAMES, Buttons, Game, Work
from bench.measure import Measured, Plan, SideFailedError, Worker, interleave, spread
from bench.players import Hybridenv
from bench.suite import CaseResult, Settings

SETTINGS = Settings(quick=True, repeats=5, seed=1, peer_python=Path("nowhere"))
GAME = Game("Game", Path("game.gb"), "00" * 32, goal=True)
WORK = Work(machines=2, frame_skip=24, steps=3, warm_up=1)


def test_button_streams_depend_on_the_seed_and_the_machine_alone() -> None:
    together = Buttons(1, 4).take(50, 24)
    alone = Buttons(1, 1, first=2).take(50, 24)
    assert [row[2:3] for row in together] == alone
    assert together != Buttons(2, 4).take(50, 24)
    assert len({mask for row in together for mask in row}) >= 8


def test_buttons_are_held_for_the_same_frames_at_any_frame_skip() -> None:
    every, last = Buttons(1, 2).take(10 * HOLD_FRAMES, 1), Buttons(1, 2).take(10, HOLD_FRAMES)
    assert every[::HOLD_FRAMES] == last
    assert every[HOLD_FRAMES - 1] == every[0]


def test_streams_go_on_where_they_stopped() -> None:
    stream = Buttons(1, 2)
    parts = stream.take(3, 24) + stream.take(4, 24)
    assert parts == Buttons(1, 2).take(7, 24)


def test_a_rom_with_another_hash_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "game.gb"
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="the case expects 0000"):
        Game("Game", path, "00" * 32, goal=True).read()


def test_spread_and_ratio_are_taken_repeat_by_repeat() -> None:
    assert spread([4.0, 1.0, 3.0, 2.0, 5.0]) == {
        "median": 3.0,
        "min": 1.0,
        "max": 5.0,
        "q1": 2.0,
        "q3": 4.0,
    }
    # Both sides of the second repeat were slowed down by the same factor.
    measured = Measured("cpu", rates={"a": [30.0, 3.0], "b": [10.0, 1.0]})
    ratio = measured.ratio("a", "b")
    assert ratio is not None
    assert (ratio["min"], ratio["max"]) == (3.0, 3.0)
    assert measured.ratio("a", "missing") is None


def test_a_side_that_cannot_start_is_recorded_with_its_reason(tmp_path: Path) -> None:
    rom = tmp_path / "game.gb"
    rom.write_bytes(bytes(0x8000))  # no valid header: the side refuses it
    measured = interleave(
        {"broken": Plan("hybridenv", WORK)},
        rom,
        repeats=5,
        clock="cpu",
        seed=1,
        pythons={"hybridenv": Path(sys.executable)},
    )
    assert measured.rates == {}
    assert "RomError" in measured.absent["broken"]


def test_a_debug_build_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybridenv, "build_info", lambda: {"profile": "debug"})
    with pytest.raises(RuntimeError, match="expected 'release'"):
        Hybridenv(b"", WORK)


def test_a_silent_worker_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "WATCHDOG", 0.2)
    worker = Worker(Path(sys.executable))
    try:
        with pytest.raises(SideFailedError, match="no answer within"):
            worker.answer()
    finally:
        worker.close()


def test_a_worker_that_dies_says_why() -> None:
    worker = Worker(Path(sys.executable))
    try:
        worker.send("no_such_command")
        with pytest.raises(SideFailedError, match="no_such_command"):
            worker.answer()
    finally:
        worker.close()


def record() -> report.Record:
    def rates(factor: float) -> Measured:
        sides = {"hybridenv": factor, "pyboy-silent": 1.0, "pyboy": 0.5}
        return Measured("cpu", {side: [1000 * rate] * 5 for side, rate in sides.items()})

    states = {"save_us": 11.0, "load_us": 9.0, "reset_all_ms": 1.0}
    results = [
        CaseResult("r1", GAME, WORK, rates(2.0), {}, {}),
        CaseResult("r24", GAME, WORK, rates(4.0), {}, {}),
        CaseResult("states", GAME, None, None, {"hybridenv": states}, {}),
    ]
    return report.record(SETTINGS, results)


def test_goals_say_what_was_reached() -> None:
    goals = {goal["goal"]: goal for goal in record()["goals"]}
    assert len(goals) >= 10
    assert goals["r24 against PyBoy, sound off, geometric mean, at least"]["reached"] is True
    assert goals["r24 against PyBoy, sound off, geometric mean, at least"]["found"] == 4.0
    assert goals["r1 against PyBoy, sound off, geometric mean, at least"]["reached"] is False
    assert goals["save one state, µs, slowest game, at most"]["reached"] is False
    assert goals["memory of one machine, KiB, largest game, at most"]["reached"] is None


def test_a_record_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "record.json"
    report.write(record(), path)
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read["machine"]["cores"] >= 1
    assert {case["kind"] for case in read["cases"]} == {"r1", "r24", "states"}


def test_the_readme_block_is_replaced_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = tmp_path / "README.md"
    report.write(record(), tmp_path / "gameboy.json")
    readme.write_text("above\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nbelow\n")
    monkeypatch.setattr(readme_table, "README", readme)
    monkeypatch.setattr(readme_table, "TABLES", readme_table.TABLES[:1])
    arguments = ["--results", str(tmp_path)]
    assert readme_table.main([*arguments, "--check"]) == 1
    assert readme_table.main(arguments) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("above\n")
    assert text.endswith("below\n")
    assert "4.0× (4.0–4.0)" in text
    assert "old" not in text
    assert readme_table.main([*arguments, "--check"]) == 0


def test_missing_figures_are_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert readme_table.main(["--results", str(tmp_path), "--check"]) == 1
    assert "no results yet; run `make bench`" in capsys.readouterr().err


def test_a_readme_without_markers_is_refused() -> None:
    assert len(readme_table.TABLES) >= 2
    for table in readme_table.TABLES:
        with pytest.raises(ValueError, match=f"{table.name}:begin"):
            table.updated("no markers", record())
