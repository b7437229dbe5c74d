"""From the use of a move to its hit: charging, who can be hit, accuracy, number of hits.

Source: `useMove`, `useMoveInner` and `tryMoveHit` of mods/gen1/scripts.
"""

from hybridenv.envs.pokemon.lanes import Lanes, Mask, clip, quotient, where
from hybridenv.envs.pokemon.play import Play, chosen, per_cent
from hybridenv.envs.pokemon.prng import Site
from hybridenv.envs.pokemon.tables import (
    FISSURE,
    GRASS,
    NO_MOVE,
    PETAL_DANCE,
    SLP,
    Effect,
    Fixed,
)


def aim(play: Play, go: Mask, move: Lanes) -> tuple[Mask, Mask, Mask, Lanes]:
    """Play a move up to its hit.

    Args:
        play: The play, with the row of the move.
        go: Where it is used.
        move: Which it is.

    Returns:
        Where it is tried at all, where it hits, where it fails without an end to trapping, and how
        many hits it would have.
    """
    user, foe, row = play.user, play.foe, play.row
    released = go & row.charges & user.charging
    begins = go & row.charges & ~user.charging
    named = where(move == NO_MOVE, FISSURE, move)
    chosen(go, user, used=move)
    chosen(go & ~begins, user, last_move=named)
    chosen(released, user, charging=False, away=False)
    chosen(begins, user, charging=True, charge_move=move)
    chosen(begins & row.leaves, user, away=True)
    tried = go & ~begins & ~row.fails
    chosen(tried & row.traps, foe, recharge=False)

    play.last_damage = where(tried & ~row.keeps_damage, 0, play.last_damage)
    _thrash(play, tried & row.thrashes, move)
    out = _out_of_reach(play)
    hits = tried & ~out & ~_missed(play, tried & ~out)
    return tried, hits, tried & out, _count(play, hits)


def _thrash(play: Play, mask: Mask, move: Lanes) -> None:
    """Begin to thrash, or go on, which ends in confusion."""
    user, chance = play.user, play.chance
    going, begins = mask & user.thrashing, mask & ~user.thrashing
    user.thrash = where(going & (user.thrash > 0), user.thrash - 1, user.thrash)
    ends = going & (user.thrash == 0)
    turns = chance.one_of([Site(ends, 4, "confusion turns", 2), Site(begins, 2, "thrash turns", 2)])
    user.confusion = where(ends, turns, user.confusion)
    chosen(begins, user, thrashing=True, thrash=turns, thrash_acc=255)
    user.petal = where(begins, move == PETAL_DANCE, user.petal)


def effectiveness(play: Play) -> tuple[Lanes, Lanes]:
    """What the move does to both of the foe's types: 0 immune, 1, 2, 3 weak."""
    chart, foe = play.row.chart, play.foe
    return (chart >> 2 * foe.type0) & 3, (chart >> 2 * foe.type1) & 3


def _out_of_reach(play: Play) -> Mask:
    """Where nothing can be hit."""
    user, foe, row = play.user, play.foe, play.row
    first, second = effectiveness(play)
    away = foe.away & ~row.reaches
    immune = ~row.any_type & ((first == 0) | (second == 0))
    grass = (foe.type0 == GRASS) | (foe.type1 == GRASS)
    awake = (play.foe_mon.status != SLP) | (foe.substitute > 0)
    unfit = (row.dreams & awake) | ((row.effect == Effect.LEECH_SEED) & grass)
    faster = (row.fixed == Fixed.KNOCK_OUT) & (foe.spe > user.spe)
    return ~row.self & (away | immune | unfit | faster)


def blown(play: Play) -> Mask:
    """Where an exploding move does not even need to hit: its user faints of it."""
    first, second = effectiveness(play)
    return (play.foe.away & ~play.row.reaches) | (first == 0) | (second == 0)


def _missed(play: Play, mask: Mask) -> Mask:
    """Draw where the move misses; even the surest does once in 256 times."""
    user, foe, row = play.user, play.foe, play.row
    sure = row.sure | ((row.status == SLP) & foe.recharge)
    accuracy = where(user.thrashing, user.thrash_acc, row.accuracy)
    accuracy = where(user.rage, user.rage_acc, accuracy)
    accuracy = quotient(accuracy * per_cent(user.boost_acc), 100)
    accuracy = quotient(accuracy * per_cent(12 - foe.boost_eva), 100)
    accuracy = clip(accuracy, 1, 255)
    counted = mask & ~sure
    user.thrash_acc = where(counted & user.thrashing, accuracy, user.thrash_acc)
    user.rage_acc = where(counted & user.rage, accuracy, user.rage_acc)
    held = ~row.self & (foe.trapped > 0) & (foe.trapper == play.mon.slot)
    drawn = counted & ~held
    missed = drawn & ~play.chance.less(drawn, accuracy, 256, "accuracy")
    play.last_damage = where(missed, 0, play.last_damage)
    return missed


def _count(play: Play, hits: Mask) -> Lanes:
    """Draw how often the move hits."""
    several = play.row.hits == 1
    drawn = play.chance.draw(hits & several, 8, "hits")
    count = where(drawn < 3, 2, where(drawn < 6, 3, drawn - 2))
    return where(several, count, where(play.row.hits == 2, 2, 1))
