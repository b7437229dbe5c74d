"""`check_vector_env`: the conformance test for vector environments that Gymnasium lacks.

Gymnasium's `check_env` looks at single environments only. Vector environments have a longer
contract (batched spaces, a seed per machine, three ways to reset, masks in the info, arrays that
belong to the caller), and they break it silently. The checker runs twin instances side by side
with the same seeds and actions, does to one of them what a conforming environment must not mind,
and compares everything that both hand out.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import DTypeLike

from hybridenv.checks import demand
from hybridenv.errors import ConformanceError
from hybridenv.gym._rules import AnyVectorEnv, Checker, CheckReport
from hybridenv.trees import difference, rows

__all__ = ["CheckReport", "ConformanceError", "check_vector_env", "check_vector_modes"]


def check_vector_env(
    make: Callable[[], AnyVectorEnv],
    *,
    seed: int = 0,
    episodes: int = 3,
    max_steps: int = 2_000,
    reward_dtype: DTypeLike | None = None,
    seeds_matter: bool = False,
) -> CheckReport:
    """Check a vector environment against Gymnasium's contract.

    Args:
        make: Makes a fresh environment. Called three times; must make the same one each time,
            with at least two machines, since seeds cannot be told apart on one.
        seed: First seed to use; at least 0.
        episodes: How many ends of episodes to see, so that resets are really looked at.
        max_steps: Give up after so many steps without them.
        reward_dtype: Demand this dtype of rewards; `None` takes any kind of float.
        seeds_matter: Demand that different seeds make a difference. Without it, an environment in
            which none is seen passes, with `"seeds matter"` in the report's `not_exercised`.

    Returns:
        What was looked at, and what could not be.

    Raises:
        ConformanceError: A rule is broken, the environment raised an error, or too few episodes
            ended to check resets.
        ValueError: `make` gives an environment of fewer than two machines.
    """
    checker = Checker(make, seed, reward_dtype)
    try:
        checker.check_spaces()
        checker.check_first_observations()
        checker.check_options()
        checker.check_steps(episodes, max_steps)
        checker.check_seeds(seeds_matter)
        checker.check_render()
        checker.check_close()
    finally:
        checker.close()
    return checker.report


def check_vector_modes(
    make: Callable[[AutoresetMode], AnyVectorEnv],
    modes: Sequence[AutoresetMode] = tuple(AutoresetMode),
    **arguments: Any,
) -> dict[AutoresetMode, CheckReport]:
    """Check an environment in several autoreset modes, and that the modes agree.

    Args:
        make: Makes a fresh environment in the mode that it is given.
        modes: The modes to check.
        **arguments: Keywords of `check_vector_env`.

    Returns:
        The report of each mode.

    Raises:
        ConformanceError: A rule is broken in one mode; making an environment in one mode changed
            the metadata of another; or two modes disagree on the last observation of an episode
            or on the first one of the next.
        ValueError: As `check_vector_env`.
    """
    envs = {mode: make(mode) for mode in modes}
    try:
        for mode, env in envs.items():
            named = env.metadata.get("autoreset_mode")
            demand(
                named is mode,
                "metadata",
                f"an environment made with {mode} says {named} once others were made: is the "
                "class's metadata changed in place?",
            )
        _check_agreement(envs, arguments.get("seed", 0), arguments.get("max_steps", 2_000))
    finally:
        for env in envs.values():
            env.close()
    return {mode: check_vector_env(partial(make, mode), **arguments) for mode in modes}


def _check_agreement(envs: dict[AutoresetMode, AnyVectorEnv], seed: int, max_steps: int) -> None:
    """Run the modes side by side through the first end of an episode."""
    for env in envs.values():
        env.reset(seed=seed)
    guide = next(iter(envs.values()))
    guide.action_space.seed(seed)
    for _ in range(max_steps):
        actions = guide.action_space.sample()
        steps = {mode: env.step(actions) for mode, env in envs.items()}
        _, _, terminated, truncated, _ = next(iter(steps.values()))
        ended = terminated | truncated
        if ended.any():
            break
    else:
        demand(False, "episodes", f"no episode ended in {max_steps} steps")

    flags = {mode: step[1:4] for mode, step in steps.items()}
    _agree("reward, terminated and truncated of a last step", flags)

    last: dict[AutoresetMode, Any] = {}
    first: dict[AutoresetMode, Any] = {}
    for mode, (obs, *_, info) in steps.items():
        if mode is AutoresetMode.SAME_STEP:
            demand("final_obs" in info, "same-step", "an episode ended, but no final_obs is given")
            last[mode] = np.stack(info["final_obs"][ended])
            first[mode] = rows(obs, ended)
            continue
        last[mode] = rows(obs, ended)
        if mode is AutoresetMode.NEXT_STEP:
            fresh = envs[mode].step(guide.action_space.sample())[0]
        else:
            fresh, _ = envs[mode].reset(options={"reset_mask": ended.copy()})
        first[mode] = rows(fresh, ended)
    _agree("last observation of an episode", last)
    _agree("first observation of the next episode", first)


def _agree(what: str, seen: dict[AutoresetMode, Any]) -> None:
    (mode, one), *others = seen.items()
    for other, two in others:
        found = difference(one, two, "")
        demand(found is None, "modes", f"{mode} and {other} disagree on {what}: {found}")
