"""The benchmark of where training's time goes: real processes, the tables, what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import profile_training, readme_table, report
from bench.profile_training import PARTS, SIZES, TITLES
from hybridenv.train import breakdown
from hybridenv.train.references import REFERENCES


def cell(environment: float, samples: int = 512) -> report.Record:
    shares = dict(zip(PARTS, (environment, 0.2, 0.7 - environment, 0.0, 0.1), strict=True))
    return {
        "env": "pong",
        "params": 1_999_351,
        "n_envs": 64,
        "horizon": samples // 64 * 4,
        "updates": 4,
        "repeats": {part: [share] * 3 for part, share in shares.items()},
        "iterations": [2.0, 1.0, 4.0],
        "shares": {
            part: {"median": share, "min": share / 2, "max": share * 2}
            for part, share in shares.items()
        },
    }


def result(**changes: Any) -> report.Record:
    cases: dict[str, report.Record] = {
        "pong": {
            "sizes": {"2 M": cell(0.0001), "200 M": cell(0.1)},
            "absent": {},
            "versions": {"pong": "hybridenv 0.1.0, JAX 0.10.2"},
        },
        "pong-python": {
            "sizes": {"2 M": cell(0.5, **changes)},
            "absent": {"200 M": "no answer within 300 s"},
            "versions": {},
        },
    }
    made: report.Record = json.loads(
        json.dumps(profile_training.record(report.origin(1), cases, 0.5, 3))
    )
    return made


def test_the_tables_have_every_size_and_gaps_where_nothing_was_measured() -> None:
    text = profile_training.block(result())
    assert "| The environment's share of training | 2 M parameters | 200 M parameters |" in text
    assert "| Pong | 0.01 % | 10.0 % |" in text
    assert "| Pong in Python, a game an object | 50.0 % | – |" in text
    assert "64 environments, an update for every 512 steps" in text
    assert "load 0.5; hybridenv 0.1.0, JAX 0.10.2" in text
    text = profile_training.guide(result())
    assert text.startswith("![How iterations of training divide](images/training-breakdown.png)\n")
    assert (
        "| Pong, 200 M | 1,024 | 10.0 % | 5.0 % to 20.0 % | 20.0 % | 60.0 % | 0 % | 10.0 % |"
        in text
    )
    assert "| Pong in Python, a game an object, 200 M | – | – | – | – | – | – | – |" in text


def test_shares_of_different_work_are_not_put_side_by_side() -> None:
    with pytest.raises(ValueError, match="expected the same work everywhere"):
        profile_training.block(result(samples=1_024))


def test_each_of_ours_is_followed_by_its_reference() -> None:
    ours, theirs = list(TITLES)[::2], list(TITLES)[1::2]
    assert [REFERENCES[name].of for name in theirs] == ours
    assert len(ours) >= 3
    assert list(SIZES.values()) == [2_000_000, 20_000_000, 200_000_000]
    assert breakdown.PARTS == PARTS


def test_pages_have_a_place_for_the_tables(tmp_path: Path) -> None:
    parts = [part for part in readme_table.PARTS if part.name == "bench:profile"]
    assert [part.page.name for part in parts] == ["README.md", "training.md"]
    for part in parts:
        assert "| Pong" in part.updated(part.page.read_text(encoding="utf-8"), result())
    profile_training.draw(result(), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_processes_measure_and_what_cannot_is_recorded() -> None:
    *_, found = profile_training.measure_all(["chess", "pong"], {"2 M": 2_000}, repeats=1)
    one = found["pong"]["sizes"]["2 M"]
    assert one["updates"] * 512 == one["n_envs"] * one["horizon"]
    assert sum(share["median"] for share in one["shares"].values()) == pytest.approx(1)
    assert found["pong"]["versions"]["pong"].startswith("hybridenv ")
    assert "ConfigError: env: got 'chess'" in found["chess"]["absent"]["2 M"]
    assert found["chess"]["sizes"] == {}


def test_too_few_repeats_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        profile_training.main(["--repeats", "1"])
    assert "expected at least 3" in capsys.readouterr().err
