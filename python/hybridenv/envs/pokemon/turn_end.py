"""The end of a turn: what runs out, what players are asked next, and who has won.

Source: `residualEvent`, `faintMessages`, `endTurn` and `maybeTriggerEndlessBattleClause` of
sim/battle.
"""

from hybridenv.envs.pokemon.lanes import Lanes, Mask, flag, least, where
from hybridenv.envs.pokemon.play import chosen
from hybridenv.envs.pokemon.prng import Ties
from hybridenv.envs.pokemon.state import Fields
from hybridenv.envs.pokemon.tables import FRZ, GHOST, TRANSFORM

LAST_TURN = 1000


def run_out(mask: Mask, both: tuple[Fields, Fields]) -> list[Ties]:
    """Count down what lasts some turns.

    Returns:
        What is put in order by draws: things of one speed.
    """
    counts = [
        flag(side.flinch) + flag(side.trapped > 0) + flag(side.freed > 0) + flag(side.trapping)
        for side in both
    ]
    for side in both:
        chosen(mask, side, speed=side.spe)
    tied = both[0].speed == both[1].speed
    groups = where(tied, counts[0] + counts[1], counts[0]), where(tied, 0, counts[1])
    for side in both:
        chosen(mask, side, flinch=False)
        for name in ("trapped", "freed"):
            value = getattr(side, name)
            setattr(side, name, where(mask & (value > 0), value - 1, value))
        left = where(side.trapping, side.trap_left - 1, side.trap_left)
        side.trap_left = where(mask, left, side.trap_left)
        chosen(mask & (side.trap_left == 0), side, trapping=False)
    return [Ties(where(mask, group, 0), "tie: Residual") for group in groups]


def let_go(mask: Mask, both: tuple[Fields, Fields], mons: tuple[Fields, Fields]) -> None:
    """End trapping whose other half is gone."""
    for ours, theirs, their_mon in ((*both, mons[1]), (*both[::-1], mons[0])):
        kept = (ours.trap_prey == their_mon.slot) & (their_mon.hp > 0) & (theirs.trapped > 0)
        chosen(mask & ours.trapping & ~kept, ours, trapping=False)
        kept = (ours.trapper == their_mon.slot) & (their_mon.hp > 0) & theirs.trapping
        chosen(mask & ~kept, ours, trapped=0)
        chosen(mask & (theirs.freed == 0), ours, freed=0)


def limits(mask: Mask, active: Fields) -> list[Ties]:
    """What limits the choice of a move, and is put in order by draws."""
    early = flag(active.trapped > 0) + flag(active.freed > 0)
    late = flag(active.trapping) + flag(active.disable > 0) + flag(active.bide)
    return [Ties(where(mask, group, 0), "tie: DisableMove") for group in (early, late)]


def idle(mon: Fields) -> Mask:
    """Whether a member could be one of a side that is stuck: a first, quick look."""
    spent = (mon.pp0 | mon.pp1 | mon.pp2 | mon.pp3) == 0
    return (mon.hp == 0) | (mon.status == FRZ) | spent | _only_transform(mon)


def stuck(ours: list[Fields], theirs: list[Fields], foe: Fields) -> Mask:
    """Whether no member of a side can bring the battle forward.

    Args:
        ours: `MON` fields of the side by position, the first with the moves, PP it has in battle.
        theirs: Those of the other side.
        foe: `ACTIVE` fields of the other side.

    Returns:
        bool by battle.
    """
    ghosts = transforms = ours[0].hp == ours[0].hp
    for place, mon in enumerate(theirs):
        kind = (foe.type0 == GHOST) | (foe.type1 == GHOST) if place == 0 else mon.ghost
        ghosts = ghosts & ((mon.hp == 0) | kind)
        transforms = transforms & ((mon.hp == 0) | _only_transform(mon))
    result = ours[0].hp == ours[0].hp
    for mon in ours:
        spent = (mon.pp0 | mon.pp1 | mon.pp2 | mon.pp3) == 0
        rests = (mon.hp == 0) | (mon.status == FRZ)
        rests = rests | (_only_transform(mon) & transforms) | (spent & ghosts)
        result = result & rests
    return result


def _only_transform(mon: Fields) -> Mask:
    result = mon.move0 == TRANSFORM
    for slot in range(1, 4):
        move = getattr(mon, f"move{slot}")
        result = result & ((move == TRANSFORM) | (move == 0))
    return result


def next_turn(field: Fields, mask: Mask) -> Mask:
    """Count the turn; returns where there were too many."""
    field.turn = where(mask, least(field.turn + 1, 1023), field.turn)
    return mask & (field.turn > LAST_TURN)


def left(hit_points: list[Lanes]) -> Mask:
    """Whether any member of a team still stands."""
    result = hit_points[0] > 0
    for hp in hit_points[1:]:
        result = result | (hp > 0)
    return result
