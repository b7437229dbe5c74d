"""The engine beside recorded battles of Pokémon Showdown, and beside Showdown itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.envs.pokemon.harness import Result
from tests.envs.pokemon.harness import compare as play
from tests.envs.pokemon.oracle import Oracle
from tests.envs.pokemon.parity import check, chunks, main
from tests.envs.pokemon.player import Player
from tests.envs.pokemon.record import FILES, KEPT
from tests.envs.pokemon.scenarios import load_scenarios
from tests.envs.pokemon.schema import load_schema
from tests.envs.pokemon.traces import read

SCENARIOS = {scenario.name: scenario for scenario in load_scenarios()}


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


def test_the_command_counts_every_battle(tmp_path: Path, oracle: Oracle) -> None:
    output = tmp_path / "parity.json"
    battles = {"gen1randombattle": 3, "movesets": 2, "mirrors": 1}
    arguments = [f"--{source}={count}" for source, count in battles.items()]
    assert main([*arguments, "--processes", "1", "--output", str(output)]) == 0
    found = json.loads(output.read_text(encoding="utf-8"))
    assert found["showdown"] == "0.11.11"
    counts = found["counts"]
    assert {name: count["battles"] for name, count in counts.items()} == battles
    assert {name: count["exact"] for name, count in counts.items()} == battles
    assert counts["movesets"]["columns"] == len(load_schema().columns) + 1
    assert [chunk.count for chunk in chunks("movesets", 450)] == [200, 200, 50]
