"""What a user can get wrong gets a verdict or an error in words, never a traceback."""

import shlex
import sys
from multiprocessing import Pipe
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import strategies as st
from tests.verify.cartpole import Cart
from tests.verify.courier import Courier
from tests.verify.mutants import Balancing
from tests.verify.sides import Counter, Counting, Endless, Raising, broken

from hybridenv.errors import ArgumentError, NotEquivalentError
from hybridenv.verify import Property, Verdict, assert_equivalent, by_policy, replay, verify
from hybridenv.verify._worker import serve

REFERENCE = "gym:CartPole-v1"
SIDES = "tests.verify.sides"


@pytest.mark.parametrize(
    ("candidate", "words"),
    [
        ("nonsense", "expected gym:ID"),
        ("gym:NoSuchGame-v0", "cannot be made"),
        ("no_such_module:make", "no module 'no_such_module'"),
        (f"{SIDES}:nothing", "has no 'nothing'"),
        (f"{SIDES}:not_an_environment", "got int without observation_space"),
        (f"{SIDES}:broken", "OSError: no such simulator"),
        ("hybridenv:chess/jax", "expected one of hybridenv:"),
        ("cmd:no-such-program", "cannot be started"),
        ("cmd:", "cannot be started: got no words"),
        ("cmd:'", "cannot be started: No closing quotation"),
        ("gymvec:CartPole-v1?num_envs=2", "closed to the candidate"),
    ],
)
def test_a_target_that_cannot_be_made_is_an_error(candidate: str, words: str) -> None:
    report = verify(REFERENCE, candidate, levels=[0])
    assert report.verdict is Verdict.ERROR
    assert report.exit_code == 2
    assert words in report.reason


def test_what_a_function_raises_is_an_error_on_either_side() -> None:
    for sides in ((REFERENCE, broken), (broken, Cart)):
        report = verify(*sides, levels=[0])
        assert report.verdict is Verdict.ERROR
        assert report.reason == "target 'broken': cannot be made: OSError: no such simulator"


def test_spaces_that_are_none_are_an_error() -> None:
    class Spaceless(Cart):
        def __init__(self) -> None:
            super().__init__()
            self.action_space: Any = 2

    report = verify(REFERENCE, Spaceless, levels=[0])
    assert report.verdict is Verdict.ERROR
    assert "got int for action_space, expected a gymnasium.Space" in report.reason


@pytest.mark.parametrize("answer", ['{"error": "no licence"}', '{"offers": 3}'])
def test_a_process_that_answers_with_something_else_is_an_error(answer: str) -> None:
    spaces = '{"type": "Discrete", "n": 2}'
    answer = answer.replace("{", f'{{"observation": {spaces}, "action": {spaces}, ', 1)
    told = f"cmd:{sys.executable} -c {shlex.quote(f'input(); print({answer!r})')}"
    for sides in ((REFERENCE, told), (told, Cart)):
        report = verify(*sides, levels=[0])
        assert report.verdict is Verdict.ERROR
        assert "no licence" in report.reason or "got 3 for 'offers'" in report.reason


def test_an_unknown_reference_is_an_error() -> None:
    report = verify("gym:NoSuchGame-v0", Cart, levels=[0])
    assert report.exit_code == 2
    assert "NoSuchGame" in report.reason


def test_a_candidate_that_hangs_is_ended() -> None:
    report = verify(REFERENCE, f"{SIDES}:Hanging", levels=[3], episodes=1, timeout=2)
    assert report.exit_code == 2
    assert "hangs: no answer to 'rollouts' within 2 seconds" in report.reason


def test_a_process_that_hangs_is_ended_on_either_side() -> None:
    told = f"cmd:{sys.executable} -c {shlex.quote('import time; time.sleep(60)')}"
    for sides in ((REFERENCE, told), (told, Cart)):
        report = verify(*sides, levels=[0], timeout=0.5)
        assert report.verdict is Verdict.ERROR
        assert "hangs: no answer to 'spaces' within 0.5 seconds" in report.reason


def test_a_candidate_that_dies_is_told_from_one_that_differs() -> None:
    report = verify(REFERENCE, f"{SIDES}:Dying", levels=[3], episodes=1)
    assert report.exit_code == 2
    assert "its process ended during 'rollouts' (exit code 7)" in report.reason


def test_a_candidate_that_raises_differs_where_it_raises() -> None:
    report = verify(REFERENCE, f"{SIDES}:Raising", levels=[3], episodes=2)
    assert report.verdict is Verdict.DIFFERENT
    found = report.first_divergence
    assert found is not None
    assert (found.column, found.step) == ("error", 4)
    assert found.candidate == "ZeroDivisionError: three steps are enough"


@pytest.mark.parametrize(
    ("method", "answer", "words"),
    [
        ("reset", np.zeros(4, np.float32), "reset returned ndarray, expected a tuple of 2"),
        ("reset", (np.zeros(4, np.float32), None), "reset returned NoneType as info"),
        ("step", (np.zeros(4, np.float32), 1.0, False, {}), "step returned 4 values, expected"),
    ],
)
def test_what_a_side_returns_is_told(method: str, answer: Any, words: str) -> None:
    made = Cart()
    setattr(made, method, lambda *_, **__: answer)
    report = verify(REFERENCE, made, levels=[3], episodes=1)
    assert report.verdict is Verdict.DIFFERENT
    assert f"candidate TypeError: {words}" in report.reason


def test_a_process_that_nobody_asks_any_more_ends_quietly() -> None:
    asking, answering = Pipe()
    asking.send(("reset", (0,)))
    asking.close()
    serve(answering)  # raises nothing


@pytest.mark.parametrize(
    ("candidate", "words"),
    [
        (Cart, "in the same process as the reference"),
        (f"cmd:{sys.executable} -m tests.verify.foreign", "in a process of its own kind"),
        ("no_such_module:make", "Nothing was compared"),
    ],
)
def test_where_the_candidate_ran_is_told_as_it_was(candidate: Any, words: str) -> None:
    report = verify(REFERENCE, candidate, levels=[0])
    assert words in report.limits[0]


def test_a_process_that_ends_has_an_exit_code() -> None:
    told = f"cmd:{sys.executable} -c {shlex.quote('import sys; sys.exit(7)')}"
    report = verify(REFERENCE, told, levels=[0])
    assert report.verdict is Verdict.ERROR
    assert "its process ended during 'spaces' (exit code 7)" in report.reason


def test_a_candidate_that_is_not_the_same_twice_fails_the_first_level() -> None:
    report = verify(REFERENCE, f"{SIDES}:Moody", levels=[0])
    assert report.verdict is Verdict.DIFFERENT
    assert "candidate: repeats under a seed: not deterministic" in report.reason


def test_a_reference_that_is_not_the_same_twice_shows_nothing() -> None:
    from tests.verify.sides import Moody

    report = verify(Moody, Cart, levels=[0])
    assert report.verdict is Verdict.ERROR


@pytest.mark.parametrize("candidate", ["LateWrapper", "FileWrapper"])
def test_a_wrapper_is_rejected_however_it_comes_by_the_reference(candidate: str) -> None:
    report = verify(REFERENCE, f"{SIDES}:{candidate}", level=3, episodes=2, examples=5)
    assert report.verdict is Verdict.ERROR
    assert "closed to the candidate" in report.reason


def test_a_candidate_in_the_module_of_the_reference_is_told_to_move() -> None:
    report = verify(f"{SIDES}:Counter", f"{SIDES}:Counting", levels=[0])
    assert report.verdict is Verdict.ERROR
    assert "put it into another module" in report.reason


def test_a_side_that_ends_the_program_is_an_error() -> None:
    class Leaving(Cart):
        def step(self, action: Any) -> Any:
            raise SystemExit(0)

    report = verify(Leaving, Cart, levels=[3], episodes=1)
    assert report.exit_code == 2
    assert "called sys.exit(0)" in report.reason
    report = verify(REFERENCE, f"{SIDES}:Leaving", levels=[3], episodes=1)
    assert report.exit_code == 2
    assert "ended during 'rollouts' (exit code 0)" in report.reason


def test_an_answer_that_cannot_be_sent_is_an_error() -> None:
    report = verify(REFERENCE, f"{SIDES}:Secretive", levels=[3], episodes=1)
    assert report.verdict is Verdict.ERROR
    assert "its answer to 'rollouts' cannot be sent" in report.reason


def test_a_state_that_the_candidate_does_not_take_is_a_difference() -> None:
    report = verify(REFERENCE, f"{SIDES}:Stubborn", levels=[2], examples=20)
    assert report.verdict is Verdict.DIFFERENT
    assert "set_state: reference none, candidate KeyError: 'not now'" in report.reason


def test_a_reference_that_does_not_take_its_own_state_is_an_error() -> None:
    from tests.verify.sides import Stubborn

    report = verify(Stubborn, Cart, levels=[2], examples=20)
    assert report.verdict is Verdict.ERROR
    assert "reference 'Stubborn': KeyError: 'not now'" in report.reason


def test_a_policy_that_raises_is_blamed_itself() -> None:
    class Lost:
        def act(self, obs: Any, key: int) -> int:
            raise LookupError("where am I")

    report = verify(REFERENCE, Cart, levels=[3], actions=[by_policy(Lost(), "lost")])
    assert report.verdict is Verdict.ERROR
    assert report.reason.startswith("actions 'lost': step 1 of the episode with seed")
    assert "LookupError: where am I" in report.reason


@pytest.mark.parametrize("candidate", [f"{SIDES}:Hanging", "cmd:true"])
def test_other_systems_than_posix_are_told_what_to_do(
    candidate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hybridenv.verify._target.os", SimpleNamespace(name="nt"))
    report = verify(REFERENCE, candidate, levels=[0])
    assert report.verdict is Verdict.ERROR
    assert "got the system 'nt', expected a POSIX system such as Linux or macOS" in report.reason


def test_the_reference_itself_is_no_candidate() -> None:
    assert verify(REFERENCE, REFERENCE, levels=[0]).verdict is Verdict.ERROR


def test_episodes_that_never_end_are_cut_and_said_to_be() -> None:
    report = verify(Endless, Endless, levels=[3], episodes=2, max_steps=50)
    assert report.verdict is Verdict.EQUAL
    assert any("2 of 2 episodes did not end within 50 steps" in one for one in report.limits)


@pytest.mark.parametrize("many", [False, True])
def test_episodes_of_policies_that_never_end_are_said_to_be_cut(many: bool) -> None:
    class Idle:
        def act(self, obs: Any, key: int) -> int:
            return 0

    class Idlers(Idle):
        def begin_many(self, n: int) -> None:
            self.n = n

        def act_many(self, obs: Any, keys: Any) -> list[int]:
            return [0] * self.n

    def made() -> Any:
        return gymnasium.make("MountainCar-v0")

    options: dict[str, Any] = {"levels": [4], "episodes": 3, "margin": 1}
    policies = {"idle": Idlers() if many else Idle()}
    report = verify(made, made, max_steps=50, policies=policies, **options)
    assert any("3 of 3 pairs of episodes with policies did not end" in one for one in report.limits)
    report = verify(made, made, max_steps=500, policies=policies, **options)
    assert not any("did not end" in one for one in report.limits)


def test_independent_episodes_that_never_end_are_said_to_be_cut() -> None:
    report = verify(Endless, Endless, levels=[3], episodes=3, max_steps=50, chance="independent")
    assert any("3 of 3 episodes did not end within 50 steps" in one for one in report.limits)


def test_spaces_that_differ_end_it_at_once() -> None:
    report = verify(REFERENCE, Counter, level=3)
    assert report.verdict is Verdict.DIFFERENT
    assert list(report.levels) == [0]
    assert "space" in report.reason


def test_actions_of_another_space_are_not_played_without_level_0() -> None:
    class Wider(Cart):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.Discrete(3)

    report = verify(REFERENCE, Wider, levels=[3], episodes=2)
    assert report.verdict is Verdict.ERROR
    assert report.reason == "action spaces differ: reference Discrete(2), candidate Discrete(3)"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 4}, "margin: got none"),
        ({"level": 4, "margin": 1.0}, "policies: got none"),
        ({"level": 5}, "level: got 5"),
        ({"levels": []}, "levels: got none"),
        ({"episodes": 0}, "episodes: got 0"),
        ({"tol": {"obs": -1}}, "tol"),
        ({"tol": {"terminated": 1}}, "got a tolerance for 'terminated'"),
        ({"ignore": ["colour"]}, "ignore: got 'colour'"),
        ({"chance": "luck"}, "chance: got 'luck'"),
        ({"actions": ["best"]}, "actions: got 'best'"),
        ({"actions": ["mask"]}, "actions 'mask': the reference 'Counter' has no action_mask"),
        ({"actions": ["policy:nothing"]}, "policy: got 'nothing'"),
        ({"alpha": 0.9}, "alpha: got 0.9"),
        ({"isolate": True}, "isolate: got a candidate"),
        ({"seeds": [-1]}, "seeds: got -1"),
        ({"seeds": []}, "seeds: got none, expected at least one"),
        ({"seeds": 17}, r"seeds: got 17, expected a list such as \[17, 18\]"),
        ({"levels": 3}, "levels: got 3, expected a list"),
        ({"tol": 0.1}, "tol: got 0.1, expected a dict"),
        ({"tol": {"obs": "0.1"}}, r"tol\['obs'\]: got '0.1', expected a finite number"),
        ({"tol": {3: 0.1}}, "got a tolerance for 3"),
        ({"ignore": "info"}, "ignore: got 'info', expected a list"),
        ({"ignore": [3]}, "ignore: got 3"),
        ({"actions": "uniform"}, "actions: got 'uniform', expected a list"),
        ({"properties": [3]}, "properties: got 3, expected a Property"),
        ({"properties": None}, "properties: got None, expected a list"),
        ({"policies": [Balancing()]}, "policies: got list, expected a dict"),
        ({"policies": {"none": 3}}, r"policies\['none'\]: got int without act"),
        ({"timeout": 0}, "timeout: got 0, expected seconds above 0"),
        ({"timeout": float("nan")}, "timeout: got nan"),
        ({"timeout": 1e9}, "timeout: got 1000000000.0"),
        ({"margin": float("nan")}, "margin: got nan"),
        ({"margin": 10**400}, "margin: got 1000.*, expected a finite number"),
        ({"margin": 0}, "margin: got 0, expected a number above 0"),
        ({"margin": True}, "margin: got True"),
    ],
)
def test_settings_without_sense_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        verify(Counter, Counting, **options)


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (st.integers(), "'double': got 0 from its strategy, expected a tuple"),
        (st.nothing(), "'double': its strategy: "),
        (3, "'double': its strategy: "),
    ],
)
def test_a_property_without_arguments_is_refused(strategy: Any, words: str) -> None:
    double = Property("double", lambda x: 2 * x, lambda x: x + x, strategy)
    with pytest.raises(ArgumentError, match=words):
        verify(Counter, Counting, levels=[1], properties=[double], examples=5)


def test_a_property_that_only_raises_shows_nothing() -> None:
    double = Property("double", lambda: 2, lambda: 3, st.tuples(st.integers()))
    report = verify(Counter, Counting, levels=[1], properties=[double], examples=5)
    assert report.verdict is Verdict.NOT_SHOWN
    assert "double: both sides raise in all of 5 examples" in report.reason


def test_a_side_that_refuses_illegal_actions_is_only_given_legal_ones() -> None:
    class Strict(Courier):
        def step(self, action: Any) -> Any:
            assert self.action_mask()[int(action)], "illegal"
            return super().step(action)

    report = verify(
        Strict, Strict, level=2, chance="tape", actions=["mask"], episodes=3, examples=10
    )
    assert report.verdict is Verdict.EQUAL, str(report)


def test_an_anchor_without_states_is_an_error() -> None:
    report = verify(Counter, Counting, anchor=True, levels=[3])
    assert report.verdict is Verdict.ERROR
    assert "anchor: the reference 'Counter' has no get_state" in report.reason


def test_a_coupling_that_a_side_does_not_offer_is_an_error() -> None:
    report = verify(Counter, Counting, chance="tape", levels=[3])
    assert report.verdict is Verdict.ERROR
    assert "the reference 'Counter' has no take_chance" in report.reason


def test_independent_chance_shows_nothing_at_level_3() -> None:
    report = verify(REFERENCE, Cart, chance="independent", levels=[3], episodes=40)
    assert report.verdict is Verdict.NOT_SHOWN
    assert report.exit_code == 3
    assert "does not show that there is none" in report.reason


def test_independent_chance_finds_other_distributions() -> None:
    class Far(Cart):
        def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
            super().reset(**options)
            self.state = self.state * np.array([1, 1, 3, 1])
            return self.look(), {}

    report = verify(REFERENCE, Far, chance="independent", levels=[3], episodes=60)
    assert report.verdict is Verdict.DIFFERENT
    assert "obs" in report.reason


def test_independent_chance_finds_a_side_that_raises_or_shows_nan() -> None:
    class Blind(Cart):
        def look(self) -> Any:
            return super().look() * np.float32(np.nan)

    class Stuck(Cart):
        def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
            raise OSError("stuck")

    options: dict[str, Any] = {"chance": "independent", "levels": [3], "episodes": 20}
    report = verify(REFERENCE, Blind, **options)
    assert report.verdict is Verdict.DIFFERENT, str(report)
    for raising, words in (
        (Raising, "after 3 steps: ZeroDivisionError"),
        (Stuck, "OSError: stuck"),
    ):
        report = verify(REFERENCE, raising, **options)
        assert report.verdict is Verdict.DIFFERENT
        assert words in report.reason
        report = verify(raising, Cart, **options)
        assert report.verdict is Verdict.ERROR
        assert words in report.reason


@pytest.mark.parametrize("paid", [float("nan"), float("inf")])
def test_returns_that_are_no_numbers_differ_at_level_4(paid: float) -> None:
    class Odd(Cart):
        def step(self, action: Any) -> Any:
            obs, _, *rest = super().step(action)
            return obs, paid, *rest

    options: dict[str, Any] = {
        "levels": [4], "episodes": 3, "margin": 1, "policies": {"still": Balancing()},
        "max_steps": 5,
    }  # fmt: skip
    report = verify(REFERENCE, Odd, **options)
    assert report.verdict is Verdict.DIFFERENT
    assert f"got a return of {paid} in 5 steps" in report.reason
    assert report.to_html()
    report = verify(Odd, Cart, **options)
    assert report.verdict is Verdict.ERROR
    assert "on the reference" in report.reason


def test_assert_equivalent_raises_with_the_reason() -> None:
    assert assert_equivalent(Counter, Counting, episodes=2, examples=5).ok
    with pytest.raises(NotEquivalentError, match="DIFFERENT: L0"):
        assert_equivalent(REFERENCE, Counter)


def test_replay_raises_where_both_differ() -> None:
    replay(REFERENCE, Cart, seed=3, actions=[0, 1, 0])
    with pytest.raises(NotEquivalentError, match="at step 4, error"):
        replay(REFERENCE, f"{SIDES}:Raising", seed=3, actions=[0, 1, 0, 1, 1])


def test_interrupting_keeps_what_was_measured() -> None:
    class Impatient(Counting):
        plays = 0

        def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
            type(self).plays += 1
            if self.plays > 3:
                raise KeyboardInterrupt
            return super().reset(**options)

    report = verify(Counter, Impatient, levels=[3], episodes=10)
    assert report.interrupted
    assert report.verdict is Verdict.NOT_SHOWN
    assert report.levels[3].counts["episodes"] == 3
