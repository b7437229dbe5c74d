"""The whole way once: equal, different with a test that fails, and a wrapper."""

import subprocess
import sys
from pathlib import Path

from hybridenv.verify import Verdict, verify

REFERENCE = "gym:CartPole-v1"
CART = "tests.verify.cartpole"


def test_equal_sides_are_equal() -> None:
    report = verify(REFERENCE, f"{CART}:make", episodes=20)
    assert report.verdict is Verdict.EQUAL, str(report)
    assert report.isolated == ("gymnasium.envs.classic_control",)


def test_a_fault_is_found_shrunk_and_written_down_as_a_test(tmp_path: Path) -> None:
    report = verify(REFERENCE, f"{CART}:too_generous", levels=[3], episodes=20)
    assert report.verdict is Verdict.DIFFERENT
    found = report.first_divergence
    assert found is not None
    assert (found.step, found.column, found.reference, found.candidate) == (12, "reward", 1.0, 2.0)
    assert found.test is not None
    module = tmp_path / "test_regress.py"
    module.write_text(found.test, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(module)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert ran.returncode == 1, ran.stdout
    assert "at step 12, reward: reference 1.0, candidate 2.0" in ran.stdout


def test_a_wrapper_is_rejected() -> None:
    report = verify(REFERENCE, f"{CART}:wrapper", levels=[0])
    assert report.verdict is Verdict.ERROR
    assert "the reference's package is closed to the candidate" in report.reason
