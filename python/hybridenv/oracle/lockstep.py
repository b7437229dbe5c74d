"""Play PyBoy and hybridenv side by side and compare them frame by frame.

Both sides get the same ROM and the same buttons, and after every frame the picture, the memories
and the clock are compared. ``profile="pyboy"`` is meant to be equal in all of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Self

import numpy as np

from hybridenv.batch import GameBoyBatch, Model, Profile
from hybridenv.errors import OracleError
from hybridenv.oracle.reference import PyBoySide, Snapshot


class Kind(StrEnum):
    """What is compared; a string too."""

    SCREEN = "screen"
    WRAM = "wram"
    HRAM = "hram"
    VRAM = "vram"
    OAM = "oam"
    REGISTERS = "registers"
    CLOCK = "clock"


#: What is compared, in the order in which a report names it.
KINDS = tuple(Kind)


def script(seed: int, frames: int) -> list[int]:
    """Return the buttons of a scripted player, one mask a frame.

    It holds random combinations for 2 to 40 frames each, with pauses, and presses Start now and
    then so that title screens are left.

    Args:
        seed: Seed; the same seed gives the same script everywhere.
        frames: Length of the script.
    """
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    masks: list[int] = []
    while len(masks) < frames:
        if rng.random() < 0.15:
            mask = 0x80  # Start
        elif rng.random() < 0.3:
            mask = 0
        else:
            mask = rng.choice((0, 1, 2, 4, 8)) | rng.choice((0, 0x10, 0x20))
        masks += [mask] * rng.randint(2, 40)
    return masks[:frames]


class HybridenvSide:
    """A batch of one machine.

    Args:
        rom: ROM image.
        profile: As of `hybridenv.GameBoyBatch`.
        model: As of `hybridenv.GameBoyBatch`.

    Raises:
        RomError: hybridenv refuses the ROM.
    """

    def __init__(self, rom: bytes, profile: Profile = "pyboy", model: Model = "auto") -> None:
        self.batch = GameBoyBatch(rom, 1, frame_skip=1, num_threads=1, profile=profile, model=model)
        self.batch.reset()
        self.color = self.batch.models[0] == "cgb"
        self._before = self.batch.save_states()

    def frame(self, mask: int) -> Snapshot:
        """Play one frame under ``mask``."""
        self._before = self.batch.save_states()
        self.batch.step(np.array([mask], np.uint8))
        memory, r = self.batch.memory(0), self.batch.registers(0)
        return Snapshot(
            screen=self.batch.screen("rgb")[0] >> 3 if self.color else self.batch.screen()[0],
            wram=bytes(memory[0xC000:0xE000]),
            hram=bytes(memory[0xFF80:0x10000]),
            vram=bytes(memory[0x8000:0xA000]),
            oam=bytes(memory[0xFE00:0xFEA0]),
            registers=bytes((r.a, r.f, r.b, r.c, r.d, r.e, r.h, r.l, r.sp >> 8, r.sp & 0xFF)),
            clock=int(self.batch.cycles[0]),
        )

    def trace(self, mask: int) -> list[tuple[int, ...]]:
        """Go back to the begin of the frame played last and return its instructions.

        Args:
            mask: The buttons that it was played under.

        Returns:
            The rows of `hybridenv.GameBoyBatch.trace_frame`.
        """
        self.batch.load_states(self._before)
        return [tuple(map(int, row)) for row in self.batch.trace_frame(0, mask)]

    def close(self) -> None:
        """Close the batch."""
        self.batch.close()


@dataclass(frozen=True)
class Difference:
    """One kind of state that differs after a frame.

    Attributes:
        frame: Frame number; 0 is the first that game code runs in.
        kind: One of `KINDS`.
        count: Bytes or pixels that differ (T-cycles for the clock).
        where: The first differing place, for a person.
        expected: PyBoy's value there.
        actual: The other side's value there.
    """

    frame: int
    kind: str
    count: int
    where: str
    expected: int
    actual: int

    def __str__(self) -> str:
        return (
            f"frame {self.frame}: {self.kind} differs in {self.count}, first at {self.where}: "
            f"PyBoy {self.expected:#x}, hybridenv {self.actual:#x}"
        )


_BASES = {"wram": 0xC000, "hram": 0xFF80, "vram": 0x8000, "oam": 0xFE00}
_REGISTERS = ("A", "F", "B", "C", "D", "E", "H", "L", "SP (high)", "SP (low)")


def compare(frame: int, expected: Snapshot, actual: Snapshot) -> list[Difference]:
    """Return what differs between the two sides after a frame, in the order of `KINDS`."""
    found = []
    wrong = np.argwhere(expected.screen != actual.screen)
    if len(wrong):
        y, x, *channel = (int(part) for part in wrong[0])
        found.append(
            Difference(
                frame,
                "screen",
                len({(int(y), int(x)) for y, x, *_ in wrong}),
                f"x={x} y={y}",
                int(expected.screen[y, x, *channel]),
                int(actual.screen[y, x, *channel]),
            )
        )
    for kind in (*_BASES, "registers"):
        ours: bytes | None = getattr(actual, kind)
        theirs: bytes | None = getattr(expected, kind)
        if ours is None or theirs is None or ours == theirs:
            continue
        places = [i for i, pair in enumerate(zip(theirs, ours, strict=True)) if len({*pair}) > 1]
        first = places[0]
        where = f"{_BASES[kind] + first:04X}" if kind in _BASES else _REGISTERS[first]
        found.append(Difference(frame, kind, len(places), where, theirs[first], ours[first]))
    if expected.clock != actual.clock:
        count = abs(expected.clock - actual.clock)
        found.append(Difference(frame, "clock", count, "T-cycles", expected.clock, actual.clock))
    return found


@dataclass
class Report:
    """How far the two sides agree over a script.

    Attributes:
        frames: Frames compared.
        equal: Frames in which each kind was equal.
        equal_all: Frames in which every kind was equal.
        first: First difference of each kind.
        pictures: Hashes of the oracle's distinct pictures, which show that something happened.
    """

    frames: int = 0
    equal: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    equal_all: int = 0
    first: dict[str, Difference] = field(default_factory=dict)
    pictures: set[int] = field(default_factory=set)

    def add(self, expected: Snapshot, differences: Sequence[Difference]) -> None:
        """Count one more frame, given the oracle's side and what differs from it."""
        self.frames += 1
        self.pictures.add(hash(expected.screen.tobytes()))
        self.equal_all += not differences
        kinds = {difference.kind for difference in differences}
        for kind in KINDS:
            self.equal[kind] += kind not in kinds
        for difference in differences:
            self.first.setdefault(difference.kind, difference)

    def percent(self, kind: str) -> float:
        """Return the share of frames in which ``kind`` was equal, in percent."""
        return 100 * self.equal[kind] / self.frames

    def __str__(self) -> str:
        equal = f"{self.equal_all} equal in everything"
        lines = [f"{self.frames} frames, {equal}, {len(self.pictures)} different pictures"]
        for kind in KINDS:
            text = f"  {kind:7}{self.percent(kind):7.2f} % equal"
            if kind in self.first:
                text += f"; {self.first[kind]}"
            lines.append(text)
        return "\n".join(lines)


class Lockstep:
    """Both sides, playing the same buttons.

    Args:
        rom: ROM image.
        masks: Buttons, one mask a frame.
        profile: hybridenv's profile.
        model: The console on both sides; ``"auto"`` is the one that the ROM asks for.

    Raises:
        RomError: hybridenv refuses the ROM.
        OracleError: PyBoy refuses the ROM.
        MissingDependencyError: PyBoy is not installed.
    """

    def __init__(
        self,
        rom: bytes,
        masks: Sequence[int],
        *,
        profile: Profile = "pyboy",
        model: Model = "auto",
    ) -> None:
        self.masks = masks
        self.actual = HybridenvSide(rom, profile, model)
        try:
            self.expected = PyBoySide(rom, color=self.actual.color)
        except BaseException:
            self.actual.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.expected.close()
        self.actual.close()

    def play(self) -> Iterator[tuple[Snapshot, Snapshot, list[Difference]]]:
        """Play the masks, yielding both sides and their differences after every frame.

        Raises:
            OracleError: The game runs into an undefined opcode, on which PyBoy would hang.
        """
        for frame, mask in enumerate(self.masks):
            actual = self.actual.frame(mask)
            if self.actual.batch.stuck[0]:
                raise OracleError(
                    f"frame {frame}: the game runs into an undefined opcode at "
                    f"PC={self.actual.batch.registers(0).pc:04X}, on which PyBoy never returns"
                )
            expected = self.expected.frame(mask)
            yield expected, actual, compare(frame, expected, actual)


def run(
    rom: bytes, masks: Sequence[int], *, profile: Profile = "pyboy", model: Model = "auto"
) -> Report:
    """Play both sides and return how far they agree.

    Args:
        rom: ROM image.
        masks: Buttons, one mask a frame.
        profile: hybridenv's profile.
        model: The console on both sides.

    Raises:
        RomError: hybridenv refuses the ROM.
        OracleError: PyBoy refuses the ROM, or would hang.
        MissingDependencyError: PyBoy is not installed.
    """
    report = Report()
    with Lockstep(rom, masks, profile=profile, model=model) as lockstep:
        for expected, _, differences in lockstep.play():
            report.add(expected, differences)
    return report
