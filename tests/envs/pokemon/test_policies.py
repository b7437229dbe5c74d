"""The players that come along: legal, and as strong as they should be."""

from __future__ import annotations

import numpy as np
import pytest

from hybridenv.envs.pokemon import engine, policies, teams
from hybridenv.envs.pokemon.state import FIELD, Request, State, Winner, unpack

BATTLES = 160


def played(ours: str, theirs: str, seed: int = 0) -> tuple[State, int]:
    """Play battles of two policies to their ends; the last states, and how many choices were."""
    rng = np.random.default_rng(seed)

    def bits() -> np.ndarray:
        return rng.integers(0, 2**32, BATTLES, dtype=np.uint32)

    words = teams.random_battle().words
    sides = [teams.party(words[:, rng.integers(0, 4096, BATTLES)]) for _ in (0, 1)]
    state = engine.start((bits(), bits()), (sides[0], sides[1]))
    choices = 0
    for _ in range(1500):
        actions = []
        for player, name in enumerate((ours, theirs)):
            action, legal = policies.POLICIES[name](state, player, bits()), engine.legal(state)
            asked = legal[player] != 0
            assert ((legal[player] >> action) & 1)[asked].all()
            choices += int(asked.sum())
            actions.append(action)
        state = engine.step(state, (actions[0], actions[1]))
        if (unpack(FIELD, state.field).request0 == Request.NONE).all():
            break
    return state, choices


def wins(state: State) -> tuple[int, int]:
    winner = unpack(FIELD, state.field).winner
    assert (winner != Winner.NONE).all()
    return int((winner == Winner.FIRST).sum()), int((winner == Winner.SECOND).sum())


@pytest.mark.parametrize(
    ("stronger", "weaker", "least"),
    [("max_damage", "random", 0.9), ("heuristic", "max_damage", 0.53)],
)
def test_the_stronger_wins(stronger: str, weaker: str, least: float) -> None:
    state, choices = played(stronger, weaker)
    won, lost = wins(state)
    assert won >= least * BATTLES
    assert won + lost > 0.9 * BATTLES
    assert choices > 20 * BATTLES


def test_every_policy_is_played() -> None:
    assert set(policies.POLICIES) == {"random", "max_damage", "heuristic"}
