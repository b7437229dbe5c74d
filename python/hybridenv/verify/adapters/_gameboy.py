"""Game Boys as two sides of one task: PyBoy is the judge, `GameBoyBatch` the candidate.

Both start in the same frame, draw the last frame of each step, and show it and, in their infos, all
of work RAM and high RAM.
The reference evaluates the task in Python from what `hybridenv.task` says, the candidate in the
native module. A seed is written into the fields that the task randomises, the same on both.
"""

import io
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hybridenv.batch import GameBoyBatch, Profile
from hybridenv.cartridge import read_images
from hybridenv.gym.actions import DEFAULT_ACTIONS, ActionTable
from hybridenv.oracle.reference import BOOT_FRAMES, build_pyboy, press, shades_of
from hybridenv.task import Compare, Delta, Field, Task, Term
from hybridenv.tasks import POLAR_POST
from hybridenv.verify._target import Seen

WRAM = (0xC000, 0xE000)
HRAM = (0xFF80, 0xFFFF)


class _Game:
    """What both sides share: spaces, and what a seed writes.

    Args:
        rom: Path of a ROM; `None` plays the embedded game.
        frame_skip: Frames a step.
        max_steps: Truncate episodes after so many steps; `None` leaves it to the task.
        memory: Show work RAM and high RAM in infos, which takes PyBoy half as long as 12 frames.
    """

    def __init__(
        self,
        rom: str | None = None,
        frame_skip: int = 24,
        max_steps: int | None = None,
        memory: bool = True,
    ) -> None:
        [self.image] = read_images(None if rom is None else Path(rom), 1)
        task = POLAR_POST if rom is None else Task()
        if max_steps is not None:
            task = replace(task, max_steps=max_steps)
        self.seeded = [task.fields[name] for name in task.randomize]
        self.task = replace(task, randomize=(), info=tuple(task.fields))
        self.frame_skip = frame_skip
        self.areas = {"wram": WRAM, "hram": HRAM} if memory else {}
        self.table = ActionTable(DEFAULT_ACTIONS)
        self.action_space = self.table.space
        self.observation_space = spaces.Box(0, 3, (144, 160), np.uint8)
        self._rng = np.random.default_rng(0)

    def draws(self, seed: int | None) -> Iterable[tuple[int, int]]:
        """Yield address and byte of what the next start writes."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        for field in self.seeded:
            number = int(self._rng.integers(1, 256**field.size))
            for i, byte in enumerate(number.to_bytes(field.size, field.byteorder)):
                yield field.address + i, byte

    def mask(self, action: Any) -> int:
        """The buttons of an action."""
        return int(self.table.to_buttons(np.asarray([action]), 1)[0])


class HybridenvGame(_Game):
    """The candidate: a batch of one machine that follows PyBoy.

    Args:
        **options: As for `_Game`.
    """

    profile: Profile = "pyboy"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.batch = GameBoyBatch(
            self.image,
            1,
            frame_skip=self.frame_skip,
            num_threads=1,
            profile=self.profile,
            model="dmg",
            task=self.task,
        )

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        del options
        picture = self.batch.reset()[0]
        for address, byte in self.draws(seed):
            self.batch.write_memory(0, address, byte)
        return picture, self._memory()

    def step(self, action: Any) -> Seen:
        """Play one step."""
        seen = self.batch.step(np.array([self.mask(action)], np.uint8))
        info = self._memory() | {name: int(column[0]) for name, column in seen.info.items()}
        flags = bool(seen.terminated[0]), bool(seen.truncated[0])
        return seen.obs[0], seen.reward[0], *flags, info

    def close(self) -> None:
        """Free the machine."""
        self.batch.close()

    def _memory(self) -> dict[str, NDArray[np.uint8]]:
        memory = self.batch.memory(0) if self.areas else b""
        return {
            name: np.frombuffer(bytes(memory[low:high]), np.uint8)
            for name, (low, high) in self.areas.items()
        }


class PyBoyGame(_Game):
    """The reference: PyBoy, and the task evaluated in Python.

    Args:
        **options: As for `_Game`.

    Raises:
        MissingDependencyError: PyBoy is not installed.
        OracleError: PyBoy refuses the ROM.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.emulator = build_pyboy(self.image, color=False, sound=True)
        self._held = 0
        for _ in range(BOOT_FRAMES):
            self.emulator.tick(1, True)
        for buttons, frames in (*self.task.start, *self.task.opening):
            self._frames(int(buttons), frames)
        self._hold(0)
        start = io.BytesIO()
        self.emulator.save_state(start)
        self._start = start.getvalue()
        self._steps = 0
        self._before: dict[str, int] = {}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        del options
        self._hold(0)
        self.emulator.load_state(io.BytesIO(self._start))
        for address, byte in self.draws(seed):
            self.emulator.memory[address] = byte
        self._steps, self._before = 0, self._fields()
        return self._picture(), self._memory()

    def step(self, action: Any) -> Seen:
        """Play one step."""
        self._frames(self.mask(action), self.frame_skip)
        self._steps += 1
        before, now = self._before, self._fields()
        self._before = now
        reward = np.float32(sum((_pays(term, before, now) for term in self.task.reward), 0.0))
        terminated = any(_holds(test, before, now) for test in self.task.terminated)
        late = self.task.max_steps is not None and self._steps >= self.task.max_steps
        truncated = late or any(_holds(test, before, now) for test in self.task.truncated)
        return self._picture(), reward, terminated, truncated, self._memory() | now

    def close(self) -> None:
        """Stop PyBoy without writing a `.ram` file."""
        self.emulator.stop(save=False)

    def _frames(self, mask: int, frames: int) -> None:
        self._hold(mask)
        self.emulator.tick(frames, True)

    def _hold(self, mask: int) -> None:
        press(self.emulator, self._held, mask)
        self._held = mask

    def _picture(self) -> NDArray[np.uint8]:
        return shades_of(self.emulator.screen.ndarray)

    def _memory(self) -> dict[str, NDArray[np.uint8]]:
        memory = self.emulator.memory
        return {
            name: np.array(memory[low:high], np.uint8) for name, (low, high) in self.areas.items()
        }

    def _fields(self) -> dict[str, int]:
        return {name: self._number(field) for name, field in self.task.fields.items()}

    def _number(self, field: Field) -> int:
        memory = self.emulator.memory
        data = bytes(memory[field.address + i] for i in range(field.size))
        if field.kind == "bcd":
            digits = data if field.byteorder == "big" else data[::-1]
            number = 0
            for byte in digits:
                number = number * 100 + (byte >> 4) * 10 + (byte & 15)
            return number
        number = int.from_bytes(data, field.byteorder, signed=field.kind == "int")
        return number >> (field.bit or 0) & 1 if field.kind == "bit" else number


def _pays(term: Term, before: Mapping[str, int], now: Mapping[str, int]) -> float:
    """What a term of a reward pays, in double precision."""
    if isinstance(term, Delta):
        change = float(now[term.field] - before[term.field])
        low = -np.inf if term.low is None else term.low
        high = np.inf if term.high is None else term.high
        return float(min(max(change, low), high)) * term.weight
    if isinstance(term, Compare):
        return term.weight if _holds(term, before, now) else 0.0
    return now[term.field] * term.weight


def _holds(test: Compare, before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    value, old = now[test.field], before[test.field]
    answers = {
        "==": value == test.value,
        "!=": value != test.value,
        "<": value < test.value,
        "<=": value <= test.value,
        ">": value > test.value,
        ">=": value >= test.value,
        "changed": value != old,
        "increased": value > old,
        "decreased": value < old,
    }
    return answers[test.op]
