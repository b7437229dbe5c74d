"""`hybridenv train` and `hybridenv profile-training`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hybridenv.cli.train import ProfileTraining, parsed, percent, profile, sizes
from hybridenv.errors import ArgumentError, CheckpointError
from hybridenv.train import load
from hybridenv.train.logging import read_rows
from hybridenv.train.networks import count

QUICKLY = {**os.environ, "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
"""These programs are compiled, but hardly run."""

TINY = ("n_envs=8", "horizon=8", "minibatches=1", "hidden=[8]", "calls=1", "chunk=0", "epochs=1")


def command(*arguments: str) -> list[str]:
    changes = [part for change in TINY for part in ("--set", change)]
    return [sys.executable, "-m", "hybridenv", "train", arguments[0], *changes, *arguments[1:]]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), cwd=cwd, capture_output=True, text=True, timeout=300, env=QUICKLY
    )


def test_a_run_is_made_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("lr = 0.001\nsteps = 64\nenv_args.continuous = true\n")
    first = run(
        "pong", "--config", "run.toml", "--set", 'env_args={"frame_skip": 4}', "--out", "out",
        cwd=tmp_path,
    )  # fmt: skip
    assert first.returncode == 0, first.stderr
    assert "64 steps in" in first.stdout
    assert "compiling included): no episode has ended" in first.stdout
    assert "checkpoint:" in first.stdout
    again = run("pong", "--config", "run.toml", "--out", "out", cwd=tmp_path)
    assert again.returncode == 1
    assert "resume it or choose another folder" in again.stderr
    more = run(
        "pong", "--config", "run.toml", "--set", 'env_args={"frame_skip": 4}', "--out", "out",
        "--resume", "--steps", "192", cwd=tmp_path,
    )  # fmt: skip
    assert more.returncode == 0, more.stderr
    config, policy, params = load(tmp_path / "out")
    assert config.env_args == {"continuous": True, "frame_skip": 4}
    assert (config.n_envs, config.hidden, policy.recurrent, count(params)) == (8, (8,), False, 91)
    with pytest.raises(CheckpointError, match=r"got no checkpoint 7, expected one of .*192"):
        load(tmp_path / "out", 7)
    assert [row["steps"] for row in read_rows(tmp_path / "out" / "metrics.jsonl")] == [64, 128, 192]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("chess",),
            "env: got 'chess', expected one of "
            + ", ".join(map(repr, ["half_cheetah", "hopper", "pokemon", "pong", "walker2d"])),
        ),
        (("pong", "--set", "speed=3"), "--set: unknown key 'speed'"),
        (("pong", "--set", 'env_args={"skip": 3}'), "got option 'skip', expected one of 'chance'"),
        (("pong", "--set", "speed"), "expected key=value"),
        (("pong", "--set", "minibatches=3"), "minibatches: got 3"),
        (("pong", "--config", "missing.toml"), "missing.toml: cannot be read"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 1
    assert words in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_leaves(tmp_path: Path, sign: signal.Signals, code: int) -> None:
    process = subprocess.Popen(
        command("pong", "--steps", "1000000000", "--out", "out"),
        cwd=tmp_path,
        env=QUICKLY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    log = tmp_path / "out" / "metrics.jsonl"
    until = time.monotonic() + 200
    while not (log.exists() and log.stat().st_size) and time.monotonic() < until:
        time.sleep(0.1)
    os.kill(process.pid, sign)
    stdout, stderr = process.communicate(timeout=200)
    assert process.returncode == code, stderr
    assert "checkpoint:" in stdout
    assert "Traceback" not in stderr


def test_settings_are_read_as_json_or_text() -> None:
    assert parsed(["a=1", "b=[1, 2]", "c=lstm", 'd="x"']) == {
        "a": 1,
        "b": [1, 2],
        "c": "lstm",
        "d": "x",
    }
    assert sizes("2M,100k, 7") == [2_000_000, 100_000, 7]
    for wrong in ("", "2X", "-1", "inf"):
        with pytest.raises(ArgumentError, match="--params"):
            sizes(wrong)


def test_a_table_says_where_the_time_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile(ProfileTraining("CartPole-v1", "1k,2k", 8, 16, 1, tmp_path, 0))
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    parts = ["environment", "forward", "backward", "transfer", "rest"]
    assert lines[0].split() == ["parameters", "steps/s", *parts]
    assert [line.count(" %") for line in lines[1:3]] == [5, 5]
    assert lines[3] == "8 environments, an update for every 16 steps"
    assert "measuring CartPole-v1 with about 2,000 parameters" in captured.err
    assert len(json.loads((tmp_path / "breakdown.json").read_text())) == 2
    assert (tmp_path / "breakdown.png").is_file()
    assert [percent(share) for share in (0.7312, 0.001, 0.0000123, -0.02)] == [
        "73.1 %", "0.1 %", "0.0012 %", "-2.0 %",
    ]  # fmt: skip
