"""The sides of a measurement: each plays the same work and gives the pictures to Python.

Every class here runs inside its own worker process (`bench.worker`), so importing a peer can
neither slow down nor break another side.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bench.cases import Work

Masks = Sequence[Sequence[int]]


class Player(Protocol):
    """One side, set up and ready to play."""

    def play(self, masks: Masks) -> None:
        """Play one step per row of ``masks`` and make every machine's picture readable."""

    def close(self) -> None:
        """Release what the side holds."""


class Hybridenv:
    """This project's batch.

    Args:
        rom: ROM image.
        work: Machines, frame skip and threads.
        seed: Of the batch; `None` starts every machine alike.

    Raises:
        RuntimeError: The native module was built without optimisation.
    """

    def __init__(self, rom: bytes, work: Work, seed: int | None = 0) -> None:
        import hybridenv

        build = hybridenv.build_info()
        if build["profile"] != "release":
            raise RuntimeError(
                f"hybridenv._native: built with profile {build['profile']!r}, expected 'release' "
                "(`make build`); figures of a debug build mean nothing"
            )
        self.batch = hybridenv.GameBoyBatch(
            rom,
            work.machines,
            frame_skip=work.frame_skip,
            num_threads=work.threads,
            seed=seed,
        )
        self.batch.reset()

    def play(self, masks: Masks) -> None:
        """Play one step per row of ``masks``."""
        step = self.batch.step
        for row in np.asarray(masks, np.uint8):
            step(row)

    def close(self) -> None:
        """Close the batch."""
        self.batch.close()


class PyBoy:
    """PyBoy instances, stepped one after the other, or shared out over threads.

    Args:
        rom: ROM image.
        work: Instances, frame skip and threads.
        sound: Whether PyBoy emulates sound, its default.
    """

    def __init__(self, rom: bytes, work: Work, *, sound: bool) -> None:
        from hybridenv.oracle import reference

        self._press = reference.press
        self._frame_skip = work.frame_skip
        self.machines = []
        for _ in range(work.machines):
            # The console that the header asks for, as on the other sides.
            machine = reference.build_pyboy(rom, color=None, sound=sound)
            machine.tick(reference.BOOT_FRAMES, True)  # which the other sides do not play
            self.machines.append(machine)
        self._held = [0] * work.machines
        self._pool = ThreadPoolExecutor(work.threads) if work.threads > 1 else None
        self._checksum = 0

    def _step(self, index: int, mask: int) -> None:
        machine = self.machines[index]
        if self._held[index] != mask:
            self._press(machine, self._held[index], mask)
            self._held[index] = mask
        machine.tick(self._frame_skip, True)
        self._checksum ^= int(machine.screen.ndarray[72, 80, 0])

    def play(self, masks: Masks) -> None:
        """Play one step per row of ``masks``."""
        if self._pool is None:
            for row in masks:
                for index, mask in enumerate(row):
                    self._step(index, mask)
            return
        for row in masks:
            list(self._pool.map(self._step, range(len(row)), row))

    def close(self) -> None:
        """Stop the instances without writing `.ram` files."""
        for machine in self.machines:
            machine.stop(save=False)
        if self._pool is not None:
            self._pool.shutdown()


class Gambaterm:
    """libgambatte through the binding inside the package `gambaterm`, without its terminal.

    It has no way to leave out rendering, so only frame skip 1 is meaningful.
    """

    #: Bits of libgambatte in the order of the project's button mask.
    BITS = (0x10, 0x20, 0x40, 0x80, 0x01, 0x02, 0x04, 0x08)
    #: Samples of libgambatte's 2 MiHz clock in a frame.
    FRAME_SAMPLES = 35_112

    def __init__(self, rom: bytes, work: Work) -> None:
        from gambaterm.libgambatte import GB

        self._frame_skip = work.frame_skip
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name, "game.gb")
        path.write_bytes(rom)
        self.machines = []
        for _ in range(work.machines):
            machine = GB()
            machine.set_save_directory(self._folder.name)
            flags = machine.LoadFlag.NO_BIOS | machine.LoadFlag.READONLY_SAV
            if (code := machine.load(str(path), flags)) != 0:
                raise RuntimeError(f"libgambatte refused the ROM with code {code}")
            self.machines.append(machine)
        self._video = np.zeros((144, 160), np.uint32)
        self._audio = np.zeros((2 * self.FRAME_SAMPLES, 2), np.int16)

    def play(self, masks: Masks) -> None:
        """Play one step per row of ``masks``."""
        for row in masks:
            for machine, mask in zip(self.machines, row, strict=True):
                machine.set_input(sum(b for i, b in enumerate(self.BITS) if mask >> i & 1))
                for _ in range(self._frame_skip):
                    # A negative offset says that no frame was completed yet.
                    while machine.run_for(self._video, 160, self._audio, self.FRAME_SAMPLES)[0] < 0:
                        pass

    def close(self) -> None:
        """Drop the machines and their save folder."""
        self.machines.clear()
        self._folder.cleanup()


class StableRetro:
    """The gambatte core of `stable-retro`; it allows one machine a process, which plays it all."""

    #: Position of the project's button bits in the core's button list.
    POSITIONS = (7, 6, 4, 5, 8, 0, 2, 3)

    def __init__(self, rom: bytes, work: Work) -> None:
        import stable_retro

        self._frame_skip = work.frame_skip
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name, "game.gb")
        path.write_bytes(rom)
        self._machine: Any = stable_retro.RetroEmulator(str(path))

    def play(self, masks: Masks) -> None:
        """Play the streams one after the other, so that the frames add up to the same number."""
        pressed = np.zeros(9, np.uint8)
        machine = self._machine
        for stream in zip(*masks, strict=True):
            for mask in stream:
                pressed[list(self.POSITIONS)] = [mask >> bit & 1 for bit in range(8)]
                machine.set_button_mask(pressed, 0)
                for _ in range(self._frame_skip):
                    machine.step()
                    machine.get_screen()

    def close(self) -> None:
        """Drop the machine."""
        del self._machine
        self._folder.cleanup()


SIDES: dict[str, Callable[[bytes, Work], Player]] = {
    "hybridenv": Hybridenv,
    "hybridenv-unseeded": lambda rom, work: Hybridenv(rom, work, seed=None),
    "pyboy-silent": lambda rom, work: PyBoy(rom, work, sound=False),
    "pyboy": lambda rom, work: PyBoy(rom, work, sound=True),
    "gambaterm": Gambaterm,
    "stable-retro": StableRetro,
}

#: The package on PyPI that a side measures.
PACKAGES = {
    "hybridenv": "hybridenv",
    "hybridenv-unseeded": "hybridenv",
    "pyboy-silent": "pyboy",
    "pyboy": "pyboy",
    "gambaterm": "gambaterm",
    "stable-retro": "stable-retro",
}
