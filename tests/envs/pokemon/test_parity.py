"""The engine beside recorded battles of Pokémon Showdown, and beside Showdown itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.envs.pokemon.harness import Result
from tests.envs.pokemon.harness import compare as play
from tests.envs.pokemon.oracle import Oracle, OracleFailedError
from tests.envs.pokemon.parity import Chunk, check, chunks, main
from tests.envs.pokemon.player import Player
from tests.envs.pokemon.record import FILES, KEPT
from tests.envs.pokemon.replayed import Replayed
from tests.envs.pokemon.scenarios import load_scenarios
from tests.envs.pokemon.schema import load_schema
from tests.envs.pokemon.traces import read

SCENARIOS = {scenario.name: scenario for scenario in load_scenarios()}


#: A battle with random movesets that Showdown itself cannot finish.
FAILING = 59_185


def assert_exact(result: Result, battles: int) -> None:
    assert str(result).startswith(f"{battles} of {battles} battles exact"), str(result)
    assert set(result.compared) == {"generator", *load_schema().columns}


@pytest.fixture(scope="module")
def scenarios() -> dict[str, str]:
    """The first difference of each written battle, or nothing."""
    traces = read(FILES["scenarios"])
    result = play(traces, Player())
    differences = {difference.battle: str(difference) for difference in result.differences}
    return {trace.name: differences.get(trace.name, "") for trace in traces}


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) >= 165


@pytest.mark.parametrize("name", SCENARIOS)
def test_mechanic(name: str, scenarios: dict[str, str]) -> None:
    assert scenarios[name] == "", SCENARIOS[name].about


@pytest.mark.parametrize("source", KEPT)
def test_recorded_battles(source: str) -> None:
    assert_exact(play(read(FILES[source]), Player()), KEPT[source])


def test_compiled_steps_are_the_same() -> None:
    traces = [trace for name in ("scenarios", "movesets") for trace in read(FILES[name])[-100:]]
    assert_exact(play(traces, Player(jit=True)), 200)


@pytest.mark.parametrize("source", KEPT)
def test_new_battles(source: str, oracle: Oracle) -> None:
    [chunk] = chunks(source, 10)
    assert_exact(check(chunk, oracle), 10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "battles"), [("gen1randombattle", 2_000), ("movesets", 500), ("mirrors", 200)]
)
def test_thousands_of_new_battles(source: str, battles: int, oracle: Oracle) -> None:
    total = Result()
    for chunk in chunks(source, battles):
        total += check(chunk, oracle)
    assert_exact(total, battles)


def test_what_showdown_cannot_finish_is_counted_apart(oracle: Oracle) -> None:
    """Transform in the fourth slot copied three moves, and its user is asleep in the next turn."""
    result = check(Chunk("movesets", FAILING - 1, 3), oracle)
    assert (result.battles, result.exact, result.differences) == (3, 2, [])
    [failed] = result.unfinished
    assert failed.battle == f"movesets {FAILING}"
    assert "Showdown failed: Error: moveSlot is null" in failed.text
    assert f"movesets {FAILING}, step {failed.step}: Showdown failed" in str(result)
    assert result.steps > failed.step - 1 > 0
    with pytest.raises(OracleFailedError, match="moveSlot is null"):
        oracle.play("whole", teams="movesets", number=FAILING)
    partial = oracle.play("part", teams="movesets", number=FAILING, partial=True)
    assert partial.steps == failed.step - 1
    wrong = Replayed([partial], wrong=("hp", 0, 2))
    found = play([partial], wrong)
    assert (found.exact, len(found.differences), found.unfinished) == (0, 1, [])


def test_the_command_counts_every_battle(
    tmp_path: Path, oracle: Oracle, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "parity.json"
    battles = {"gen1randombattle": 3, "movesets": 2, "mirrors": 1}

    def count(*more: str, **changed: int) -> dict[str, Any]:
        arguments = [f"--{source}={number}" for source, number in (battles | changed).items()]
        assert main([*arguments, "--processes=1", f"--output={output}", *more]) == 0
        found = json.loads(output.read_text(encoding="utf-8"))
        assert (found["showdown"], found["first"]) == ("0.11.11", 1_000_000)
        counts: dict[str, Any] = found["counts"]
        return counts

    assert {one["battles"] for one in count("--seconds=1e-9").values()} == {0}
    counts = count("--resume")
    assert {name: one["battles"] for name, one in counts.items()} == battles
    assert {name: one["exact"] for name, one in counts.items()} == battles
    assert counts["movesets"]["columns"] == len(load_schema().columns) + 1
    after = count("--resume", movesets=4)
    assert after["gen1randombattle"] == counts["gen1randombattle"]
    assert after["movesets"]["battles"] == after["movesets"]["exact"] == 4
    assert after["movesets"]["steps"] > counts["movesets"]["steps"]
    with pytest.raises(SystemExit):
        count("--resume", "--first=7")
    assert "first: got 1000000, expected 7" in capsys.readouterr().err
    assert [chunk.count for chunk in chunks("movesets", 450)] == [200, 200, 50]
