"""Pokémon Showdown as a process beside the tests: plays battles and tells everything about them."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.envs.pokemon.schema import ORACLE, load_schema
from tests.envs.pokemon.traces import Draws, Trace


class OracleFailedError(RuntimeError):
    """The oracle refused a request, or its process ended."""


def missing() -> str | None:
    """Say why the oracle cannot run here; ``None`` if it can."""
    if shutil.which("node") is None:
        return "Pokémon Showdown: node is not installed"
    if not (ORACLE / "node_modules" / "pokemon-showdown").is_dir():
        return "Pokémon Showdown: not installed in tests/oracle/showdown (`make showdown`)"
    return None


class Oracle:
    """A running process of the oracle.

    Raises:
        OracleFailedError: It does not start.
    """

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None:
            raise OracleFailedError(missing())
        self._process = subprocess.Popen(
            [node, str(ORACLE / "src" / "tracer.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Send one request and return its answer.

        Args:
            do: What to do: a method of `tracer.js`.
            **request: Its arguments.

        Raises:
            OracleFailedError: It refused, or it is gone.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise OracleFailedError("the oracle has no pipes")
        try:
            self._process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended: the empty answer says so
        line = self._process.stdout.readline()
        if not line:
            raise OracleFailedError(f"the oracle ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise OracleFailedError(answer["error"])
        return answer

    def play(self, name: str, **battle: Any) -> Trace:
        """Play one battle; see `playRequest` in `play.js` for what a battle is made of.

        Raises:
            OracleFailedError: It was refused, or Showdown failed and nobody asked for `partial`.
        """
        return trace_of(name, self.ask("play", **battle))

    def replay(self, name: str, text: str) -> Trace:
        """Play Showdown's input log to its end.

        Raises:
            OracleFailedError: It is not one, or its choices are not legal.
        """
        return trace_of(name, self.ask("replay", text=text))

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=10)
        if self._process.stdout is not None:
            self._process.stdout.close()


@contextmanager
def running() -> Iterator[Oracle]:
    """Run the oracle for a while."""
    oracle = Oracle()
    try:
        yield oracle
    finally:
        oracle.close()


def _numbers(text: str, dtype: str) -> npt.NDArray[Any]:
    return np.frombuffer(base64.b64decode(text), dtype)


def trace_of(name: str, answer: Mapping[str, Any]) -> Trace:
    """Read the oracle's answer.

    Args:
        name: What to call the battle.
        answer: What the oracle answered to ``play``.
    """
    schema = load_schema()
    draws = _numbers(answer["draws"], "<i4").astype(np.int64).reshape(-1, 5)
    sites, arguments, ranges, thresholds, values = draws.T
    return Trace(
        name,
        answer["source"],
        None if answer["seed"] is None else int(answer["seed"]),
        _numbers(answer["teams"], "<i4").reshape(2, 6, len(schema.header)),
        _numbers(answer["actions"], "<i4").astype(np.int8).reshape(-1, 2),
        _numbers(answer["rows"], "<i4").reshape(-1, schema.width),
        _numbers(answer["states"], "<u8"),
        Draws(
            _numbers(answer["counts"], "<i4").astype(np.int64),
            sites,
            arguments,
            ranges,
            thresholds.astype(bool),
            values,
        ),
        answer["failed"] or "",
    )
