"""`check_vector_env` sees what seeds do, in what is played and not only in how it begins."""

from typing import Any

import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv
from gymnasium.vector import AutoresetMode

from hybridenv.gym import ConformanceError, GameBoyVectorEnv, check_vector_env


class OneSeed(GameBoyVectorEnv):
    """Gives every machine the same seed."""

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        if isinstance(seed, int):
            seed = [seed] * self.num_envs
        return super().reset(seed=seed, options=options)


class NoSeed(GameBoyVectorEnv):
    """Plays the same whatever the seed is."""

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        seed = None if seed is None else [0] * self.num_envs
        return super().reset(seed=seed, options=options)


@pytest.mark.parametrize("kind", [OneSeed, NoSeed])
@pytest.mark.parametrize("mode", AutoresetMode)
def test_misused_seeds_show_in_what_is_played(
    kind: type[GameBoyVectorEnv], mode: AutoresetMode
) -> None:
    with pytest.raises(ConformanceError, match=r"^seed: "):
        check_vector_env(
            lambda: kind(3, max_episode_steps=20, autoreset_mode=mode), seeds_matter=True
        )


def test_seeds_that_change_nothing_are_reported_or_refused() -> None:
    def make() -> GameBoyVectorEnv:
        return NoSeed(3, max_episode_steps=20)

    report = check_vector_env(make)
    assert "had no visible effect in 24 steps" in report.not_exercised["seeds matter"]
    with pytest.raises(ConformanceError, match=r"seeds \[0, 3, 6, 9\] had no visible effect"):
        check_vector_env(make, seeds_matter=True)


class Copies(GameBoyVectorEnv):
    """Seeds its last machine as its first, whatever the form of the seed."""

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        if isinstance(seed, int):
            seed = [seed + i for i in range(self.num_envs)]
        if seed is not None:
            seed = [*seed[:-1], seed[0]]
        return super().reset(seed=seed, options=options)


def test_machines_that_copy_each_other_are_caught() -> None:
    with pytest.raises(ConformanceError, match=r"^seed: "):
        check_vector_env(lambda: Copies(3, max_episode_steps=20))


class OneNumber(GameBoyVectorEnv):
    """Takes one seed only, and gives it to every machine."""

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        if isinstance(seed, list):
            raise TypeError("one seed, please")
        seed = None if seed is None else [seed] * self.num_envs
        return super().reset(seed=seed, options=options)


def test_copies_are_seen_without_lists_of_seeds() -> None:
    with pytest.raises(ConformanceError, match=r"machines 0 and 1 did the same after each of 4"):
        check_vector_env(lambda: OneNumber(3, max_episode_steps=20))


class Poles(CartPoleVectorEnv):
    """Gymnasium's own vector environment, which takes one seed for all machines."""

    def close(self, **_: Any) -> None:
        super().close()
        self.closed = True


def test_an_environment_without_lists_of_seeds_is_checked_in_the_rest() -> None:
    with pytest.raises(ConformanceError, match=r"^close: closed is false after close\(\)"):
        check_vector_env(lambda: CartPoleVectorEnv(3))
    report = check_vector_env(lambda: Poles(3), seeds_matter=True)
    assert report.episodes >= 3
    assert list(report.not_exercised) == ["a list of seeds"]
    assert "reset(seed=[0, 1, 2]) raised" in report.not_exercised["a list of seeds"]


@pytest.mark.parametrize("method", ["reset", "step"])
def test_what_an_environment_raises_breaks_a_rule(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("in the environment")

    monkeypatch.setattr(GameBoyVectorEnv, method, fail)
    with pytest.raises(ConformanceError, match=rf"^{method}: raised ZeroDivisionError"):
        check_vector_env(lambda: GameBoyVectorEnv(3, max_episode_steps=5))


def test_a_step_of_four_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GameBoyVectorEnv, "step", lambda *_: (np.zeros(3), 0.0, False, {}))
    with pytest.raises(ConformanceError, match=r"^step: returned tuple, expected"):
        check_vector_env(lambda: GameBoyVectorEnv(3, max_episode_steps=5))
