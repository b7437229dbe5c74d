"""What players may choose, what they chose, and who goes first.

Actions 0 to 3 are moves, 4 to 9 switches to a position of the team, of which 4 is the one in battle
and never allowed. Where Showdown shows a single move, whatever its place, that is action 0.

Source: `getMoveRequestData` of sim/pokemon, `chooseMove` and `commitChoices` of sim/side.
"""

from hybridenv.envs.pokemon.lanes import Lanes, Mask, any_of, flag, pick, where
from hybridenv.envs.pokemon.play import chosen
from hybridenv.envs.pokemon.state import Fields, Request
from hybridenv.envs.pokemon.tables import CANNOT_MOVE, FRZ, SLP, STRUGGLE, urgencies

ACTIONS = 10
FIRST_SWITCH = 4
SLOTS = range(4)


def hard_locked(active: Fields) -> Mask:
    """Where neither the move nor the one who uses it can be chosen."""
    return active.recharge | active.thrashing | active.charging | active.rage


def _usable(active: Fields) -> list[Mask]:
    """Which of the four moves could be chosen if nothing stood against choosing."""
    return [
        (getattr(active, f"pp{slot}") > 0)
        & (getattr(active, f"move{slot}") != 0)
        & ~((active.disable > 0) & (active.disabled_slot == slot))
        for slot in SLOTS
    ]


def _helpless(status: Lanes) -> Mask:
    return (status == FRZ) | (status == SLP)


def unaware(active: Fields, status: Lanes) -> Mask:
    """Where the player may not know that there is nothing to choose."""
    maybe = ((active.trapped > 0) & active.trap_shown) | (active.freed > 0)
    maybe = maybe & ~_helpless(status)
    return (maybe | (active.trapping & (active.trap_total - active.trap_left > 1))) & ~active.bide


def legal_actions(active: Fields, status: Lanes, request: Lanes, hit_points: list[Lanes]) -> Lanes:
    """The actions that a player may take.

    Args:
        active: The player's `ACTIVE` fields.
        status: Status of the one in battle.
        request: What the player is asked.
        hit_points: Of the team by position.

    Returns:
        int32, a bit an action; 0 while there is nothing to do.
    """
    usable = _usable(active)
    locked, maybe = hard_locked(active), unaware(active, status)
    bound = (active.trapping | active.bide) & ~maybe
    held = _helpless(status) | ((active.trapped > 0) & ~maybe)
    single = locked | bound | held | ~any_of(*usable)
    moves = where(single, 1, sum(flag(able) << slot for slot, able in enumerate(usable)))
    switches = sum(flag(hp > 0) << FIRST_SWITCH + i for i, hp in enumerate(hit_points) if i)
    acts = moves | where(locked, 0, switches)
    return where(request == Request.ACT, acts, where(request == Request.REPLACE, switches, 0))


def allowed(action: Lanes, legal: Lanes) -> Lanes:
    """The action where it is legal, else the first that is; -1 where there is none."""
    inside = (action >= 0) & (action < ACTIONS)
    fits = inside & ((legal >> where(inside, action, 0)) & 1 != 0)
    first = -1 + 0 * legal
    for number in reversed(range(ACTIONS)):
        first = where((legal >> number) & 1 != 0, number, first)
    return where(fits, action, first)


def commit(active: Fields, status: Lanes, acts: Mask, action: Lanes) -> None:
    """Note what a player chose.

    Args:
        active: The player's `ACTIVE` fields.
        status: Status of the one in battle.
        acts: Where the player chose a move.
        action: Which.
    """
    moves = [getattr(active, f"move{slot}") for slot in SLOTS]
    locked = acts & (hard_locked(active) | active.trapping | active.bide)
    rest = acts & ~locked
    helpless = rest & _helpless(status)
    rest = rest & ~helpless
    held = rest & (active.trapped > 0)
    rest = rest & ~held
    struggles = rest & ~any_of(*_usable(active))
    picks = rest & ~struggles
    chosen(picks, active, slot=action & 3)
    stands = pick(active.slot, moves)
    chosen(held, active, selected=CANNOT_MOVE, foe_selected=CANNOT_MOVE)
    chosen(struggles, active, selected=STRUGGLE, foe_selected=STRUGGLE)
    chosen(picks, active, selected=stands)
    chosen(locked | helpless | picks, active, foe_selected=stands)


def priority(active: Fields) -> Lanes:
    """How urgent the move last chosen is; 0 for most."""
    result = 0 * active.selected
    for move, urgency in urgencies().items():
        result = where(active.selected == move, urgency, result)
    return result
