"""Battles with few teams are learned at once; `test_learning` trains with all of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from hybridenv.envs import make
from hybridenv.envs.pokemon import PokemonParams, teams
from hybridenv.train import Config, train
from hybridenv.train.ppo import Program

FEW = 4

SMALL: dict[str, Any] = {
    "env": "pokemon", "steps": 81_920, "n_envs": 128, "horizon": 32, "minibatches": 8, "chunk": 512,
    "calls": 5, "hidden": (64,), "activation": "relu", "gae_lambda": 0.9, "lr": 2e-3,
    "normalize_observations": True,
}  # fmt: skip


def test_few_teams_are_learned_against_chance() -> None:
    """A policy that knows nothing chooses as its opponent does, from the same teams.

    So it wins as often as it loses, and the mean score of 500 battles is 0 with a deviation of
    0.045. What is asked is fifteen of these; runs come to 0.93.
    """
    pool = teams.random_battle()
    few = teams.Pool(*[getattr(pool, f.name)[:FEW] for f in dataclasses.fields(pool)])
    env, _ = make("pokemon", opponent="random", shaping=0.5)
    made = Program(env, PokemonParams.of(few), Config(**SMALL))
    result = train(made.config, trainer=made)
    last = [row for row in result.rows[-5:] if row["episodes"]]
    battles = [row["episodes"] for row in last]
    assert sum(battles) > 450
    assert np.average([row["score"] for row in last], weights=battles) > 0.7
