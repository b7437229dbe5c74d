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
        from bench.jax_sides import SIDES, Work

        self.side = SIDES[side](Work(**work))
        begin = time.perf_counter()
        self.side.play()
        self.calls = math.ceil(MEASURE / (time.perf_counter() - begin))
        peer = side.partition("-")[0]
        package = peer if peer in ("gymnax", "torch") else "hybridenv"
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
