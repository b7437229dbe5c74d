"""Players to begin with: by chance, by damage, and by a little more thought.

Each is a function of a battle, the player (0 or 1) and random bits, and returns an action. They
look at their own team and at whom the foe has in battle: its types, stats and status.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from hybridenv.envs.pokemon import engine, tables
from hybridenv.envs.pokemon.choice import ACTIONS
from hybridenv.envs.pokemon.lanes import Lanes, flag, quotient, where
from hybridenv.envs.pokemon.phases import phase
from hybridenv.envs.pokemon.prng import scale
from hybridenv.envs.pokemon.state import ACTIVE, MON, MOVES, TEAM, Fields, State, Words, unpack
from hybridenv.envs.pokemon.tables import MOVE, PHYSICAL, SLP, SPECIES, Effect, Fixed

Policy: TypeAlias = Callable[[State, int, Any], Lanes]

SURE = 255
NO_SCORE = -1


def at_random(battle: State, player: int, bits: Any) -> Lanes:
    """Choose among the legal actions, all equally likely."""
    return phase(_at_random, engine.legal(battle)[player], bits)


def _at_random(mask: Lanes, bits: Lanes) -> Lanes:
    legal = [(mask >> action) & 1 for action in range(ACTIONS)]
    left = scale(bits, sum(legal))
    result = 0 * mask
    for action, one in enumerate(legal):
        result = where((one == 1) & (left == 0), action, result)
        left = left - one
    return result


def max_damage(battle: State, player: int, bits: Any) -> Lanes:
    """Use the move that promises most damage; replace who fainted by chance."""
    return _scored(battle, player, bits, thoughtful=False)


def heuristic(battle: State, player: int, bits: Any) -> Lanes:
    """As `max_damage`, but give statuses, recover, and send in who resists the foe."""
    return _scored(battle, player, bits, thoughtful=True)


POLICIES: Mapping[str, Policy] = {
    "random": at_random,
    "max_damage": max_damage,
    "heuristic": heuristic,
}


def _scored(battle: State, player: int, bits: Any, *, thoughtful: bool) -> Lanes:
    active = battle.active[player]
    fields = unpack(ACTIVE, active)
    moves = [getattr(fields, f"move{slot}") for slot in range(MOVES)]
    rows = tuple(tables.look_up(tables.moves(), move) for move in moves)
    team = battle.party[player]
    kinds = tuple(
        tables.look_up(tables.species(), unpack(MON[2:3], mon[2:3]).species) for mon in team
    )
    foe, foe_mon = battle.active[1 - player], battle.party[1 - player][0]
    chart = tuple(
        tables.look_up(tables.chart(), getattr(unpack(ACTIVE, foe), name))[0]
        for name in ("type0", "type1")
    )
    mask = engine.legal(battle)[player]
    best = _thoughtful if thoughtful else _strongest
    health = tuple(mon[:1] for mon in team)
    return phase(best, mask, bits, active, health, rows, kinds, foe, foe_mon, chart)


def _strongest(mask: Lanes, bits: Lanes, *known: Any) -> Lanes:
    return _best(mask, bits, _moves(*known, thoughtful=False), [0 * mask] * TEAM)


def _thoughtful(mask: Lanes, bits: Lanes, *known: Any) -> Lanes:
    return _best(mask, bits, _moves(*known, thoughtful=True), _switches(*known))


def _best(mask: Lanes, bits: Lanes, moves: list[Lanes], switches: list[Lanes]) -> Lanes:
    """The legal action with the greatest score, one of those by chance where they are equal."""
    result, high, turn = 0 * mask, NO_SCORE + 0 * mask, scale(bits, ACTIONS)
    for action, score in enumerate([*moves, *switches]):
        # In the lowest bits an order that is another one each time.
        order = (action + turn) - where(action + turn >= ACTIONS, ACTIONS, 0)
        value = 16 * score + order
        better = ((mask >> action) & 1 == 1) & (value > high)
        result, high = where(better, action, result), where(better, value, high)
    return result


def _moves(
    active: Words,
    health: tuple[Words, ...],
    rows: tuple[Words, ...],
    kinds: tuple[Words, ...],
    foe: Words,
    foe_mon: Words,
    chart: tuple[Lanes, Lanes],
    *,
    thoughtful: bool,
) -> list[Lanes]:
    """Scores of the four moves; damage counts as it is, all others at most as much as some."""
    del kinds, chart
    user, target, other = unpack(ACTIVE, active), unpack(ACTIVE, foe), unpack(MON, foe_mon)
    mon = unpack(MON[:1], health[0])
    scores = []
    for words in rows:
        row = unpack(MOVE, words)
        score = most_likely(user, target, row)
        if thoughtful:
            score = where(row.category == 0, _worth(row, mon, target, other), score)
        scores.append(TEAM * 16 + score)
    return scores


def most_likely(user: Fields, foe: Fields, row: Fields) -> Lanes:
    """About how much a move hurts, without its user's level: at most some thousands."""
    power = where(row.fixed == Fixed.NONE, row.power, where(row.fixed > Fixed.PSYWAVE, 20, 50))
    hits = where(row.hits == 1, 3, where(row.hits == 2, 2, 1))
    own = (user.type0 == row.type) | (user.type1 == row.type)
    physical = row.category == PHYSICAL
    strength = where(physical, user.atk, user.spc)
    guard = where(physical, foe.dfn, foe.spc)
    # The ratio of both within a factor of four, in quarters.
    better = flag(strength > guard) + flag(2 * strength > 3 * guard) + flag(strength > 2 * guard)
    worse = flag(3 * strength < 2 * guard) + flag(2 * strength < guard)
    accuracy = where(row.sure, SURE, row.accuracy)
    factor = where(foe.type1 == foe.type0, 4, _factor(row.chart, foe.type1))
    hurts = quotient(power * hits * accuracy * where(own, 3, 2), 2 * SURE)
    hurts = hurts * _factor(row.chart, foe.type0) * factor * (4 + better - worse)
    plain = where(row.fixed == Fixed.NONE, hurts, power * 16 * 4)
    return quotient(where(row.category == 0, 0, plain), 64)


def _factor(chart: Lanes, kind: Lanes) -> Lanes:
    """What the type chart says, in quarters."""
    code = (chart >> 2 * kind) & 3
    return where(code == 0, 0, where(code == 1, 2, where(code == 2, 4, 8)))


def _worth(row: Fields, mon: Fields, foe: Fields, foe_mon: Fields) -> Lanes:
    """What a move is worth that does no damage."""
    healthy = (foe_mon.status == 0) & (foe.substitute == 0)
    status = where(row.status == SLP, 160, 90)
    given = quotient(status * where(row.sure, SURE, row.accuracy), SURE) * flag(healthy)
    recovers = (row.effect == Effect.RECOVER) | (row.effect == Effect.REST)
    weak = 5 * mon.hp < 2 * mon.max_hp
    raises = (row.boosts > 0) & row.self & (row.stages > 4) & (4 * mon.hp > 3 * mon.max_hp)
    confuses = row.confuses & (foe.confusion == 0) & (foe.substitute == 0)
    other = where(raises, 70, where(confuses, 50, 1))
    return where(recovers, where(weak, 150, 0), where(row.status > 0, given, other))


def _switches(
    active: Words,
    health: tuple[Words, ...],
    rows: tuple[Words, ...],
    kinds: tuple[Words, ...],
    foe: Words,
    foe_mon: Words,
    chart: tuple[Lanes, Lanes],
) -> list[Lanes]:
    """Scores of the team's positions: how little the foe's types hurt them, and who is healthy."""
    del active, rows, foe, foe_mon
    scores = []
    for mon_words, kind_words in zip(health, kinds, strict=True):
        mon, kind = unpack(MON[:1], mon_words), unpack(SPECIES, kind_words)
        worst = 0 * mon.hp
        for row in chart:
            second = where(kind.type1 == kind.type0, 4, _factor(row, kind.type1))
            hurt = _factor(row, kind.type0) * second
            worst = where(hurt > worst, hurt, worst)
        # A move always scores more, so that it switches only when it must.
        well = flag(2 * mon.hp > mon.max_hp) + flag(mon.status == 0)
        scores.append(quotient(64 - worst, 2) + 8 * well)
    return scores
