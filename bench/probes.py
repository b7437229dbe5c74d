"""What is measured besides emulation speed: states and memory."""

from __future__ import annotations

import io
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import HOLD_FRAMES, Buttons

#: Machines of the batch that the probes use, the number that the project is built for.
MACHINES = 128
#: Steps of 24 frames played before a state is taken.
STEPS_IN = 40


def _median_seconds(call: Callable[[], object], calls: int) -> float:
    """Return the median time of one call, over batches of ``calls`` calls."""
    times = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls)
    return float(np.median(times))


def states(rom: str, seed: int) -> dict[str, float]:
    """Measure save, load, and reset of a whole batch from one state."""
    import hybridenv

    with hybridenv.GameBoyBatch(
        Path(rom).read_bytes(), MACHINES, frame_skip=HOLD_FRAMES, num_threads=1, seed=seed
    ) as batch:
        batch.reset()
        for row in Buttons(seed, MACHINES).take(STEPS_IN, HOLD_FRAMES):
            batch.step(np.array(row, np.uint8))
        state = batch.save_state(0)
        held = batch.save_states()
        everyone = np.ones(MACHINES, np.bool_)
        sources, targets = [0] * (MACHINES - 1), list(range(1, MACHINES))
        batch.set_start(state)
        return {
            "save_us": 1e6 * _median_seconds(lambda: batch.save_state(0), 200),
            "load_us": 1e6 * _median_seconds(lambda: batch.load_state(0, state), 200),
            "load_all_ms": 1e3 * _median_seconds(lambda: batch.load_states(held), 5),
            "copy_all_ms": 1e3 * _median_seconds(lambda: batch.copy(sources, targets), 5),
            "reset_all_ms": 1e3 * _median_seconds(lambda: batch.reset(mask=everyone), 5),
            "state_bytes": len(state),
        }


def pyboy_states(rom: str, seed: int) -> dict[str, float]:
    """Measure PyBoy's save and load."""
    from bench.cases import Work
    from bench.players import PyBoy

    player = PyBoy(Path(rom).read_bytes(), Work(1, HOLD_FRAMES, 1, 0), sound=True)
    player.play(Buttons(seed, 1).take(STEPS_IN, HOLD_FRAMES))
    machine = player.machines[0]
    file = io.BytesIO()

    def save() -> None:
        file.seek(0)
        machine.save_state(file)

    def load() -> None:
        file.seek(0)
        machine.load_state(file)

    result = {
        "save_us": 1e6 * _median_seconds(save, 3),
        "load_us": 1e6 * _median_seconds(load, 3),
        "state_bytes": file.tell(),
    }
    player.close()
    return result


def _resident_kib() -> float:
    """Return the memory of this process that is in RAM now, in KiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024


def memory(rom: str, seed: int) -> dict[str, float]:
    """Measure what each further machine of a batch costs, its step's results included."""
    import hybridenv

    image = Path(rom).read_bytes()

    def resident(machines: int) -> float:
        with hybridenv.GameBoyBatch(
            image, machines, frame_skip=HOLD_FRAMES, num_threads=1, seed=seed
        ) as batch:
            batch.reset()
            result = batch.step(np.zeros(machines, np.uint8))
            return _resident_kib() + 0 * len(result.obs)

    few, many = 64, 1088
    base = resident(few)
    return {"kib_per_machine": (resident(many) - base) / (many - few)}


def pyboy_memory(rom: str, seed: int) -> dict[str, float]:
    """Measure what each further PyBoy instance of a process costs."""
    from bench.cases import Work
    from bench.players import PyBoy

    image = Path(rom).read_bytes()
    few, many = 4, 36
    first = PyBoy(image, Work(few, HOLD_FRAMES, 1, 0), sound=True)
    first.play(Buttons(seed, few).take(1, HOLD_FRAMES))
    base = _resident_kib()
    more = PyBoy(image, Work(many - few, HOLD_FRAMES, 1, 0), sound=True)
    more.play(Buttons(seed, many - few).take(1, HOLD_FRAMES))
    grown = _resident_kib()
    first.close()
    more.close()
    return {"kib_per_machine": (grown - base) / (many - few)}


PROBES: dict[str, Callable[..., dict[str, Any]]] = {
    "states": states,
    "pyboy-states": pyboy_states,
    "memory": memory,
    "pyboy-memory": pyboy_memory,
}
