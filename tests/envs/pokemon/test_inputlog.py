"""Showdown's input logs, written from recorded battles and read again; and what is refused."""

import json
from typing import Any

import jax
import numpy as np
import pytest
from tests.envs.pokemon.player import columns
from tests.envs.pokemon.record import FILES
from tests.envs.pokemon.schema import load_schema
from tests.envs.pokemon.traces import Trace, read

from hybridenv.envs.pokemon import tables
from hybridenv.envs.pokemon.inputlog import from_inputlog
from hybridenv.envs.pokemon.state import State
from hybridenv.errors import ArgumentError, HybridEnvError

EVS, IVS = ("hp", "atk", "def", "spc", "spc", "spe"), ("hp", "atk", "def", "spc", "spc", "spe")


def packed(team: Any) -> str:
    """A recorded team as Showdown packs it."""
    names = {row["num"]: row["id"] for row in tables.read()["species"]}
    moves = {row["num"]: row["id"] for row in tables.read()["moves"]}
    at = {name: number for number, name in enumerate(load_schema().header)}
    members = []
    for mon in team:
        if mon[at["species"]]:
            known = [moves[mon[at[f"move{i}"]]] for i in range(4) if mon[at[f"move{i}"]]]
            evs = ",".join(str(mon[at[f"ev_{name}"]]) for name in EVS)
            ivs = ",".join(str(2 * mon[at[f"dv_{name}"]]) for name in IVS)
            name = names[mon[at["species"]]]
            level = mon[at["level"]]
            members.append(f"{name}||||{','.join(known)}||{evs}||{ivs}||{level}|")
    return "]".join(members)


def log_of(trace: Trace) -> list[str]:
    """The lines of a recorded battle's input log."""
    lines = [
        ">version 1234567890123456789012345678901234567890",
        ">start " + json.dumps({"formatid": "gen1ou", "seed": f"gen5,{int(trace.seed):016x}"}),
    ]
    for player in (0, 1):
        team = {"name": "A", "team": packed(trace.teams[player])}
        lines.append(f">player p{player + 1} {json.dumps(team)}")
    for actions in trace.actions:
        for player, action in enumerate(actions):
            if action >= 0:
                what = f"move {action + 1}" if action < 4 else f"switch {action - 3}"
                lines.append(f">p{player + 1} {what}")
    return lines


def one(battle: State) -> dict[str, Any]:
    """The columns of a single battle."""
    return {k: v[0] for k, v in columns(jax.tree.map(lambda leaf: leaf[None], battle)).items()}


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [trace for name in ("gen1randombattle", "movesets") for trace in read(FILES[name])[:1]]


def test_a_log_leads_where_the_recording_led(traces: list[Trace]) -> None:
    assert len(traces) == 2
    for trace in traces:
        replay = from_inputlog("\n".join(log_of(trace)))
        assert np.array_equal(replay.actions, trace.actions)
        for battle, state in ((replay.start, trace.states[0]), (replay.battle, trace.states[-1])):
            assert int(battle.seed[0]) << 32 | int(battle.seed[1]) == int(state)
        assert one(replay.start)["turn"] == 1
        assert one(replay.battle)["winner"] > 0


def test_names_say_the_same_as_numbers(traces: list[Trace]) -> None:
    lines = log_of(traces[0])
    known = packed(traces[0].teams[0]).split("]")[0].split("|")[4].split(",")
    at = next(i for i, line in enumerate(lines) if line.startswith(">p1 move"))
    slot = int(lines[at][-1]) - 1
    named = [*lines[:at], f">p1 move {known[slot]}", *lines[at + 1 :]]
    both = [from_inputlog("\n".join(text)).battle for text in (lines, named)]
    assert np.array_equal(one(both[0])["hp"], one(both[1])["hp"])


def test_a_log_may_end_anywhere_and_by_hand(traces: list[Trace]) -> None:
    lines = log_of(traces[0])
    short = from_inputlog("\n".join(lines[:6]))
    assert len(short.actions) == 1
    assert one(short.battle)["winner"] == 0
    stopped = from_inputlog("\n".join([*lines[:6], ">forcewin p1", *lines[6:]]))
    assert len(stopped.actions) == 1


TEAM = "tauros||||bodyslam,earthquake||252,252,252,252,252,252||30,30,30,30,30,30||100|"
GOOD = [
    '>start {"formatid":"gen1ou","seed":"gen5,0001000200030004"}',
    f'>player p1 {{"name":"A","team":"{TEAM}"}}',
    f'>player p2 {{"name":"B","team":"{TEAM}"}}',
    ">p1 move bodyslam",
    ">p2 move 2",
]


def test_seeds_are_read_in_all_three_spellings() -> None:
    spellings = ('"gen5,0001000200030004"', '"1,2,3,4"', "[1,2,3,4]")
    ends = []
    for seed in spellings:
        start = f'>start {{"formatid":"gen1ou","seed":{seed}}}'
        ends.append(from_inputlog("\n".join([start, *GOOD[1:]])).battle.seed)
    assert len({(int(high), int(low)) for high, low in ends}) == 1


BAD = {
    "nothing": ("", "no line >start"),
    "no start": ("\n".join(GOOD[1:]), "no line >start"),
    "no team": ("\n".join([GOOD[0], GOOD[1], *GOOD[3:]]), "no line >player p2"),
    "a number": (3, "got int, expected text"),
    "no log": ("hello\n", "line 1: got 'hello', expected >start"),
    "no JSON": (">start {", "line 1: got '{', expected an object of JSON"),
    "a list": (">start []", "expected an object of JSON"),
    "format": (GOOD[0].replace("gen1ou", "gen9ou"), "line 1: got format 'gen9ou'"),
    "no seed": ('>start {"formatid":"gen1ou"}', "line 1: got seed None"),
    "sodium": (GOOD[0].replace("gen5,", "sodium,"), "line 1: got seed 'sodium"),
    "short seed": (GOOD[0].replace("0001", ""), "line 1: got seed"),
    "large seed": ('>start {"formatid":"gen1ou","seed":"1,2,3,65536"}', "four words of 16 bits"),
    "third player": ("\n".join([GOOD[0], GOOD[1].replace("p1", "p3")]), "line 2: got player 'p3'"),
    "only a seed": (f'{GOOD[0]}\n>player p1 {{"seed":"sodium,00"}}', "line 2: got no team"),
    "species": ("\n".join(GOOD).replace("tauros", "mew2", 1), "line 2: team.*species 'mew2'"),
    "move": ("\n".join(GOOD).replace("earthquake", "roost", 1), "line 2: team.*'roost'"),
    "five moves": (
        "\n".join(GOOD).replace("earthquake", "earthquake,rest,surf,cut", 1),
        "line 2: team.*expected 1 to 4",
    ),
    "level 0": ("\n".join(GOOD).replace("|100|", "|0|", 1), "line 2: team.*level: got 0"),
    "level": ("\n".join(GOOD).replace("|100|", "|high|", 1), "line 2: team.*level: got 'high'"),
    "columns": ("\n".join(GOOD).replace("||100|", "", 1), "line 2: .*columns of a packed team"),
    "EVs": ("\n".join(GOOD).replace("252", "many", 1), "line 2: "),
    "seven": ("\n".join(GOOD).replace(TEAM, "]".join([TEAM] * 7), 1), "expected 1 to 6"),
    "no such move": ("\n".join([*GOOD[:3], ">p1 move surf"]), "line 4: got 'move surf', expected"),
    "no such slot": ("\n".join([*GOOD[:3], ">p1 move 3"]), "line 4: .*move bodyslam"),
    "a sign": ("\n".join([*GOOD[:3], ">p1 move \u00b2"]), "line 4: got 'move \u00b2', expected"),
    "many digits": ("\n".join([*GOOD[:3], f">p1 move {'9' * 5000}"]), "line 4: got 'move 999"),
    "below 0": ("\n".join([*GOOD[:3], ">p1 move -1"]), "line 4: got 'move -1', expected"),
    "endless seed": ('>start {"formatid":"gen1ou","seed":[1,2,3,1e999]}', "got seed .*inf"),
    "no such place": ("\n".join([*GOOD[:3], ">p1 switch 2"]), "line 4: got 'switch 2'"),
    "a pass": ("\n".join([*GOOD[:3], ">p1 pass"]), "line 4: got '>p1 pass', expected >start"),
    "twice": (
        "\n".join([*GOOD[:4], ">p1 move 1"]),
        "line 5: got a choice of p1, expected one of p2",
    ),
    "half": ("\n".join(GOOD[:4]), "line 4: got no choice of p2"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_what_is_no_log_is_refused(text: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as caught:
        from_inputlog(text)
    assert isinstance(caught.value, HybridEnvError)


def test_choices_after_the_end_are_refused(traces: list[Trace]) -> None:
    lines = log_of(traces[0])
    with pytest.raises(ArgumentError, match="expected no more: the battle is over"):
        from_inputlog("\n".join([*lines, ">p1 move 1"]))
