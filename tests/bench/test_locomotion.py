"""The locomotion benchmark: sides that really move, errors, goals, the README's tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import gpu, jax_worker, locomotion, pong, readme_table, report
from bench.locomotion import YNN_OFF, least
from bench.pong import Found, Plan


def found() -> dict[str, Found]:
    rates = {
        "all": [600e3] * 5,
        "flags": [900e3] * 5,
        "core": [300e3] * 5,
        "rollout": [90e3] * 5,
        "mjx 64": [5e3] * 5,
        "mjx 256": [4e3] * 5,
        "mjx-4-8 64": [15e3] * 5,
    }
    versions = {"all": "hybridenv 0.1.0, JAX 0.10.2", "rollout": "mujoco 4.0.0, JAX 0.10.2"}
    absent = {"brax-spring 64": "no answer within 300 s"}
    cheetah = Found(rates=rates, compiled={"all": 6.0}, versions=versions, absent=absent)
    return {"half_cheetah": cheetah, "hopper": Found(rates={"all": [1.4e6] * 5})}


def errors() -> dict[str, report.Record]:
    def summary(largest: float, median: float) -> report.Record:
        figures = {"max": largest, "p99": median, "median": median}
        return {"states": 100_000, "solved": figures, "default": figures | {"max": 1e-5}}

    return {
        "half_cheetah": {
            "float64": summary(3e-12, 1e-14),
            "float32": summary(4e-4, 6e-7),
            "mjx-float32": summary(2.6e-4, 1.5e-6),
        },
        "hopper": {"float64": {"absent": "python does not start"}},
    }


def result() -> report.Record:
    made = locomotion.record(found(), errors(), repeats=5, quick=False)
    again: report.Record = json.loads(json.dumps(made))
    return again


def test_goals_are_counted_against_the_fastest_setting_of_each_peer() -> None:
    goals = {goal["goal"]: goal for goal in result()["goals"]}
    assert len(goals) == 11

    def reached(begin: str) -> Any:
        (goal,) = (goal for name, goal in goals.items() if name.startswith(begin))
        return goal["found"], goal["reached"]

    assert reached("one step, float64") == (3e-12, True)
    assert reached("one step, float32, largest") == (4e-4, True)
    assert reached("times `mujoco.rollout`, with") == (10, True)
    assert reached("times MJX at its defaults") == (pytest.approx(120), True)
    assert reached("times MJX at 4 and 8") == (pytest.approx(40), False)
    assert reached("times Brax, spring") == (None, None)
    assert reached("a device on each core") == (2, True)
    assert reached("seconds to compile") == (6, True)


def test_a_family_is_told_from_one_whose_name_goes_on() -> None:
    case = result()["cases"]["half_cheetah"]
    assert least(case, "all", "mjx") == pytest.approx(120)
    assert least(case, "flags", "mjx-4-8") == pytest.approx(60)
    assert least(case, "all", "brax-spring") is None
    assert least(None, "all", "mjx") is None


def test_the_tables_leave_gaps_where_nothing_was_measured() -> None:
    text = locomotion.block(result())
    assert "| Environment steps a second | HalfCheetah | Hopper |" in text
    assert "| hybridenv | 600 k | 1,400 k |" in text
    assert "| times `mujoco.rollout` | **6.7×** | – |" in text
    assert "| times `mujoco.rollout`, with `cpu_flags()` | **10.0×** | – |" in text
    assert "| MJX, defaults¹ | 5.0 k (64) | – |" in text
    assert "| Brax, spring¹ ² | – | – |" in text
    assert "| HalfCheetah, float64 | 100,000 | 3.0e-12 | 1.0e-14 | 1.0e-05 | 1.0e-14 |" in text
    assert "| HalfCheetah, MJX in float32 | 100,000 | 2.6e-04 |" in text
    assert "| Hopper, float64 | – | – | – | – | – |" in text
    assert "| Figure | Goal | Stretch | Found | Reached |" in text
    assert (
        "| one step, float64, largest error of a velocity, at most | 1e-09 | 1e-11 | 3e-12 |"
        in text
    )


def test_the_readme_has_a_place_for_the_tables() -> None:
    (part,) = (part for part in readme_table.PARTS if part.name == "bench:locomotion")
    new = part.updated(readme_table.README.read_text(encoding="utf-8"), result())
    assert "| hybridenv | 600 k |" in new


def test_every_case_has_our_sides_and_the_peers() -> None:
    plans = dict(locomotion.cases(cores=2, quick=False))
    assert list(plans) == list(locomotion.MODELS)
    cheetah = plans["half_cheetah"]
    assert cheetah["all"] == Plan("planar-half_cheetah", 2, False, locomotion.MEMBERS, 5, 64)
    assert cheetah["core"].cores == 1
    assert cheetah["flags"].flags
    assert {name.split()[0] for name in cheetah} == set(locomotion.FAMILIES)
    assert plans["walker2d"]["rollout"].frame_skip == 4
    peers = [plan for plan in cheetah.values() if plan.side.startswith(("mjx", "brax"))]
    assert len(peers) >= 10
    assert all(plan.xla_flags == YNN_OFF or plan.flags for plan in peers)
    assert all(jax_worker.peer(plan.side) for plan in peers)
    assert jax_worker.peer("planar-hopper") is None
    quick = dict(locomotion.cases(cores=2, quick=True))
    assert set(quick["hopper"]) == {"all", "flags", "core", "rollout"}


def test_sides_move_and_what_cannot_is_recorded(tmp_path: Path) -> None:
    plans = {
        "two": Plan("planar-hopper", 2, games=4, length=2),
        "rollout": Plan("mujoco-hopper", 1, games=4, length=2),
    }
    measured = pong.measure(plans, repeats=1, peer_python=tmp_path / "nowhere")
    assert list(measured.rates) == ["two"]
    assert measured.rates["two"][0] > 0
    assert "nowhere" in measured.absent["rollout"]


def test_errors_that_cannot_be_measured_are_recorded(tmp_path: Path) -> None:
    wrong = locomotion.errors({"half_cheetah": 4, "hopper": 4}, tmp_path / "nowhere")
    assert list(wrong["half_cheetah"]) == ["float64", "float32", "mjx-float32"]
    assert list(wrong["hopper"]) == ["float64", "float32"]
    assert "nowhere" in wrong["hopper"]["float64"]["absent"]


def test_one_step_of_ours_is_mujocos() -> None:
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    from bench.locomotion_errors import CONTROLS, EPISODE, Session, controls_of, errors, gather

    assert controls_of("half_cheetah") == CONTROLS
    assert controls_of("hopper") == CONTROLS[:3]
    count = 2 * len(CONTROLS) * EPISODE
    states = gather("half_cheetah", count)
    assert set(states.kind) == set(range(len(CONTROLS)))
    assert (states.qpos == states.qpos.astype(np.float32)).all()
    assert np.abs(states.control).max() == 1
    assert np.allclose(errors(states.qvel, states.qvel + 1), 1)
    compared = Session().compare("half_cheetah", count)
    assert compared["states"] == count
    trained = np.flatnonzero(states.kind == CONTROLS.index("trained"))
    assert np.ptp(trained) > EPISODE  # in two turns of one episode
    height = states.qpos[trained[[0, EPISODE - 1, EPISODE]], 1]
    assert abs(height[2] - height[1]) < 0.05
    assert states.qpos[trained[EPISODE], 0] != pytest.approx(0, abs=0.01)
    assert 0 < compared["solved"]["median"] < 2e-6
    assert compared["solved"]["max"] < 5e-4


def test_errors_can_be_found_later_than_speeds() -> None:
    old = result()
    trained = {"half_cheetah": {"float64": {**errors()["half_cheetah"]["float64"]}}}
    trained["half_cheetah"]["float64"]["largest_by_control"] = {"trained": 1e-12}
    new = locomotion.with_errors(old, trained)
    assert new["cases"] == old["cases"]
    assert new["errors_found"]["commit"]
    assert "sinusoidal controls (in place of trained" in locomotion.block(old)
    assert "sinusoidal controls and those of trained policies." in locomotion.block(new)
    assert sum(goal["found"] is None for goal in new["goals"]) > 2


def test_too_few_repeats_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        locomotion.main(["--repeats", "1"])
    assert "expected at least 5" in capsys.readouterr().err


def test_the_gpu_script_has_a_case() -> None:
    assert gpu.CASES["half_cheetah"](0.0) == []
