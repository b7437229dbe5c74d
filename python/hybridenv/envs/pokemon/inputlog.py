"""Showdown's input logs: the seed, the teams and all choices of a battle, played to their end.

Source: `sim/battle-stream` and `sim/teams` (`unpack`) of Pokémon Showdown 0.11.11.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import jax
import numpy as np
from numpy.typing import NDArray

from hybridenv.envs.pokemon import engine, tables, teams
from hybridenv.envs.pokemon.choice import ACTIONS, FIRST_SWITCH, unaware
from hybridenv.envs.pokemon.state import ACTIVE, FIELD, MON, MOVES, State, Winner, unpack
from hybridenv.errors import ArgumentError

FORMATS = ("gen1randombattle", "gen1ou")
"""Formats whose rules are those of this engine."""
_STATS = ("hp", "atk", "def", "spa", "spd", "spe")
_SKIPPED = ("version", "version-origin", "chat", "chat-inputlogonly", "requestlog", "requestexport")
_STOPS = ("forcewin", "forcelose", "forcetie", "tiebreak")
_ALONE = ("fight", "recharge", "struggle")
"""What Showdown calls the only move that it shows where that is none of the four."""
_SHOWN = 60


@dataclass(frozen=True)
class Replay:
    """A battle of an input log.

    Attributes:
        start: Before the first choice, of NumPy, every leaf of shape ().
        battle: After the last one, likewise. It may go on: a log may end anywhere.
        actions: int8[steps, 2], what the players chose; -1 where one only waited.
    """

    start: State
    battle: State
    actions: NDArray[np.int8]


@dataclass(frozen=True)
class _Choice:
    line: int
    player: int
    text: str


def from_inputlog(text: str) -> Replay:
    """Play an input log of Showdown.

    Args:
        text: Lines such as ``>start {"formatid":"gen1ou","seed":"gen5,0001000200030004"}``,
            ``>player p1 {"team":"..."}``, ``>p1 move tackle`` and ``>p2 switch 3``. Where somebody
            ended the battle by hand (``>forcewin``), playing stops.

    Returns:
        Where it began, where it led to, and the actions.

    Raises:
        ArgumentError: A line is malformed or missing, a team or a choice is not legal, choices are
            left over, the last decision is incomplete, or the seed is one of the generator
            that Showdown uses where none is given (``sodium``); the message names the line.
    """
    seed, words, choices = _read(text)
    halves = np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32).reshape(2, 1)
    state = engine.start((halves[0], halves[1]), (teams.party(words[0]), teams.party(words[1])))
    start, actions = state, []
    chosen: dict[int, int] = {}
    for choice in choices:
        masks = [int(mask[0]) for mask in engine.legal(state)]
        asked = [player for player in (0, 1) if masks[player]]
        if not asked:
            _fail(choice.line, f"got {choice.text!r}, expected no more: the battle is over")
        if choice.player not in asked or choice.player in chosen:
            other = f"p{2 - choice.player}"
            _fail(choice.line, f"got a choice of p{choice.player + 1}, expected one of {other}")
        chosen[choice.player] = _action(choice, state, masks[choice.player])
        if len(chosen) == len(asked):
            both = [chosen.get(player, -1) for player in (0, 1)]
            actions.append(both)
            ours, theirs = (np.array([action], np.int32) for action in both)
            state = engine.step(state, (ours, theirs))
            chosen = {}
    if chosen:
        waits = next(iter(chosen))
        last = choices[-1]
        _fail(last.line, f"got no choice of p{2 - waits} after {last.text!r}, expected one")
    first, battle = (jax.tree.map(lambda leaf: leaf[0], one) for one in (start, state))
    return Replay(first, battle, np.array(actions, np.int8).reshape(-1, 2))


def _fail(line: int, message: str) -> NoReturn:
    raise ArgumentError(f"input log, line {line}: {message}")


def _read(text: str) -> tuple[int, list[NDArray[np.int32]], list[_Choice]]:
    if not isinstance(text, str):
        raise ArgumentError(f"input log: got {type(text).__name__}, expected text")
    seed: int | None = None
    words: dict[int, NDArray[np.int32]] = {}
    choices: list[_Choice] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        found = re.fullmatch(r">(\S+) ?(.*)", line)
        command, rest = found.groups() if found else ("", "")
        if command in _SKIPPED:
            continue
        if command in _STOPS:
            break
        if command == "start":
            seed = _seed(_json(rest, number), number)
        elif command == "player":
            player = _player(rest[:2], number)
            words[player] = _team(_json(rest[2:].strip(), number), number)
        elif command in ("p1", "p2") and re.match(r"(move|switch) \S", rest):
            choices.append(_Choice(number, _player(command, number), rest.strip()))
        else:
            _fail(
                number,
                f"got {line[:_SHOWN]!r}, expected >start, >player, or >p1 or >p2 and a "
                "move or switch",
            )
    if seed is None:
        raise ArgumentError("input log: got no line >start, expected one with a seed")
    for player in (0, 1):
        if player not in words:
            raise ArgumentError(f"input log: got no line >player p{player + 1}, expected its team")
    return seed, [words[0], words[1]], choices


def _player(text: str, line: int) -> int:
    if text not in ("p1", "p2"):
        _fail(line, f"got player {text!r}, expected p1 or p2")
    return int(text[1]) - 1


def _json(text: str, line: int) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        _fail(line, f"got {text[:_SHOWN]!r}, expected an object of JSON")
    return value


def _seed(options: Mapping[str, Any], line: int) -> int:
    """Read the seed of `>start`: `gen5,` and 16 digits, or four words of 16 bits."""
    if (name := options.get("formatid")) not in FORMATS:
        _fail(line, f"got format {name!r}, expected one of {', '.join(FORMATS)}")
    seed = options.get("seed")
    if isinstance(seed, str) and seed.startswith("sodium,"):
        _fail(
            line,
            f"got seed {seed[:_SHOWN]!r}, of the generator that Showdown uses where it is given no "
            'seed, expected "gen5,..." or "a,b,c,d"',
        )
    if isinstance(seed, str) and re.fullmatch(r"gen5,[0-9a-fA-F]{16}", seed):
        return int(seed[5:], 16)
    parts = seed.split(",") if isinstance(seed, str) else seed
    try:
        numbers = [int(part) for part in parts]  # type: ignore[union-attr]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != 4 or not all(0 <= number < 2**16 for number in numbers):
        _fail(line, f'got seed {seed!r}, expected "gen5," and 16 digits, or four words of 16 bits')
    return sum(number << 16 * (3 - place) for place, number in enumerate(numbers))


def _team(options: Mapping[str, Any], line: int) -> NDArray[np.int32]:
    team = options.get("team")
    if not team:
        _fail(
            line,
            "got no team, expected one: where Showdown draws teams, write what `Teams.pack` makes "
            "of the side's `team` into the line",
        )
    try:
        members = _unpacked(team) if isinstance(team, str) else [_set(member) for member in team]
        return teams.pool([members]).words[:, :1]
    except (ArgumentError, AttributeError, TypeError, ValueError) as error:
        _fail(line, str(error).replace("teams[0]", "team"))


def _unpacked(text: str) -> list[dict[str, Any]]:
    """Read a packed team.

    A member is `NAME|SPECIES|ITEM|ABILITY|MOVES|NATURE|EVS|GENDER|IVS|SHINY|LEVEL|...`.
    """
    members = []
    for number, part in enumerate(text.split("]")):
        columns = part.split("|")
        if len(columns) < 11:
            raise ArgumentError(
                f"team[{number}]: got {len(columns)} columns of a packed team, expected at least 11"
            )
        name, species, _, _, moves, _, evs, _, ivs, _, level, *_ = columns
        member: dict[str, Any] = {
            "species": species or name,
            "moves": [move for move in moves.split(",") if move],
            "level": int(level) if re.fullmatch("-?[0-9]{1,9}", level) else level or 100,
        }
        for key, given, missing in (("evs", evs, 0), ("ivs", ivs, 31)):
            numbers = given.split(",") if given else []
            member[key] = {
                stat: int(value) if value else missing
                for stat, value in zip(_STATS, numbers, strict=False)
            }
        members.append(_set(member))
    return members


def _set(member: Mapping[str, Any]) -> dict[str, Any]:
    """A member with what a battle takes where nothing is said, and DVs as even numbers."""
    evs = dict.fromkeys(_STATS, 0) | dict(member.get("evs") or {})
    ivs = dict.fromkeys(_STATS, 31) | dict(member.get("ivs") or {})
    return {
        "species": member.get("species") or member.get("name", ""),
        "moves": list(member.get("moves", ())),
        "level": member.get("level", 100),
        "evs": evs,
        "ivs": {stat: value & 30 for stat, value in ivs.items()},
    }


def _action(choice: _Choice, state: State, mask: int) -> int:
    """Read a choice: `move NAME`, `move N`, `switch N` or `switch NAME`."""
    kind, rest = choice.text.split(maxsplit=1)
    # Not `isdigit`, which takes signs that `int` does not; and no place has two digits.
    number = int(rest) if re.fullmatch("[0-9]", rest) else None
    name = "".join(c for c in rest.lower() if c.isalnum())
    legal = [action for action in range(ACTIONS) if mask >> action & 1]
    moves = _moves(state, choice.player)
    if kind == "switch":
        species = _species(state, choice.player)
        place = _find(species, name) if number is None else number - 1
        action = FIRST_SWITCH + place if 0 <= place < len(species) else -1
    else:
        action = _find(moves, name) if number is None else number - 1
        single = [one for one in legal if one < FIRST_SWITCH] == [0]
        shown = name in _ALONE or _locked(state, choice.player, name)
        if action >= MOVES:
            action = -1
        elif action not in legal and single and shown:
            action = 0
        elif action not in legal and action >= 0 and _unaware(state, choice.player):
            action = next(one for one in legal if one < FIRST_SWITCH)
    if action not in legal:
        texts = [
            f"move {moves[one] or one + 1}" if one < FIRST_SWITCH else f"switch {one - 3}"
            for one in legal
        ]
        got = choice.text[:_SHOWN]
        _fail(choice.line, f"got {got!r}, expected one of {', '.join(texts)}")
    return action


def _find(names: Sequence[str], name: str) -> int:
    return names.index(name) if name and name in names else -1


def _ids(what: str) -> dict[int, str]:
    return {row["num"]: row["id"] for row in tables.read()[what]}


def _moves(state: State, player: int) -> list[str]:
    active, names = unpack(ACTIVE, state.active[player]), _ids("moves")
    return [names.get(int(getattr(active, f"move{slot}")[0]), "") for slot in range(MOVES)]


def _species(state: State, player: int) -> list[str]:
    names = _ids("species")
    return [names.get(int(unpack(MON, mon).species[0]), "") for mon in state.party[player]]


def _locked(state: State, player: int, name: str) -> bool:
    """Whether a name is that of the move that the one in battle is bound to."""
    active, names = unpack(ACTIVE, state.active[player]), _ids("moves")
    bound = (active.charge_move, active.trap_move, active.selected, active.last_move)
    return name in [names.get(int(move[0])) for move in bound]


def _unaware(state: State, player: int) -> bool:
    """Whether Showdown shows moves that are no choice: any of them then stands for what happens."""
    active, mon = unpack(ACTIVE, state.active[player]), unpack(MON, state.party[player][0])
    going = unpack(FIELD, state.field).winner == Winner.NONE
    return bool((going & unaware(active, mon.status))[0])
