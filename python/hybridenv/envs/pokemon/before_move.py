"""Up to the move: what keeps a Pokémon from moving, and the PP that the move costs.

Source: `runMove` of mods/gen1/scripts and the `onBeforeMove` of mods/gen1/conditions, which run by
priority: freeze 12, sleep 10, trapped 9, flinch 8, recharge 7, Disable 6, confusion 3, paralysis 2,
Bide and trapping 0.
"""

from hybridenv.envs.pokemon.lanes import Lanes, Mask, least, most, quotient, ratio, where
from hybridenv.envs.pokemon.play import MOST_DAMAGE, Play, boost, chosen, hurt
from hybridenv.envs.pokemon.state import Fields
from hybridenv.envs.pokemon.tables import BIDE, CANNOT_MOVE, FRZ, PAR, SLP, STRUGGLE


def before_move(play: Play) -> tuple[Mask, Mask]:
    """Play what comes before the move that was chosen, whose row is `play.row`.

    Notes: `moves`, where it is this one's turn.

    Returns:
        Where the move is used, and where it was called off.
    """
    user, mon, foe, row = play.user, play.mon, play.foe, play.row
    moves = play.notes["moves"]
    go = moves & (user.selected != CANNOT_MOVE)
    user.sub_broke = user.sub_broke & ~(go & row.self)
    foe.sub_broke = foe.sub_broke & ~(go & ~row.self)

    frozen = go & (mon.status == FRZ)
    asleep = go & (mon.status == SLP)
    mon.sleep = where(asleep, most(mon.sleep - 1, 0), mon.sleep)
    chosen(frozen | asleep, user, last_move=0)
    go = go & ~(frozen | asleep | (user.trapped > 0) | user.flinch)
    tired = go & user.recharge
    chosen(tired, user, recharge=False)
    go = go & ~tired
    go = go & ~_disabled(user, go)
    go = go & ~_confused(play, go)
    stiff = play.chance.less(go & (mon.status == PAR), 63, 256, "full paralysis")
    chosen(stiff, user, bide=False, charging=False, trapping=False, thrashing=False)
    go = go & ~stiff
    go = go & ~_biding(play, go)
    lost = go & user.trapping & (row.self | (user.trap_prey != play.foe_mon.slot))
    chosen(lost, user, trapping=False)
    pay(user, mon, go & _costs(user, row), 1)
    shown = go & (user.selected < STRUGGLE) & ~user.transformed
    mon.seen_moves = where(shown, mon.seen_moves | 1 << user.slot, mon.seen_moves)
    return go, moves & ~go


def _disabled(user: Fields, go: Mask) -> Mask:
    able = go & (user.disable > 0)
    user.disable = where(able, user.disable - 1, user.disable)
    move = where(user.bide, BIDE, user.selected)
    stopped = able & (user.disable > 0) & (move == user.disabled)
    chosen(stopped, user, charging=False)
    return stopped


def _confused(play: Play, go: Mask) -> Mask:
    """Hurt who is confused; returns whom."""
    user, mon = play.user, play.mon
    able = go & (user.confusion > 0)
    user.confusion = where(able, user.confusion - 1, user.confusion)
    able = able & (user.confusion > 0)
    hit = able & ~play.chance.less(able, 128, 256, "confusion self-hit")
    strength = (quotient(2 * mon.level, 5) + 2) * user.atk * 40
    damage = quotient(ratio(strength, most(user.dfn, 1)), 50) + 2
    hurt_behind_substitute(play, hit, damage)
    chosen(hit, user, bide=False, charging=False, away=False, trapping=False, thrashing=False)
    return hit


def hurt_behind_substitute(play: Play, mask: Mask, damage: Lanes) -> None:
    """Hurt the user; behind a Substitute, hurt the foe's Substitute instead, if there is one.

    Source: `directDamage` of sim/battle.
    """
    user, foe = play.user, play.foe
    play.last_damage = where(mask, damage, play.last_damage)
    hurt(play.mon, mask & (user.substitute == 0), damage)
    passed = mask & (user.substitute > 0) & (foe.substitute > 0)
    foe.substitute = where(passed, most(foe.substitute - damage, 0), foe.substitute)
    foe.sub_broke = foe.sub_broke | (passed & (foe.substitute == 0))


def _biding(play: Play, go: Mask) -> Mask:
    """Go on with Bide; returns who does."""
    user, foe, foe_mon = play.user, play.foe, play.foe_mon
    able = go & user.bide
    stored = least(user.bide_damage + play.last_damage, MOST_DAMAGE)
    user.bide_damage = where(able, stored, user.bide_damage)
    user.bide_left = where(able, most(user.bide_left - 1, 0), user.bide_left)
    ends = able & (user.bide_left == 0)
    strikes = ends & (user.bide_damage > 0)
    damage = least(2 * user.bide_damage, MOST_DAMAGE)
    blocked = strikes & (foe.substitute > 0)
    open_hit = strikes & ~blocked
    dealt = where(blocked, damage, least(damage, foe_mon.hp))
    play.last_damage = where(strikes, dealt, play.last_damage)
    foe.substitute = where(blocked, most(foe.substitute - damage, 0), foe.substitute)
    foe.sub_broke = foe.sub_broke | (blocked & (foe.substitute == 0))
    hurt(foe_mon, open_hit, dealt)
    boost(foe, open_hit & foe.rage & (foe_mon.hp > 0), "atk", 1)
    chosen(ends, user, bide=False)
    return able


def _costs(user: Fields, row: Fields) -> Mask:
    """Whether the move that is about to be used costs PP: not while one is bound to it."""
    bound = user.recharge | user.thrashing | user.rage | user.trapping | user.bide
    first = ~(bound | user.charging) & ~row.charges
    return (user.selected != STRUGGLE) & (first | user.charging)


def pay(user: Fields, mon: Fields, mask: Mask, amount: int) -> None:
    """Take PP from the slot last chosen; below 0 comes 63.

    Source: `deductPP` of mods/gen1/scripts.
    """
    for slot in range(4):
        name = f"pp{slot}"
        here = mask & (user.slot == slot)
        left = (getattr(user, name) - amount) & 63
        setattr(user, name, where(here, left, getattr(user, name)))
        setattr(mon, name, where(here & ~user.transformed, left, getattr(mon, name)))
