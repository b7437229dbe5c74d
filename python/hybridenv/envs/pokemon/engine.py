"""Battles from their start to their end, a step for every time that both players have chosen.

A step is a handful of phases, each a loop of machine code over all battles: the players' choices
and who goes first; exchanges in both teams; arrivals; the first one's move and the second one's
(see `moving`); the end of the turn and what is asked next.

Source: `start`, `commitChoices`, `turnLoop` and `runAction` of sim/battle.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from hybridenv.envs.pokemon import choice, switching, tables, turn_end
from hybridenv.envs.pokemon.lanes import Lanes, Mask, any_of, pick, where
from hybridenv.envs.pokemon.moving import play_move
from hybridenv.envs.pokemon.phases import phase, when_any
from hybridenv.envs.pokemon.play import Tree, chosen
from hybridenv.envs.pokemon.prng import Chance, pair
from hybridenv.envs.pokemon.state import (
    ACTIVE,
    FIELD,
    MON,
    Fields,
    Request,
    State,
    Winner,
    Words,
    pack,
    unpack,
)
from hybridenv.envs.pokemon.tables import FRZ, SLP

Pair: TypeAlias = tuple[Any, ...]
HEALTH = MON[:1]
"""The word that says whether a member stands, and how."""
KIND = MON[2:3]
"""The word that says which species it is of."""


def legal(state: State) -> tuple[Lanes, Lanes]:
    """What both players may do.

    Args:
        state: Battles.

    Returns:
        For each player int32, a bit an action; 0 for who waits and where the battle is over.
    """
    field = unpack(FIELD, state.field)
    return field.legal0, field.legal1


def step(state: State, actions: tuple[Lanes, Lanes]) -> State:
    """Play on until a player has to choose again.

    Args:
        state: Battles.
        actions: int32, what each player chose. What is not legal counts as the first action that
            is; whoever waits may say anything, and battles that are over stay as they are.

    Returns:
        The battles after the step.
    """
    active, notes, ties, seed = phase(
        _choose, state.seed, state.field, state.active, _health(state.party), actions
    )
    chance = Chance(*seed)
    chance.settle(ties)
    party, species = _exchange(state.party, notes)
    mons = tuple(team[0] for team in party)
    line, ties = phase(_arrive, active, mons, notes, species, _health(party))
    chance.settle(ties)
    line["last_damage"] = unpack(FIELD, state.field).last_damage
    line["seed"] = (chance.high, chance.low)
    return _finish(state, play_move(play_move(line)), notes, party)


def _health(party: Pair) -> Pair:
    """Whether and how the members of both teams stand, a word each."""
    return tuple(tuple(mon[0] for mon in team) for team in party)


def _choose(seed: Pair, field: Words, active: Pair, health: Pair, actions: Pair) -> Any:
    """Note what the players chose and find out who goes first."""
    asked, chance = unpack(FIELD, field), Chance(*seed)
    sides = [unpack(ACTIVE, words) for words in active]
    acts, places, dies = [], [], []
    turn = asked.request0 == Request.ACT
    live = (asked.request0 | asked.request1) != Request.NONE
    for side, request in enumerate((asked.request0, asked.request1)):
        fields, mon = sides[side], unpack(HEALTH, health[side][:1])
        action = choice.allowed(actions[side], (asked.legal0, asked.legal1)[side])
        moves = (request == Request.ACT) & (action >= 0) & (action < choice.FIRST_SWITCH)
        chosen(live & (mon.hp > 0), fields, speed=fields.spe)
        choice.commit(fields, mon.status, moves, action)
        place = where(action >= choice.FIRST_SWITCH, action - choice.FIRST_SWITCH, 0)
        comes = unpack(HEALTH, (pick(place, health[side]),))
        acts.append(moves)
        places.append(place)
        dies.append(turn & (place > 0) & switching.suffers_to_death(comes))
    goes = [place > 0 for place in places]
    urgent = [choice.priority(fields) for fields in sides]
    both = acts[0] & acts[1]
    alike = (both & (urgent[0] == urgent[1])) | (goes[0] & goes[1])
    tied = alike & (sides[0].spe == sides[1].spe)
    lot = chance.draw(tied, 2, "tie: actions")
    faster = where(tied, lot == 1, sides[1].spe > sides[0].spe)
    late = (goes[1] & acts[0]) | (both & (urgent[1] > urgent[0])) | (alike & faster)
    # Who comes in second does not where the first dies of it.
    stopped = (late & dies[1], ~late & dies[0])
    equal = turn & (sides[0].speed == sides[1].speed)
    notes = {
        "turn": turn,
        "late": late,
        "positions": tuple(places),
        "moves": tuple(acts[side] & ~stopped[side] for side in (0, 1)),
        "switches": tuple(goes[side] & ~stopped[side] for side in (0, 1)),
    }
    ties = [pair(equal, "tie: BeforeTurn"), pair(equal, "tie: Update")]
    return tuple(pack(fields) for fields in sides), notes, ties, (chance.high, chance.low)


def _exchange(party: Pair, notes: Tree) -> tuple[Pair, Pair]:
    """Let those who switch change places; returns the teams and the rows of who comes."""
    teams, rows = [], []
    for team, mask, place in zip(party, notes["switches"], notes["positions"], strict=True):
        kind = unpack(KIND, (pick(place, [mon[2] for mon in team]),)).species
        rows.append(tables.look_up(tables.species(), kind))
        teams.append(phase(switching.exchange, team, mask, place))
    return tuple(teams), tuple(rows)


def _arrive(active: Pair, mons: Pair, notes: Tree, species: Pair, health: Pair) -> Any:
    """Let those who switch come into battle, and line up who moves first."""
    actives = [unpack(ACTIVE, words) for words in active]
    members = [unpack(MON, words) for words in mons]
    before = [fields.speed for fields in actives]
    switches, turn, late = notes["switches"], notes["turn"], notes["late"]
    for side, first in ((0, ~late), (1, late)):
        alone = switches[side] & ~switches[1 - side]
        switching.remind(actives[1 - side], alone | (switches[side] & turn & first))
    for side in (0, 1):
        actives[side] = switching.enter(actives[side], members[side], switches[side], species[side])
    for side, first in ((0, ~late), (1, late), (1, ~late), (0, late)):
        mask = switches[side] & first
        switching.arrive(actives[side], members[side], actives[1 - side], mask)
        switching.suffer(members[side], mask & turn)
    fallen = turn & ((members[0].hp == 0) | (members[1].hp == 0))
    line = {
        "active": _swap(late, tuple(pack(fields) for fields in actives)),
        "mon": _swap(late, tuple(pack(mon) for mon in members)),
        "moves": _swap(late, tuple(acts & ~fallen for acts in notes["moves"])),
        **_clauses(late, health),
    }
    now = [fields.speed for fields in actives]
    return line, _arrival_ties(before, now, notes, fallen)


def _arrival_ties(before: Sequence[Lanes], now: Sequence[Lanes], notes: Tree, fallen: Mask) -> Any:
    """What ties as Pokémon come in, one after the other in a turn, together after a faint."""
    turn, late, (first, second) = notes["turn"], notes["late"], notes["switches"]
    some, both, equal = first | second, first & second, now[0] == now[1]
    # The first of two in a turn meets the one that the second replaces.
    meets = where(late, now[1] == before[0], now[0] == before[1])
    meets = where(both & turn, meets, equal)
    # Of two who come in during a turn only the second can have fallen here.
    return [
        pair(both & ~turn & equal, "tie: insert"),
        pair(some & meets, "tie: Update"),
        pair(some & meets & (~fallen | both), "tie: Update"),
        pair(both & equal, "tie: Update"),
        pair(both & turn & equal & ~fallen, "tie: Update"),
    ]


def _clauses(late: Mask, health: Pair) -> Tree:
    """Whether a member that is not in battle sleeps by the foe's doing, or is frozen."""
    sleepers, frozen = [], []
    for team in health:
        bench = [unpack(HEALTH, (word,)) for word in team[1:]]
        asleep = [(mon.status == SLP) & (mon.hp > 0) & ~mon.rested for mon in bench]
        sleepers.append(any_of(*asleep))
        frozen.append(any_of(*[mon.status == FRZ for mon in bench]))
    return {"sleeper": _swap(late, tuple(sleepers)), "frozen": _swap(late, tuple(frozen))}


def _swap(mask: Mask, two: Pair) -> Pair:
    """Change the two parts of a pair where the mask holds."""
    if isinstance(two[0], tuple):
        parts = [_swap(mask, both) for both in zip(*two, strict=True)]
        return tuple(part[0] for part in parts), tuple(part[1] for part in parts)
    return where(mask, two[1], two[0]), where(mask, two[0], two[1])


def _finish(state: State, line: Tree, notes: Tree, party: Pair) -> State:
    """End the turn and ask the players again."""
    rows = tuple(
        tables.look_up(tables.species(), unpack(KIND, mon[2:3]).species) for mon in line["mon"]
    )
    sides = {name: line[name] for name in ("active", "mon")}
    stuck = when_any(phase(_idle, sides), _stuck, (sides, notes["late"], party))
    bench = tuple(tuple(mon[0] for mon in team[1:]) for team in party)
    field, active, mons, ties = phase(
        _end,
        state.field,
        sides,
        line["last_damage"],
        notes["late"],
        notes["turn"],
        rows,
        stuck,
        bench,
    )
    chance = Chance(*line["seed"])
    chance.settle(ties)
    teams = tuple((mon, *team[1:]) for mon, team in zip(mons, party, strict=True))
    return State((chance.high, chance.low), field, active, teams)


def _idle(sides: Tree) -> Mask:
    """Where both in battle could belong to sides that are stuck."""
    both = [_as_in_battle(*side) for side in zip(sides["active"], sides["mon"], strict=True)]
    return turn_end.idle(both[0]) & turn_end.idle(both[1])


def _as_in_battle(active: Words, mon: Words) -> Fields:
    """A member with the moves and PP that it has in battle."""
    fields, member = unpack(ACTIVE, active), unpack(MON, mon)
    for name in (f"{part}{slot}" for part in ("move", "pp") for slot in range(4)):
        setattr(member, name, getattr(fields, name))
    return member


def _stuck(given: tuple[Tree, Mask, Pair]) -> Mask:
    """Where neither side can bring the battle forward."""
    sides, late, party = given
    active, mons = _swap(late, sides["active"]), _swap(late, sides["mon"])
    return _nothing_left(active, mons, party)


def _nothing_left(active: Pair, mons: Pair, party: Pair) -> Mask:
    actives = [unpack(ACTIVE, words) for words in active]
    teams = [
        [_as_in_battle(active[side], mons[side]), *(unpack(MON, mon) for mon in party[side][1:])]
        for side in (0, 1)
    ]
    ours = turn_end.stuck(teams[0], teams[1], actives[1])
    return ours & turn_end.stuck(teams[1], teams[0], actives[0])


def _end(
    field_words: Words,
    sides: Tree,
    last_damage: Lanes,
    late: Mask,
    turn: Mask,
    rows: Pair,
    stuck: Mask,
    bench: Pair,
) -> Any:
    field = unpack(FIELD, field_words)
    field.last_damage = last_damage
    actives = [unpack(ACTIVE, words) for words in _swap(late, sides["active"])]
    mons = [unpack(MON, words) for words in _swap(late, sides["mon"])]
    rows = _swap(late, rows)
    live = (field.request0 != Request.NONE) | (field.request1 != Request.NONE)
    stands = (mons[0].hp > 0) & (mons[1].hp > 0)
    lasts, ends = turn & stands, live & stands
    ties = turn_end.run_out(lasts, (actives[0], actives[1]))
    ties.append(pair(lasts & (actives[0].speed == actives[1].speed), "tie: Update"))
    for side in (0, 1):
        fainted = live & (mons[side].hp == 0)
        actives[side] = switching.enter(actives[side], mons[side], fainted, rows[side])
        chosen(fainted, mons[side], status=0, sleep=0)
    turn_end.let_go(ends, (actives[0], actives[1]), (mons[0], mons[1]))
    for active in actives:
        ties += turn_end.limits(ends, active)
    hit_points = [
        [mon.hp, *(unpack(HEALTH, (word,)).hp for word in team)]
        for mon, team in zip(mons, bench, strict=True)
    ]
    _judge(field, live, ends, stuck, hit_points)
    for side, (active, mon) in enumerate(zip(actives, mons, strict=True)):
        request = getattr(field, f"request{side}")
        legal = choice.legal_actions(active, mon.status, request, hit_points[side])
        setattr(field, f"legal{side}", legal)
    packed = tuple(pack(active) for active in actives), tuple(pack(mon) for mon in mons)
    return pack(field), *packed, ties


def _judge(
    field: Fields, live: Mask, ends: Mask, stuck: Mask, hit_points: list[list[Lanes]]
) -> None:
    """Say who has won, or who is asked what."""
    have = [turn_end.left(team) for team in hit_points]
    over = live & ~(have[0] & have[1])
    tied = turn_end.next_turn(field, ends) | (ends & stuck)
    won = where(have[0], Winner.FIRST, where(have[1], Winner.SECOND, Winner.TIE))
    chosen(over, field, winner=won)
    chosen(tied, field, winner=Winner.TIE)
    stands = (hit_points[0][0] > 0) & (hit_points[1][0] > 0)
    for side in (0, 1):
        gone = hit_points[side][0] == 0
        asked = where(stands, Request.ACT, where(gone, Request.REPLACE, Request.WAIT))
        asked = where(over | tied, Request.NONE, asked)
        chosen(live, field, **{f"request{side}": asked})


def start(seed: tuple[Lanes, Lanes], party: Pair) -> State:
    """Begin battles.

    Args:
        seed: uint32, upper and lower word of Showdown's generator.
        party: For both sides and all positions the words of `MON`; see `teams.party`.

    Returns:
        Battles in which both players choose for the first time.
    """
    rows = tuple(
        tables.look_up(tables.species(), unpack(KIND, team[0][2:3]).species) for team in party
    )
    mons = tuple(team[0] for team in party)
    field, active, mons, ties = phase(_start, mons, rows, _health(party))
    teams = tuple((mon, *team[1:]) for mon, team in zip(mons, party, strict=True))
    stuck = phase(_nothing_left, active, mons, teams)
    field = phase(_start_over, field, stuck)
    chance = Chance(*seed)
    chance.settle(ties)
    return State((chance.high, chance.low), field, active, teams)


def _start(mons: Pair, rows: Pair, health: Pair) -> Any:
    zero = mons[0][0] * 0
    always = zero == 0
    field = unpack(FIELD, (zero,) * len(FIELD))
    chosen(always, field, turn=1, request0=Request.ACT, request1=Request.ACT)
    actives, members = [], []
    for side in (0, 1):
        blank, mon = unpack(ACTIVE, (zero,) * len(ACTIVE)), unpack(MON, mons[side])
        chosen(always, blank, selected=tables.NO_MOVE, foe_selected=tables.NO_MOVE)
        active = switching.enter(blank, mon, always, rows[side])
        chosen(always, mon, seen=True)
        hit_points = [unpack(HEALTH, (word,)).hp for word in health[side]]
        legal = choice.legal_actions(active, mon.status, zero + Request.ACT, hit_points)
        setattr(field, f"legal{side}", legal)
        actives.append(active)
        members.append(mon)
    equal = actives[0].speed == actives[1].speed
    ties = [pair(equal, name) for name in ("tie: insert", *["tie: Update"] * 3)]
    packed = tuple(pack(active) for active in actives), tuple(pack(mon) for mon in members)
    return pack(field), *packed, ties


def _start_over(words: Words, stuck: Mask) -> Words:
    """End a battle that cannot be fought."""
    field = unpack(FIELD, words)
    none = Request.NONE
    chosen(stuck, field, winner=Winner.TIE, request0=none, request1=none, legal0=0, legal1=0)
    return pack(field)
