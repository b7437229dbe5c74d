"""The Pong benchmark: sides that really play, goals, the README's table, the GPU script."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import gpu, pong
from bench.pong import GAMES, Found, Plan


def found() -> dict[str, Found]:
    versions = {"all": "0.1.0, JAX 0.10.2"}

    def given(rate: float) -> Found:
        rates = {"all": [rate] * 5, "one": [rate / 2] * 5}
        absent = {"flags": "it aborted"}
        return Found(rates=rates, compiled={"all": 1.0}, versions=versions, absent=absent)

    rates = {"all": [9e6] * 5, "gymnax-Pong-misc": [3e6] * 5}
    random = Found(rates=rates, versions=versions)
    return {"given-1": given(300e6), "given-4": given(60e6), "random": random}


def test_goals_are_counted_against_the_recorded_figures() -> None:
    result = pong.record(found(), repeats=5, quick=False)
    reached = {goal["goal"][:12]: goal["reached"] for goal in result["goals"]}
    assert reached == {"frame skip 1": True, "frame skip 4": True, "frame skip 8": None}
    assert result["goals"][0]["found"] == pytest.approx(300 / 45.3)
    assert result["cases"]["given-1"]["ratios"]["all/one"]["median"] == 2
    assert result["cases"]["random"]["ratios"]["all/gymnax-Pong-misc"]["median"] == 3


def test_the_table_names_what_is_recorded_and_leaves_gaps_where_nothing_was_measured() -> None:
    result = json.loads(json.dumps(pong.record(found(), repeats=5, quick=False)))
    text = pong.block(result)
    assert "| hybridenv | 300.0 M | 60.0 M | – |" in text
    assert "| PufferLib 3.0.0 in C, recorded¹ | 45.3 M | 19.6 M | 10.4 M |" in text
    assert "| times PufferLib | **6.6×** | **3.1×** | – |" in text
    assert "| hybridenv, with `cpu_flags()` | – | – | – |" in text
    assert "| gymnax Pong-misc | 3.0 M |" in text


def test_every_case_has_our_side_and_the_peers() -> None:
    plans = dict(pong.cases(cores=2, quick=False))
    assert set(plans) == {"given-1", "given-4", "given-8", "sizes", "random"}
    assert plans["given-8"]["all"] == Plan("pong", 2, frame_skip=8)
    assert plans["given-8"]["flags"].flags
    assert plans["given-1"]["one"].games == GAMES
    assert sum(name.startswith("gymnax") for name in plans["random"]) == 3


def test_sides_play_and_what_cannot_is_recorded(tmp_path: Path) -> None:
    plans = {
        "two": Plan("pong", 2, games=4),
        "odd": Plan("pong", 2, games=3),
        "peer": Plan("gymnax-CartPole-v1", 1, games=4),
    }
    measured = pong.measure(plans, repeats=1, peer_python=tmp_path / "nowhere")
    assert list(measured.rates) == ["two"]
    assert measured.rates["two"][0] > 0
    assert measured.compiled["two"] > 0
    assert "games: got 3, expected a multiple of 2" in measured.absent["odd"]
    assert "nowhere" in measured.absent["peer"]


def test_too_few_repeats_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        pong.main(["--repeats", "1"])
    assert "expected at least 5" in capsys.readouterr().err


def test_the_gpu_script_says_where_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main([]) == 1
    assert "JAX sees no GPU" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        gpu.main(["chess"])


def test_the_gpu_script_starts_as_a_file_too(tmp_path: Path) -> None:
    arguments = ["bench/gpu.py", "pong", "--seconds", "0", "--any-device"]
    root = Path(__file__).resolve().parents[2]
    result = subprocess.run(
        [sys.executable, *arguments], cwd=root, capture_output=True, text=True, timeout=200
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["cases"] == {"pong": []}


def test_the_gpu_script_stops_in_time_and_writes(tmp_path: Path) -> None:
    output = tmp_path / "deep" / "gpu.json"
    arguments = ["pong", "--any-device", "--seconds", "0", "--output", str(output)]
    assert gpu.main(arguments) == 0
    assert json.loads(output.read_text(encoding="utf-8"))["cases"] == {"pong": []}
