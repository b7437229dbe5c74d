"""The benchmark of Pokémon battles: rivals that really play, goals, the README's table."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.envs.pokemon.oracle import missing

from bench import pokemon
from bench.cases import ROOT
from bench.measure import SideFailedError
from bench.pokemon import Rival, measure, plans, rivals
from bench.pong import Found, Plan


def found() -> Found:
    rates = {
        "core": [2e6] * 5,
        "all": [3e6] * 5,
        "showdown": [8e3] * 5,
        "poke-env 1 at a time": [400.0] * 5,
        "poke-env 10 at a time on one core": [1e3] * 5,
    }
    return Found(rates=rates, compiled={"core": 9.0}, versions={"core": "0.1.0, JAX 0.10.2"})


def test_goals_are_counted_against_the_fastest_setting_of_a_rival() -> None:
    result = pokemon.record(found(), repeats=5, quick=False)
    assert [goal["found"] for goal in result["goals"]] == [250, 2_000, 9]
    assert [goal["reached"] for goal in result["goals"]] == [True, True, True]
    assert result["cases"]["random"]["ratios"]["all/showdown"]["median"] == 375


def test_the_table_has_a_row_for_each_family() -> None:
    result = json.loads(json.dumps(pokemon.record(found(), repeats=5, quick=False)))
    text = pokemon.block(result)
    assert "| hybridenv, all cores | 3,000,000 |" in text
    assert "| hybridenv, on one core | 2,000,000 |" in text
    assert "| Showdown in its own process, messages off, on one core | 8,000 | **250×** |" in text
    assert "| poke-env over a local server¹ | 1,000 | **2,000×** |" in text


def test_what_was_not_measured_leaves_gaps() -> None:
    result = pokemon.record(Found(rates={"core": [2e6] * 5}), repeats=5, quick=False)
    assert [goal["reached"] for goal in result["goals"]] == [None, None, None]
    assert "| poke-env over a local server¹ | – |" in pokemon.block(result)


def test_every_rival_is_measured_on_one_core_and_the_slow_ones_on_all() -> None:
    assert list(rivals(quick=True, peer_python=Path("python"))) == ["showdown"]
    assert len(rivals(quick=False, peer_python=Path("python"))) == 5
    assert plans(2)["core"] == Plan("pokemon", 1, games=2_048, cores=1)
    assert plans(2)["all"].games == 4_096


def test_sides_play_and_what_cannot_is_recorded(tmp_path: Path) -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    sides = rivals(quick=False, peer_python=tmp_path / "nowhere")
    ours = {"tiny": Plan("pokemon", 1, games=64, length=2)}
    measured = measure(ours, sides, repeats=1, peer_python=tmp_path / "nowhere")
    assert list(measured.rates) == ["tiny", "showdown"]
    assert measured.rates["tiny"][0] > 0
    assert measured.rates["showdown"][0] > 50
    assert measured.versions["showdown"] == "Showdown 0.11.11"
    assert len(measured.absent) == 4
    assert all("nowhere" in reason for reason in measured.absent.values())


def test_an_unknown_rival_is_an_answer() -> None:
    with pytest.raises(SideFailedError, match="KeyError: 'chess'"):
        Rival("chess", 1, Path(sys.executable))


def test_messages_decide_nothing() -> None:
    node, reason = shutil.which("node"), missing()
    if node is None or reason is not None:
        pytest.skip(reason or "node is not installed")
    script = f"""
    import {{begin, step}} from '{ROOT / "bench" / "showdown_in_process.mjs"}';
    import {{PRNG}} from '{ROOT / "tests" / "oracle" / "showdown" / "src" / "showdown.js"}';
    for (let number = 0; number < 20; number++) {{
        const ends = [true, false].map(quiet => {{
            const battle = begin(number, quiet), choices = new PRNG(`1,2,3,${{number}}`);
            while (!battle.ended) step(battle, choices);
            return [battle.prng.getSeed(), battle.winner, battle.turn, battle.log.length > 50];
        }});
        console.log(JSON.stringify(ends));
    }}
    """
    done = subprocess.run(
        [node, "--input-type=module", "--eval", script], capture_output=True, text=True, check=True
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 20
    for quiet, loud in lines:
        assert quiet[:3] == loud[:3]
        assert (quiet[3], loud[3]) == (False, True)
