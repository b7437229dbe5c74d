"""Batches meet the operating system: forks, signals, threads."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

FORK = """
import os, sys, warnings
import numpy as np
from hybridenv import ForkError, GameBoyBatch

warnings.simplefilter("ignore")  # newer Pythons warn of any fork of a process with threads
buttons = np.zeros(8, dtype=np.uint8)
batch = GameBoyBatch(n=8)
batch.reset()
batch.step(buttons)
child = os.fork()
if child == 0:
    seen = []
    for call in (lambda: batch.step(buttons), batch.reset, batch.save_state, batch.close):
        try:
            call()
        except ForkError as error:
            seen.append(str(error))
    ok = len(seen) == 4 and all("fork" in text for text in seen) and batch.n == 8
    del batch  # must not wait for the parent's threads
    own = GameBoyBatch(n=8)
    own.reset()
    own.step(buttons)
    os._exit(0 if ok else 1)
status = os.waitpid(child, 0)[1]
batch.step(buttons)
print(os.waitstatus_to_exitcode(status))
"""

INTERRUPT = """
import time
import numpy as np
from hybridenv import GameBoyBatch

n = 4
buttons = np.zeros(n, dtype=np.uint8)
batch = GameBoyBatch(n=n, frame_skip=2_000_000_000, num_threads=2)
batch.reset()
print("ready", flush=True)
try:
    batch.step(buttons)
except KeyboardInterrupt:
    frames = batch.frames
    assert (frames > 0).all() and (frames < 2_000_000_000).all(), frames
    state = batch.save_state(0)
    batch.load_state(1, state)
    assert batch.save_state(1) == state
    batch.reset()
    assert (batch.frames == 0).all()
    print("interrupted", flush=True)
"""


@contextmanager
def running(script: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script in its own process group, which does not outlive the test."""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_gets_an_error_and_its_parent_goes_on() -> None:
    with running(FORK) as process:
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert output.strip() == "0"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals work differently there")
def test_ctrl_c_ends_a_long_step_and_the_batch_stays_usable() -> None:
    with running(INTERRUPT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        output, _ = process.communicate(timeout=60)
        assert output == "interrupted\n"
        assert process.returncode == 0
        assert time.monotonic() - sent < 20, "Ctrl-C waited for the step"


def test_the_interpreter_is_free_during_a_step() -> None:
    import numpy as np

    from hybridenv import GameBoyBatch

    with GameBoyBatch(n=2, frame_skip=3000) as batch:
        batch.reset()
        worker = threading.Thread(target=batch.step, args=(np.zeros(2, dtype=np.uint8),))
        worker.start()
        turns = 0
        while worker.is_alive():
            time.sleep(0.001)
            turns += 1
        worker.join()
    assert turns >= 5
