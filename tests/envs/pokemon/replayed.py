"""An engine that knows the traces by heart, and makes one mistake where it is asked to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.envs.pokemon.harness import DrawnIn
from tests.envs.pokemon.schema import load_schema
from tests.envs.pokemon.traces import Trace


class Replayed:
    """Hands the recorded rows out.

    Args:
        traces: The battles.
        wrong: Column to add 1 to, battle and row; ``None`` for no mistake.
        site: Name to give the last draw of that row instead of its own.
        forgotten: Columns that the engine does not have.
    """

    def __init__(
        self,
        traces: Sequence[Trace],
        wrong: tuple[str, int, int] | None = None,
        site: str | None = None,
        forgotten: Sequence[str] = (),
    ) -> None:
        self._traces, self._wrong, self._site = traces, wrong, site
        self._forgotten = forgotten
        self._row = 0

    def _at(self, trace: Trace) -> int:
        return min(self._row, trace.steps)

    def start(self, teams: npt.NDArray[np.int32], seeds: npt.NDArray[np.uint64]) -> None:
        assert teams.shape[:3] == (len(self._traces), 2, 6)
        assert seeds.dtype == np.uint64
        self._row = 0

    def step(self, actions: npt.NDArray[np.int8]) -> None:
        self._row += 1
        for trace, action in zip(self._traces, actions, strict=True):
            expected = trace.actions[self._row - 1] if self._row <= trace.steps else -1
            assert np.array_equal(action, np.broadcast_to(expected, 2))

    def columns(self) -> Mapping[str, npt.NDArray[Any]]:
        rows = np.stack([trace.rows[self._at(trace)] for trace in self._traces])
        columns = {
            name: column.of(rows).copy()
            for name, column in load_schema().columns.items()
            if name not in self._forgotten
        }
        if self._wrong and self._wrong[0] in columns and self._row == self._wrong[2]:
            columns[self._wrong[0]][self._wrong[1]] += 1
        return columns

    def states(self) -> npt.NDArray[np.uint64]:
        return np.array([trace.states[self._at(trace)] for trace in self._traces], np.uint64)

    def drawn(self) -> DrawnIn | None:
        """Lay the battles' draws out one after the other, as a program would."""
        if self._wrong is None or self._site is None:
            return None
        sites: list[str] = []
        made: list[npt.NDArray[np.bool_]] = []
        values: list[npt.NDArray[np.int64]] = []
        for number, trace in enumerate(self._traces):
            own = trace.draws.of(self._at(trace))
            names = [load_schema().sites[site] for site in trace.draws.sites[own]]
            if number == self._wrong[1] and names:
                names[-1] = self._site
            for name, value in zip(names, trace.draws.values[own], strict=True):
                sites.append(name)
                made.append(np.arange(len(self._traces)) == number)
                values.append(np.full(len(self._traces), value))
        return DrawnIn(sites, np.array(made), np.array(values))
