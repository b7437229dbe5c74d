"""A move that hits, from its damage to the end of its user's turn.

Source: `moveHit`, `tryMoveHit`, `useMoveInner` and `useMove` of mods/gen1/scripts; `onAfterMove`
and `onAfterMoveSelf` of mods/gen1 and gen2/conditions and of Leech Seed.
"""

from hybridenv.envs.pokemon import effects, specials
from hybridenv.envs.pokemon.aim import blown
from hybridenv.envs.pokemon.before_move import hurt_behind_substitute
from hybridenv.envs.pokemon.lanes import Lanes, Mask, least, most, where
from hybridenv.envs.pokemon.play import Play, boost, chosen, heal, hurt
from hybridenv.envs.pokemon.tables import BRN, FRZ, PAR, PSN, SLP, STATUS_MOVE, TOX, Effect

MOST_COUNT = 2047


def land(
    play: Play,
    hits: Mask,
    count: Lanes,
    damage: Lanes,
    failed: Mask,
    move: Lanes,
    foe_speed: Lanes,
) -> tuple[Mask, Lanes]:
    """Play the hit of a move.

    Args:
        play: The play, with the row of the move.
        hits: Where it hits.
        count: How many times it would.
        damage: Of an attack, before limits.
        failed: Where the attack fails instead.
        move: The move.
        foe_speed: int32, base speed of what the foe looks like.

    Returns:
        Where it came to nothing, and how many more times the foe's rage builds.
    """
    user, foe, row, foe_mon = play.user, play.foe, play.row, play.foe_mon
    fails = effects.refused(play, hits) | failed
    attacks = hits & ~fails & (row.category != STATUS_MOVE) & ~row.self
    behind = attacks & (foe.substitute > 0)
    confused = effects.strike_substitute(play, behind, damage, count)
    last, rages = effects.strike(play, attacks & ~behind, damage, count)
    opens = hits & ~fails & ~behind
    specials.simple(play, opens)
    traps, turns = specials.drawn(play, opens, attacks)
    specials.copy(play, opens, foe_speed)
    specials.haze(play, opens)
    fails = fails | (
        opens & ((row.effect == Effect.METRONOME) | (row.effect == Effect.MIRROR_MOVE))
    )
    whole = (attacks & ~behind) | (behind & (foe.substitute > 0))
    chosen(whole & row.tires, user, recharge=True)
    enraged = whole & row.enrages & ~user.rage
    chosen(enraged, user, rage=True, rage_acc=255)
    effects.tie_up(play, attacks & ~behind, traps, turns, move)
    then = _follows(play, last)
    fails = fails | effects.give_status(play, opens, then)
    fails = fails | effects.change_stages(play, opens, then)
    flinches = then & row.then_flinches & (foe_mon.hp > 0) & ~foe.flinch
    chosen(flinches, foe, flinch=True, recharge=False)
    confused = confused | (then & row.then_confuses) | (opens & row.confuses)
    effects.confuse(play, confused)
    effects.thaw(play, hits & ~fails)
    return fails, rages


def _follows(play: Play, last: Mask) -> Mask:
    """Draw where a hit has its secondary effect."""
    foe, row = play.foe, play.row
    code = row.then_status
    related = (foe.type0 == row.type) | (foe.type1 == row.type)
    spared = ((code == PAR) | (code == BRN) | (code == FRZ)) & related
    able = last & (play.foe_mon.hp > 0) & (row.chance > 0) & ~spared
    return play.chance.less(able, row.chance, 256, "secondary")


def come_to_end(play: Play, tried: Mask, hits: Mask, out: Mask, fails: Mask) -> None:
    """Play what comes of a move, whether it hit or not.

    Args:
        play: The play, with the row of the move.
        tried: Where it was tried.
        hits: Where it hit.
        out: Where nothing could be hit.
        fails: Where it hit and came to nothing.
    """
    user, foe, mon, row = play.user, play.foe, play.mon, play.row
    vain = tried & (~hits | fails)
    explodes = tried & row.explodes & where(out, blown(play), ~foe.sub_broke)
    chosen(explodes, mon, hp=0)
    chosen(vain & ~out, user, trapping=False)
    provokes = row.explodes | (row.effect == Effect.DISABLE)
    angry = tried & provokes & ~row.self & foe.rage & (foe.boost_atk < 12) & (play.foe_mon.hp > 0)
    boost(foe, angry, "atk", 1)
    hurt_behind_substitute(play, vain & row.crashes, 1 + 0 * mon.hp)


def after_move(play: Play, used: Mask, aborted: Mask) -> None:
    """Play what follows every move, and every turn without one."""
    user, mon, foe_mon, row = play.user, play.mon, play.foe_mon, play.row
    _after_trapping(play, used)
    beaten = used & ~row.self & (foe_mon.hp == 0)
    chosen(beaten, user, recharge=False)
    chosen(used & user.thrashing & (user.thrash == 0), user, thrashing=False)

    lives = where(row.self, mon.hp > 0, foe_mon.hp > 0)
    own = aborted | (used & lives)
    ill = (mon.status == BRN) | (mon.status == PSN) | (mon.status == TOX)
    worse = least(user.toxic_count + 1, MOST_COUNT)
    user.toxic_count = where(own & user.toxic & ill, worse, user.toxic_count)
    chosen(own & (mon.status == SLP) & (mon.sleep == 0) & (mon.hp > 0), mon, status=0)
    part = most(mon.max_hp >> 4, 1)
    hurt(mon, own & ill, part * where(user.toxic, user.toxic_count, 1))
    seeded = own & user.seeded & (foe_mon.hp > 0)
    worse = least(user.toxic_count + 1, MOST_COUNT)
    user.toxic_count = where(seeded & user.toxic, worse, user.toxic_count)
    amount = part * where(user.toxic, user.toxic_count, 1)
    hurt(mon, seeded, amount)
    heal(foe_mon, seeded, amount)


def _after_trapping(play: Play, used: Mask) -> None:
    """Go on trapping the foe, or let it go."""
    user, foe, mon, foe_mon = play.user, play.foe, play.mon, play.foe_mon
    binds = used & user.trapping & ~play.row.self
    chosen(binds & (foe_mon.hp == 0), user, trapping=False)
    binds = binds & (foe_mon.hp > 0)
    last = binds & (user.trap_left == 1)
    free = last & (user.trap_total != 5)
    user.freed = where(free & (user.freed == 0) & (mon.hp > 0), 2, user.freed)
    foe.freed = where(free & (foe.freed == 0), 2, foe.freed)
    effects.hold(foe, binds & ~last, mon.slot)
    shown = binds & ~last & (user.trap_total > user.trap_left)
    chosen(shown, foe, trap_shown=True)
