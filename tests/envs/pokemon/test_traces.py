"""Recorded battles: what they cover, and what is said about files that are none."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.envs.pokemon import lcg
from tests.envs.pokemon.record import FILES, KEPT
from tests.envs.pokemon.scenarios import load_scenarios
from tests.envs.pokemon.schema import load_schema
from tests.envs.pokemon.traces import Trace, TraceError, read, write


@pytest.fixture(scope="module")
def everything() -> dict[str, list[Trace]]:
    return {name: read(path) for name, path in FILES.items()}


def test_there_are_as_many_battles_as_promised(everything: dict[str, list[Trace]]) -> None:
    assert {name: len(everything[name]) for name in KEPT} == KEPT
    assert sum(trace.steps for name in KEPT for trace in everything[name]) > 20_000
    ended = [trace for name in KEPT for trace in everything[name] if trace.column("winner")[-1]]
    assert len(ended) == sum(KEPT.values())


def test_every_scenario_is_recorded(everything: dict[str, list[Trace]]) -> None:
    names = [scenario.name for scenario in load_scenarios()]
    assert [trace.name for trace in everything["scenarios"]] == names
    assert len(names) >= 150


def test_every_draw_site_volatile_move_and_species_is_covered(
    everything: dict[str, list[Trace]],
) -> None:
    schema = load_schema()
    traces = [trace for part in everything.values() for trace in part]
    sites = {int(site) for trace in traces for site in trace.draws.sites}
    assert [name for number, name in enumerate(schema.sites) if number not in sites] == []
    seen = np.sum([trace.column("volatiles").sum((0, 1)) for trace in traces], axis=0)
    assert [name for name, count in zip(schema.volatiles, seen, strict=True) if not count] == []
    used = {int(move) for trace in traces for move in np.unique(trace.column("last_move"))}
    known = {int(move) for trace in traces for move in trace.teams[:, :, 2:6].ravel()}
    assert known == set(range(165))
    # Metronome and Mirror Move leave the move that they called.
    assert len(used) >= 155
    assert {int(species) for trace in traces for species in trace.teams[:, :, 0].ravel()} >= set(
        range(1, 152)
    )


def test_the_generator_is_an_lcg_of_64_bits() -> None:
    states = lcg.advance(1, 2)
    assert states.tolist() == [
        1,
        0x5D588B656C078965 + 0x269EC3,
        ((0x5D588B656C078965 + 0x269EC3) * 0x5D588B656C078965 + 0x269EC3) % 2**64,
    ]
    values = lcg.drawn(states[1:], np.array([256, 39]), np.array([0, 217]))
    assert values[0] == 0x5D588B65 * 256 >> 32
    assert 217 <= values[1] <= 255


def test_files_come_back_whole(everything: dict[str, list[Trace]], tmp_path: Path) -> None:
    traces = everything["scenarios"][:20]
    write(tmp_path / "deep" / "some.npz", traces)
    back = read(tmp_path / "deep" / "some.npz")
    for trace, same in zip(traces, back, strict=True):
        assert (same.name, same.source, same.seed) == (trace.name, trace.source, trace.seed)
        for field in ("teams", "actions", "rows", "states"):
            assert np.array_equal(getattr(same, field), getattr(trace, field)), field
        assert np.array_equal(same.draws.values, trace.draws.values)


def test_draws_that_are_not_the_seeds_are_refused(random_battles: list[Trace]) -> None:
    trace = replace(random_battles[0], seed=1)
    with pytest.raises(TraceError, match="are not those of its seed 0x1"):
        write(Path("never"), [trace])
    with pytest.raises(TraceError, match="not that of generation 5"):
        write(Path("never"), [replace(trace, seed=None)])


@pytest.mark.parametrize("kept", [0, 10, 0.3, 0.6, 0.99])
def test_a_truncated_file_is_named(kept: float, tmp_path: Path) -> None:
    whole = FILES["scenarios"].read_bytes()
    path = tmp_path / "cut.npz"
    path.write_bytes(whole[: int(kept * len(whole)) if kept < 1 else int(kept)])
    with pytest.raises(TraceError, match=r"cut\.npz: got no traces, or damaged ones"):
        read(path)


def test_damaged_bytes_are_found(rng: np.random.Generator, tmp_path: Path) -> None:
    whole = FILES["scenarios"].read_bytes()
    path = tmp_path / "damaged.npz"
    for at in rng.integers(100, len(whole) - 2_000, 20):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        with pytest.raises(TraceError, match=r"damaged\.npz"):
            read(path)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    np.savez(other, weights=np.zeros(3))
    with pytest.raises(TraceError, match=r"other\.npz: got no traces"):
        read(other)
    array = tmp_path / "array.npz"
    with array.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(TraceError, match=r"array\.npz: got no traces"):
        read(array)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere.npz")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("format", "chess", "hybridenv Showdown traces"),
        ("version", 99, "1"),
        ("showdown", "0.11.10", "0.11.11"),
        ("schema", "0", load_schema().digest),
    ],
)
def test_traces_of_another_version_are_refused(
    name: str, value: object, expected: str, tmp_path: Path
) -> None:
    path = changed(tmp_path, **{name: value})
    with pytest.raises(TraceError, match=rf"{name}: got .*, expected '?{expected}"):
        read(path)


def test_arrays_that_do_not_fit_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"names: got 1, expected \d+"):
        read(changed(tmp_path, names=["one"]))
    with pytest.raises(TraceError, match=r"actions: got shape \(3, 2\), expected"):
        read(changed(tmp_path, actions=np.zeros((3, 2), np.int8)))


def changed(folder: Path, **changes: object) -> Path:
    """Copy the file of scenarios with entries of `about`, or arrays, replaced."""
    path = folder / "changed.npz"
    with np.load(FILES["scenarios"]) as archive:
        arrays = dict(archive)
    about = json.loads(arrays["about"].tobytes())
    for name, value in changes.items():
        if isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            about[name] = value
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(path, **arrays)
    return path


def test_the_files_are_plain_archives(tmp_path: Path) -> None:
    path = Path(shutil.copy(FILES["movesets"], tmp_path))
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    assert sum(file.stat().st_size for file in FILES.values()) < 2_000_000
