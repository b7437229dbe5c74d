"""Metronome and Mirror Move: moves that use another one.

Source: their `onHit` in mods/gen1/moves and `useMove` of mods/gen1/scripts.
"""

from hybridenv.envs.pokemon.before_move import pay
from hybridenv.envs.pokemon.lanes import Lanes, Mask, any_of, where
from hybridenv.envs.pokemon.play import Play, chosen
from hybridenv.envs.pokemon.tables import METRONOME, MIRROR_MOVE, charging

CALLABLE = 163
"""Moves that Metronome chooses from: all but itself and Struggle."""


def calls(play: Play, go: Mask, move: Lanes) -> Mask:
    """Where the move is one that uses another, and can."""
    last = play.foe.last_move
    mirrors = (move == MIRROR_MOVE) & (last != 0) & (last != MIRROR_MOVE)
    return go & ((move == METRONOME) | mirrors)


def call(play: Play, go: Mask, move: Lanes) -> Lanes:
    """Use Metronome or Mirror Move once.

    Args:
        play: The play; its row is not looked at.
        go: Where a move is used.
        move: Which.

    Returns:
        The move that is used now.
    """
    user, mon = play.user, play.mon
    calling = calls(play, go, move)
    chosen(calling, user, used=move, last_move=move)
    play.last_damage = where(calling, 0, play.last_damage)
    wagging = calling & (move == METRONOME)
    index = play.chance.draw(wagging, CALLABLE, "metronome")
    drawn = index + 1 + (index >= METRONOME - 1)
    called = where(move == METRONOME, drawn, play.foe.last_move)
    chosen(calling, user, selected=called, foe_selected=called)
    pay(user, mon, calling & two_turns(called), -1)
    for slot in range(4):
        name = f"pp{slot}"
        own = getattr(mon, f"move{slot}") != 0
        here = calling & user.transformed & own & (user.slot == slot)
        setattr(mon, name, where(here, (getattr(mon, name) + 1) & 63, getattr(mon, name)))
    return where(calling, called, move)


def two_turns(move: Lanes) -> Mask:
    """Whether a move takes two turns: Dig, Fly, Razor Wind, Skull Bash, Sky Attack, Solar Beam."""
    return any_of(*(move == number for number in charging()))
