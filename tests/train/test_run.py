"""Runs from beginning to end: checkpoints, stopping, going on, and everything that goes wrong."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.train.games import Signs
from tests.train.test_ppo import SMALL, is_key

from hybridenv.errors import (
    ArgumentError,
    CheckpointError,
    ConfigError,
    DivergedError,
    OutOfMemoryError,
)
from hybridenv.train import Checkpoints, Config, train
from hybridenv.train.logging import JsonLines, ProgressBar, TensorBoard, read_rows
from hybridenv.train.plot import learning_curve
from hybridenv.train.ppo import Program

STEPS = 16 * 8 * 2


def run(out: Path | None = None, calls: int = 2, **options: Any) -> Any:
    """Train on the signs, `calls` calls of 256 steps."""
    names = ("resume", "progress", "tensorboard", "on_row")
    how = {name: options.pop(name) for name in names if name in options}
    game = options.pop("game", Signs())
    config = Config(**SMALL | {"steps": calls * STEPS} | options)
    return train(config, out=out, trainer=Program(game, None, config, jax.devices()[:1]), **how)


def equal(a: Any, b: Any) -> None:
    jax.tree.map(lambda x, y: np.testing.assert_array_equal(np.asarray(x), np.asarray(y)), a, b)


def test_a_run_that_goes_on_is_the_run_that_never_stopped(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", 4)
    assert [row["iteration"] for row in whole.rows] == list(range(1, 9))
    run(tmp_path / "parts", 2)
    rest = run(tmp_path / "parts", 4, resume=True)
    assert [row["iteration"] for row in rest.rows] == [5, 6, 7, 8]
    equal(rest.params, whole.params)
    logs = [read_rows(tmp_path / name / "metrics.jsonl") for name in ("whole", "parts")]
    assert len(logs[0]) == len(logs[1]) == 8
    for a, b in zip(*logs, strict=True):
        timing = {"seconds", "steps_per_second"}
        np.testing.assert_equal(*({k: v for k, v in x.items() if k not in timing} for x in (a, b)))
    # the saved states are equal in every leaf, keys and environments included
    states = []
    for name in ("whole", "parts"):
        trainer = Program(Signs(), None, Config(**SMALL), jax.devices()[:1])
        saved = Checkpoints(tmp_path / name / "checkpoints")
        step = saved.steps()[-1]
        states.append(saved.restore(step, trainer.init(), Config(**SMALL | {"steps": 1024}), 1))
    plain = [
        jax.tree.map(lambda x: jax.random.key_data(x) if is_key(x) else x, state)
        for state in states
    ]
    equal(*plain)


def test_seconds_grow_and_go_on(tmp_path: Path) -> None:
    first = run(tmp_path, 3).rows
    run(tmp_path, 5, resume=True)
    rows = read_rows(tmp_path / "metrics.jsonl")
    seconds = [row["seconds"] for row in rows]
    assert len(seconds) == 10
    assert all(before < after for before, after in pairwise(seconds))
    assert seconds[5] == first[-1]["seconds"]


def test_a_huge_step_size_is_named(tmp_path: Path) -> None:
    with pytest.raises(DivergedError, match=r"the (loss|gradient's length) is .*\(lr 1e\+30\)"):
        run(tmp_path, 9, lr=1e30, max_grad_norm=1e30)
    rows = (tmp_path / "metrics.jsonl").read_text()
    assert "NaN" not in rows


def test_a_log_of_something_else_is_refused(tmp_path: Path) -> None:
    run(tmp_path, 1)
    log = tmp_path / "metrics.jsonl"
    for other in (b"[1]\n", b'{"a": 1}\n', b"\xff\xfe\n"):
        log.write_bytes(other)
        with pytest.raises(ArgumentError, match=r"metrics\.jsonl: got "):
            run(tmp_path, 2, resume=True)
        assert log.read_bytes() == other


def test_a_full_disk_leaves_the_log_and_names_it(tmp_path: Path) -> None:
    row = {"steps": 8, "seconds": 1.0}
    path = tmp_path / "m.jsonl"
    log = JsonLines(path)
    log.write(row)
    log.close()
    full = JsonLines(path, steps=8)
    full._file.close()
    full._file = Path("/dev/full").open("a", encoding="utf-8")  # noqa: SIM115  # closed below
    with pytest.raises(OSError, match=r"No space left.*m\.jsonl"):
        full.write(row)
    full.close()
    assert len(read_rows(path)) == 1


def test_checkpoints_come_regularly_and_old_ones_go(tmp_path: Path) -> None:
    result = run(tmp_path, 5, checkpoint_every=STEPS, keep=2)
    saved = Checkpoints(tmp_path / "checkpoints")
    assert saved.steps() == [4 * STEPS, 5 * STEPS]
    assert result.checkpoint == saved.path(5 * STEPS)
    assert saved.config(5 * STEPS)["lr"] == SMALL["lr"]


def test_a_folder_with_checkpoints_is_not_overwritten(tmp_path: Path) -> None:
    run(tmp_path, 1)
    with pytest.raises(CheckpointError, match="has checkpoints of an earlier run"):
        run(tmp_path, 1)
    with pytest.raises(CheckpointError, match="got no checkpoint to resume from"):
        run(tmp_path / "empty", 1, resume=True)
    assert not (tmp_path / "empty").exists()
    with pytest.raises(ConfigError, match="out: got none"):
        run(None, 1, resume=True)


def test_other_settings_do_not_resume(tmp_path: Path) -> None:
    run(tmp_path, 1)
    with pytest.raises(CheckpointError, match=r"lr: then 0.01, now 0.02.*in another folder"):
        run(tmp_path, 2, resume=True, lr=0.02)
    with pytest.raises(CheckpointError, match=r"hidden: then .*16.*, now .*32"):
        run(tmp_path, 2, resume=True, hidden=(32,))
    state = Program(Signs(), None, Config(**SMALL), jax.devices()[:1]).init()
    saved = Checkpoints(tmp_path / "checkpoints")
    with pytest.raises(CheckpointError, match="number of devices: then 1, now 2"):
        saved.restore(STEPS, state, Config(**SMALL), 2)


def test_damage_is_reported(tmp_path: Path) -> None:
    run(tmp_path / "good", 1)
    files = [path for path in (tmp_path / "good").rglob("*") if path.is_file()]
    kept = [path for path in files if path.name != "metrics.jsonl"]
    assert len(kept) >= 10
    for i, path in enumerate(kept):
        bad = tmp_path / str(i)
        shutil.copytree(tmp_path / "good", bad)
        victim = bad / path.relative_to(tmp_path / "good")
        data = bytearray(victim.read_bytes())
        if i % 3 == 0 or not data:
            victim.unlink()
        elif i % 3 == 1:
            victim.write_bytes(data[:-1])
        else:
            data[len(data) // 2] ^= 1
            victim.write_bytes(data)
        with pytest.raises(CheckpointError, match=r"is damaged.*expected|cannot be read") as caught:
            run(bad, 2, resume=True)
        assert len(str(caught.value)) < 1000
        assert victim.name in str(caught.value) or victim.name == "contents.json"
    bad = tmp_path / "older"
    shutil.copytree(tmp_path / "good", bad)
    places = bad / "checkpoints"
    shutil.copytree(places / str(STEPS), places / str(STEPS // 2))
    (places / str(STEPS) / "contents.json").unlink()
    with pytest.raises(CheckpointError, match="is damaged") as caught:
        run(bad, 2, resume=True)
    [note] = caught.value.__notes__
    assert note.startswith(f"{places / str(STEPS // 2)} is older; without the damaged one")
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot be made"):
        run(tmp_path / "file", 1)


class Poison(Signs):
    """Pays what is no number as soon as an episode has three steps."""

    def step(self, key: Any, state: Any, action: Any, params: None) -> Any:
        obs, after, reward, *rest = super().step(key, state, action, params)
        poisoned = (after.goal == 0) & (after.t == 4) & (state.goal == 0)
        return obs, after, jnp.where(poisoned, jnp.nan, reward), *rest


def test_nan_stops_the_run_and_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    run(tmp_path, 2)
    with pytest.raises(
        DivergedError, match=r"iteration 5: the mean reward is nan.*checkpoints/512"
    ) as e:
        run(tmp_path, 6, resume=True, game=Poison())
    assert e.value.iteration == 5
    assert isinstance(e.value, ArithmeticError)
    saved = Checkpoints(tmp_path / "checkpoints")
    assert saved.steps() == [2 * STEPS]
    again = run(tmp_path, 3, resume=True)  # nothing is lost
    assert np.isfinite(again.rows[-1]["loss"])


def test_a_full_disk_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    state = {"x": jnp.arange(100_000, dtype=jnp.float32)}
    saved = Checkpoints(tmp_path)
    saved.save(1, state, Config(**SMALL), 1)
    random = {"x": jax.random.normal(jax.random.key(0), (100_000,))}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(CheckpointError, match=r"cannot be written.*last good one is .*/1"):
            saved.save(2, random, Config(**SMALL), 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1"]
    equal(saved.restore(1, state, Config(**SMALL), 1), state)


def test_a_run_that_is_killed_while_it_writes_leaves_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        """Nothing tidies up after this."""

    def kill(folder: Path) -> None:
        raise KilledError

    state = {"x": jnp.arange(8.0)}
    saved = Checkpoints(tmp_path)
    saved.save(1, state, Config(**SMALL), 1)
    with monkeypatch.context() as patch:
        patch.setattr("hybridenv.train.checkpoint._contents", kill)
        with pytest.raises(KilledError):
            saved.save(2, state, Config(**SMALL), 1)
    assert len(list(tmp_path.iterdir())) == 2
    again = Checkpoints(tmp_path)
    assert again.steps() == [1]
    equal(again.restore(1, state, Config(**SMALL), 1), state)
    again.save(3, state, Config(**SMALL), 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "3"]


def test_what_cannot_fit_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = {"x": jnp.arange(100_000, dtype=jnp.float32)}
    saved = Checkpoints(tmp_path)
    saved.save(2, state, Config(**SMALL), 1)
    usage = type(shutil.disk_usage(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 400_000, 400_000))
    words = r"the disk is full: got 400,000 bytes free, expected at least 465,536; the last .*/2$"
    with pytest.raises(CheckpointError, match=words):
        saved.save(20, state, Config(**SMALL), 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2"]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, 0))  # as some systems say
    saved.save(20, state, Config(**SMALL), 1)
    assert saved.steps() == [2, 20]


def test_what_does_not_change_the_learning_may_change(tmp_path: Path) -> None:
    run(tmp_path, 2, anneal=True)
    run(tmp_path, 2, anneal=True, resume=True, keep=3, checkpoint_every=STEPS)
    with pytest.raises(CheckpointError, match="steps: then 512, now 768"):
        run(tmp_path, 3, anneal=True, resume=True)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_leaves(tmp_path: Path, sign: signal.Signals) -> None:
    def press(row: Any) -> None:
        if row["iteration"] == 3:
            os.kill(os.getpid(), sign)

    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    result = run(tmp_path, 50, on_row=press)
    assert result.interrupted == sign
    assert result.rows[-1]["iteration"] == 4
    assert Checkpoints(tmp_path / "checkpoints").steps() == [2 * STEPS]
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    assert not run(tmp_path, 50, on_row=lambda row: row["iteration"] == 6, resume=True).interrupted


def test_a_program_that_fails_has_used_up_its_state(tmp_path: Path) -> None:
    class Broken(Program):
        """Works once, then fails after the state is gone."""

        calls = 0

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            works = self.run

            def fail(state: Any) -> Any:
                self.calls += 1
                result = works(state)
                if self.calls == 2:
                    raise ArithmeticError("it broke")
                return result

            self.run = fail

    config = Config(**SMALL | {"steps": 4 * STEPS})
    trainer = Broken(Signs(), None, config, jax.devices()[:1])
    with pytest.raises(ArithmeticError, match="it broke") as e:
        train(config, out=tmp_path, trainer=trainer)
    assert Checkpoints(tmp_path / "checkpoints").steps() == []
    assert not hasattr(e.value, "__notes__")


def test_too_little_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Program) -> Any:
        raise jax.errors.JaxRuntimeError("INTERNAL: Out of memory allocating 32 bytes.\nAnd more.")

    monkeypatch.setattr(Program, "init", fail)
    with pytest.raises(OutOfMemoryError, match=r"signs: got too little memory \(INTERNAL: Out of"):
        run()


def test_logs_and_curves(tmp_path: Path) -> None:
    result = run(tmp_path, 2, tensorboard=True, progress=True, n_seeds=2)
    assert list((tmp_path / "tensorboard").glob("events*"))
    rows = read_rows(tmp_path / "metrics.jsonl")
    assert len(rows) == 4
    assert len(rows[0]["loss"]) == 2
    np.testing.assert_equal(rows, result.rows)
    assert (
        jax.tree.leaves(result.params_of(1))[0].shape == jax.tree.leaves(result.params)[0].shape[1:]
    )
    for against in ("steps", "seconds"):
        path = tmp_path / f"{against}.png"
        learning_curve(
            {"two": rows, "same": rows}, path, against=against, levels={"best": 5.0}, window=2
        )
        assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ArgumentError, match="no \\['speed'\\]"):
        learning_curve({"a": rows}, path, metric="speed")
    with pytest.raises(ArgumentError, match=r"curve\.xyz, expected an ending of .*png"):
        learning_curve({"a": rows}, "curve.xyz")
    with pytest.raises(ArgumentError, match="without rows"):
        learning_curve({"a": []}, path)
    early = [row | {"return": [np.nan, np.nan]} for row in rows]
    with pytest.raises(ArgumentError, match="'a' has no finite 'return' in 4 rows"):
        learning_curve({"a": early}, path)


def test_sinks_take_what_is_no_number(tmp_path: Path) -> None:
    row: dict[str, Any] = {
        "iteration": 1, "steps": 8, "seconds": 1.0, "steps_per_second": 8.0
    }  # fmt: skip
    row |= {"return": float("nan"), "loss": [1.0, float("inf")]}
    path = tmp_path / "m.jsonl"
    for sink in (JsonLines(path), TensorBoard(tmp_path / "t"), ProgressBar(16)):
        sink.write(row)
        sink.close()
    assert path.read_text().count("null") == 2
    path.write_text(path.read_text() + '{"iteration": 2, "st')  # a crash in mid-line
    assert len(read_rows(path)) == 1
    JsonLines(path, steps=0).close()
    assert read_rows(path) == []


@pytest.mark.parametrize("missing", ["flax", "optax", "jax"])
def test_what_is_missing_is_named(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; import hybridenv.train"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert "pip install 'hybridenv[train]'" in result.stderr
    assert "MissingDependencyError" in result.stderr
