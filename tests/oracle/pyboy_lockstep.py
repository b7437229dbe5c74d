"""Play PyBoy and ``profile="pyboy"`` side by side and compare them frame by frame.

PyBoy 2.8.1 is the oracle of that profile: both sides get the same ROM and the same scripted
buttons, and after every frame the picture, the memories and the clock are compared.

Traps of the oracle that this module steps around:

- With sound off, PyBoy reads 0 from every sound register, so sound is emulated.
- The first frame that an instance ever renders has the window one line off; PyBoy's boot frames
  are rendered, so that frame is one of them.
- ``start_game()`` of PyBoy's game wrappers randomises DIV; it is never called.
- PyBoy refuses a wrong header checksum; `OracleRefused` says so.
- While OAM DMA runs, PyBoy's memory view reads FF from all of OAM, which is then left out of
  the comparison (`Snapshot.oam` is ``None``).
"""

from __future__ import annotations

import io
import random
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

#: The release that the profile reproduces.
PYBOY_VERSION = "2.8.1"

#: Frames that PyBoy completes inside its own boot code. The next one ends in the game, and is
#: the first that both sides play.
BOOT_FRAMES = 64

#: T-cycles since power-on at which PyBoy's boot code jumps to the game.
BOOT_CYCLES = 4_507_360

#: What is compared, in the order in which a report names it.
KINDS = ("screen", "wram", "hram", "vram", "oam", "clock")

#: PyBoy's names of the buttons, in the order of the project's bit mask.
BUTTONS = ("right", "left", "up", "down", "a", "b", "select", "start")

Shades = npt.NDArray[np.uint8]

# Header byte that says whether a game knows the Color.
_COLOR_FLAG = 0x143

# Red channel of PyBoy's default palette (FFFFFF, 999999, 555555, 000000) to shade.
_SHADE_OF_RED = np.full(256, 255, np.uint8)
_SHADE_OF_RED[[0xFF, 0x99, 0x55, 0x00]] = (0, 1, 2, 3)


class OracleRefused(ValueError):  # noqa: N818 - reads as what happened
    """PyBoy does not accept the ROM."""


@dataclass(frozen=True)
class Snapshot:
    """What one side shows after a frame.

    Attributes:
        screen: uint8[144, 160], shades 0 (lightest) to 3; of a Game Boy Color uint8[144, 160, 3],
            five bits each of red, green and blue.
        wram: 8 KiB from C000.
        hram: FF80 to FFFF, IE included.
        vram: 8 KiB from 8000.
        oam: 160 bytes, or ``None`` while it cannot be read.
        clock: T-cycles of the processor since power-on.
    """

    screen: Shades
    wram: bytes
    hram: bytes
    vram: bytes
    oam: bytes | None
    clock: int


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


def for_color(rom: bytes) -> bool:
    """Return whether both sides run a ROM on the Game Boy Color."""
    return rom[_COLOR_FLAG] & 0x80 != 0


class PyBoySide:
    """PyBoy, from the first frame that its game code runs in.

    Args:
        rom: ROM image.
        color: Whether to run it on the Game Boy Color; by default as the header asks for.

    Raises:
        OracleRefused: PyBoy does not accept the ROM.
    """

    def __init__(self, rom: bytes, color: bool | None = None) -> None:
        self._color = for_color(rom) if color is None else color
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its import of SDL warns
            import pyboy

        try:
            self.emulator: Any = pyboy.PyBoy(
                io.BytesIO(rom),
                window="null",
                sound_emulated=True,
                cgb=self._color,
                log_level="ERROR",
            )
        except Exception as error:
            raise OracleRefused(f"PyBoy {PYBOY_VERSION} refuses the ROM: {error}") from error
        self.emulator.set_emulation_speed(0)
        self._held = 0
        for _ in range(BOOT_FRAMES):
            self.emulator.tick(1, True)

    def press(self, mask: int) -> None:
        """Hold exactly the buttons of ``mask``; PyBoy applies them as the next frame begins."""
        changed = self._held ^ mask
        for bit, name in enumerate(BUTTONS):
            if changed >> bit & 1:
                emulator = self.emulator
                (emulator.button_press if mask >> bit & 1 else emulator.button_release)(name)
        self._held = mask

    def frame(self, mask: int) -> Snapshot:
        """Play one frame under ``mask``."""
        self.press(mask)
        self.emulator.tick(1, True)
        memory = self.emulator.memory
        oam = bytes(memory[0xFE00:0xFEA0])
        pixels = self.emulator.screen.ndarray
        return Snapshot(
            screen=pixels[:, :, :3] >> 3 if self._color else _SHADE_OF_RED[pixels[:, :, 0]],
            wram=bytes(memory[0xC000:0xE000]),
            hram=bytes(memory[0xFF80:0x10000]),
            vram=bytes(memory[0x8000:0xA000]),
            oam=None if oam.count(0xFF) == len(oam) else oam,
            clock=self.emulator._cycles(),
        )

    def close(self) -> None:
        """Stop PyBoy without writing a `.ram` file."""
        self.emulator.stop(save=False)


class HybridenvSide:
    """A batch of one machine with ``profile="pyboy"``.

    Args:
        rom: ROM image.
        color: Whether to run it on the Game Boy Color; by default as the header asks for.
    """

    def __init__(self, rom: bytes, color: bool | None = None) -> None:
        import hybridenv

        self._color = for_color(rom) if color is None else color
        self.batch = hybridenv.GameBoyBatch(
            rom,
            1,
            frame_skip=1,
            obs="rgb" if self._color else "shades",
            num_threads=1,
            profile="pyboy",
            model="cgb" if self._color else "dmg",
        )
        self.batch.reset()

    def frame(self, mask: int) -> Snapshot:
        """Play one frame under ``mask``."""
        result = self.batch.step(np.array([mask], np.uint8))
        memory = self.batch.memory(0)
        return Snapshot(
            screen=result.obs[0] >> 3 if self._color else result.obs[0],
            wram=bytes(memory[0xC000:0xE000]),
            hram=bytes(memory[0xFF80:0x10000]),
            vram=bytes(memory[0x8000:0xA000]),
            oam=bytes(memory[0xFE00:0xFEA0]),
            clock=int(self.batch.cycles[0]),
        )

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
                len(wrong),
                f"x={x} y={y}",
                int(expected.screen[y, x, *channel]),
                int(actual.screen[y, x, *channel]),
            )
        )
    for kind, base in _BASES.items():
        ours: bytes | None = getattr(actual, kind)
        theirs: bytes | None = getattr(expected, kind)
        if ours is None or theirs is None or ours == theirs:
            continue
        places = [i for i, pair in enumerate(zip(theirs, ours, strict=True)) if len({*pair}) > 1]
        first = places[0]
        found.append(
            Difference(frame, kind, len(places), f"{base + first:04X}", theirs[first], ours[first])
        )
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
    """Both sides, playing the same script.

    Args:
        rom: ROM image.
        seed: Seed of the `script`.
        frames: How many frames to play.
        color: Whether to run it on the Game Boy Color; by default as the header asks for.
    """

    def __init__(self, rom: bytes, seed: int, frames: int, color: bool | None = None) -> None:
        self.masks = script(seed, frames)
        self.expected = PyBoySide(rom, color)
        self.actual = HybridenvSide(rom, color)

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
        """Play the script, yielding both sides and their differences after every frame."""
        for frame, mask in enumerate(self.masks):
            expected, actual = self.expected.frame(mask), self.actual.frame(mask)
            yield expected, actual, compare(frame, expected, actual)


def run(rom: bytes, seed: int, frames: int, color: bool | None = None) -> Report:
    """Play a script on both sides and return how far they agree."""
    report = Report()
    with Lockstep(rom, seed, frames, color) as lockstep:
        for expected, _, differences in lockstep.play():
            report.add(expected, differences)
    return report
