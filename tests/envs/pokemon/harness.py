"""Replays recorded battles in an engine and names the first thing that is different."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from tests.envs.pokemon.schema import load_schema
from tests.envs.pokemon.traces import Trace


@dataclass(frozen=True)
class DrawnIn:
    """What an engine drew in one step of many battles, in program order.

    Attributes:
        sites: Names of the sites, one for each draw of the program.
        made: bool[draws, battles], whether a battle made the draw.
        values: int[draws, battles], what was drawn.
    """

    sites: Sequence[str]
    made: npt.NDArray[np.bool_]
    values: npt.NDArray[Any]

    def of(self, battle: int) -> list[tuple[str, int]]:
        """Return the draws of one battle: site and value of each."""
        return [
            (self.sites[at], int(self.values[at, battle]))
            for at in np.flatnonzero(self.made[:, battle])
        ]


class Engine(Protocol):
    """What plays many battles side by side, to be compared with traces."""

    def start(self, teams: npt.NDArray[np.int32], seeds: npt.NDArray[np.uint64]) -> None:
        """Begin battles.

        Args:
            teams: int32[battles, 2, 6, header], as `Trace.teams`.
            seeds: uint64[battles], the generators before the battles.
        """

    def step(self, actions: npt.NDArray[np.int8]) -> None:
        """Play int8[battles, 2] actions, -1 where a player waits or the battle has ended."""

    def columns(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the columns of the schema that the engine has, int[battles, *shape] each."""

    def states(self) -> npt.NDArray[np.uint64]:
        """Return the generators, uint64[battles]."""

    def drawn(self) -> DrawnIn | None:
        """Return the draws of the last `start` or `step`; ``None`` where they are not logged."""


@dataclass(frozen=True)
class Difference:
    """The first difference in a battle.

    Attributes:
        battle: Name of the trace.
        step: Row at which it shows: 0 is the first request.
        text: What is different, in words.
    """

    battle: str
    step: int
    text: str

    def __str__(self) -> str:
        return f"{self.battle}, step {self.step}: {self.text}"


@dataclass
class Result:
    """What a comparison found.

    Attributes:
        battles: Battles compared.
        steps: Steps compared, all battles together.
        compared: Columns that were compared; ``generator`` is one of them.
        missing: Columns of the schema that the engine does not have.
        differences: The first difference of each battle that is not exact.
        unfinished: Battles that Showdown itself could not finish, though equal until then: the step
            that it failed to play, and what it said.
    """

    battles: int = 0
    steps: int = 0
    compared: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    differences: list[Difference] = field(default_factory=list)
    unfinished: list[Difference] = field(default_factory=list)

    @property
    def exact(self) -> int:
        """Battles without any difference, to their end."""
        return self.battles - len(self.differences) - len(self.unfinished)

    def __str__(self) -> str:
        lines = [f"{self.exact} of {self.battles} battles exact, {self.steps} steps"]
        if self.missing:
            lines.append(f"not compared: {', '.join(self.missing)}")
        if self.unfinished:
            lines.append(f"{len(self.unfinished)} equal until Showdown itself failed:")
            lines += map(str, self.unfinished[:20])
        return "\n".join([*lines, *map(str, self.differences[:20])])

    def __add__(self, other: Result) -> Result:
        if self.battles and (self.compared, self.missing) != (other.compared, other.missing):
            raise ValueError("results of different engines do not add up")
        return Result(
            self.battles + other.battles,
            self.steps + other.steps,
            other.compared,
            other.missing,
            self.differences + other.differences,
            self.unfinished + other.unfinished,
        )


def different_draws(expected: Sequence[tuple[str, int]], got: Sequence[tuple[str, int]]) -> str:
    """Say where two sequences of draws part; empty where they do not.

    Args:
        expected: Site and value of each draw of the trace.
        got: The same of the engine.
    """
    for number, (wanted, found) in enumerate(zip(expected, got, strict=False), 1):
        if wanted[0] != found[0]:
            return f"draw {number}: expected {wanted[0]} draw, got {found[0]} draw"
        if wanted[1] != found[1]:
            return f"draw {number}, {wanted[0]}: expected {wanted[1]}, got {found[1]}"
    if len(expected) > len(got):
        return f"draw {len(got) + 1}: expected {expected[len(got)][0]} draw, got none"
    if len(got) > len(expected):
        return f"draw {len(expected) + 1}: expected none, got {got[len(expected)][0]} draw"
    return ""


class Comparison:
    """Traces beside an engine that plays them all at once.

    Args:
        traces: The battles.
        engine: What plays them.
        ignored: Columns that are not compared on purpose.
    """

    def __init__(
        self, traces: Sequence[Trace], engine: Engine, ignored: Sequence[str] = ()
    ) -> None:
        self._traces, self._engine = traces, engine
        self._schema = load_schema()
        self._names = tuple(name for name in self._schema.columns if name not in ignored)
        self._first: dict[int, Difference] = {}

    def run(self) -> Result:
        """Play all battles to their ends; what was found."""
        traces, engine = self._traces, self._engine
        seeds = [trace.seed for trace in traces if trace.seed is not None]
        if len(seeds) < len(traces):
            raise ValueError("expected traces whose generator is that of generation 5")
        engine.start(np.stack([trace.teams for trace in traces]), np.array(seeds, np.uint64))
        longest = max(trace.steps for trace in traces)
        for row in range(longest + 1):
            if row:
                actions = np.full((len(traces), 2), -1, np.int8)
                for number, trace in enumerate(traces):
                    if row <= trace.steps:
                        actions[number] = trace.actions[row - 1]
                engine.step(actions)
            self._compare(row)
        missing = tuple(name for name in self._names if name not in engine.columns())
        return Result(
            len(traces),
            sum(trace.steps for trace in traces),
            ("generator", *(name for name in self._names if name not in missing)),
            missing,
            [self._first[number] for number in sorted(self._first)],
            [
                Difference(trace.name, trace.steps + 1, f"Showdown failed: {trace.failed}")
                for number, trace in enumerate(traces)
                if trace.failed and number not in self._first
            ],
        )

    def _compare(self, row: int) -> None:
        alive = [
            number
            for number, trace in enumerate(self._traces)
            if row <= trace.steps and number not in self._first
        ]
        if not alive:
            return
        wrong: dict[int, list[str]] = {}
        got_states = self._engine.states()
        for number in alive:
            expected = self._traces[number].states[row]
            if expected != got_states[number]:
                wrong[number] = [f"generator: expected {expected:#x}, got {got_states[number]:#x}"]
        rows = np.stack([self._traces[number].rows[row] for number in alive])
        for name, values in self._engine.columns().items():
            column = self._schema.columns[name]
            if name not in self._names:
                continue
            wanted = rows[:, column.begin : column.end]
            found = np.asarray(values).reshape(len(self._traces), -1)[alive].astype(np.int64)
            for lane, at in np.argwhere(wanted != found):
                text = (
                    f"{column.place(int(at))}: expected {wanted[lane, at]}, got {found[lane, at]}"
                )
                wrong.setdefault(alive[int(lane)], []).append(text)
        drawn = self._engine.drawn() if wrong else None
        for number, texts in wrong.items():
            trace = self._traces[number]
            draws = ""
            if drawn is not None:
                draws = different_draws(list(_expected(trace, row)), drawn.of(number))
            parts = [draws, *texts[:6]] if draws else texts[:6]
            more = f" and {len(texts) - 6} more" if len(texts) > 6 else ""
            self._first[number] = Difference(trace.name, row, "; ".join(parts) + more)


def _expected(trace: Trace, row: int) -> Iterator[tuple[str, int]]:
    sites = load_schema().sites
    own = trace.draws.of(row)
    for site, value in zip(trace.draws.sites[own], trace.draws.values[own], strict=True):
        yield sites[int(site)], int(value)


def compare(traces: Sequence[Trace], engine: Engine, ignored: Sequence[str] = ()) -> Result:
    """Replay traces in an engine, all side by side; see `Comparison`."""
    return Comparison(traces, engine, ignored).run()
