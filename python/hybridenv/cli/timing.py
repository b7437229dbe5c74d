"""Timing whole steps of a batch."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hybridenv.batch import build_info
from hybridenv.errors import HybridEnvError


def require_release() -> None:
    """Refuse to time a build whose figures would mean nothing.

    Raises:
        HybridEnvError: The native module was built without optimisation.
    """
    profile = build_info()["profile"]
    if profile != "release":
        raise HybridEnvError(
            f"hybridenv._native: got a {profile} build, expected a release build: "
            "maturin develop --release"
        )


@dataclass
class Rate:
    """Steps and the time they took.

    Attributes:
        n: Machines that one step moves.
        frame_skip: Frames that one step of one machine takes.
        steps: Steps run.
        seconds: Time they took, in seconds.
    """

    n: int
    frame_skip: int
    steps: int = 0
    seconds: float = 0.0

    @property
    def env_steps(self) -> float:
        """Steps of single machines in a second, all machines together."""
        return self.n * self.steps / self.seconds if self.steps else 0.0

    @property
    def frames(self) -> float:
        """Emulated frames in a second, all machines together."""
        return self.env_steps * self.frame_skip

    def run(self, step: Callable[[], object], seconds: float) -> Iterator[float]:
        """Run steps for a while and add them up.

        Args:
            step: Runs one step of all machines.
            seconds: How long; at least one step is run.

        Yields:
            The seconds spent since this call, after each step. What the caller does with them is
            off the clock.
        """
        spent = 0.0
        while spent < seconds:
            begin = time.perf_counter()
            step()
            took = time.perf_counter() - begin
            spent += took
            self.seconds += took
            self.steps += 1
            yield spent
