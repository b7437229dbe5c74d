"""Metronome and Mirror Move: where what they cost is taken from, and given back to."""

from __future__ import annotations

import numpy as np
import pytest

from hybridenv.envs.pokemon.called import call, calls, two_turns
from hybridenv.envs.pokemon.play import Play
from hybridenv.envs.pokemon.state import ACTIVE, MON
from hybridenv.envs.pokemon.tables import METRONOME, MIRROR_MOVE, move_fields, moves

ONE = np.ones(1, bool)


def played(move: int, slot: int, *, transformed: bool, last: int = 0) -> tuple[Play, int]:
    """Call a move, of a Pokémon that has two moves of its own, each with 10 PP and 5 in battle."""
    zero = np.zeros(1, np.int32)
    play = Play(
        {
            "seed": (zero.astype(np.uint32), zero.astype(np.uint32) + np.uint32(9)),
            "active": ((zero,) * len(ACTIVE),) * 2,
            "mon": ((zero,) * len(MON),) * 2,
            "last_damage": zero + 7,
            "notes": {},
        }
    )
    play.user.slot, play.user.transformed = zero + slot, np.array([transformed])
    play.foe.last_move = zero + last
    for place in range(4):
        setattr(play.user, f"pp{place}", zero + 5)
    for place in range(2):
        setattr(play.mon, f"move{place}", zero + move)
        setattr(play.mon, f"pp{place}", zero + 10)
    return play, int(call(play, ONE, zero + move)[0])


def pp(play: Play) -> tuple[list[int], list[int]]:
    """PP in battle and PP of its own."""
    names = [f"pp{slot}" for slot in range(4)]
    return [int(getattr(play.user, n)[0]) for n in names], [
        int(getattr(play.mon, n)[0]) for n in names
    ]


def test_the_called_move_is_the_one_chosen_last() -> None:
    play, called = played(METRONOME, 1, transformed=False)
    assert called not in (0, METRONOME, 165)
    assert [int(value[0]) for value in (play.user.selected, play.user.foe_selected)] == [called] * 2
    assert [int(value[0]) for value in (play.user.used, play.user.last_move)] == [METRONOME] * 2
    assert int(play.last_damage[0]) == 0
    assert pp(play) == ([5] * 4, [10, 10, 0, 0])


@pytest.mark.parametrize(("slot", "own"), [(0, [11, 10, 0, 0]), (1, [10, 11, 0, 0])])
def test_whoever_is_transformed_has_its_own_pp_back(slot: int, own: list[int]) -> None:
    play, _ = played(METRONOME, slot, transformed=True)
    assert pp(play) == ([5] * 4, own)


@pytest.mark.parametrize("slot", [2, 3])
def test_but_not_of_a_move_that_it_does_not_have(slot: int) -> None:
    play, _ = played(METRONOME, slot, transformed=True)
    assert pp(play) == ([5] * 4, [10, 10, 0, 0])


def test_a_move_of_two_turns_costs_nothing_yet() -> None:
    play, called = played(MIRROR_MOVE, 1, transformed=False, last=91)
    assert called == 91
    assert pp(play) == ([5, 6, 5, 5], [10, 6, 0, 0])


@pytest.mark.parametrize("last", [0, MIRROR_MOVE])
def test_mirror_move_needs_a_move_to_mirror(last: int) -> None:
    play, called = played(MIRROR_MOVE, 0, transformed=False, last=last)
    assert called == MIRROR_MOVE
    assert not calls(play, ONE, np.array([MIRROR_MOVE], np.int32)).any()
    assert int(play.last_damage[0]) == 7


def test_moves_of_two_turns_are_those_that_charge() -> None:
    numbers = np.arange(168, dtype=np.int32)
    charges = move_fields(moves()).charges
    assert np.array_equal(two_turns(numbers), charges)
    assert charges.sum() == 6
