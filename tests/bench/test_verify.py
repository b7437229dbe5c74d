"""The benchmarks of verification: each pair is named once, tables follow from what was found."""

import json
from pathlib import Path

import pytest
from tests.verify.cartpole import Cart
from tests.verify.mutants import Balancing

from bench import gameboy_transfer, pairs, verify
from bench.gameboy_transfer_sides import Learned

TRIVIAL = pairs.Case("Trivial", "itself", "bench.trivial:Counter", "bench.trivial_twin:Counter")


def test_every_pair_is_named_once() -> None:
    names = [case.name for case in pairs.cases()]
    assert len(names) >= 7
    assert len(set(names)) == len(names)


def test_a_table_of_pairs_says_what_was_compared() -> None:
    anchored = pairs.Case(
        "Cart",
        "Gymnasium",
        "gym:CartPole-v1",
        "tests.verify.cartpole:make",
        {"anchor": True, "tol": {"obs": 1e-9}},
    )
    wrong = pairs.Case("Off", "itself", "gym:CartPole-v1", "tests.verify.cartpole:too_generous")
    found = [(case, pairs.compare(case, 2)) for case in (TRIVIAL, anchored, wrong)]
    text = pairs.block(pairs.record(found, 2))
    assert "| Trivial | itself | 2 (2 truncated) | 2,000 | EQUAL: every bit |" in text
    assert "EQUAL: one step within 0" in text
    assert "| DIFFERENT |" in text
    assert "`make verify-pairs`" in text


def test_pairs_that_differ_fail_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = pairs.Case("Off", "itself", "gym:CartPole-v1", "tests.verify.cartpole:too_generous")
    output = tmp_path / "pairs.json"
    for chosen, status in (([TRIVIAL], 0), ([TRIVIAL, wrong], 1)):
        monkeypatch.setattr(pairs, "cases", lambda chosen=chosen: chosen)
        assert pairs.main(["--episodes", "1", "--output", str(output)]) == status
    again = ["--only", "trivial", "--episodes", "2", "--output", str(output)]
    assert pairs.main(again) == 0
    cases = json.loads(output.read_text())["cases"]
    assert [case["verdict"] for case in cases] == ["EQUAL", "DIFFERENT"], "others are kept"
    assert [case["counts"]["episodes"] for case in cases] == [2, 1]


def test_a_table_of_policies_says_the_outcome() -> None:
    from hybridenv.verify import verify as compare

    found = compare(
        "gym:CartPole-v1",
        Cart,
        levels=[4],
        margin=0.5,
        episodes=3,
        policies={"pyboy-0": Balancing()},
    )
    learned = [Learned("pyboy", 0, 100, 1.0, 1.0, 2.0)]
    text = gameboy_transfer.block(gameboy_transfer.record(learned, found, {"steps": 100}))
    assert "| in PyBoy, seed 0 | 1.00 → 2.00 | 500.000 | 500.000 | 0.00 | 0 of 3 |" in text
    assert "**IDENTICAL**: 3 pairs of episodes" in text


def test_the_cost_of_comparing_is_measured(tmp_path: Path) -> None:
    output = tmp_path / "verify.json"
    verify.main(["--repeats", "1", "--output", str(output)])
    result = json.loads(output.read_text())
    assert result["steps_per_second"].keys() == verify.CASES.keys()
    assert all(found["median"] > 0 for found in result["steps_per_second"].values())
    assert result["goals"][0]["bound"] == verify.WANTED
    assert len(verify.block(result).splitlines()) == len(verify.CASES) + 4
