"""The checker of JAX environments: it passes what conforms and catches each misbehaviour."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from tests.envs.walks import LENGTH, Plain, Shown, Walk

from hybridenv.envs import AutoReset, Batch, EpisodeStatistics, TimeLimit, check_env
from hybridenv.errors import ArgumentError, ConformanceError

FLAWS = {
    "a space of Gymnasium": "spaces",
    "spaces change": "spaces",
    "parameters that can be changed": "params",
    "parameters unknown to JAX": "params",
    "static parameters": "params",
    "state that can be changed": "state",
    "state unknown to JAX": "state",
    "state is a dict": "state",
    "a Python number in the state": "state",
    "state changes its dtype": "state",
    "one array twice in the state": "donation",
    "state of a weak dtype": "recompilation",
    "reset raises": "reset",
    "reset returns no state": "reset",
    "five results": "step",
    "reward of integers": "dtypes",
    "reward with an axis": "dtypes",
    "flag of a number": "dtypes",
    "flag of Python": "dtypes",
    "observation of integers": "dtypes",
    "reward not a number": "finite",
    "observation not a number": "finite",
    "observation outside of its space": "spaces",
    "observation of the step before": "observe",
    "info is a list": "info",
    "info comes and goes": "info",
    "chance outside of the keys": "determinism",
    "plays by its calls": "determinism",
    "counts its calls": "pure",
    "a branch of Python": "jit",
    "compiled games differ": "jit",
    "games mix": "vmap",
    "draws ignore their shape": "draws",
    "step draws another way": "draws",
    "the key has no effect": "keys",
    "never ends": "episodes",
    "never restarts": "restart",
    "nothing is legal": "legal",
    "legal actions of another number": "legal",
    "legal actions of numbers": "legal",
    "legal actions of a box": "legal",
    "shows legal actions without any": "legal",
    "shows legal actions in too short vectors": "legal",
    "score of another kind": "score",
    "score of many together": "score",
}
"""Flaws of a walk, and the rule that must catch each."""

RULES = {
    *(
        "autoreset",
        "determinism",
        "donation",
        "draws",
        "dtypes",
        "episodes",
        "finite",
        "info",
        "jit",
        "keys",
    ),
    *("legal", "observe", "params", "pure", "recompilation", "reset", "restart", "scan", "spaces"),
    *("score", "state", "step", "vmap"),
}


def test_conforming_environment_passes() -> None:
    report = check_env(Walk(), keys_matter=True)
    assert report.rules == RULES
    assert report.episodes >= 3
    assert report.restarts >= 3
    assert report.steps >= LENGTH
    assert report.not_exercised == {}


@pytest.mark.parametrize("flaw", FLAWS)
def test_each_flaw_is_caught_by_its_rule(flaw: str) -> None:
    assert len(FLAWS) >= 40
    with pytest.raises(ConformanceError, match=f"^{FLAWS[flaw]}: "):
        check_env(Walk(flaw), keys_matter=True, max_steps=200)


def test_most_rules_have_a_flaw() -> None:
    assert RULES - set(FLAWS.values()) <= {"autoreset", "scan"}


def test_a_plain_environment_passes() -> None:
    report = check_env(Plain())
    assert set(report.not_exercised) == {"draws", "legal"}
    assert report.restarts >= 3


@pytest.mark.parametrize("env", [Walk(), Shown()])
def test_wrapped_environments_pass(env: Walk) -> None:
    wrapped = TimeLimit(EpisodeStatistics(env), LENGTH - 3)
    assert check_env(wrapped).restarts >= 3
    assert wrapped.shows_legal_actions == isinstance(env, Shown)
    assert wrapped.score(jnp.float32(1.5)) == (1 if isinstance(env, Shown) else 1.5)


def test_what_is_shown_has_to_be_what_is_legal() -> None:
    with pytest.raises(ConformanceError, match=r"^legal: shows_legal_actions is true, but"):
        check_env(Shown("shows other legal actions"))


@pytest.mark.parametrize("wrapped", [AutoReset(Walk()), Batch(Walk(), 2)])
def test_one_game_without_autoreset_is_expected(wrapped: Any) -> None:
    with pytest.raises(ArgumentError, match="expected one game"):
        check_env(wrapped)


def test_what_lacks_a_method_is_named() -> None:
    class Half:
        name = "half"
        default_params = None

    with pytest.raises(ConformanceError, match=r"^methods: Half lacks reset, step, observe"):
        check_env(Half())


def test_keys_without_effect_pass_unless_they_are_demanded() -> None:
    report = check_env(Walk("the key has no effect"))
    assert "keys matter" in report.not_exercised


def test_floats_may_differ_by_the_tolerance_named() -> None:
    class Rounded(Walk):
        def plain_step(self, draws: Any, state: Any, action: Any, params: Any) -> Any:
            nudge = 1e-6 if isinstance(draws, jax.core.Tracer) else 0
            return super().plain_step(draws + jnp.float32(nudge), state, action, params)

    with pytest.raises(ConformanceError, match=r"^jit: "):
        check_env(Rounded())
    assert check_env(Rounded(), tolerance=1e-5).restarts >= 3


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ArgumentError, match="seed"):
        check_env(Walk(), seed=-1)
