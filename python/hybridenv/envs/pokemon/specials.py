"""Moves that no row of numbers describes: a few lines each.

Source: `onHit` and `condition` of these moves in mods/gen1/moves; `transformInto` of sim/pokemon.
"""

from hybridenv.envs.pokemon.lanes import Lanes, Mask, flag, most, pick, quotient, where
from hybridenv.envs.pokemon.play import Play, chosen, hurt
from hybridenv.envs.pokemon.prng import Site
from hybridenv.envs.pokemon.state import Fields
from hybridenv.envs.pokemon.tables import CANNOT_MOVE, FRZ, SLP, Effect

SLOTS = range(4)


def simple(play: Play, hits: Mask) -> None:
    """Leech Seed, screens, Mist, Focus Energy and Substitute."""
    user, foe, mon, code = play.user, play.foe, play.mon, play.row.effect
    chosen(hits & (code == Effect.LEECH_SEED), foe, seeded=True)
    chosen(hits & (code == Effect.LIGHT_SCREEN), user, light_screen=True)
    chosen(hits & (code == Effect.REFLECT), user, reflect=True)
    chosen(hits & (code == Effect.MIST), user, mist=True)
    chosen(hits & (code == Effect.FOCUS_ENERGY), user, focus=True)
    doubles = hits & (code == Effect.SUBSTITUTE)
    quarter = mon.max_hp >> 2
    chosen(doubles, user, substitute=quarter + 1, trapped=0)
    hurt(mon, doubles & (mon.max_hp > 3), quarter)


def drawn(play: Play, hits: Mask, strikes: Mask) -> tuple[Mask, Lanes]:
    """Bide, Disable and Mimic, which draw once, as trapping moves do.

    Args:
        play: The play.
        hits: Where a move hits.
        strikes: Where it hits the foe or its Substitute.

    Returns:
        Where the user begins to trap the foe, and for how many turns.
    """
    user, foe, row, chance = play.user, play.foe, play.row, play.chance
    bides = hits & (row.effect == Effect.BIDE)
    disables = hits & (row.effect == Effect.DISABLE) & (foe.disable == 0)
    mimics = hits & (row.effect == Effect.MIMIC)
    traps = strikes & row.traps & ~user.trapping
    moves = [getattr(foe, f"move{slot}") for slot in SLOTS]
    usable = [flag(getattr(foe, f"pp{slot}") > 0) for slot in SLOTS]
    value = chance.one_of(
        [
            Site(bides, 2, "bide turns", 2),
            Site(disables, most(sum(usable), 1), "disable slot"),
            Site(mimics, most(sum(flag(move != 0) for move in moves), 1), "mimic"),
            Site(traps, 8, "trap turns"),
        ]
    )
    chosen(bides, user, bide=True, bide_left=value, bide_damage=0)
    before = 0 * value
    for slot in SLOTS:
        here = disables & (usable[slot] == 1) & (before == value)
        chosen(here, foe, disabled=moves[slot], disabled_slot=slot)
        before = before + usable[slot]
    turns = chance.draw(disables, 8, "disable turns", 1)
    foe.disable = where(disables, turns, foe.disable)
    learned = pick(value, moves)
    for slot in SLOTS:
        chosen(mimics & (user.slot == slot), user, **{f"move{slot}": learned})
    return traps, where(value < 3, 2, where(value < 6, 3, value - 2))


def copy(play: Play, hits: Mask, speed: Lanes) -> None:
    """Conversion and Transform.

    Args:
        play: The play.
        hits: Where the move hits.
        speed: int32, base speed of what the foe looks like.
    """
    user, foe, mon, code = play.user, play.foe, play.mon, play.row.effect
    becomes = hits & (code == Effect.TRANSFORM)
    alike = becomes | (hits & (code == Effect.CONVERSION))
    chosen(alike, user, type0=foe.type0, type1=foe.type1)
    stats = ("atk", "dfn", "spc", "spe")
    names = [f"boost_{stat}" for stat in (*stats, "acc", "eva")]
    names += [*stats, *(f"base_{stat}" for stat in stats), *(f"move{slot}" for slot in SLOTS)]
    chosen(becomes, user, **{name: getattr(foe, name) for name in [*names, "species"]})
    pp = {f"pp{slot}": where(getattr(foe, f"move{slot}") == 0, 0, 5) for slot in SLOTS}
    # The speed that orders turns becomes what the user's own training makes of the new species.
    own = quotient((2 * speed + mon.haste) * mon.level, 100) + 5
    chosen(becomes, user, transformed=True, speed=own, **pp)


def haze(play: Play, hits: Mask) -> None:
    """Clear stages and most of what lasts, of both; statuses only of the foe.

    What becomes of the user's own Toxic is in `effects.give_status`.
    """
    user, foe, foe_mon = play.user, play.foe, play.foe_mon
    clears = hits & (play.row.effect == Effect.HAZE)
    idle = clears & ((foe_mon.status == FRZ) | (foe_mon.status == SLP))
    chosen(idle, foe, selected=CANNOT_MOVE, foe_selected=CANNOT_MOVE)
    chosen(clears, foe_mon, status=0)
    for active in (user, foe):
        _clear(active, clears)


def _clear(active: Fields, mask: Mask) -> None:
    for stat in ("atk", "dfn", "spc", "spe"):
        chosen(mask, active, **{stat: getattr(active, f"base_{stat}"), f"boost_{stat}": 6})
    chosen(mask, active, boost_acc=6, boost_eva=6, speed=active.base_spe)
    chosen(mask, active, mist=False, focus=False, seeded=False, light_screen=False, reflect=False)
    chosen(mask, active, disable=0, confusion=0, toxic=False)
