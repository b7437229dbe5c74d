"""What is measured: the games, the buttons and the amount of work, all fixed.

A case never depends on the speed of a side: every side of a case emulates the same number of
frames of the same game under the same buttons.
"""

from __future__ import annotations

import hashlib
import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

ROOT = Path(__file__).resolve().parent.parent

#: Where `make` installs the peers that are not development dependencies.
PEERS = ROOT / ".venv-peers" / "bin" / "python"

#: Frames for which one choice of buttons is held.
HOLD_FRAMES = 24

# Bits of a button mask, as `hybridenv.GameBoyBatch.step` documents them.
RIGHT, LEFT, UP, DOWN, A, B, SELECT, START = (1 << bit for bit in range(8))

#: What a random player presses, with how often. Start is frequent enough to leave title screens.
BUTTON_CHOICES: tuple[tuple[int, int], ...] = (
    (0, 3),
    (RIGHT, 3),
    (LEFT, 3),
    (UP, 2),
    (DOWN, 2),
    (A, 3),
    (B, 2),
    (RIGHT | A, 2),
    (LEFT | A, 2),
    (RIGHT | B, 1),
    (LEFT | B, 1),
    (START, 2),
    (SELECT, 1),
)


#: Games whose speed is averaged.
Group: TypeAlias = Literal["dmg", "cgb"]


@dataclass(frozen=True)
class Game:
    """A game to measure with.

    Attributes:
        name: Title shown in tables.
        path: Where the ROM lies.
        sha256: Expected hash of the ROM in hexadecimal, or ``None`` for the embedded game, whose
            bytes are part of this repository already.
        group: Which geometric mean counts this game: that of the monochrome games ("dmg"), of those
            for the Color ("cgb"), or none.
    """

    name: str
    path: Path
    sha256: str | None
    group: Group | None

    def read(self) -> bytes:
        """Return the ROM after checking its hash.

        Raises:
            FileNotFoundError: The ROM is not there.
            ValueError: The file is not the ROM that the case was defined with.
        """
        rom = self.path.read_bytes()
        found = hashlib.sha256(rom).hexdigest()
        if self.sha256 is not None and found != self.sha256:
            raise ValueError(f"{self.path}: SHA-256 is {found}, the case expects {self.sha256}")
        return rom


@dataclass(frozen=True)
class Work:
    """The amount of work of one measurement.

    Attributes:
        machines: Machines that a side plays side by side, each with its own buttons.
        frame_skip: Frames emulated a step; only the last one is rendered.
        steps: Steps that one measurement takes.
        warm_up: Steps before the first measurement.
        threads: Threads (or processes) of the side.
    """

    machines: int
    frame_skip: int
    steps: int
    warm_up: int
    threads: int = 1

    @property
    def frames(self) -> int:
        """Emulated frames of one measurement, all machines together."""
        return self.machines * self.frame_skip * self.steps


def shared_folder() -> Path:
    """Return the folder of third-party data: ``$HYBRIDENV_SHARED``, or ``../shared``."""
    return Path(os.environ.get("HYBRIDENV_SHARED") or ROOT.parent / "shared")


def games() -> list[Game]:
    """Return every game that cases are defined for, whether or not its ROM is at hand."""
    folder = shared_folder() / "data" / "gameboy" / "games"
    listed = [
        Game(name, folder / path, sha256, "cgb" if path.endswith(".gbc") else "dmg")
        for name, path, sha256 in (
            (
                "Tobu Tobu Girl",
                "tobutobugirl/tobu.gb",
                "5d3871cae77db2287807e8914fd21f76203e73aa3fec20955489d45cb4571d8f",
            ),
            (
                "2048",
                "2048gb/2048.gb",
                "3ea2376b15b34bd26b10e6b31d2753bf8b086098dbdb5ee84d9c0f03d66d3d7f",
            ),
            (
                "Shock Lobster",
                "shock-lobster/shocklobster.gb",
                "f14efd0340903b1b00d7e8b4b39687d4bc33355ac7742267ccfddfe92f54a611",
            ),
            (
                "Porklike",
                "porklike-gb/porklike.gb",
                "d4ee86833a580c92aa789aef03407b90a6cc6eb27e70d3477c41c970d0cf3f11",
            ),
            (
                "Renegade Rush",
                "renegade-rush/RenegadeRush.gb",
                "0511a3de1bb59a5bd8bcf4e1463df7ea03a2aae66f30542b85ee51aa25f527a6",
            ),
            (
                "Rebound",
                "rebound/Rebound.gbc",
                "195765b8ca3b0fb7d37b7b92d0242d6c7e01ec71f27f93e565fa081e449cbb92",
            ),
            (
                "GBHack",
                "gbhack/gbhack.gbc",
                "f93a27e8b6272771bbba96105a2754f27ffc3f8317d71c063bdbd60dd0d74527",
            ),
        )
    ]
    embedded = sorted((ROOT / "python" / "hybridenv" / "data").glob("*.gb"))
    listed += [Game("embedded game", path, None, group=None) for path in embedded]
    return listed


class Buttons:
    """Random players, one a machine: whatever they press they hold for `HOLD_FRAMES` frames.

    The stream of a machine depends on the seed and the machine's number alone, so every side of
    a case sees the same one.

    Args:
        seed: Seed of the case.
        machines: How many streams.
        first: Number of the first machine, where processes share the machines of a side.
    """

    def __init__(self, seed: int, machines: int, first: int = 0) -> None:
        self._masks, self._weights = zip(*BUTTON_CHOICES, strict=True)
        numbers = range(first, first + machines)
        self._players = [random.Random(f"{seed}/{number}") for number in numbers]  # noqa: S311
        self._held: list[int] = []
        self._frame = 0

    def take(self, steps: int, frame_skip: int) -> list[list[int]]:
        """Return the masks of the next ``steps`` steps, as ``[step][machine]``."""
        taken = []
        for _ in range(steps):
            if self._frame % HOLD_FRAMES < frame_skip or not self._held:
                self._held = [p.choices(self._masks, self._weights)[0] for p in self._players]
            taken.append(self._held)
            self._frame += frame_skip
        return taken
