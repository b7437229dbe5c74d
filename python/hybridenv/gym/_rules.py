"""The rules behind `check_vector_env`, each a method that raises where it is broken."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import DTypeLike, NDArray

from hybridenv.errors import HybridEnvError
from hybridenv.gym._trees import difference, kind, leaves, replaced, rows, scribble

AnyVectorEnv: TypeAlias = VectorEnv[Any, Any, Any]
Bools: TypeAlias = NDArray[np.bool_]
Step: TypeAlias = tuple[Any, NDArray[Any], Bools, Bools, dict[str, Any]]


class ConformanceError(HybridEnvError, AssertionError):
    """A vector environment breaks its contract; the message names the rule and what was seen."""


def demand(holds: bool | np.bool_, rule: str, message: str) -> None:
    """Raise unless a rule holds.

    Args:
        holds: Whether it does.
        rule: Name of the rule.
        message: What was seen.

    Raises:
        ConformanceError: `holds` is false.
    """
    if not holds:
        raise ConformanceError(f"{rule}: {message}")


@dataclass
class CheckReport:
    """What a check looked at, so that a test can tell a pass from a check that saw nothing.

    Attributes:
        mode: The autoreset mode of the environment.
        steps: Steps compared between twins.
        episodes: Ends of episodes seen.
        restarts: Those after which the next episode was seen to begin with another observation.
        rules: Names of the rules exercised.
    """

    mode: AutoresetMode
    steps: int = 0
    episodes: int = 0
    restarts: int = 0
    rules: set[str] = field(default_factory=set)


class Checker:
    """Three instances of one environment: one checked, its twin, and one to look things up with.

    Args:
        make: Makes an instance.
        seed: First seed to use.
        reward_dtype: Dtype demanded of rewards, or `None`.

    Raises:
        ConformanceError: The metadata does not name an autoreset mode.
        ValueError: There are fewer than two machines.
    """

    def __init__(
        self, make: Callable[[], AnyVectorEnv], seed: int, reward_dtype: DTypeLike | None
    ) -> None:
        self._envs = (make(), make(), make())
        self.env, self.twin, self.oracle = self._envs
        self.n = self.env.num_envs
        self.seed = seed
        self.reward_dtype = None if reward_dtype is None else np.dtype(reward_dtype)
        self._held: tuple[Any, Any] | None = None
        mode = self.env.metadata.get("autoreset_mode")
        if self.n < 2 or not isinstance(mode, AutoresetMode):
            self.close()
            if self.n < 2:
                raise ValueError(f"make: got an environment of {self.n}, expected at least 2")
            demand(False, "metadata", f"autoreset_mode is {mode!r}, expected an AutoresetMode")
        self.mode: AutoresetMode = mode  # type: ignore[assignment]
        self.report = CheckReport(self.mode)

    def close(self) -> None:
        """Close the instances."""
        for env in self._envs:
            env.close()

    def demand(self, holds: bool | np.bool_, rule: str, message: str) -> None:
        """Note that a rule was looked at and raise unless it holds."""
        self.report.rules.add(rule)
        demand(holds, rule, message)

    def same(self, left: Any, right: Any, rule: str, what: str) -> None:
        """Demand that two trees are equal bit for bit."""
        found = difference(left, right, "")
        self.demand(found is None, rule, f"{what} differ at {found}")

    # -- without steps -------------------------------------------------------------------------

    def check_spaces(self) -> None:
        """The spaces of the batch are the batched spaces of one machine."""
        for name in ("observation", "action"):
            single = getattr(self.env, f"single_{name}_space")
            space = getattr(self.env, f"{name}_space")
            batch = batch_space(single, self.n)
            self.demand(space == batch, "spaces", f"{name}_space is {space}, expected {batch}")

    def check_seeds(self) -> None:
        """A seed decides everything; machine i takes `seed + i`."""
        s = self.seed
        first = self.reset(seed=s)
        self.same(first, self.reset(seed=s), "seed", f"two calls of reset(seed={s})")
        seeds = list(range(s, s + self.n))
        self.same(first, self.reset(seed=seeds), "seed", f"reset(seed={s}) and reset(seed={seeds})")
        shifted, _ = self.reset(seed=s + 1)
        self.same(
            rows(first[0], slice(1, None)),
            rows(shifted, slice(None, -1)),
            "seed",
            f"machine i + 1 after reset(seed={s}) and machine i after reset(seed={s + 1})",
        )

    def check_options(self) -> None:
        """`reset` leaves the caller's options alone."""
        self.reset(seed=self.seed)
        options: dict[str, Any] = {}
        if self.mode is AutoresetMode.DISABLED:
            options["reset_mask"] = np.arange(self.n) % 2 == 0
        self._reset_with(options)

    def check_render(self) -> None:
        """`render` gives one picture a machine where a mode is set."""
        if self.env.render_mode is None:
            return
        frames = self.env.render()
        self.demand(
            isinstance(frames, tuple) and len(frames) == self.n,
            "render",
            f"got {kind(frames)}, expected a tuple of {self.n} frames",
        )

    def check_close(self) -> None:
        """`close` may be called twice."""
        self.env.close()
        self.demand(self.env.closed, "close", "closed is false after close()")
        try:
            self.env.close()
        except Exception as error:
            raise ConformanceError(f"close: the second call raised {error!r}") from error

    # -- with steps ----------------------------------------------------------------------------

    def check_steps(self, episodes: int, max_steps: int) -> None:
        """Run twins until enough episodes have ended, comparing all that they hand out."""
        self.env.action_space.seed(self.seed)
        start = self.reset(seed=self.seed)
        self.same(start, self.twin.reset(seed=self.seed), "determinism", "resets of two instances")
        ended = np.zeros(self.n, dtype=np.bool_)
        last = start[0]
        while self.report.episodes < episodes:
            self.demand(
                self.report.steps < max_steps,
                "episodes",
                f"{self.report.episodes} ended in {max_steps} steps, expected {episodes}: resets "
                "cannot be checked; shorten the episodes or raise max_steps",
            )
            ended, last = self._check_step(ended, last)
        # Once more, for the resets of the episodes that ended last.
        self._check_step(ended, last)
        self.demand(
            self.report.restarts > 0,
            "restart",
            f"{self.report.episodes} episodes ended, and each time the next one began with the "
            "last observation of the old: is the environment reset at all?",
        )

    def _check_step(self, ended: Bools, last: Any) -> tuple[Bools, Any]:
        """One step of the twins.

        Args:
            ended: Machines whose episodes ended in the step before and were not yet reset.
            last: The observation of the step before.

        Returns:
            The same two for the next step.
        """
        if self.mode is AutoresetMode.DISABLED and ended.any():
            self._check_masked_reset(ended, last)
            ended = np.zeros_like(ended)
        actions = self.env.action_space.sample()
        given = deepcopy(actions)
        step: Step = self.env.step(actions)
        self.same(actions, given, "actions", "actions before and after step")
        self._check_shapes(step)
        self._hold(step)

        # A machine that starts over ignores its action: the twin gets another one.
        mixed = replaced(given, ended, self.env.action_space.sample())
        shadow = self.twin.step(mixed)
        rule = "next-step" if ended.any() else "determinism"
        self.same(step, shadow, rule, "the steps of two instances with the same seed and actions")
        # What a caller writes into its arrays must not come back in later steps.
        scribble(shadow)

        obs, reward, terminated, truncated, info = deepcopy(step)
        if ended.any():
            wrong = ended & ((reward != 0) | terminated | truncated)
            self.demand(
                not wrong.any(),
                "next-step",
                f"machines {np.flatnonzero(wrong).tolist()} start over in this step but have "
                "a reward or an end in it",
            )
            self._count_restarts(rows(last, ended), rows(obs, ended))
        now = terminated | truncated
        self.report.steps += 1
        self.report.episodes += int(now.sum())
        if self.mode is AutoresetMode.SAME_STEP:
            self._check_final(obs, info, now)
            now = np.zeros_like(now)
        return now, obs

    def _hold(self, result: Any) -> None:
        """Demand that what the last call handed out has not changed since, and keep this result."""
        if self._held is not None:
            self.same(*self._held, "aliasing", "arrays when handed out and one call later")
        self._held = (result, deepcopy(result))

    def _check_masked_reset(self, ended: Bools, last: Any) -> None:
        """A masked reset starts the machines of the mask over and leaves the others alone."""
        seeds = [self.seed + self.report.steps + i for i in range(self.n)]
        obs, info = self._reset_with({"reset_mask": ended.copy()}, seed=seeds)
        arguments: dict[str, Any] = {"seed": seeds}
        twin = self.twin.reset(options={"reset_mask": ended.copy()}, **arguments)
        self.same((obs, info), twin, "disabled", "masked resets of two instances")
        self.same(
            rows(obs, ~ended), rows(last, ~ended), "disabled", "machines outside of reset_mask"
        )
        whole, _ = self.oracle.reset(**arguments)
        self.same(
            rows(obs, ended), rows(whole, ended), "disabled", "machines after masked and full reset"
        )
        self._count_restarts(rows(last, ended), rows(obs, ended))

    def _check_final(self, obs: Any, info: dict[str, Any], ended: Bools) -> None:
        """Each machine that ended hands over its last observation and info."""
        for key in ("final_obs", "final_info"):
            mask = info.get(f"_{key}", np.zeros(self.n, dtype=np.bool_))
            self.demand(
                np.array_equal(mask, ended),
                "same-step",
                f'info["_{key}"] is {mask}, but the episodes that ended are {ended}',
            )
        now = list(iterate(self.env.observation_space, obs))
        space = self.env.single_observation_space
        for i in np.flatnonzero(ended):
            last = info["final_obs"][i]
            self.demand(space.contains(last), "same-step", f"final_obs[{i}] is not in {space}")
            self._count_restarts(last, now[i])

    def _count_restarts(self, last: Any, first: Any) -> None:
        self.report.restarts += difference(last, first, "") is not None

    # -- shapes --------------------------------------------------------------------------------

    def _check_shapes(self, step: Step) -> None:
        obs, reward, terminated, truncated, info = step
        self._check_observation(obs)
        self._check_column("reward", reward, "f")
        if self.reward_dtype is not None:
            self.demand(reward.dtype == self.reward_dtype, "dtypes", f"reward is {kind(reward)}")
        self._check_column("terminated", terminated, "b")
        self._check_column("truncated", truncated, "b")
        self._check_info("info", info)

    def _check_column(self, name: str, column: Any, kinds: str) -> None:
        self.demand(
            isinstance(column, np.ndarray)
            and column.shape == (self.n,)
            and column.dtype.kind in kinds,
            "dtypes",
            f"{name} is {kind(column)}, expected {'bool' if kinds == 'b' else 'float'}[{self.n}]",
        )

    def _check_observation(self, obs: Any) -> None:
        space = self.env.observation_space
        self.demand(space.contains(obs), "spaces", f"observation {kind(obs)} is not in {space}")
        for (path, leaf), (_, wanted) in zip(leaves(obs), leaves(space.sample()), strict=True):
            self.demand(
                kind(leaf) == kind(wanted),
                "dtypes",
                f"observation{path} is {kind(leaf)}, expected {kind(wanted)}",
            )

    def _check_info(self, name: str, info: Any) -> None:
        self.demand(isinstance(info, dict), "info", f"{name} is {kind(info)}, expected a dict")
        for key, value in info.items():
            if key.startswith("_"):
                self.demand(key[1:] in info, "info", f"{name} has {key!r} but not {key[1:]!r}")
                continue
            self.demand(f"_{key}" in info, "info", f"{name} has {key!r} but no mask '_{key}'")
            self._check_column(f"{name}['_{key}']", info[f"_{key}"], "b")
            if isinstance(value, dict):
                self._check_info(f"{name}[{key!r}]", value)
                continue
            self.demand(
                isinstance(value, np.ndarray) and value.shape[:1] == (self.n,),
                "info",
                f"{name}[{key!r}] is {kind(value)}, expected an array of {self.n} rows",
            )

    # -- calls ---------------------------------------------------------------------------------

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        """Reset the checked instance and look at what it returns; this is a copy."""
        result = self.env.reset(**arguments)
        self.demand(
            isinstance(result, tuple) and len(result) == 2,
            "reset",
            f"returned {kind(result)}, expected (observation, info)",
        )
        self._check_observation(result[0])
        self._check_info("info", result[1])
        self._hold(result)
        return deepcopy(result)

    def _reset_with(self, options: dict[str, Any], **arguments: Any) -> tuple[Any, dict[str, Any]]:
        before = deepcopy(options)
        result = self.reset(options=options, **arguments)
        found = difference(options, before, "options")
        self.demand(found is None, "options", f"reset changed its caller's dict: {found}")
        return result
