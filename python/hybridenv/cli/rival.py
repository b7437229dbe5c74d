"""PyBoy doing the same job, for the comparison in `hybridenv demo`."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hybridenv.oracle.reference import BOOT_FRAMES, build_pyboy, press


class PyBoyBatch:
    """n PyBoys stepped the way `hybridenv.GameBoyBatch` steps, as fast as PyBoy allows.

    Sound is off and only the last frame of a step is rendered. PyBoy lets go of Python's lock
    while it runs, so the machines are divided among threads.

    Args:
        rom: The ROM image.
        n: Number of machines.
        threads: Number of threads.
        frame_skip: Frames a step.
    """

    def __init__(self, rom: bytes, n: int, threads: int, frame_skip: int) -> None:
        self._frame_skip = frame_skip
        self._machines: list[Any] = [build_pyboy(rom, color=None, sound=False) for _ in range(n)]
        self._held = np.zeros(n, dtype=np.uint8)
        self._shares = [range(k, n, threads) for k in range(threads)]
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pool.shutdown()
        for machine in self._machines:
            machine.stop(save=False)

    def play(self, script: Iterable[tuple[int, int]]) -> None:
        """Wait for PyBoy's boot code to end, then hold the same buttons on every machine.

        Args:
            script: Button masks, each with a number of frames.
        """
        self._run(np.zeros_like(self._held), BOOT_FRAMES)
        for mask, frames in script:
            self._run(np.full_like(self._held, mask), frames)

    def step(self, masks: NDArray[np.uint8]) -> None:
        """Hold buttons on every machine for a step and read every screen.

        Args:
            masks: uint8[n] of button masks.
        """
        self._run(masks, self._frame_skip)

    def screens(self) -> NDArray[np.uint8]:
        """Read every screen.

        Returns:
            uint8[n, 144, 160], brightness from 0 to 255.
        """
        return np.stack([machine.screen.ndarray[..., 0] for machine in self._machines])

    def _run(self, masks: NDArray[np.uint8], frames: int) -> None:
        held, self._held = self._held, masks

        def run_share(share: range) -> None:
            for i in share:
                machine = self._machines[i]
                press(machine, int(held[i]), int(masks[i]))
                machine.tick(frames, True, False)
                _ = machine.screen.ndarray

        list(self._pool.map(run_share, self._shares))
