"""The process of a side that is a JAX program; `bench.measure.Worker` starts it."""

from __future__ import annotations

import math
import os
import sys
import time
from importlib.metadata import version
from typing import Any

from bench.worker import serve

#: Seconds that one measurement takes at least.
MEASURE = 0.5

#: What is installed for a side, by how its name begins; every other side is ours.
PEERS = {
    "gymnax": "gymnax",
    "torch": "torch",
    "mujoco": "mujoco",
    "gymnasium": "gymnasium",
    "mjx": "mujoco-mjx",
    "brax": "brax",
}


def peer(side: str) -> str | None:
    """Return the package whose side it is; `None` for one of ours."""
    return PEERS.get(side.partition("-")[0])


class Session:
    """What the worker holds between commands."""

    def __init__(self) -> None:
        self.side: Any = None
        self.calls = 0

    def open(self, side: str, work: dict[str, int], cores: int) -> dict[str, Any]:
        """Compile the side, see how long a call takes, and say what runs."""
        if cores and hasattr(os, "sched_setaffinity"):  # before JAX starts its threads
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
        import jax

        if work["devices"] != 1:
            jax.config.update("jax_num_cpu_devices", work["devices"])  # type: ignore[no-untyped-call]
        from bench import jax_sides, locomotion_sides, pokemon_sides

        sides = {**jax_sides.SIDES, **locomotion_sides.SIDES, **pokemon_sides.SIDES}
        self.side = sides[side](jax_sides.Work(**work))
        begin = time.perf_counter()
        self.side.play()
        self.calls = math.ceil(MEASURE / (time.perf_counter() - begin))
        package = peer(side) or "hybridenv"
        return {
            "version": f"{package} {version(package)}",
            "jax": version("jax"),
            "compile_seconds": self.side.compile_seconds,
        }

    def play(self) -> dict[str, float]:
        """Play one measurement: how many calls, and the seconds of wall clock and of CPU."""
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(self.calls):
            self.side.play()
        return {
            "calls": self.calls,
            "wall": time.perf_counter() - wall,
            "cpu": time.process_time() - cpu,
        }

    def close(self) -> None:
        """Let go of the side."""
        self.side = None


if __name__ == "__main__":
    serve(Session(), sys.argv[1:])
