"""Settings: read, checked, and refused with words that help."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridenv.errors import ConfigError
from hybridenv.train import train
from hybridenv.train.config import DEFAULTS, Config

BAD: list[tuple[dict[str, Any], str]] = [
    ({"learning_rate": 1}, "unknown key 'learning_rate'.*adam_eps"),
    ({"lr": "fast"}, "lr: got 'fast', expected a number"),
    ({"lr": 0}, "lr: got 0.0, expected a positive"),
    ({"lr": float("nan")}, "lr: got nan"),
    ({"n_envs": 12.5}, "n_envs: got 12.5, expected a whole number"),
    ({"n_envs": True}, "n_envs: got True"),
    ({"n_envs": None}, "n_envs: got None, expected a whole number"),
    ({"gamma": 1.5}, "gamma: got 1.5, expected 0 to 1"),
    ({"hidden": []}, "hidden"),
    ({"hidden": [8, "x"]}, "hidden: got .*expected a list of whole numbers"),
    ({"network": "transformer"}, "network: got 'transformer', expected one of mlp"),
    ({"network": "lstm", "shuffle": "rows"}, "shuffle"),
    ({"minibatches": 3}, "minibatches: got 3 with 1024 environments"),
    ({"network": "gru", "separate_value": True}, "separate_value: got true with network 'gru'"),
    ({"initial_std": 0}, "initial_std: got 0.0, expected a positive"),
    ({"epochs": 0}, "epochs: got 0, expected at least 1"),
    ({"env_args": [1]}, "env_args: got .*expected a table"),
    ({"lr": 10**400}, "lr: got 1000.*expected a number"),
    ({"seed": 2**63}, "seed: got 9223372036854775808 for 1 seeds, expected all below"),
    ({"value_clip": -1}, "value_clip: got -1.0, expected a positive number or none"),
    ({"value_coef": float("inf")}, "value_coef: got inf, expected a finite"),
    ({"entropy_coef": -float("inf")}, "entropy_coef: got -inf, expected a finite"),
    ({"value_clip": "x"}, "value_clip: got 'x', expected a number or none"),
]


@pytest.mark.parametrize(("changes", "words"), BAD)
def test_bad_settings_are_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Config(env="pong").with_changes(changes)


def test_devices_must_share_evenly() -> None:
    config = Config(env="pong", n_envs=1_000, minibatches=4)
    config.check_division(2)
    with pytest.raises(ConfigError, match=r"n_envs: got 1000.*3 devices.*such as 1002"):
        config.check_division(3)
    with pytest.raises(ConfigError, match="minibatches: got 4 with 125 environments a device"):
        config.check_division(8)


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_files_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run.{suffix}"
    settings = {"lr": 0.5, "hidden": [4, 4], "env_args": {"frame_skip": 4}}
    lines = ["lr = 0.5", "hidden = [4, 4]", "[env_args]", "frame_skip = 4"]
    path.write_text(json.dumps(settings) if suffix == "json" else "\n".join(lines))
    config = Config.of("pong", Config.read(path))
    assert (config.lr, config.hidden, config.env_args) == (0.5, (4, 4), {"frame_skip": 4})
    assert config.gamma == DEFAULTS["pong"]["gamma"]
    assert Config.of("pong", config.to_dict()) == config


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "lr = ", "a.toml"),
        ("a.json", "{", "a.json"),
        ("a.json", "[1]", "got list"),
        ("a.json", "[" * 100_000, "a.json: is nested too deeply"),
        ("a.json", '{"lr": 1' + "0" * 5_000 + "}", "a.json: is no valid JSON: Exceeds the limit"),
        ("a.yaml", "lr: 3", "a.yaml: is no valid TOML"),
        ("a.toml", "env = 'chess'", "env is 'chess', but 'pong' was asked for"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        Config.of("pong", Config.read(path), f"config {path}")
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.read(tmp_path / "missing.toml")


def test_every_environment_has_sound_defaults() -> None:
    assert len(DEFAULTS) >= 3
    for env in DEFAULTS:
        Config.of(env or "CartPole-v1").check_division(2)


@pytest.mark.parametrize(
    ("chunk", "shuffle", "size"),
    [(0, "envs", 32), (512, "envs", 8), (500, "envs", 4), (1, "envs", 1)],
)
def test_chunks_divide_a_minibatch(chunk: int, shuffle: str, size: int) -> None:
    config = Config(env="pong", n_envs=1_024, minibatches=16, chunk=chunk, shuffle=shuffle)
    assert config.chunk_units(2) == size


def test_steps_are_rounded_up_to_calls() -> None:
    config = Config(env="pong", n_envs=4, horizon=8, minibatches=1, calls=3, steps=100)
    assert config.iterations == 6


def test_numbers_of_numpy_are_numbers_and_paths_may_be_texts(tmp_path: Path) -> None:
    config = Config.of("pong", {"lr": np.float32(0.5), "n_envs": np.int64(64)})
    assert json.loads(json.dumps(config.to_dict()))["n_envs"] == 64
    assert type(config.lr) is float
    (tmp_path / "a.toml").write_text("lr = 0.5", encoding="utf-8")
    assert Config.read(str(tmp_path / "a.toml")) == {"lr": 0.5}


def test_what_is_no_configuration_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^config mine\.toml: lr: got 'fast', expected"):
        Config.of("pong", {"lr": "fast"}, "config mine.toml")
    with pytest.raises(ConfigError, match="config: got list, expected a dict of settings"):
        Config.of("pong", [1])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="config: got str, expected a Config"):
        train("pong")  # type: ignore[arg-type]
