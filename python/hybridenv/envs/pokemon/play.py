"""One move being played: who moves, against whom, with which dice."""

from typing import Any, TypeAlias

from hybridenv.envs.pokemon.lanes import Lanes, Mask, most, quotient, where
from hybridenv.envs.pokemon.prng import Chance
from hybridenv.envs.pokemon.state import ACTIVE, MON, Fields, Words, pack, unpack
from hybridenv.envs.pokemon.tables import BRN, MOVE, PAR

Tree: TypeAlias = dict[str, Any]
"""A pytree of arrays, as it goes from one compiled phase to the next."""
MOST_DAMAGE = (1 << 20) - 1
"""More than any Pokémon or Substitute can take, so that no battle depends on what is beyond."""


class Play:
    """What the phases of a move read and write.

    Attributes:
        chance: The dice.
        user: `ACTIVE` fields of the one who moves.
        foe: Those of the other.
        mon: `MON` fields of the one who moves.
        foe_mon: Those of the other.
        row: `MOVE` fields of the move, once it is known.
        last_damage: int32, what Counter and Bide go by.
        notes: Arrays by name that one phase leaves for the next.
    """

    chance: Chance
    user: Fields
    foe: Fields
    mon: Fields
    foe_mon: Fields
    row: Fields

    def __init__(self, tree: Tree, row: Words | None = None) -> None:
        self.chance = Chance(*tree["seed"])
        self.user, self.foe = (unpack(ACTIVE, words) for words in tree["active"])
        self.mon, self.foe_mon = (unpack(MON, words) for words in tree["mon"])
        self.last_damage: Lanes = tree["last_damage"]
        self.notes: dict[str, Any] = dict(tree["notes"])
        if row is not None:
            self.row = unpack(MOVE, row)

    def tree(self, **notes: Any) -> Tree:
        """All of it but the row as a pytree, with these notes in place of the ones before."""
        return {
            "seed": (self.chance.high, self.chance.low),
            "active": (pack(self.user), pack(self.foe)),
            "mon": (pack(self.mon), pack(self.foe_mon)),
            "last_damage": self.last_damage,
            "notes": notes,
        }


def hurt(mon: Fields, mask: Mask, amount: Lanes) -> None:
    """Take hit points where the mask holds, down to 0."""
    mon.hp = where(mask, most(mon.hp - amount, 0), mon.hp)


def heal(mon: Fields, mask: Mask, amount: Lanes) -> None:
    """Give hit points to who has some left, up to the most."""
    full = mon.hp + amount >= mon.max_hp
    healed = where(full, mon.max_hp, mon.hp + amount)
    mon.hp = where(mask & (mon.hp > 0), healed, mon.hp)


def chosen(mask: Mask, fields: Fields, **values: Any) -> None:
    """Set fields where the mask holds."""
    for name, value in values.items():
        before = getattr(fields, name)
        if value is True:
            setattr(fields, name, before | mask)
        elif value is False:
            setattr(fields, name, before & ~mask)
        else:
            setattr(fields, name, where(mask, value, before))


def per_cent(stage: Lanes) -> Lanes:
    """What a stage + 6 makes of a stat or of accuracy, in per cent."""
    lowered = where(stage < 3, where(stage == 0, 25, where(stage == 1, 28, 33)), 0)
    lowered = where(stage >= 3, where(stage == 3, 40, where(stage == 4, 50, 66)), lowered)
    return where(stage < 6, lowered, 50 * stage - 200)


def boost(active: Fields, mask: Mask, stat: str, stages: int | Lanes) -> Mask:
    """Change one of the four stats by stages.

    A stat of 999 is not raised, one of 1 is not lowered; their stage then ends one short.

    Returns:
        Where it worked.

    Source: `boostBy` of mods/gen1/scripts.
    """
    before, value = getattr(active, f"boost_{stat}"), getattr(active, stat)
    up, down = stages > 0, stages < 0
    able = mask & ~((up & (before >= 12)) | (down & (before <= 0)))
    stuck = (up & (value == 999)) | (down & (value == 1))
    stage = before + stages
    stage = where(stage > 12, 12, where(stage < 0, 0, stage))
    stage_then = stage + where(stuck, where(up, -1, 1), 0)
    changed = most(quotient(getattr(active, f"base_{stat}") * per_cent(stage), 100), 1)
    changed = where(up & (changed > 999), 999, changed)
    setattr(active, f"boost_{stat}", where(able, stage_then, before))
    setattr(active, stat, where(able & ~stuck, changed, value))
    return able & ~stuck


def weaken(active: Fields, mask: Mask, status: Lanes) -> None:
    """Quarter the speed of who is paralysed, halve the attack of who is burned, once more."""
    active.spe = where(mask & (status == PAR), most(active.spe >> 2, 1), active.spe)
    active.atk = where(mask & (status == BRN), most(active.atk >> 1, 1), active.atk)
