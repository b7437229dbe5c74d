"""Recorded battles: everything that decided them, step by step, and their file format.

A file is a ZIP of NumPy arrays (``numpy.load`` opens it). Rows of all its battles lie one after the
other, and each row is the difference from the one before, number by number, low, middle and high
bytes apart: almost all of it is zero. States of the generator and drawn values are not stored,
because the battle's seed and the sizes of the draws say what they were.

==============  ==================  ================================================================
``about``       uint8[...]          JSON: format, versions, hash of the schema, names, sources
``steps``       int32[battles]      steps of each battle; it has one more row
``seeds``       uint64[battles]     the generator before the battle
``teams``       int32[battles, 2, 6, header]
``actions``     int8[steps, 2]      -1: the player only waited
``rows``        uint8[3, width, rows]
``counts``      uint8[rows]         draws in the step that led to the row
``sites``       uint8[draws]        number of the draw's site
``arguments``   uint16[draws]       smallest value, or threshold of a chance
``ranges``      uint16[draws]       how many values are possible
``thresholds``  bool[draws]         whether the argument is a threshold
==============  ==================  ================================================================
"""

from __future__ import annotations

import io
import json
import lzma
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.envs.pokemon import lcg
from tests.envs.pokemon.schema import Schema, load_schema

FORMAT = "hybridenv Showdown traces"
ARRAYS = (
    "about",
    "steps",
    "seeds",
    "teams",
    "actions",
    "rows",
    "counts",
    "sites",
    "arguments",
    "ranges",
    "thresholds",
)


class TraceError(ValueError):
    """A file holds no traces, damaged ones, or traces of another version."""


@dataclass(frozen=True)
class Draws:
    """Numbers drawn in a battle, in order.

    Attributes:
        counts: int64[steps + 1], draws in the step that led to each row.
        sites: int64[draws], numbers of the sites.
        arguments: int64[draws], smallest value, or threshold of a chance.
        ranges: int64[draws], how many values are possible.
        thresholds: bool[draws], whether the argument is a threshold.
        values: int64[draws], what was drawn.
    """

    counts: npt.NDArray[np.int64]
    sites: npt.NDArray[np.int64]
    arguments: npt.NDArray[np.int64]
    ranges: npt.NDArray[np.int64]
    thresholds: npt.NDArray[np.bool_]
    values: npt.NDArray[np.int64]

    def of(self, row: int) -> slice:
        """Return where the draws of the step lie that led to a row."""
        before = int(self.counts[:row].sum())
        return slice(before, before + int(self.counts[row]))


@dataclass(frozen=True)
class Trace:
    """One battle.

    Attributes:
        name: What it is called.
        source: Where its teams come from: ``gen1randombattle``, ``movesets`` or ``written``.
        seed: State of the generator before the battle; ``None`` where it was not the one of the
            games of generation 5, so that only `draws` says what was drawn.
        teams: int32[2, 6, header], the Pokémon of both teams; zeros where a team is shorter.
        actions: int8[steps, 2], action of each player, -1 where one only waited.
        rows: int32[steps + 1, width], everything at the first request and after each step.
        states: uint64[steps + 1], the generator at each row.
        draws: What was drawn.
        failed: What Showdown said where it could not play on after the last row; empty otherwise.
    """

    name: str
    source: str
    seed: int | None
    teams: npt.NDArray[np.int32]
    actions: npt.NDArray[np.int8]
    rows: npt.NDArray[np.int32]
    states: npt.NDArray[np.uint64]
    draws: Draws
    failed: str = ""

    @property
    def steps(self) -> int:
        """How many times both players' decisions were played."""
        return len(self.actions)

    def column(self, name: str) -> npt.NDArray[np.int32]:
        """Return int32[steps + 1, *shape], a column of `load_schema` at every row."""
        return load_schema().columns[name].of(self.rows)


def values_of(
    seed: int,
    counts: npt.NDArray[np.int64],
    arguments: npt.NDArray[np.int64],
    ranges: npt.NDArray[np.int64],
    thresholds: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return the generator at every row, uint64[rows], and what was drawn, int64[draws]."""
    states = lcg.advance(seed, len(ranges))
    values = lcg.drawn(states[1:], ranges, np.where(thresholds, 0, arguments))
    return states[np.cumsum(counts)], values


def write(path: Path, traces: Sequence[Trace]) -> None:
    """Write battles into a file.

    Args:
        path: The file; folders are made.
        traces: The battles.

    Raises:
        TraceError: A generator is not where the draws lead, so that it could not be left out; or
            Showdown failed in a battle.
    """
    schema = load_schema()
    for trace in traces:
        draws = trace.draws
        if trace.seed is None:
            raise TraceError(f"{trace.name}: its generator is not that of generation 5")
        if trace.failed:
            raise TraceError(f"{trace.name}: Showdown failed in it: {trace.failed}")
        states, values = values_of(
            trace.seed, draws.counts, draws.arguments, draws.ranges, draws.thresholds
        )
        if not np.array_equal(states, trace.states) or not np.array_equal(values, draws.values):
            raise TraceError(f"{trace.name}: its draws are not those of its seed {trace.seed:#x}")
    about = {
        "format": FORMAT,
        "version": schema.version,
        "showdown": schema.showdown,
        "schema": schema.digest,
        "names": [trace.name for trace in traces],
        "sources": [trace.source for trace in traces],
    }
    each = [trace.draws for trace in traces]
    arrays = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "steps": np.array([trace.steps for trace in traces], np.int32),
        "seeds": np.array([trace.seed for trace in traces], np.uint64),
        "teams": np.stack([trace.teams for trace in traces]).astype(np.int32),
        "actions": np.concatenate([trace.actions for trace in traces]).astype(np.int8),
        "rows": _packed(np.concatenate([trace.rows for trace in traces])),
        "counts": _narrow("counts", [draws.counts for draws in each], np.uint8),
        "sites": _narrow("sites", [draws.sites for draws in each], np.uint8),
        "arguments": _narrow("arguments", [draws.arguments for draws in each], np.uint16),
        "ranges": _narrow("ranges", [draws.ranges for draws in each], np.uint16),
        "thresholds": np.concatenate([draws.thresholds for draws in each]),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_LZMA
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            archive.writestr(entry, content.getvalue())


def _narrow(name: str, parts: Sequence[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    whole = np.concatenate(parts)
    narrow: npt.NDArray[Any] = whole.astype(dtype)
    if not np.array_equal(whole, narrow):
        raise TraceError(f"{name}: got values up to {whole.max()}, expected {np.dtype(dtype)}")
    return narrow


def _packed(rows: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
    if rows.min() < -(1 << 23) or rows.max() >= 1 << 23:
        raise TraceError(f"rows: got {rows.min()} to {rows.max()}, expected numbers of 24 bits")
    steps = np.diff(rows, axis=0, prepend=np.zeros_like(rows[:1])).T
    return np.stack([steps & 0xFF, steps >> 8 & 0xFF, steps >> 16 & 0xFF]).astype(np.uint8)


def _unpacked(packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    low, middle, high = packed.astype(np.uint32)
    sums = np.cumsum((low | middle << 8 | high << 16).T, axis=0, dtype=np.uint32)
    return (sums << 8).astype(np.int32) >> 8  # the sign is that of bit 23


def read(path: Path) -> list[Trace]:
    """Read the battles of a file.

    Args:
        path: The file.

    Returns:
        Its battles, in order.

    Raises:
        TraceError: There are no traces in it, they are cut short or damaged, or they were written
            by another version of the format or of Pokémon Showdown.
        FileNotFoundError: There is no such file.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ARRAYS}
    except FileNotFoundError:
        raise
    except (
        zipfile.BadZipFile,
        lzma.LZMAError,
        KeyError,
        ValueError,
        EOFError,
        OSError,
        TypeError,
        AttributeError,
    ) as error:
        raise TraceError(f"{path}: got no traces, or damaged ones: {error}") from error
    return list(_traces(path, arrays))


def _about(path: Path, array: npt.NDArray[np.uint8], schema: Schema) -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads(array.tobytes())
    except ValueError as error:
        raise TraceError(f"{path}: about: expected JSON: {error}") from error
    expected = {
        "format": FORMAT,
        "version": schema.version,
        "showdown": schema.showdown,
        "schema": schema.digest,
    }
    for name, value in expected.items():
        if about.get(name) != value:
            raise TraceError(f"{path}: {name}: got {about.get(name)!r}, expected {value!r}")
    return about


def _traces(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> Iterator[Trace]:
    schema = load_schema()
    about = _about(path, arrays["about"], schema)
    steps, counts = arrays["steps"].astype(np.int64), arrays["counts"].astype(np.int64)
    battles, rows_in_all = len(steps), int(steps.sum()) + len(steps)
    shapes = {
        "seeds": (battles,),
        "teams": (battles, 2, 6, len(schema.header)),
        "actions": (int(steps.sum()), 2),
        "rows": (3, schema.width, rows_in_all),
        "counts": (rows_in_all,),
        **dict.fromkeys(("sites", "arguments", "ranges", "thresholds"), (int(counts.sum()),)),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise TraceError(f"{path}: {name}: got shape {arrays[name].shape}, expected {shape}")
    if not len(about["names"]) == len(about["sources"]) == battles:
        raise TraceError(f"{path}: names: got {len(about['names'])}, expected {battles}")
    rows = _unpacked(arrays["rows"])
    at_step = at_row = at_draw = 0
    for number in range(battles):
        last_step, last_row = at_step + int(steps[number]), at_row + int(steps[number]) + 1
        own = counts[at_row:last_row]
        last_draw = at_draw + int(own.sum())
        sites, arguments, ranges = (
            arrays[name][at_draw:last_draw].astype(np.int64)
            for name in ("sites", "arguments", "ranges")
        )
        thresholds = arrays["thresholds"][at_draw:last_draw]
        seed = int(arrays["seeds"][number])
        states, values = values_of(seed, own, arguments, ranges, thresholds)
        yield Trace(
            about["names"][number],
            about["sources"][number],
            seed,
            arrays["teams"][number],
            arrays["actions"][at_step:last_step],
            rows[at_row:last_row],
            states,
            Draws(own, sites, arguments, ranges, thresholds, values),
        )
        at_step, at_row, at_draw = last_step, last_row, last_draw
