"""The tutorial runs as printed, and what it says of errors is so."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.verify.mountain import EXAMPLES
from tests.verify.mutants import Balancing

from hybridenv.verify import Verdict, by_policy, verify
from hybridenv.verify._results import L3Result

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r'^``` { \.py title="(.+)" }\n--8<-- "(.+)"\n```$', PAGE, re.M))
COMMANDS = re.findall(r"^\$ hybridenv (.+)$", PAGE, re.M)
SHORTER = ("--episodes", "10", "--examples", "10")
"""What makes seconds of the minutes that the commands take as printed."""
LONGEST = 80


def test_the_page_shows_whole_files_and_they_are_short() -> None:
    assert list(FILES) == ["cartpole_jax.py", "experts.py", "mountain_car_jax.py"]
    for name, path in FILES.items():
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        assert Path(path).name == name
        assert len(lines) < LONGEST, name
    assert len(COMMANDS) == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_say_equal(command: str, tmp_path: Path) -> None:
    for name, path in FILES.items():
        (tmp_path / name).write_bytes((ROOT / path).read_bytes())
    script = Path(sys.executable).with_name("hybridenv")
    ran = subprocess.run(
        [script, *shlex.split(command), *SHORTER], capture_output=True, text=True, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("EQUAL")


def test_a_long_episode_of_cartpole_needs_the_anchor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    options: dict[str, Any] = {
        "levels": [3], "actions": [by_policy(Balancing(), "expert")], "episodes": 4,
        "chance": "inject", "tol": {"obs": 1e-6}, "shrink": False,
    }  # fmt: skip
    sides = ("gym:CartPole-v1", "cartpole_jax:CartPole")
    report = verify(*sides, **options)
    assert report.verdict is Verdict.DIFFERENT
    third = report.levels[3]
    assert isinstance(third, L3Result)
    assert third.anchored is not None
    assert third.anchored.one_step["obs"] <= 1e-6 < third.anchored.free["obs"]
    report = verify(*sides, anchor=True, **options)
    assert report.verdict is Verdict.EQUAL
    assert report.levels[3].counts["steps"] == 4 * 500  # those of the reference, not of a free run
