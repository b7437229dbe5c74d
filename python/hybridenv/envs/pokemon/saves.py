"""Battles as files: any state of any number of battles, exactly as it was.

A file is NumPy's `.npz` with one array of words a leaf and a header that says what they are, so a
file from something else, a later layout or half a file is refused instead of played.
"""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from hybridenv.checks import written
from hybridenv.envs.pokemon.state import ACTIVE, FIELD, MON, TEAM, State, Winner, unpack
from hybridenv.errors import ArgumentError, StateError

KIND, LAYOUT = "hybridenv pokemon battles", 1
_WORDS = len(FIELD) + 2 * (len(ACTIVE) + TEAM * len(MON))
_EXPECTED = "expected a file that save_battles wrote"


def save_battles(path: str | PathLike[str], battles: State) -> None:
    """Write battles to a file.

    Args:
        path: The file, by habit with the suffix ``.npz``; one that is there is replaced.
        battles: Any battles, of NumPy or JAX, outside of `jax.jit`.

    Raises:
        ArgumentError: The leaves are not what those of battles are.
        OSError: The file cannot be written.
    """
    seed, words = _leaves(battles)
    header = json.dumps({"kind": KIND, "layout": LAYOUT})
    with written(Path(path)), Path(path).open("wb") as stream:
        np.savez_compressed(stream, header=np.array(header), seed=seed, words=words)


def load_battles(path: str | PathLike[str]) -> State:
    """Read battles that `save_battles` wrote.

    Args:
        path: The file.

    Returns:
        The battles, of NumPy; they go on as those that were saved would.

    Raises:
        StateError: The file is damaged, of something else, or of another layout.
        OSError: It cannot be read.
    """
    where = f"battles {path}"
    with Path(path).open("rb") as stream:
        try:
            with np.load(stream, allow_pickle=False) as file:
                arrays = {name: file[name] for name in ("header", "seed", "words")}
            header = json.loads(str(arrays["header"]))
        except Exception as error:  # damage makes these libraries raise errors of a dozen kinds
            raise StateError(
                f"{where}: got a file that is damaged or of something else, {_EXPECTED}"
            ) from error
    if not isinstance(header, dict) or header.get("kind") != KIND:
        raise StateError(f"{where}: got {header!r}, {_EXPECTED}")
    if header.get("layout") != LAYOUT:
        raise StateError(f"{where}: got layout {header.get('layout')!r}, expected {LAYOUT}")
    return _battles(arrays["seed"], arrays["words"], where)


def _leaves(battles: State) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    if not isinstance(battles, State):
        raise ArgumentError(f"battles: got {type(battles).__name__}, expected a State")
    found = [np.asarray(leaf) for leaf in jax.tree.leaves(battles)]
    shapes = {leaf.shape for leaf in found}
    kinds = [leaf.dtype for leaf in found]
    if kinds != [np.uint32] * 2 + [np.int32] * _WORDS or len(shapes) != 1:
        raise ArgumentError(
            f"battles: got {len(found)} leaves of shapes {sorted(shapes)}, expected 2 of uint32 "
            f"and {_WORDS} of int32, all of one shape"
        )
    return np.stack(found[:2]), np.stack(found[2:])


def _battles(seed: NDArray[Any], words: NDArray[Any], where: str) -> State:
    fits = (
        seed.dtype == np.uint32
        and words.dtype == np.int32
        and seed.shape == (2, *words.shape[1:])
        and words.shape[:1] == (_WORDS,)
    )
    if not fits:
        raise StateError(
            f"{where}: got {seed.dtype}{list(seed.shape)} and {words.dtype}{list(words.shape)}, "
            f"expected uint32[2, ...] and int32[{_WORDS}, ...]"
        )
    left = iter(words)
    field = tuple(next(left) for _ in FIELD)
    active = tuple(tuple(next(left) for _ in ACTIVE) for _ in range(2))
    party = tuple(tuple(tuple(next(left) for _ in MON) for _ in range(TEAM)) for _ in range(2))
    battles = State((seed[0], seed[1]), field, active, party)
    _check(battles, where)
    return battles


def _check(battles: State, where: str) -> None:
    """Refuse numbers that look into tables beyond their ends."""
    going = unpack(FIELD, battles.field).winner == Winner.NONE
    limits = {"species": 151, "move0": 165, "move1": 165, "move2": 165, "move3": 165}
    for side, team in enumerate(battles.party):
        for place, words in enumerate(team):
            mon = unpack(MON, words)
            for name, most in limits.items():
                _within(getattr(mon, name), most, f"{where}: side {side}, position {place}, {name}")
            _within(mon.hp, mon.max_hp, f"{where}: side {side}, position {place}, hp")
        active = unpack(ACTIVE, battles.active[side])
        for name, most in {**limits, "selected": 167, "used": 167, "last_move": 167}.items():
            _within(getattr(active, name), most, f"{where}: side {side}, in battle, {name}")
        for name in ("type0", "type1"):
            _within(getattr(active, name), 15, f"{where}: side {side}, in battle, {name}")
        if np.any(going & (unpack(MON, team[0]).species == 0)):
            raise StateError(f"{where}: got nobody in battle on side {side}, expected a Pokémon")


def _within(value: Any, most: Any, what: str) -> None:
    if np.any(np.asarray(value) > most):
        worst = np.argmax(np.asarray(value) - most)
        got, limit = np.ravel(value)[worst], np.ravel(np.broadcast_to(most, np.shape(value)))[worst]
        raise StateError(f"{what}: got {got}, expected at most {limit}")
