"""PyBoy doing the same job, for the comparison in `hybridenv demo`."""

import io
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

PYBOY_NAMES = ("right", "left", "up", "down", "a", "b", "select", "start")
"""PyBoy's names of the buttons, in the order of the bits of a mask."""

BOOT_FRAMES = 64
"""Frames that PyBoy completes inside its boot code; its 65th ends in the game, 3,992 clock cycles
after the game's first instruction. Source: measured on PyBoy 2.8.1."""


def pyboy_version() -> str | None:
    """Tell which PyBoy is installed.

    Returns:
        Its version, or `None` where there is none.
    """
    try:
        return version("pyboy")
    except PackageNotFoundError:
        return None


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its SDL binding reports which library it found
            from pyboy import PyBoy

        self._frame_skip = frame_skip
        self._machines: list[Any] = [
            PyBoy(io.BytesIO(rom), window="null", sound_emulated=False, log_level="CRITICAL")
            for _ in range(n)
        ]
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
        changed = self._held ^ masks
        self._held = masks

        def run_share(share: range) -> None:
            for i in share:
                machine = self._machines[i]
                for bit, name in enumerate(PYBOY_NAMES):
                    if changed[i] >> bit & 1:
                        press = masks[i] >> bit & 1
                        (machine.button_press if press else machine.button_release)(name)
                machine.tick(frames, True, False)
                _ = machine.screen.ndarray

        list(self._pool.map(run_share, self._shares))
