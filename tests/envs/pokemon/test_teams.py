"""Teams written as Showdown's sets: what they come to, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridenv import make
from hybridenv.envs.pokemon import teams
from hybridenv.envs.pokemon.env import PokemonParams
from hybridenv.envs.pokemon.state import MON, unpack
from hybridenv.errors import ArgumentError

MEW = {"species": "Mew", "moves": ["Psychic", "soft-boiled", "Transform", "Struggle Bug"]}


def member(**other: Any) -> dict[str, Any]:
    return {"species": "Chansey", "moves": ["Ice Beam", "softboiled"], **other}


def test_stats_follow_from_dvs_and_experience() -> None:
    pool = teams.pool([[member()], [member(level=50, ivs={"spe": 0}, evs={"spe": 8})]])
    assert pool.stats[0, 0].tolist() == [703, 108, 108, 308, 198]
    assert pool.stats[1, 0, 4] == (2 * 50 + 0 + 2) * 50 // 100 + 5
    assert pool.haste[:, 0].tolist() == [30 + 63, 2]
    assert pool.moves[0, 0].tolist() == [58, 135, 0, 0]
    assert pool.species[:, 1:].sum() == 0


def test_words_hold_what_a_team_is() -> None:
    pool = teams.pool([[member(), member(species="Gengar", level=1)]])
    party = teams.party(pool.words)
    first, second, third = (unpack(MON, words) for words in party[:3])
    assert (int(first.hp[0]), int(first.max_hp[0]), int(first.pp1[0])) == (703, 703, 16)
    assert (bool(first.ghost[0]), bool(second.ghost[0])) == (False, True)
    assert (int(second.slot[0]), int(second.level[0])) == (1, 1)
    assert int(third.hp[0]) == 0


@pytest.mark.parametrize(
    ("team", "says"),
    [
        ([], "got 0 members"),
        ([member()] * 7, "got 7 members"),
        ([member(species="Missingno.")], "got species 'Missingno.'"),
        ([member(moves=[])], "got moves \\[\\]"),
        ([member(moves=["Surf", "surf"])], "different"),
        ([member(moves=["Surf", "Fly", "Cut", "Dig", "Rest"])], "expected 1 to 4"),
        ([member(moves=["Struggle"])], "got move 'Struggle'"),
        ([MEW], "got move 'Struggle Bug'"),
        ([member(level=0)], "level: got 0"),
        ([member(level=101)], "level: got 101"),
        ([member(level=True)], "level: got True"),
        ([member(ivs={"spe": 32})], "ivs spe: got 32"),
        ([member(ivs={"speed": 30})], "got speed"),
        ([member(evs={"spa": 0, "spd": 255})], "spa and spd apart"),
    ],
)
def test_a_malformed_team_is_refused(team: list[Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        teams.pool([team])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (MEW, "teams: got dict, expected a list of teams"),
        ([MEW], r"teams\[0\]: got dict, expected a list of members"),
        ([[3]], r"teams\[0\]\[0\]: got int, expected a dict with species and moves"),
        ([[member(moves="Ice Beam")]], "moves: got str, expected a list of names"),
        ([[member(ivs=30)]], "ivs: got int, expected a dict of hp"),
        ([[member(evs={3: 3})]], "evs: got 3, expected hp"),
    ],
)
def test_what_is_no_list_of_teams_is_refused(given: Any, says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        teams.pool(given)


def test_parameters_need_pools_and_opponents_a_name() -> None:
    with pytest.raises(ArgumentError, match="ours: got list, expected a Pool"):
        PokemonParams.of([[MEW]])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"opponent: got \[\], expected one of"):
        make("pokemon", opponent=[])


def test_a_pool_needs_teams() -> None:
    with pytest.raises(ArgumentError, match="got none"):
        teams.pool([])
    assert np.array_equal(teams.most_pp()[[33, 45, 135, 165]], [56, 61, 16, 10])
