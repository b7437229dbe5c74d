"""What a battle is: 89 words of 32 bits, and how the small numbers of the rules lie in them.

`State` is the pytree that programs carry. The rules do not work on words: they take the words they
need apart into `Fields`, objects with an attribute a number, and put them together again. A word
none of whose numbers was replaced comes back as it was, and XLA drops what nobody reads.
"""

from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from types import SimpleNamespace
from typing import Any, TypeAlias

import jax

from hybridenv.envs.pokemon.lanes import Lanes, flag

Layout: TypeAlias = tuple[tuple[tuple[str, int], ...], ...]
"""For each word its fields, from the lowest bit: name and width. A width of 1 is a bool."""

TEAM = 6
"""Pokémon a team."""
MOVES = 4
"""Moves a Pokémon."""

MON: Layout = (
    (("hp", 10), ("max_hp", 10), ("status", 3), ("sleep", 3), ("rested", 1), ("slot", 3)),
    (("atk", 10), ("dfn", 10), ("spc", 10), ("ghost", 1)),
    (("spe", 10), ("species", 8), ("level", 7), ("seen", 1), ("seen_moves", 4)),
    (("move0", 8), ("move1", 8), ("move2", 8), ("move3", 8)),
    (("pp0", 6), ("pp1", 6), ("pp2", 6), ("pp3", 6), ("haste", 7)),
)
"""A member of a team. `slot`: its place in the team as it was given; `sleep`: turns left, while
asleep; `rested`: it fell asleep by its own Rest; `seen`, `seen_moves`: the foe has seen it,
and it use its moves, a bit a slot; `ghost`: its species is of that type; `haste`: what DVs and stat
experience add to its speed."""

ACTIVE: Layout = (
    (
        *((f"boost_{stat}", 4) for stat in ("atk", "dfn", "spc", "spe", "acc", "eva")),
        ("light_screen", 1),
        ("reflect", 1),
        ("mist", 1),
        ("focus", 1),
        ("seeded", 1),
        ("recharge", 1),
        ("flinch", 1),
        ("away", 1),
    ),
    (("atk", 11), ("dfn", 11), ("rage", 1), ("bide", 1), ("charging", 1), ("trapping", 1)),
    (
        ("spe", 11),
        ("speed", 11),
        ("confusion", 3),
        ("disable", 4),
        ("thrash", 2),
        ("thrashing", 1),
    ),
    (("base_atk", 10), ("base_dfn", 10), ("base_spc", 10), ("toxic", 1), ("transformed", 1)),
    (
        ("base_spe", 10),
        ("type0", 4),
        ("type1", 4),
        ("substitute", 9),
        ("trapped", 2),
        ("freed", 2),
        ("sub_broke", 1),
    ),
    (("move0", 8), ("move1", 8), ("move2", 8), ("move3", 8)),
    (("pp0", 6), ("pp1", 6), ("pp2", 6), ("pp3", 6), ("trapper", 3), ("trap_shown", 1)),
    (("disabled", 8), ("last_move", 8), ("used", 8), ("selected", 8)),
    (("charge_move", 8), ("thrash_acc", 8), ("rage_acc", 8)),
    (
        ("trap_move", 8),
        ("trap_damage", 13),
        ("trap_left", 3),
        ("trap_total", 3),
        ("trap_prey", 3),
        ("bide_left", 2),
    ),
    (("bide_damage", 20), ("toxic_count", 11), ("petal", 1)),
    (("spc", 11), ("species", 8), ("foe_selected", 8), ("slot", 2), ("disabled_slot", 2)),
)
"""What only the member in battle has, and a side's last choices; a name each:

`boost_*`: stages + 6. `atk` to `spe`: Showdown's modified stats (a lowered one may exceed 999),
`base_*` its stored ones (those of the foe, once transformed), `speed` the cached one that orders
turns. `away`: dug in or flown up.
`confusion`: turns. `disable`: turns, of move `disabled` in `disabled_slot`. `thrashing`: by Thrash
or (`petal`) Petal Dance, for `thrash` turns. `charging`: before the second turn of `charge_move`.
`trapping`: by `trap_move`, `trap_left` of `trap_total` turns, the member `trap_prey` of the foe.
`trapped`: turns, by the member `trapper`; `trap_shown`: its player may not know that it still is.
`freed`: turns in which it may look trapped. `toxic`, `toxic_count`: Toxic's counter. `sub_broke`:
its substitute broke. `last_move`: the last move that it used. Of the side, whoever was in battle:
`used`, the last move used; `selected`, the last one chosen; `foe_selected`, the same as the foe's
game boy has it; `slot`, where it stood.
"""

FIELD: Layout = (
    (("turn", 10), ("request0", 2), ("request1", 2), ("winner", 2)),
    (("last_damage", 20),),
    (("legal0", 10), ("legal1", 10)),
)
"""Of the battle. `request*`: what each player is asked, one of `Request`; `winner`: one of
`Winner`; `last_damage`: what Counter and Bide go by; `legal*`: what each player
may do, a bit an action."""


class Request:
    """What a player is asked for: nothing any more, an action, a replacement, to wait."""

    NONE, ACT, REPLACE, WAIT = range(4)


class Winner:
    """Who won: nobody yet, the first, the second, neither."""

    NONE, FIRST, SECOND, TIE = range(4)


Words: TypeAlias = tuple[Lanes, ...]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """A battle, or many in lanes: every leaf has the same shape.

    Attributes:
        seed: uint32, upper and lower word of Showdown's generator.
        field: int32, words of `FIELD`.
        active: For both sides, int32 words of `ACTIVE`.
        party: For both sides and `TEAM` positions, the first in battle, int32 words of `MON`.
    """

    seed: tuple[Lanes, Lanes]
    field: Words
    active: tuple[Words, ...]
    party: tuple[tuple[Words, ...], ...]


class Fields(SimpleNamespace):
    """Numbers by name, int32 or bool."""

    _origin: tuple[Layout, Words, dict[str, Any]]


@cache
def _places(layout: Layout) -> tuple[tuple[tuple[str, int, int], ...], ...]:
    """For each word of a layout its fields: name, lowest bit, width."""
    places = []
    for word in layout:
        ends = list(accumulate(width for _, width in word))
        if ends[-1] > 32:
            raise ValueError(f"a word of {ends[-1]} bits, expected at most 32: {word}")
        row = zip(word, [0, *ends], strict=False)
        places.append(tuple((name, at, width) for (name, width), at in row))
    return tuple(places)


def unpack(layout: Layout, words: Words) -> Fields:
    """Take words apart.

    Args:
        layout: What lies where.
        words: int32, one for each word of the layout.

    Returns:
        A field an attribute; replace attributes and `pack`.
    """
    fields = Fields()
    for row, word in zip(_places(layout), words, strict=True):
        for name, at, width in row:
            value = word if width == 32 else (word >> at) & ((1 << width) - 1)
            setattr(fields, name, value != 0 if width == 1 else value)
    fields._origin = (layout, words, dict(vars(fields)))
    return fields


def pack(fields: Fields) -> Words:
    """Put fields together again; the inverse of `unpack`."""
    layout, words, before = fields._origin
    packed = []
    for row, word in zip(_places(layout), words, strict=True):
        changed = [place for place in row if getattr(fields, place[0]) is not before[place[0]]]
        if changed:
            rest = ~sum(((1 << width) - 1) << at for _, at, width in changed)
            result = word & (rest & 0x7FFFFFFF | (-(1 << 31) if rest & 1 << 31 else 0))
            for name, at, width in changed:
                value = getattr(fields, name)
                result = result | (flag(value) if width == 1 else value) << at
            word = result
        packed.append(word)
    return tuple(packed)


def join(layout: Layout, fields: Fields) -> Words:
    """Put fields together that were never words; numbers may stand for arrays of one number."""
    joined = []
    for row in _places(layout):
        word: Any = 0
        for name, at, width in row:
            value = getattr(fields, name)
            if width == 1:
                word = word | flag(value) << at
            elif not isinstance(value, int) or value:
                word = word | value << at
        joined.append(word)
    return tuple(joined)
