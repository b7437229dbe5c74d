"""What a move that hits does: damage, statuses, stages and all else.

Source: `moveHit` and `tryMoveHit` of mods/gen1/scripts; `onTryHit` and `onHit` of mods/gen1/moves.
"""

from hybridenv.envs.pokemon.lanes import Lanes, Mask, least, most, ratio, where
from hybridenv.envs.pokemon.play import Play, boost, chosen, heal, hurt, weaken
from hybridenv.envs.pokemon.state import Fields
from hybridenv.envs.pokemon.tables import (
    BRN,
    FRZ,
    POISON,
    PSN,
    SLP,
    STATUS_MOVE,
    TOX,
    Effect,
)


def refused(play: Play, hits: Mask) -> Mask:
    """Where a move that hits does nothing, because there already is what it does."""
    user, foe, mon, row = play.user, play.foe, play.mon, play.row
    code = row.effect
    drained = (foe.pp0 | foe.pp1 | foe.pp2 | foe.pp3) == 0
    refuses = (code == Effect.DISABLE) & drained
    refuses = refuses | ((code == Effect.LIGHT_SCREEN) & user.light_screen)
    refuses = refuses | ((code == Effect.REFLECT) & user.reflect)
    weak = (user.substitute > 0) | (4 * mon.hp < mon.max_hp)
    refuses = refuses | ((code == Effect.SUBSTITUTE) & weak)
    poisons = (row.status == PSN) | (row.status == TOX)
    harms = poisons | row.confuses | (row.boosts != 0)
    blocked = (row.category == STATUS_MOVE) & (foe.substitute > 0) & harms & ~row.self
    return hits & (refuses | blocked)


def strike_substitute(play: Play, mask: Mask, damage: Lanes, count: Lanes) -> Mask:
    """Hit the foe's Substitute.

    Returns:
        Where it stands but lets confusion through.
    """
    foe, mon, row, chance = play.foe, play.mon, play.row, play.chance
    count = where(foe.sub_broke, 1, count)
    play.last_damage = where(mask, damage, play.last_damage)
    left = most(foe.substitute - least(damage, 1023) * count, 0)
    foe.substitute = where(mask, left, foe.substitute)
    foe.sub_broke = foe.sub_broke | (mask & (left == 0))
    stands = mask & (left > 0)
    drained = most(damage >> 1, 1)
    play.last_damage = where(stands & row.drains, drained, play.last_damage)
    heal(mon, stands & row.drains, drained)
    recoil(play, stands & (damage > 0), damage)
    return chance.less(stands & row.then_confuses, row.chance, 256, "substitute confusion")


def recoil(play: Play, mask: Mask, damage: Lanes) -> None:
    """Hurt the user by a part of the damage."""
    part = where(play.row.recoil == 2, damage >> 1, damage >> 2)
    hurt(play.mon, mask & (play.row.recoil > 0), most(part, 1))


def strike(play: Play, mask: Mask, damage: Lanes, count: Lanes) -> tuple[Mask, Lanes]:
    """Hit the foe itself, several times with the same damage.

    Returns:
        Where the last of all hits was struck, and how many more times the foe's rage builds.
    """
    foe, mon, foe_mon, row = play.foe, play.mon, play.foe_mon, play.row
    once = least(damage, foe_mon.hp)
    needed = ratio(foe_mon.hp + once - 1, most(once, 1))
    allowed = where(foe.sub_broke, 1, count)
    struck = where(once > 0, least(allowed, needed), allowed)
    before_last = (struck - 1) * once
    final = least(once, foe_mon.hp - before_last)
    play.last_damage = where(mask, final, play.last_damage)
    hurt(foe_mon, mask, struck * once)
    wounded = mask & (once > 0)
    drained = most(once >> 1, 1)
    play.last_damage = where(wounded & row.drains, drained, play.last_damage)
    heal(mon, wounded & row.drains, drained)
    recoil(play, wounded, once)
    enraged = mask & foe.rage & (foe_mon.hp > 0) & ~row.explodes
    boost(foe, enraged, "atk", 1)
    return mask & (struck == count), where(enraged, struck - 1, 0)


def change_stages(play: Play, hits: Mask, lowers: Mask) -> Mask:
    """Raise or lower stages: of a move that does only that, or as what follows a hit.

    Args:
        play: The play.
        hits: Where a move hits that may be of the first kind.
        lowers: Where the second happens.

    Returns:
        Where a move of the first kind fails.
    """
    user, foe, row = play.user, play.foe, play.row
    primary = hits & (row.boosts != 0)
    stages = row.stages - 3
    misty = ~row.self & foe.mist & (stages < 0)
    at_self, at_foe = primary & row.self, primary & ~row.self & ~misty
    worked = _boosts(user, at_self, row.boosts, stages)
    down = where(at_foe, stages, -1)
    stats = where(at_foe, row.boosts, row.then_lowers)
    after = lowers & (row.then_lowers != 0) & (play.foe_mon.hp > 0)
    worked = worked | _boosts(foe, at_foe | after, stats, down)
    weaken(foe, worked, play.foe_mon.status)
    return primary & ~worked


def _boosts(active: Fields, mask: Mask, stats: Lanes, stages: Lanes) -> Mask:
    worked = mask & (stats < 0)
    for bit, stat in enumerate(("atk", "dfn", "spc", "spe")):
        worked = worked | boost(active, mask & ((stats >> bit) & 1 != 0), stat, stages)
    for bit, stat in ((4, "boost_acc"), (5, "boost_eva")):
        value = getattr(active, stat)
        able = mask & ((stats >> bit) & 1 != 0)
        able = able & where(stages > 0, value < 12, value > 0)
        stage = least(most(value + stages, 0), 12)
        setattr(active, stat, where(able, stage, value))
        worked = worked | able
    return worked


def give_status(play: Play, hits: Mask, then: Mask) -> Mask:
    """Give the foe a status: of a move that does only that, or as what follows a hit; or rest.

    Every attempt costs a draw, as the clauses against sleep and against freezing are put in order.

    Args:
        play: The play.
        hits: Where a move hits that may be of the first kind.
        then: Where the second happens.

    Returns:
        Where Rest or Recover fails: among others, by an old mistake, at some hit points.
    """
    foe, mon, foe_mon, row, chance = play.foe, play.mon, play.foe_mon, play.row, play.chance
    primary = hits & (row.status != 0) & ~row.self
    code = where(primary, row.status, row.then_status)
    surprised = primary & (code == SLP) & foe.recharge
    free = where(surprised, foe_mon.status != SLP, foe_mon.status == 0)
    poisons = (code == PSN) | (code == TOX)
    immune = poisons & ((foe.type0 == POISON) | (foe.type1 == POISON))
    tries = (primary | (then & (row.then_status != 0))) & free & ~immune & (foe_mon.hp > 0)
    rests, fails = _recover(play, hits)
    milder = hits & (row.effect == Effect.HAZE) & (mon.status == TOX)
    chance.draw(tries | rests | milder, 2, "tie: SetStatus")
    barred = ((code == SLP) & play.notes["foe_sleeper"]) | (
        (code == FRZ) & play.notes["foe_frozen"]
    )
    given = tries & ~barred
    sleeps = given & (code == SLP)
    turns = chance.draw(sleeps | rests, 7, "sleep turns", 1)
    foe_mon.status = where(given, code, foe_mon.status)
    foe_mon.sleep = where(sleeps, turns, foe_mon.sleep)
    chosen(sleeps, foe_mon, rested=False)
    chosen(given & surprised, foe, recharge=False)
    chosen(given & (code == TOX), foe, toxic=True, toxic_count=0)
    weaken(foe, given, code)
    chosen(milder, mon, status=PSN)
    chosen(rests, mon, status=SLP, sleep=2, rested=True, hp=mon.max_hp)
    return fails


def _recover(play: Play, hits: Mask) -> tuple[Mask, Mask]:
    """Heal the user by half; returns where it is to rest instead, and where both fail."""
    mon, row = play.mon, play.row
    rests, recovers = row.effect == Effect.REST, row.effect == Effect.RECOVER
    missing = mon.max_hp - mon.hp
    flawed = ((missing == 255) | (missing == 511)) & (mon.hp & 255 != 0)
    tries = hits & (rests | recovers)
    fails = tries & ((missing == 0) | flawed)
    able = tries & ~fails
    heal(mon, able & recovers, mon.max_hp >> 1)
    return able & rests, fails


def confuse(play: Play, mask: Mask) -> None:
    """Confuse the foe where it is not."""
    foe = play.foe
    able = mask & (foe.confusion == 0) & (play.foe_mon.hp > 0)
    turns = play.chance.draw(able, 4, "confusion turns", 2)
    foe.confusion = where(able, turns, foe.confusion)


def tie_up(play: Play, struck: Mask, begins: Mask, turns: Lanes, move: Lanes) -> None:
    """Trap the foe, or go on with it.

    Args:
        play: The play.
        struck: Where the foe itself was hit.
        begins: Where the user begins to trap.
        turns: For how long.
        move: The move.
    """
    user, foe, mon, foe_mon, row = play.user, play.foe, play.mon, play.foe_mon, play.row
    alive = foe_mon.hp > 0
    begins = begins & alive
    chosen(
        begins,
        user,
        trapping=True,
        trap_move=move,
        trap_left=turns,
        trap_total=turns,
        trap_damage=play.last_damage & 0x1FFF,
        trap_prey=foe_mon.slot,
    )
    hold(foe, (begins | (struck & row.traps)) & alive, mon.slot)


def hold(foe: Fields, mask: Mask, slot: Lanes) -> None:
    """Keep the foe from moving for two turns more."""
    fresh = mask & (foe.trapped == 0)
    chosen(fresh, foe, trapper=slot, trap_shown=False)
    foe.trapped = where(mask, 2, foe.trapped)


def thaw(play: Play, mask: Mask) -> None:
    """Thaw the foe by a move that could have burned it."""
    foe_mon = play.foe_mon
    warm = mask & (play.row.then_status == BRN) & (foe_mon.status == FRZ) & (foe_mon.hp > 0)
    chosen(warm, foe_mon, status=0)
