"""Pokémon that come into battle.

Source: `switchIn` of sim/battle-actions, `clearVolatile` of sim/pokemon and `runSwitch` of
mods/gen4/scripts, which generation 1 inherits.
"""

from hybridenv.envs.pokemon.lanes import Lanes, Mask, most, pick, where
from hybridenv.envs.pokemon.play import chosen, hurt, weaken
from hybridenv.envs.pokemon.state import ACTIVE, Fields, Words, join, pack, unpack
from hybridenv.envs.pokemon.tables import BRN, METRONOME, PSN, SPECIES, TOX

KEPT = ("used", "selected", "foe_selected", "slot")
"""What belongs to the side, whoever is in battle."""


def exchange(party: tuple[Words, ...], mask: Mask, position: Lanes) -> tuple[Words, ...]:
    """Let two members change places.

    Args:
        party: Words of the team by position.
        mask: Where it happens.
        position: With which the first changes.

    Returns:
        The same, changed.
    """
    goes, *bench = party
    comes = tuple(pick(position, words) for words in zip(*party, strict=True))
    first = tuple(where(mask, new, old) for new, old in zip(comes, goes, strict=True))
    rest = [
        tuple(
            where(mask & (position == place), new, old)
            for new, old in zip(goes, words, strict=True)
        )
        for place, words in enumerate(bench, 1)
    ]
    return (first, *rest)


def enter(active: Fields, mon: Fields, mask: Mask, species: Words) -> Fields:
    """Start `ACTIVE` fields anew where someone comes into battle, or has just fainted.

    Args:
        active: The fields.
        mon: `MON` fields of the one.
        mask: Where.
        species: Row of the one's species.

    Returns:
        The fields then.
    """
    kind = unpack(SPECIES, species)
    fresh = Fields(**{name: 0 for word in ACTIVE for name, width in word if width > 1})
    vars(fresh).update(
        {name: mask & False for word in ACTIVE for name, width in word if width == 1}
    )
    for stat in ("atk", "dfn", "spc", "spe"):
        setattr(fresh, stat, getattr(mon, stat))
        setattr(fresh, f"base_{stat}", getattr(mon, stat))
        setattr(fresh, f"boost_{stat}", 6)
    fresh.boost_acc = fresh.boost_eva = 6
    fresh.type0, fresh.type1, fresh.species = kind.type0, kind.type1, mon.species
    for slot in range(4):
        for name in (f"move{slot}", f"pp{slot}"):
            setattr(fresh, name, getattr(mon, name))
    for name in KEPT:
        setattr(fresh, name, getattr(active, name))
    weaken(fresh, mask, mon.status)
    fresh.speed = fresh.spe
    words = [
        where(mask, new, old) for new, old in zip(join(ACTIVE, fresh), pack(active), strict=True)
    ]
    return unpack(ACTIVE, tuple(words))


def remind(foe: Fields, mask: Mask) -> None:
    """Let who traps by a move that Metronome chose use Metronome next, as its prey is gone.

    Args:
        foe: `ACTIVE` fields of the one, before anything that happens to its own side.
        mask: Where its foe comes into battle.
    """
    stands = pick(foe.slot, [getattr(foe, f"move{slot}") for slot in range(4)])
    again = mask & foe.trapping & (stands == METRONOME)
    chosen(again, foe, selected=METRONOME, foe_selected=METRONOME)


def arrive(active: Fields, mon: Fields, foe: Fields, mask: Mask) -> None:
    """Play what an arrival brings about.

    Args:
        active: `ACTIVE` fields of the one who arrived.
        mon: Its `MON` fields.
        foe: `ACTIVE` fields of the other.
        mask: Where it happens.
    """
    chosen(mask, mon, seen=True)
    chosen(mask & (mon.status == TOX), mon, status=PSN)
    chosen(mask, active, last_move=0, slot=0)
    chosen(mask, foe, last_move=0)


def suffer(mon: Fields, mask: Mask) -> None:
    """Hurt who comes in with a burn or poison of its own accord."""
    hurt(mon, mask & ((mon.status == BRN) | (mon.status == PSN)), most(mon.max_hp >> 4, 1))


def suffers_to_death(mon: Fields) -> Mask:
    """Whether a member would not survive coming in of its own accord."""
    ill = (mon.status == BRN) | (mon.status == PSN) | (mon.status == TOX)
    return ill & (mon.hp <= most(mon.max_hp >> 4, 1))
