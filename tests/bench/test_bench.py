"""The benchmark runner: fixed work, honest ratios, failures recorded, tables generated."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import hybridenv
from bench import accuracy, instructions, measure, readme_table, report, tables
from bench.cases import HOLD_FRAMES, Buttons, Game, Work, games
from bench.measure import Measured, Plan, SideFailedError, Worker, interleave, spread
from bench.players import Hybridenv
from bench.suite import CaseResult, Settings
from hybridenv.data import embedded_rom

SETTINGS = Settings(quick=True, repeats=5, seed=1, peer_python=Path("nowhere"))
GAME = Game("Game", Path("game.gb"), "00" * 32, group="dmg")
COLOR = Game("Colours", Path("game.gbc"), "00" * 32, group="cgb")
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
        Game("Game", path, "00" * 32, group="dmg").read()


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


COUNTED = {
    "emulated_per_frame": 1234.4,
    "host_per_frame_r24": 24_688.0,
    "host_per_emulated_r24": 20.0,
    "host_per_frame_r1": 37_032.0,
    "host_per_emulated_r1": 30.0,
}

COUNTS = {
    "suite": {judge.key: {"passed": 1230, "of": 1234} for judge in accuracy.JUDGES},
    "lockstep": {"pyboy": "2.8.1", "games": {"Game": {"equal": 2999, "of": 3000}}},
}


def record() -> report.Record:
    def rates(factor: float) -> Measured:
        sides = {"hybridenv": factor, "pyboy-silent": 1.0, "pyboy": 0.5}
        return Measured("cpu", {side: [1000 * rate] * 5 for side, rate in sides.items()})

    states = {"save_us": 11.0, "load_us": 9.0, "reset_all_ms": 1.0}
    results = [
        CaseResult("r1", GAME, WORK, rates(2.0), {}, {}),
        CaseResult("r24", GAME, WORK, rates(4.0), {}, {}),
        CaseResult("r24", COLOR, WORK, rates(2.0), {}, {}),
        CaseResult("instructions", GAME, WORK, None, {"hybridenv": COUNTED}, {}),
        CaseResult("instructions", COLOR, WORK, None, {}, {"callgrind": "valgrind is not here"}),
        CaseResult("states", GAME, None, None, {"hybridenv": states}, {}),
    ]
    return report.record(SETTINGS, results)


def test_goals_say_what_was_reached() -> None:
    goals = {goal["goal"]: goal for goal in record()["goals"]}
    assert len(goals) >= 12
    silent = goals["r24 against PyBoy, sound off, geometric mean, at least"]
    assert (silent["bound"], silent["found"], silent["reached"]) == (5.0, 4.0, False)
    assert goals["r24 against PyBoy, sound off, slowest game, at least"]["reached"] is True
    color = goals["Color, r24 against PyBoy, sound off, geometric mean, at least"]
    assert (color["bound"], color["found"], color["reached"]) == (4.0, 2.0, False)
    assert goals["r1 against libgambatte, geometric mean, at least"]["reached"] is None
    assert goals["save one state, µs, slowest game, at most"]["reached"] is False
    assert goals["memory of one machine, KiB, largest game, at most"]["reached"] is None


def test_a_record_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "record.json"
    report.write(record(), path)
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read["machine"]["cores"] >= 1
    assert {case["kind"] for case in read["cases"]} == {"r1", "r24", "states", "instructions"}


def test_accuracy_and_speed_stand_side_by_side() -> None:
    rows = tables.side_by_side(COUNTS, record()).splitlines()
    assert len(rows) == 2 + len(accuracy.JUDGES) + 1 + 2
    assert all(row.count("|") == 7 for row in rows)
    assert "| 1,230 of 1,234 | 1 of 24 |" in next(row for row in rows if "mealybug" in row)
    assert "| 2,999 of 3,000 | is the judge | 4.0× | 2.0× |  |" in "".join(rows)
    assert "monochrome games |  |  | **4.0×** | **2.0×** |  |" in rows[-2]
    assert "for the Color |  |  | **2.0×** |  |  |" in rows[-1]


def test_the_table_of_instructions_says_what_was_not_counted() -> None:
    text = tables.instruction_table(record())
    assert "| Game | 1,234 | 24,688 | 20.0 | 30.0 |" in text
    assert "| Colours | not counted: valgrind is not here |" in text
    assert tables.instruction_table({"cases": []}) == "Not counted in this run."


def test_without_valgrind_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(SideFailedError, match="valgrind is not installed"):
        instructions.measure(GAME, 1)


def test_emulated_instructions_are_counted_after_the_warm_up(tmp_path: Path) -> None:
    image = bytearray(embedded_rom())
    image[0x100:0x102] = (0x18, 0xFE)  # JR to itself: 12 T-cycles each
    rom = tmp_path / "game.gb"
    rom.write_bytes(image)
    counted = [
        instructions.emulated_instructions(rom, Work(2, 4, steps, warm_up), 1)
        for steps, warm_up in ((5, 2), (2, 2))
    ]
    assert counted[0] - counted[1] == pytest.approx(2 * 4 * 3 * 70_224 / 12, abs=8)
    assert counted[1] == pytest.approx(2 * 4 * 2 * 70_224 / 12, abs=8)


@pytest.mark.skipif(
    shutil.which("valgrind") is None or shutil.which("cargo") is None,
    reason="needs valgrind and cargo",
)
def test_host_instructions_are_those_of_the_steps_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Callgrind counts the same for every run, and twice as much work for twice the steps."""
    monkeypatch.setattr(instructions, "RENDER_EVERY", Work(1, 1, 24, 24))
    game = next(game for game in games() if game.sha256 is None)
    counted = []
    for steps in (20, 20, 40):
        monkeypatch.setattr(instructions, "RENDER_LAST", Work(1, 24, steps, 10))
        counted.append(instructions.measure(game, 1))
    frames = [one["host_per_frame_r24"] for one in counted]
    assert frames[1] == pytest.approx(frames[0], rel=0.001)
    assert frames[2] == pytest.approx(frames[0], rel=0.2)
    assert all(one["host_per_emulated_r24"] > 1 for one in counted)


def test_recorded_counts_are_those_of_the_ratchets() -> None:
    """`gb-core`'s suite compares its own counts with the file; here is what it does not know."""
    recorded = accuracy.read()
    assert recorded["lockstep"] == accuracy.lockstep()
    assert len(recorded["lockstep"]["games"]) >= 13
    assert recorded["suite"].keys() == {judge.key for judge in accuracy.JUDGES}
    for name, count in recorded["suite"].items():
        assert 0 < count["passed"] <= count["of"], name


def test_a_judge_without_a_count_is_no_result(tmp_path: Path) -> None:
    for judge in accuracy.JUDGES[1:]:
        (tmp_path / f"{judge.key}.json").write_text('{"passed": 1, "of": 2}')
    with pytest.raises(ValueError, match=r"expected those of .*'sm83'"):
        accuracy.suite(tmp_path)
    (tmp_path / "sm83.json").write_text('{"passed": 1, "of": 2}')
    assert list(accuracy.suite(tmp_path)) == [judge.key for judge in accuracy.JUDGES]


def test_a_suite_that_fails_leaves_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "accuracy.json"
    for status, message in ((1, "suite fails"), (0, "is the shared data there?")):
        monkeypatch.setattr(accuracy, "run_suite", lambda _, status=status: status)
        assert accuracy.main(["--output", str(output)]) == 1
        assert message in capsys.readouterr().err
    assert not output.exists()


def test_the_readme_block_is_replaced_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = tmp_path / "README.md"
    report.write(record(), tmp_path / "gameboy.json")
    report.write(COUNTS, tmp_path / "accuracy.json")
    readme.write_text("above\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nbelow\n")
    monkeypatch.setattr(readme_table, "README", readme)
    monkeypatch.setattr(readme_table, "PARTS", readme_table.PARTS[:1])
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
    for name, command in (("accuracy", "make accuracy"), ("gameboy", "make bench")):
        assert readme_table.main(["--results", str(tmp_path), "--check"]) == 1
        assert f"{name}.json: no results yet; run `{command}`" in capsys.readouterr().err
        report.write(COUNTS, tmp_path / f"{name}.json")


def test_a_readme_without_markers_is_refused() -> None:
    assert len(readme_table.PARTS) >= 2
    for part in readme_table.PARTS:
        with pytest.raises(ValueError, match=f"{part.name}:begin"):
            part.updated("no markers", COUNTS, record())
