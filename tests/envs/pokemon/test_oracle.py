"""Pokémon Showdown beside the recorded battles, and what the oracle says to bad input."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.envs.pokemon.oracle import Oracle, OracleFailedError
from tests.envs.pokemon.record import FILES, find
from tests.envs.pokemon.scenarios import load_scenarios
from tests.envs.pokemon.schema import ORACLE, load_schema
from tests.envs.pokemon.traces import Trace, TraceError, read, write

MEW = {"species": "Mew", "moves": ["Splash"]}
PACKED = "Mew|||NoAbility|{}||||||100|"


def assert_same(one: Trace, other: Trace) -> None:
    for field in ("teams", "actions", "rows", "states"):
        assert np.array_equal(getattr(one, field), getattr(other, field)), f"{one.name}: {field}"
    assert np.array_equal(one.draws.sites, other.draws.sites)
    assert np.array_equal(one.draws.values, other.draws.values)


def test_the_pinned_version_plays(oracle: Oracle) -> None:
    assert oracle.ask("version") == {"version": load_schema().showdown} == {"version": "0.11.11"}


@pytest.mark.parametrize("source", ["gen1randombattle", "movesets"])
def test_recorded_battles_are_played_again(source: str, oracle: Oracle) -> None:
    recorded = read(FILES[source])
    for number in (0, 7, len(recorded) - 1):
        trace = oracle.play(recorded[number].name, teams=source, number=number)
        assert trace.source == source
        assert_same(trace, recorded[number])


def test_written_battles_are_found_again(oracle: Oracle) -> None:
    recorded = {trace.name: trace for trace in read(FILES["scenarios"])}
    scenarios = load_scenarios()[::20]
    assert len(scenarios) >= 8
    for scenario in scenarios:
        assert_same(find(oracle, scenario), recorded[scenario.name])


def test_input_logs_are_played(oracle: Oracle) -> None:
    for number in range(3):
        answer = oracle.ask("play", teams="gen1randombattle", number=number)
        trace = oracle.replay("again", answer["inputLog"])
        assert_same(trace, oracle.play("once", teams="gen1randombattle", number=number))


def log(seed: str = "1,2,3,4", **changes: str) -> str:
    lines = {
        "start": f'>start {{"formatid":"gen1randombattle","seed":"{seed}"}}',
        "p1": f">player p1 {json.dumps({'name': 'a', 'team': PACKED.format('splash')})}",
        "p2": f">player p2 {json.dumps({'name': 'b', 'team': PACKED.format('explosion')})}",
        "moves": ">p1 move splash\n>p2 move explosion",
    }
    return "\n".join(line for line in (lines | changes).values() if line)


def test_seeds_of_both_generators_are_read(oracle: Oracle, tmp_path: Path) -> None:
    old = oracle.replay("old", log())
    assert_same(old, oracle.replay("hexadecimal", log("gen5,0001000200030004")))
    new = oracle.replay("new", log("sodium,00112233"))
    assert old.seed == 0x0001_0002_0003_0004
    assert new.seed is None
    assert len(new.draws.values) > 0
    assert not np.array_equal(new.draws.values, old.draws.values)
    with pytest.raises(TraceError, match="not that of generation 5"):
        write(tmp_path / "new.npz", [new])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no line >start"),
        (log(start=""), "it has no line >start"),
        (log(p2=""), "it has no line >player p2"),
        (log(start=">start {oops"), 'line 1: got "{oops", expected JSON'),
        (log(start='>start {"formatid":"gen9ou","seed":"1,2,3,4"}'), 'format: got "gen9ou"'),
        (log("1,2,3"), 'seed: got "1,2,3", expected four words of 16 bits'),
        (log("1,2,3,65536"), "expected four words"),
        (log(start='>start {"formatid":"gen1ou"}'), ">start has no seed"),
        (log(moves=">p3 move splash"), "line 4: got "),
        (log(moves="splash"), "line 4: got "),
        (log(moves=">p1 move pound\n>p2 move explosion"), "expected one of the legal actions 0"),
        (log(moves=">p1 switch 2\n>p2 move explosion"), 'p1, turn 1: choice: got "switch 2"'),
    ],
)
def test_bad_input_logs_are_refused(text: str, message: str, oracle: Oracle) -> None:
    with pytest.raises(OracleFailedError) as failed:
        oracle.replay("bad", text)
    assert message in str(failed.value)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"teams": "gen2"}, 'teams: got "gen2", expected gen1randombattle, movesets'),
        ({"teams": [[MEW]]}, "expected two"),
        ({"teams": [[MEW], []]}, "team of p2: got 0 Pokémon, expected 1 to 6"),
        ({"teams": [[MEW] * 7, [MEW]]}, "team of p1: got 7 Pokémon"),
        ({"teams": [[MEW | {"species": "Celebi"}], [MEW]]}, 'species: got "Celebi"'),
        ({"teams": [[MEW | {"level": 0}], [MEW]]}, "level: got 0, expected a number from 1 to 100"),
        ({"teams": [[MEW | {"moves": []}], [MEW]]}, "moves: got [], expected a list of 1 to 4"),
        ({"teams": [[MEW | {"moves": ["pound"] * 5}], [MEW]]}, "expected a list of 1 to 4"),
        ({"teams": [[MEW | {"moves": ["pound"] * 2}], [MEW]]}, "expected different ones"),
        ({"teams": [[MEW | {"moves": ["Struggle"]}], [MEW]]}, 'move: got "Struggle"'),
        ({"teams": [[MEW | {"moves": ["Scald"]}], [MEW]]}, 'move: got "Scald"'),
        ({"teams": [[MEW | {"dvs": {"atk": 16}}], [MEW]]}, "DV of atk: got 16"),
        ({"teams": [[MEW | {"ev": 256}], [MEW]]}, "ev: got 256"),
        ({"teams": "movesets", "seed": "x"}, 'seed: got "x"'),
        ({"teams": [[MEW], [MEW]], "choices": [["move fly", 0]]}, 'choice: got "move fly"'),
        ({"teams": [[MEW], [MEW]], "choices": [[1, 0]]}, "p1, turn 1: choice: got 1, expected"),
        ({"teams": [[MEW], [MEW]], "choices": [[0, None]]}, "p2, turn 1: choice: got null"),
    ],
)
def test_bad_requests_are_refused(request_: dict[str, Any], message: str, oracle: Oracle) -> None:
    with pytest.raises(OracleFailedError) as failed:
        oracle.play("bad", **request_)
    assert message in str(failed.value)
    assert oracle.ask("version")["version"] == "0.11.11"


def test_an_unknown_request_is_refused(oracle: Oracle) -> None:
    with pytest.raises(OracleFailedError, match='do: got "dance", expected one of version, play'):
        oracle.ask("dance")


def test_another_version_of_showdown_is_refused(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Pokémon Showdown: node is not installed")
    shutil.copytree(ORACLE / "src", tmp_path / "src")
    shutil.copy(ORACLE / "package.json", tmp_path)
    shutil.copy(ORACLE / "schema.json", tmp_path)

    def version() -> str:
        done = subprocess.run(
            [node, str(tmp_path / "src" / "tracer.js")],
            input='{"do": "version"}\n',
            capture_output=True,
            text=True,
            check=True,
        )
        return str(json.loads(done.stdout)["error"])

    assert "pokemon-showdown is not installed in" in version()
    package = tmp_path / "node_modules" / "pokemon-showdown" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"version": "0.11.10"}', encoding="utf-8")
    assert "got version 0.11.10, expected 0.11.11" in version()


def test_the_lock_names_no_registry() -> None:
    lock = json.loads((ORACLE / "package-lock.json").read_text(encoding="utf-8"))
    packages = lock["packages"]
    assert packages["node_modules/pokemon-showdown"]["version"] == "0.11.11"
    assert len(packages) > 100
    assert [name for name, package in packages.items() if "resolved" in package] == []
