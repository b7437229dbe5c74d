"""How much damage a move does.

Source: `getDamage` of mods/gen1/scripts, the `damageCallback` of mods/gen1/moves.
"""

from hybridenv.envs.pokemon.aim import effectiveness
from hybridenv.envs.pokemon.lanes import Lanes, Mask, clip, least, most, quotient, ratio, where
from hybridenv.envs.pokemon.play import MOST_DAMAGE, Play
from hybridenv.envs.pokemon.prng import Site
from hybridenv.envs.pokemon.state import Fields
from hybridenv.envs.pokemon.tables import COUNTER, GHOST, PHYSICAL, UNTYPED, Fixed


def damage_of(play: Play, attacks: Mask, speed: Lanes, counterable: Mask) -> tuple[Lanes, Mask]:
    """Work out the damage of an attack before it is limited by what is left to take.

    Args:
        play: The play, with the row of the move.
        attacks: Where it is one and hits.
        speed: int32, base speed of the user's own species.
        counterable: Whether the foe's side last used a move that Counter answers.

    Returns:
        The damage, and where the move fails instead.
    """
    user, foe, row = play.user, play.foe, play.row
    ghost = (foe.type0 == GHOST) | (foe.type1 == GHOST)
    through = row.traps & (row.type == 0) & ghost
    held = user.trapping & (user.trap_prey == play.foe_mon.slot)
    plain = row.fixed == Fixed.NONE
    computed = attacks & plain & ~through & ~held
    half = play.mon.level + (play.mon.level >> 1)
    soft = (half & 255) < 2
    rate = _rate(play, speed)
    waves = attacks & (row.fixed == Fixed.PSYWAVE) & ~soft
    first = play.chance.one_of(
        [
            Site(computed & (rate > 0), 256, "critical"),
            Site(waves, most(half - 1, 1), "psywave", 1),
        ]
    )
    damage = where(through, 0, where(held, user.trap_damage, 0))
    damage = where(computed, _computed(play, computed, computed & (first < rate)), damage)
    fixed, fails = _fixed(play, first, counterable, soft)
    return where(plain, damage, fixed), attacks & ~plain & fails


def _fixed(play: Play, wave: Lanes, counterable: Mask, soft: Mask) -> tuple[Lanes, Mask]:
    """Damage that is no matter of strength, and where there is none."""
    row = play.row
    waves, counters = row.fixed == Fixed.PSYWAVE, row.fixed == Fixed.COUNTER
    answer = counterable & (play.foe.foe_selected != COUNTER) & (play.last_damage > 0)
    damage = where(row.fixed == Fixed.TWENTY, 20, 40)
    damage = where(row.fixed == Fixed.LEVEL, play.mon.level, damage)
    damage = where(waves, wave, damage)
    damage = where(row.fixed == Fixed.HALF, most(play.foe_mon.hp >> 1, 1), damage)
    damage = where(counters, least(2 * play.last_damage, MOST_DAMAGE), damage)
    damage = where(row.fixed == Fixed.KNOCK_OUT, 65535, damage)
    return damage, (waves & soft) | (counters & ~answer)


def _rate(play: Play, speed: Lanes) -> Lanes:
    """How many times in 256 a hit is critical."""
    rate = speed >> 1
    rate = where(play.user.focus, rate >> 1, clip(2 * rate, 1, 255))
    return where(play.row.critical, clip(4 * rate, 1, 255), rate >> 1)


def _strengths(play: Play, hit: Mask) -> tuple[Lanes, Lanes]:
    """Attack and defence as the formula takes them: 8 bits each."""
    user, foe, mon, foe_mon = play.user, play.foe, play.mon, play.foe_mon
    physical = play.row.category == PHYSICAL

    def of(fields: Fields, names: tuple[str, str]) -> Lanes:
        return where(physical, getattr(fields, names[0]), getattr(fields, names[1]))

    attack = where(hit, of(mon, ("atk", "spc")), of(user, ("atk", "spc")))
    screened = where(physical, foe.reflect, foe.light_screen)
    defence = of(foe, ("dfn", "spc"))
    defence = where(screened, 2 * defence, defence)
    defence = where(hit, of(foe_mon, ("dfn", "spc")), defence)
    large = (attack >= 256) | (defence >= 256)
    attack = where(large, most((attack >> 2) & 255, 1), attack)
    defence = where(large, (defence >> 2) & 255, defence)
    defence = most(defence, 1)
    return attack, where(play.row.explodes & physical, most(defence >> 1, 1), defence)


def _computed(play: Play, attacks: Mask, hit: Mask) -> Lanes:
    """The formula, for critical hits where `hit` holds."""
    user, foe, row = play.user, play.foe, play.row
    attack, defence = _strengths(play, hit)
    level = where(hit, 2 * play.mon.level, play.mon.level) & 255
    damage = ratio((quotient(2 * level, 5) + 2) * row.power * attack, defence)
    damage = least(quotient(damage, 50), 997) + 2
    own = (row.type != UNTYPED) & ((user.type0 == row.type) | (user.type1 == row.type))
    damage = where(own, damage + (damage >> 1), damage)
    first, second = effectiveness(play)
    second = where(foe.type1 == foe.type0, 2, second)
    for effect in (first, second):
        damage = where(effect == 3, 2 * damage, where(effect == 1, damage >> 1, damage))
    varies = damage > 1
    factor = play.chance.draw(attacks & varies, 39, "damage", 217)
    return where(varies, quotient(damage * factor, 255), damage)
