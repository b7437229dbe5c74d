"""Benchmarks of learning and of transfer: what they keep, judge and show; small runs of both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import learning, policy, readme_table, report, transfer
from bench.learning_torch import Moments
from hybridenv.verify import tost


def run(seed: int, speed: float) -> report.Record:
    """A run whose return grows evenly, to `speed` thousand after ten seconds."""
    rows = [{"steps": i * 10, "return": 100.0 * i * speed, "seconds": float(i)} for i in range(11)]
    found: report.Record = {
        "seed": seed, "rows": rows, "seconds": 10.0, "compile_seconds": 5.0,
        "greedy": [1_000 * speed] * 4, "drawn": [900 * speed] * 4, "on_back": float(speed < 4),
    }  # fmt: skip
    return found | {f"to {level}": learning.reached(rows, level) for level in (2_000, 4_000)}


def test_levels_are_reached_where_a_row_first_exceeds_them() -> None:
    rows = run(0, 5)["rows"]
    assert learning.reached(rows, 2_000) == {"steps": 40, "seconds": 4.0}
    assert learning.reached(rows, 9_999) is None
    assert learning.rows([{"steps": 1, "return": np.nan, "seconds": 3.0}], 1.0) == []
    kept = learning.rows([{"steps": 1, "return": 2.0, "seconds": 3.0, "loss": 0}], 1.0)
    assert kept == [{"steps": 1, "return": 2.0, "seconds": 2.0}]


def test_learning_is_told_in_a_table_and_a_picture(tmp_path: Path) -> None:
    runs = [run(0, 5), run(1, 3)]
    made = learning.record(
        {"half_cheetah": runs}, runs[1:], {"ours": runs, "theirs": runs[:1]}, None
    )
    result = json.loads(json.dumps(made))
    goals = {goal["goal"]: goal for goal in result["goals"]}
    assert len(goals) == 2
    assert goals["seconds to a return of 2,000, slowest seed, at most"]["found"] == 7
    assert not goals["seconds to a return of 4,000, slowest seed, at most"]["reached"]
    text = learning.block(result)
    assert "2,000: 4 to 7 s, 0.00 to 0.00 M steps | 4,000: 8 to 8 s" in text
    assert "(1 of 2 seeds)" in text
    assert "4,000 (3,000 to 5,000)" in text
    assert "| hybridenv | 2 | 5,000, 3,000 | 4,000 |" in text
    assert "with 1.0 1 of 1 (3,000 to 3,000)" in text
    assert "the default of 0.5 1 of 2 (3,000 to 5,000)" in text
    learning.draw(result, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 5_000


def test_transfer_is_told_in_a_table() -> None:
    from dataclasses import asdict

    rng = np.random.default_rng(0)
    ours = rng.normal(5_000, 50, 40)
    test = asdict(tost(ours, ours + rng.normal(0, 50, 40), 100))
    case = {"policies": 2, "test": test, "means": {}}
    result = transfer.record({"ours float32": case, "theirs float64": case}, 20)
    text = transfer.block(json.loads(json.dumps(result)))
    assert "| trained here, float32 | 2 | 40 | " in text
    assert "| trained on Gymnasium's, float64 | 2 | 40 |" in text
    assert text.count("**EQUIVALENT**") == 2


def test_both_are_parts_of_the_documentation() -> None:
    parts = {part.name: part for part in readme_table.PARTS}
    for name in ("bench:learning", "bench:transfer"):
        page = parts[name].page
        assert page is not None
        assert f"<!-- {name}:begin -->" in page.read_text(encoding="utf-8")


def test_moments_are_those_of_all_rows(rng: np.random.Generator) -> None:
    rows = rng.normal(3, 2, (50, 4))
    moments = Moments((4,))
    for part in np.split(rows, 5):
        moments.see(part)
    np.testing.assert_allclose(moments.mean, rows.mean(0), atol=1e-4)
    np.testing.assert_allclose(moments.variance, rows.var(0), rtol=1e-3)


@pytest.mark.parametrize("name", policy.NAMES)
def test_a_saved_policy_is_small_and_plays(name: str, rng: np.random.Generator) -> None:
    from hybridenv.envs import make

    assert (policy.FOLDER / f"{name}.npz").stat().st_size < 40_000
    saved = policy.SavedPolicy.load(name)
    env, params = make(name)
    seen = rng.normal(size=(3, *env.observation_space(params).shape)).astype(np.float32)
    actions: Any = saved.act_many(list(seen), [0] * 3)
    assert [a.shape for a in actions] == [env.action_space(params).shape] * 3
    assert np.array_equal(saved.act(seen[1], 0), actions[1])
    assert np.abs(actions).max() <= 1


@pytest.mark.parametrize("apart", [False, True])
def test_a_saved_policy_is_the_one_that_was_trained(apart: bool, rng: np.random.Generator) -> None:
    import jax

    from hybridenv.train import Config
    from hybridenv.train.networks import ActionSpec, ObsSpec, build
    from hybridenv.verify._policies import CheckpointPolicy

    config = Config(
        env="x", hidden=(8, 8), activation="tanh", normalize_observations=True, separate_value=apart
    )
    network, make = build(ObsSpec((11,)), ActionSpec(3, True, (-1,) * 3, (1,) * 3), config)
    seen = rng.normal(2, 5, (20, 1, 11)).astype(np.float32)
    params = jax.tree.map(lambda leaf: leaf + 0.1, make(jax.random.key(0)))
    params = network.observed(params, seen, None, None)
    saved = policy.SavedPolicy(policy.arrays(network, params))
    trained = CheckpointPolicy(network, params)
    trained.begin_many(20)
    rows = list(seen[:, 0])
    both = np.asarray(saved.act_many(rows, [0] * 20)), trained.act_many(rows, [0] * 20)
    np.testing.assert_allclose(both[0], both[1], atol=1e-4)  # float64 and float32
    assert np.ptp(both[0]) > 0.5
