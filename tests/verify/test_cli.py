"""The commands as processes: exit codes, files, messages."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = "gym:CartPole-v1"
CART = "tests.verify.cartpole"


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hybridenv", *words], capture_output=True, text=True, cwd=ROOT
    )


def test_equal_is_0(tmp_path: Path) -> None:
    ran = command(
        "verify", REFERENCE, f"{CART}:make", "--episodes", "5", "--examples", "3",
        "--report", str(tmp_path / "report"), "--junit", str(tmp_path / "junit.xml"),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("EQUAL")
    data = json.loads((tmp_path / "report" / "report.json").read_text())
    assert data["verdict"] == "EQUAL"
    ElementTree.parse(tmp_path / "junit.xml")  # noqa: S314  # our own file


def test_different_is_1_and_the_test_that_is_written_fails(tmp_path: Path) -> None:
    path = tmp_path / "test_regress_17.py"
    ran = command(
        "diverge", REFERENCE, f"{CART}:too_generous", "--seed", "17", "--shrink",
        "--write-test", str(path),
    )  # fmt: skip
    assert ran.returncode == 1, ran.stderr
    assert "first difference: step 12 of the episode with seed 17" in ran.stdout
    again = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert again.returncode == 1
    assert "candidate 2.0" in again.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("verify", REFERENCE, "nonsense"), "expected gym:ID"),
        (("verify", REFERENCE, f"{CART}:wrapper"), "closed to the candidate"),
        (("verify", REFERENCE, f"{CART}:make", "--tol", "obs"), "expected NAME=NUMBER"),
        (("verify", REFERENCE, f"{CART}:make", "--level", "4"), "margin: got none"),
        (("verify", REFERENCE, f"{CART}:make", "--level", "9"), "less than or equal to 4"),
        (("verify", REFERENCE, f"{CART}:make", "--junit", "no/such/x.xml"), "got no/such, which"),
        (("verify", REFERENCE, f"{CART}:make", "--report", "README.md/a"), "which is no folder"),
        (("verify", REFERENCE, f"{CART}:make", "--properties", "x:y"), "list of Property"),
        (("transfer", REFERENCE, f"{CART}:make", "--policies", "nothing"), "got 'nothing'"),
        (("bench", REFERENCE, f"{CART}:make", "--batch", "many"), "--batch: got 'many'"),
        (
            ("bench", REFERENCE, "tests.verify.sides:Raising", "--batch", "1"),
            "after 3 steps: ZeroDivisionError: three steps are enough",
        ),
    ],
)
def test_what_is_wrong_is_2_and_a_message(words: tuple[str, ...], message: str) -> None:
    ran = command(*words)
    assert ran.returncode == 2, ran.stdout
    assert message in " ".join((ran.stdout + ran.stderr).split())
    assert "Traceback" not in ran.stderr


def test_not_shown_is_3() -> None:
    words = ("--level", "3", "--chance", "independent", "--episodes", "30")
    ran = command("verify", REFERENCE, f"{CART}:make", *words)
    assert ran.returncode == 3, ran.stdout
    assert ran.stdout.startswith("NOT SHOWN")


@pytest.mark.parametrize(
    ("candidate", "margin", "code"), [("make", "1", 0), ("too_generous", "0.1", 1)]
)
def test_transfer(candidate: str, margin: str, code: int) -> None:
    ran = command(
        "transfer", REFERENCE, f"{CART}:{candidate}", "--margin", margin, "--episodes", "10",
        "--policies", "tests.verify.mutants:Balancing", "--max-steps", "50",
    )  # fmt: skip
    assert ran.returncode == code, ran.stdout + ran.stderr


def test_modules_of_the_current_folder_are_found(tmp_path: Path) -> None:
    module = "import gymnasium\ndef make(): return gymnasium.make('CartPole-v1')\n"
    (tmp_path / "mine.py").write_text(module, encoding="utf-8")
    script = Path(sys.executable).with_name("hybridenv")
    ran = subprocess.run(
        [script, "verify", "mine:make", "gym:CartPole-v1", "--level", "0", "--no-isolate"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_bench_measures_two_targets() -> None:
    ran = command(
        "bench", REFERENCE, f"{CART}:make", "--batch", "1,4", "--seconds", "0.1", "--json"
    )
    assert ran.returncode == 0, ran.stderr
    rates = json.loads(ran.stdout)["rates"]
    assert [(rate["side"], rate["batch"]) for rate in rates] == [
        ("reference", 1),
        ("candidate", 1),
        ("reference", 4),
        ("candidate", 4),
    ]
    assert all(0 < rate["low"] <= rate["median"] <= rate["high"] for rate in rates)


def test_ctrl_c_reaches_no_candidate(tmp_path: Path) -> None:
    code = (
        "import json, sys, time\n"
        "spaces = {'type': 'Discrete', 'n': 2}\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'observation': spaces, 'action': spaces, 'obs': 0}), flush=True)\n"
        "    open('asked', 'w').close()\n"
        "    time.sleep(1)\n"
    )
    (tmp_path / "slow.py").write_text(code, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "hybridenv", "verify", REFERENCE, f"cmd:{sys.executable} slow.py"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not (tmp_path / "asked").exists() and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 3, stderr
    assert stdout.startswith("NOT SHOWN")
    assert "Traceback" not in stderr


def test_interrupted_is_3_and_leaves_a_report(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hybridenv", "verify", "tests.verify.sides:Counter",
         "tests.verify.sides:Counting", "--no-isolate", "--level", "3", "--examples", "1",
         "--episodes", "1000000", "--report", str(tmp_path)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ},
    )  # fmt: skip
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 3, stderr
    assert stdout.startswith(b"NOT SHOWN")
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["interrupted"]
