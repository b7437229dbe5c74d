"""A side's own process: reads one JSON command a line, answers with one JSON object a line.

Commands and answers travel over two pipes whose file descriptors are the arguments, because
peers print to standard output. Started by `bench.measure.Worker` only.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TextIO

from bench.cases import Buttons, Work
from bench.players import PACKAGES, SIDES, Player


class Session:
    """What a worker holds between commands."""

    def __init__(self) -> None:
        self.player: Player | None = None
        self.work: Work | None = None
        self.buttons: Buttons | None = None

    def open(
        self, side: str, rom: str, work: dict[str, int], seed: int, first: int
    ) -> dict[str, Any]:
        """Set the side up, play the warm-up, and say which version of it runs."""
        self.work = Work(**work)
        self.buttons = Buttons(seed, self.work.machines, first)
        self.player = SIDES[side](Path(rom).read_bytes(), self.work)
        self.play(self.work.warm_up)
        return {"version": version(PACKAGES[side])}

    def play(self, steps: int) -> dict[str, float]:
        """Play ``steps`` steps; the seconds of CPU and of wall clock that they took."""
        if self.player is None or self.work is None or self.buttons is None:
            raise RuntimeError("play: no side is open")
        masks = self.buttons.take(steps, self.work.frame_skip)
        wall, cpu = time.perf_counter(), time.process_time()
        self.player.play(masks)
        return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}

    def probe(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Run a function of `bench.probes`."""
        from bench import probes

        return probes.PROBES[name](**arguments)

    def close(self) -> None:
        """Release the side."""
        if self.player is not None:
            self.player.close()
            self.player = None


class Closable(Protocol):
    """What answers commands: its methods take their arguments and return JSON objects."""

    def close(self) -> None:
        """Release what is held."""


def serve(session: Closable, arguments: list[str]) -> None:
    """Answer commands until the other end closes.

    Args:
        session: What answers them.
        arguments: File descriptors of the commands and of the answers.
    """
    with open(int(arguments[0])) as commands, open(int(arguments[1]), "w") as answers:
        _serve(session, commands, answers)


def _serve(session: Closable, commands: TextIO, answers: TextIO) -> None:
    for line in commands:
        command = json.loads(line)
        try:
            answer = getattr(session, command.pop("do"))(**command)
        except Exception as error:  # whatever a peer raises becomes the answer
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
    session.close()


if __name__ == "__main__":
    serve(Session(), sys.argv[1:])
