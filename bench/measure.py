"""Workers under a watchdog, interleaved repeats, and the statistics of their ratios."""

from __future__ import annotations

import json
import os
import select
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from bench.cases import ROOT, Work

#: Seconds after which a worker that says nothing is stopped.
WATCHDOG = 300.0


class SideFailedError(RuntimeError):
    """A side cannot be measured: it is not installed, it raised, or it went silent."""


class Worker:
    """A process of its own that measures one side.

    Args:
        python: Interpreter to run it with; peers live in a virtual environment of their own.
        module: What it runs: `bench.worker`, or another module that answers like it.
        environment: Variables to add to this process's.

    Raises:
        SideFailedError: The interpreter does not start.
    """

    def __init__(
        self,
        python: Path,
        module: str = "bench.worker",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        command_read, command_write = os.pipe()
        answer_read, answer_write = os.pipe()
        # A file: a pipe that nobody reads would fill up.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        try:
            self._process = subprocess.Popen(
                [str(python), "-m", module, str(command_read), str(answer_write)],
                cwd=ROOT,
                pass_fds=(command_read, answer_write),
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                env={**os.environ, "PYTHONWARNINGS": "ignore", **(environment or {})},
            )
        except OSError as error:
            os.close(command_write)
            os.close(answer_read)
            self._stderr.close()
            raise SideFailedError(f"{python} does not start: {error}") from None
        finally:
            os.close(command_read)
            os.close(answer_write)
        self._commands = os.fdopen(command_write, "w")
        self._answers = os.fdopen(answer_read)

    def send(self, do: str, **arguments: Any) -> None:
        """Send a command without waiting for its answer.

        Raises:
            SideFailedError: The process is gone.
        """
        try:
            print(json.dumps({"do": do, **arguments}), file=self._commands, flush=True)
        except BrokenPipeError:
            raise SideFailedError(self._last_words()) from None

    def answer(self, patience: float | None = None) -> dict[str, Any]:
        """Wait for the answer to the command sent last.

        Args:
            patience: Seconds to wait; `None` takes `WATCHDOG`.

        Raises:
            SideFailedError: The worker raised, died or stayed silent for so long.
        """
        patience = patience or WATCHDOG
        if not select.select([self._answers], [], [], patience)[0]:
            self._process.kill()
            raise SideFailedError(f"no answer within {patience:.0f} s")
        line = self._answers.readline()
        if not line:
            raise SideFailedError(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise SideFailedError(answer["error"])
        return answer

    def _last_words(self) -> str:
        status = self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "no message")
        return f"worker ended with status {status}: {last}"

    def close(self) -> None:
        """End the process."""
        self._commands.close()
        self._answers.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()


@dataclass(frozen=True)
class Plan:
    """How one side of a case is played.

    Attributes:
        side: Key of `bench.players.SIDES`.
        work: Machines, frame skip, steps and threads of the side, all processes together.
        processes: Worker processes that share the machines out.
    """

    side: str
    work: Work
    processes: int = 1


class Side:
    """The workers of one plan, opened and warmed up.

    Args:
        plan: What to play.
        rom: ROM file.
        seed: Seed of the buttons.
        python: Interpreter for the workers.

    Raises:
        SideFailedError: The side cannot be opened.
    """

    def __init__(self, plan: Plan, rom: Path, seed: int, python: Path) -> None:
        self.plan = plan
        machines = plan.work.machines // plan.processes
        share = asdict(plan.work) | {"machines": machines, "threads": 1}
        if plan.processes == 1:
            share["threads"] = plan.work.threads
        self._workers = [Worker(python) for _ in range(plan.processes)]
        try:
            for number, worker in enumerate(self._workers):
                first = number * machines
                worker.send(
                    "open", side=plan.side, rom=str(rom), work=share, seed=seed, first=first
                )
            opened = [worker.answer() for worker in self._workers]
            self.version: str = opened[0]["version"]
        except SideFailedError:
            self.close()
            raise

    def play(self) -> dict[str, float]:
        """Play one measurement; CPU seconds add up over processes, wall seconds are the longest."""
        for worker in self._workers:
            worker.send("play", steps=self.plan.work.steps)
        answers = [worker.answer() for worker in self._workers]
        return {
            "cpu": sum(answer["cpu"] for answer in answers),
            "wall": max(answer["wall"] for answer in answers),
        }

    def rate(self, clock: str) -> float:
        """Play one measurement; emulated frames a second by a clock."""
        return self.plan.work.frames / self.play()[clock]

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.close()


@dataclass
class Measured:
    """Result of a case.

    Attributes:
        clock: ``"cpu"`` or ``"wall"``, whichever the rates are counted by.
        rates: Work a second of each side (emulated frames, or steps), one value a repeat.
        versions: Version of each side's package.
        absent: Why a side has no rates.
    """

    clock: str
    rates: dict[str, list[float]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def ratio(self, over: str, under: str) -> dict[str, float] | None:
        """Return the spread of one side's rate over another's, repeat by repeat.

        The two sides of a repeat ran directly after one another, so a machine that slows down
        for a while changes both.
        """
        if over not in self.rates or under not in self.rates:
            return None
        pairs = zip(self.rates[over], self.rates[under], strict=True)
        return spread([a / b for a, b in pairs])


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the extremes and the middle half of ``values``."""
    quarters = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else []
    return {
        "median": statistics.median(values),
        "min": min(values),
        "max": max(values),
        "q1": quarters[0] if quarters else values[0],
        "q3": quarters[2] if quarters else values[0],
    }


class Opened(Protocol):
    """A side that is ready to be measured."""

    version: str

    def rate(self, clock: str) -> float:
        """Play one measurement; the work a second by a clock."""

    def close(self) -> None:
        """Release what the side holds."""


def take_turns(
    result: Measured, sides: Mapping[str, Callable[[], Opened]], *, repeats: int
) -> None:
    """Measure every side ``repeats`` times, one after the other in each repeat.

    A side that fails has no rates; `Measured.absent` says why.

    Args:
        result: Where the rates go.
        sides: What opens each side, by the name that the result uses.
        repeats: Measurements of each side.
    """
    open_sides: dict[str, Opened] = {}
    try:
        for name, start in sides.items():
            try:
                open_sides[name] = start()
                result.versions[name] = open_sides[name].version
                result.rates[name] = []
            except SideFailedError as error:
                result.absent[name] = str(error)
        for _ in range(repeats):
            for name, side in list(open_sides.items()):
                try:
                    rate = side.rate(result.clock)
                except SideFailedError as error:
                    result.absent[name] = str(error)
                    del result.rates[name]
                    open_sides.pop(name).close()
                    continue
                result.rates[name].append(rate)
    finally:
        for side in open_sides.values():
            side.close()


def interleave(
    plans: Mapping[str, Plan],
    rom: Path,
    *,
    repeats: int,
    clock: str,
    seed: int,
    pythons: Mapping[str, Path],
) -> Measured:
    """Play every plan ``repeats`` times, one after the other in each repeat.

    Args:
        plans: Plan of each side, by the name that the result uses.
        rom: ROM file.
        repeats: Measurements of each side.
        clock: ``"cpu"`` or ``"wall"``.
        seed: Seed of the buttons, the same for every side.
        pythons: Interpreter for each side's workers, by `Plan.side`.
    """
    result = Measured(clock)
    sides = {
        name: partial(Side, plan, rom, seed, pythons[plan.side]) for name, plan in plans.items()
    }
    take_turns(result, sides, repeats=repeats)
    return result
