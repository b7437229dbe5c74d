"""Battles as files: what comes back is what was saved, and nothing else comes back."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from hybridenv.envs.pokemon import battles, engine, teams
from hybridenv.envs.pokemon.saves import KIND, LAYOUT, load_battles, save_battles
from hybridenv.envs.pokemon.state import MON, State, pack, unpack
from hybridenv.errors import ArgumentError, HybridEnvError, StateError

N = 8


@pytest.fixture(scope="module")
def state() -> State:
    rng = np.random.default_rng(3)
    bits = partial(rng.integers, 0, 2**32, dtype=np.uint32)
    state = battles.begin(teams.random_battle().words, bits((battles.DRAWS, N)))
    for _ in range(12):
        state = engine.step(state, battles.random_actions(state, bits((2, N))))
    return state


@pytest.mark.parametrize("which", ["many", "one", "none"])
def test_battles_come_back_as_they_were(state: State, which: str, tmp_path: Path) -> None:
    index: Any = {"many": slice(None), "one": 3, "none": slice(0)}[which]
    wanted = jax.tree.map(lambda leaf: leaf[index], state)
    save_battles(tmp_path / "battles.npz", wanted)
    found = load_battles(str(tmp_path / "battles.npz"))
    assert repr(jax.tree.structure(found)) == repr(jax.tree.structure(wanted))
    pairs = list(zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True))
    assert len(pairs) > 80
    for ours, theirs in pairs:
        assert np.asarray(ours).dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


def test_a_loaded_battle_goes_on_as_the_saved_one(state: State, tmp_path: Path) -> None:
    save_battles(tmp_path / "battles.npz", state)
    both = [state, load_battles(tmp_path / "battles.npz")]
    bits = np.random.default_rng(4).integers(0, 2**32, (5, 2, N), dtype=np.uint32)
    for now in bits:
        both = [engine.step(one, battles.random_actions(one, now)) for one in both]
    for ours, theirs in zip(*map(jax.tree.leaves, both), strict=True):
        assert np.array_equal(ours, theirs)


def written(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


HEADER = np.array(json.dumps({"kind": KIND, "layout": LAYOUT}))


@pytest.mark.parametrize("cut", [0, 1, 40, 1_000, -30, -1])
def test_half_a_file_is_refused(state: State, cut: int, tmp_path: Path) -> None:
    path = tmp_path / "battles.npz"
    save_battles(path, state)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(StateError, match="damaged or of something else"):
        load_battles(path)


def test_a_flipped_byte_is_refused_or_makes_no_difference(state: State, tmp_path: Path) -> None:
    path = tmp_path / "battles.npz"
    save_battles(path, state)
    good, refused = path.read_bytes(), 0
    for at in np.random.default_rng(0).integers(0, len(good), 60):
        bad = bytearray(good)
        bad[at] ^= 0x40
        path.write_bytes(bad)
        try:
            found = load_battles(path)
        except StateError:
            refused += 1
        else:
            for ours, theirs in zip(*map(jax.tree.leaves, (found, state)), strict=True):
                assert np.array_equal(ours, theirs)
    assert refused > 40


@pytest.mark.parametrize(("place", "number"), [(4, 99), (6, 1), (8, 97)])
def test_a_damaged_head_of_the_archive_is_refused(
    state: State, tmp_path: Path, place: int, number: int
) -> None:
    """Its version, a flag for a password, and the method of compression."""
    path = tmp_path / "battles.npz"
    save_battles(path, state)
    bad = bytearray(path.read_bytes())
    at = bad.index(b"PK\x01\x02") + 2 + place  # of the list of files at the end
    bad[at] = number
    path.write_bytes(bad)
    with pytest.raises(StateError, match="damaged or of something else"):
        load_battles(path)


def test_files_of_something_else_are_refused(state: State, tmp_path: Path) -> None:
    seed = np.stack(state.seed)
    words = np.stack(jax.tree.leaves(state)[2:])
    path = tmp_path / "battles.npz"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"weights": words}, "damaged or of something else"),
        ({"header": np.array("{}"), "seed": seed, "words": words}, "got {}"),
        ({"header": np.array("3"), "seed": seed, "words": words}, "got 3"),
        ({"header": np.array("{"), "seed": seed, "words": words}, "damaged"),
        (
            {
                "header": np.array(json.dumps({"kind": KIND, "layout": 99})),
                "seed": seed,
                "words": words,
            },
            "got layout 99, expected 1",
        ),
        ({"header": HEADER, "seed": seed, "words": words[1:]}, r"int32\[86, 8\], expected"),
        ({"header": HEADER, "seed": seed[:, 1:], "words": words}, r"uint32\[2, 7\]"),
        ({"header": HEADER, "seed": seed, "words": words.astype(np.int64)}, "int64"),
    ]
    for arrays, message in cases:
        with pytest.raises(StateError, match=message) as caught:
            load_battles(written(path, **arrays))
        assert isinstance(caught.value, HybridEnvError)
    path.write_text("hello")
    with pytest.raises(StateError, match="damaged or of something else"):
        load_battles(path)
    with pytest.raises(FileNotFoundError):
        load_battles(tmp_path / "nowhere.npz")


@pytest.mark.parametrize(
    ("values", "message"),
    [({"species": 200}, "species: got 200"), ({"hp": 999, "max_hp": 5}, "hp: got 999")],
)
def test_numbers_that_no_battle_has_are_refused(
    state: State, values: dict[str, int], message: str, tmp_path: Path
) -> None:
    mon = unpack(MON, state.party[1][2])
    for name, value in values.items():
        setattr(mon, name, np.full(N, value, np.int32))
    team = (*state.party[1][:2], pack(mon), *state.party[1][3:])
    bad = State(state.seed, state.field, state.active, (state.party[0], team))
    save_battles(tmp_path / "battles.npz", bad)
    with pytest.raises(StateError, match=f"side 1, position 2, {message}"):
        load_battles(tmp_path / "battles.npz")


def test_only_battles_are_saved(state: State, tmp_path: Path) -> None:
    path = tmp_path / "battles.npz"
    with pytest.raises(ArgumentError, match="got dict, expected a State"):
        save_battles(path, {})
    wide = State(state.seed, tuple(word.astype(np.int64) for word in state.field), *both(state))
    with pytest.raises(ArgumentError, match="expected 2 of uint32 and"):
        save_battles(path, wide)
    assert not path.exists()


def both(state: State) -> tuple[Any, Any]:
    return state.active, state.party
