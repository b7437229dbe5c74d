"""The vector-environment checker: it passes what conforms and catches each kind of misbehaviour."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hybridenv.gym import ConformanceError, check_vector_env, check_vector_modes

NEXT, SAME, MANUAL = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED

N = 3
LENGTH = 4
SHARED_METADATA: dict[str, Any] = {}


class Counters(VectorEnv[Any, Any, Any]):
    """Counters that actions push; the simplest conforming environment, with flaws to order.

    Episodes last `LENGTH + i` steps on machine i. A flaw is a name from `FLAWS`, or none.
    """

    def __init__(self, mode: AutoresetMode, flaw: str = "") -> None:
        self.flaw = flaw
        self.num_envs = N
        self.render_mode = "rgb_array"
        self.metadata = {"autoreset_mode": mode.value if flaw == "mode is a string" else mode}
        if flaw == "metadata shared by the class":
            SHARED_METADATA["autoreset_mode"] = mode
            self.metadata = SHARED_METADATA
        self.mode = mode
        self.single_observation_space = spaces.Box(0, 2**31 - 1, (2,), np.int32)
        self.observation_space = batch_space(self.single_observation_space, N)
        self.single_action_space = spaces.Discrete(5)
        self.action_space = batch_space(self.single_action_space, N)
        if flaw == "spaces not batched":
            self.action_space = self.single_action_space
        self.rngs = [np.random.default_rng(i) for i in range(N)]
        self.counts = np.zeros((N, 2), dtype=np.int32)
        self.age = np.zeros(N, dtype=np.int64)
        self.ended = np.zeros(N, dtype=np.bool_)
        self.buffer = np.zeros((N, 2), dtype=np.int32)
        self.closings = 0

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> Any:
        mask = np.ones(N, dtype=np.bool_)
        if options and self.flaw != "reset_mask ignored":
            take = options.pop if self.flaw == "options changed" else options.get
            mask = take("reset_mask", mask)
        if seed is not None and self.flaw != "seed ignored":
            same = self.flaw == "one seed for all machines"
            seeds = [seed + i * (not same) for i in range(N)] if isinstance(seed, int) else seed
            for i in np.flatnonzero(mask):
                self.rngs[i] = np.random.default_rng(seeds[i])
        self.restart(mask)
        obs = self.observe()
        return obs if self.flaw == "reset returns no info" else (obs, {})

    def restart(self, mask: NDArray[np.bool_]) -> None:
        if self.flaw != "never restarts":
            for i in np.flatnonzero(mask):
                self.counts[i] = self.rngs[i].integers(100, 1_000, 2)
        self.age[mask] = 0
        self.ended[mask] = False

    def observe(self) -> Any:
        if self.flaw == "observations aliased":
            self.buffer[...] = self.counts
            return self.buffer
        if self.flaw == "own memory handed out":
            return self.counts
        if self.flaw == "observation dtype":
            return self.counts.astype(np.int16)
        if self.flaw == "observation outside of its space":
            return -self.counts
        return self.counts.copy()

    def step(self, actions: Any) -> Any:
        starting = self.ended.copy() if self.mode is NEXT else np.zeros(N, dtype=np.bool_)
        moving = ~starting
        if self.flaw == "action of a restarting machine counts":
            moving = np.ones(N, dtype=np.bool_)
        if self.flaw != "never restarts":
            self.restart(starting)
        self.counts[moving] += 1 + np.asarray(actions)[moving, None]
        if self.flaw == "chance outside of the seed":
            self.counts += np.random.default_rng().integers(0, 1_000, (N, 2), dtype=np.int32)
        if self.flaw == "actions changed":
            actions[...] = 0
        self.age[moving] += 1
        if self.flaw == "never restarts":
            self.counts[starting] = self.counts[starting]
            self.age[starting] = 0
        reward = self.counts[:, 0].astype(np.float32)
        terminated = self.age >= LENGTH + np.arange(N)
        if self.flaw == "reward in the restarting step":
            pass
        else:
            reward[starting] = 0
        truncated = np.zeros(N, dtype=np.bool_)
        ended = terminated | truncated
        self.ended = ended.copy()
        info: dict[str, Any] = {"age": self.age.copy(), "_age": np.ones(N, dtype=np.bool_)}
        if self.mode is SAME and ended.any():
            info |= self.final(ended)
            self.restart(ended)
        return self.spoil(self.observe(), reward, terminated, truncated, info)

    def final(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        last = np.full(N, None, dtype=object)
        for i in np.flatnonzero(ended):
            last[i] = self.counts[i].copy()
        mask = np.zeros(N, dtype=np.bool_) if self.flaw == "final mask empty" else ended
        final = {"age": self.age.copy(), "_age": ended.copy()}
        info = {"final_obs": last, "_final_obs": mask.copy()}
        if self.flaw == "no final_info":
            return info
        return info | {"final_info": final, "_final_info": mask.copy()}

    def spoil(
        self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any]
    ) -> Any:
        if self.flaw == "reward is a list":
            reward = reward.tolist()
        if self.flaw == "reward of integers":
            reward = reward.astype(np.int64)
        if self.flaw == "reward of doubles":
            reward = reward.astype(np.float64)
        if self.flaw == "flags of bytes":
            terminated = terminated.astype(np.uint8)
        if self.flaw == "flag for the whole batch":
            truncated = np.bool_(False)
        if self.flaw == "info without a mask":
            del info["_age"]
        if self.flaw == "mask without info":
            del info["age"]
        if self.flaw == "info is a list":
            return obs, reward, terminated, truncated, [info]
        if self.flaw == "info of one machine":
            info["age"] = 7
        return obs, reward, terminated, truncated, info

    def render(self) -> Any:
        frames = [np.zeros((8, 8, 3), dtype=np.uint8)] * N
        return frames[0] if self.flaw == "renders one frame" else tuple(frames)

    def close(self, **_: Any) -> None:
        self.closings += 1
        if self.flaw == "close raises the second time" and self.closings > 1:
            self.flaw = ""
            raise RuntimeError("already closed")
        self.closed = self.flaw != "never closed"


ANY_MODE = {
    "mode is a string": "metadata",
    "spaces not batched": "spaces",
    "seed ignored": "seed",
    "one seed for all machines": "seed",
    "chance outside of the seed": "determinism",
    "reset returns no info": "reset",
    "observation dtype": "dtypes",
    "observation outside of its space": "spaces",
    "observations aliased": "aliasing",
    "own memory handed out": "aliasing",
    "actions changed": "actions",
    "reward is a list": "dtypes",
    "reward of integers": "dtypes",
    "reward of doubles": "dtypes",
    "flags of bytes": "dtypes",
    "flag for the whole batch": "dtypes",
    "info without a mask": "info",
    "mask without info": "info",
    "info is a list": "info",
    "info of one machine": "info",
    "renders one frame": "render",
    "close raises the second time": "close",
    "never closed": "close",
}
"""Flaws that show in every mode, and the rule that must catch each."""

ONE_MODE = {
    (NEXT, "action of a restarting machine counts"): "next-step",
    (NEXT, "reward in the restarting step"): "next-step",
    (NEXT, "never restarts"): "restart",
    (SAME, "final mask empty"): "same-step",
    (SAME, "no final_info"): "same-step",
    (SAME, "never restarts"): "restart",
    (MANUAL, "options changed"): "options",
    (MANUAL, "reset_mask ignored"): "disabled",
}
"""Flaws of one mode."""

FLAWS = [(mode, flaw, rule) for flaw, rule in ANY_MODE.items() for mode in AutoresetMode] + [
    (mode, flaw, rule) for (mode, flaw), rule in ONE_MODE.items()
]


def cartpoles(mode: AutoresetMode) -> VectorEnv[Any, Any, Any]:
    return SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * N, autoreset_mode=mode)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_conforming_environment_passes(mode: AutoresetMode) -> None:
    report = check_vector_env(lambda: Counters(mode), episodes=6, reward_dtype=np.float32)
    assert report.mode is mode
    assert report.episodes >= 6
    assert report.restarts >= 2
    assert report.steps >= 2 * LENGTH
    assert len(report.rules) >= 13


@pytest.mark.parametrize(("mode", "flaw", "rule"), FLAWS)
def test_each_flaw_is_caught_by_its_rule(mode: AutoresetMode, flaw: str, rule: str) -> None:
    assert len(FLAWS) >= 70
    with pytest.raises(ConformanceError, match=f"^{rule}: "):
        check_vector_env(lambda: Counters(mode, flaw), reward_dtype=np.float32)


def test_modes_are_compared() -> None:
    reports = check_vector_modes(Counters)
    assert set(reports) == set(AutoresetMode)
    assert all(report.episodes >= 3 for report in reports.values())


def test_metadata_shared_by_the_class_is_caught() -> None:
    with pytest.raises(ConformanceError, match=r"^metadata: .*changed in place"):
        check_vector_modes(lambda mode: Counters(mode, "metadata shared by the class"))


def test_modes_that_disagree_are_caught() -> None:
    def make(mode: AutoresetMode) -> Counters:
        env = Counters(mode)
        if mode is SAME:
            env.restart = lambda mask: Counters.restart(env, mask | True)  # type: ignore[method-assign]
        return env

    with pytest.raises(ConformanceError, match=r"^modes: .*disagree"):
        check_vector_modes(make)


def test_too_few_episodes_is_no_pass() -> None:
    with pytest.raises(ConformanceError, match=r"^episodes: 0 ended in 2 steps"):
        check_vector_env(lambda: Counters(NEXT), max_steps=2)


def test_one_machine_cannot_be_checked() -> None:
    env = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")])
    with pytest.raises(ValueError, match="at least 2"):
        check_vector_env(lambda: env)


@pytest.mark.parametrize("mode", [NEXT, SAME])
def test_cartpole_of_gymnasium_passes(mode: AutoresetMode) -> None:
    report = check_vector_env(lambda: cartpoles(mode))
    assert report.episodes >= 3
    assert report.restarts >= 3


def test_finds_that_gymnasium_changes_its_callers_options() -> None:
    # A known defect of SyncVectorEnv: it takes "reset_mask" out of the caller's dict.
    with pytest.raises(ConformanceError, match=r"^options: .*reset_mask"):
        check_vector_env(lambda: cartpoles(MANUAL))
