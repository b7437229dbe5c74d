"""The rules behind `check_vector_env`, each a method that raises where it is broken."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import DTypeLike, NDArray

from hybridenv.checks import demand
from hybridenv.errors import ConformanceError
from hybridenv.trees import difference, kind, leaves, replaced, rows, scribble

AnyVectorEnv: TypeAlias = VectorEnv[Any, Any, Any]
Bools: TypeAlias = NDArray[np.bool_]
Step: TypeAlias = tuple[Any, NDArray[Any], Bools, Bools, dict[str, Any]]
Trajectory: TypeAlias = list[tuple[Any, NDArray[Any], Bools, Bools]]
"""What a reset and each step after it handed out, without infos."""

SEED_STEPS = 24
"""Steps after which a seed that matters should have shown."""

SEED_RUNS = 4
"""Different seeds that are compared."""


@dataclass
class CheckReport:
    """What a check looked at, so that a test can tell a pass from a check that saw nothing.

    Attributes:
        mode: The autoreset mode of the environment.
        steps: Steps compared between twins.
        episodes: Ends of episodes seen.
        restarts: Those after which the next episode was seen to begin with another observation.
        rules: Names of the rules exercised.
        not_exercised: Rules that could not be looked at, and why: `"seeds matter"` where different
            seeds had no visible effect, `"a list of seeds"` where the environment takes none.
    """

    mode: AutoresetMode
    steps: int = 0
    episodes: int = 0
    restarts: int = 0
    rules: set[str] = field(default_factory=set)
    not_exercised: dict[str, str] = field(default_factory=dict)


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

    def check_first_observations(self) -> None:
        """A seed decides how an episode begins; machine i takes `seed + i`."""
        s = self.seed
        first = self.reset(seed=s)
        self.same(first, self.reset(seed=s), "seed", f"two calls of reset(seed={s})")
        if not self._takes_lists():
            return
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

    def _takes_lists(self) -> bool:
        """Whether `reset` takes a seed for each machine, which Gymnasium leaves open."""
        seeds = list(range(self.seed, self.seed + self.n))
        try:
            self.env.reset(seed=seeds)  # type: ignore[arg-type]
        except Exception as error:
            self.report.not_exercised["a list of seeds"] = (
                f"reset(seed={seeds}) raised {error!r}, so a machine's own seed cannot be looked at"
            )
        self._held = None
        return "a list of seeds" not in self.report.not_exercised

    # -- with steps ----------------------------------------------------------------------------

    def check_seeds(self, demanded: bool) -> None:
        """A seed decides what follows, another one brings something else, on every machine.

        Args:
            demanded: Whether seeds without a visible effect break the rule.
        """
        s = self.seed
        self.env.single_action_space.seed(s)
        actions = [self._same_action() for _ in range(SEED_STEPS)]
        run = self._play(actions, s)
        self._same_runs(run, self._play(actions, s), f"two runs from reset(seed={s})")
        if "a list of seeds" not in self.report.not_exercised:
            each = list(range(s, s + self.n))
            what = f"runs from reset(seed={s}) and reset(seed={each})"
            self._same_runs(run, self._play(actions, each), what)
            self._same_runs(  # machines may differ in how long their episodes are
                _rows_of(_first_episodes(run), slice(1, None)),
                _rows_of(_first_episodes(self._play(actions, s + 1)), slice(None, -1)),
                f"machine i + 1 after reset(seed={s}) and machine i after reset(seed={s + 1})",
            )
        seeds = [s + k * self.n for k in range(SEED_RUNS)]
        runs = [run, *(self._play(actions, seed) for seed in seeds[1:])]
        if all(_first_difference(run, other) is None for other in runs[1:]):
            found = f"seeds {seeds} had no visible effect in {SEED_STEPS} steps"
            demand(not demanded, "seed", found)
            self.report.not_exercised["seeds matter"] = found
            return
        self._check_copies(runs)

    def _check_copies(self, runs: list[Trajectory]) -> None:
        """No machine is a copy of another, where it is seen that seeds make a difference."""
        machines = [[_rows_of(run, slice(i, i + 1)) for run in runs] for i in range(self.n)]
        for i, j in combinations(range(self.n), 2):
            pairs = combinations(machines[i], 2)
            if any(_first_difference(one, other) is None for one, other in pairs):
                continue  # this machine does the same for two seeds, so may two machines
            copies = zip(machines[i], machines[j], strict=True)
            self.demand(
                any(_first_difference(one, other) is not None for one, other in copies),
                "seed",
                f"machines {i} and {j} did the same after each of {SEED_RUNS} seeds, though each "
                "seed made a difference: do they have the same one?",
            )

    def _same_action(self) -> Any:
        """One action for all machines, so that nothing but seeds tells them apart."""
        single = self.env.single_action_space
        one = single.sample()
        empty: Any = create_empty_array(single, self.n)
        return concatenate(single, [one] * self.n, empty)

    def _play(self, actions: Sequence[Any], seed: int | list[int]) -> Trajectory:
        """Reset and step; where ends need a reset by hand, until the first one."""
        nothing = np.zeros(self.n, dtype=np.bool_)
        obs, _ = self.reset(seed=seed)
        run: Trajectory = [(obs, nothing.astype(np.float32), nothing, nothing)]
        for action in actions:
            obs, reward, terminated, truncated, _ = deepcopy(self._step(deepcopy(action)))
            run.append((obs, reward, terminated, truncated))
            if self.mode is AutoresetMode.DISABLED and (terminated | truncated).any():
                break
        return run

    def _same_runs(self, left: Trajectory, right: Trajectory, what: str) -> None:
        found = _first_difference(left, right)
        self.demand(found is None, "seed", f"{what} differ at {found}")

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
        step = self._step(actions)

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
        seed = self.seed + self.report.steps
        arguments: dict[str, Any] = {"seed": seed}
        if "a list of seeds" not in self.report.not_exercised:
            arguments["seed"] = list(range(seed, seed + self.n))
        obs, info = self._reset_with({"reset_mask": ended.copy()}, **arguments)
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
        result: Any = self._call("reset", self.env.reset, **arguments)
        self.demand(
            isinstance(result, tuple) and len(result) == 2,
            "reset",
            f"returned {kind(result)}, expected (observation, info)",
        )
        self._check_observation(result[0])
        self._check_info("info", result[1])
        self._hold(result)
        obs, info = deepcopy(result)
        return obs, info

    def _step(self, actions: Any) -> Step:
        """Step the checked instance and look at what it returns."""
        given = deepcopy(actions)
        step: Step = self._call("step", self.env.step, actions)
        self.same(actions, given, "actions", "actions before and after step")
        self.demand(
            isinstance(step, tuple) and len(step) == 5,
            "step",
            f"returned {kind(step)}, expected (observation, reward, terminated, truncated, info)",
        )
        self._check_shapes(step)
        self._hold(step)
        return step

    def _call(self, rule: str, method: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Call the checked instance; what it raises breaks a rule."""
        try:
            return method(*arguments, **keywords)
        except Exception as error:
            raise ConformanceError(f"{rule}: raised {error!r}") from error

    def _reset_with(self, options: dict[str, Any], **arguments: Any) -> tuple[Any, dict[str, Any]]:
        before = deepcopy(options)
        result = self.reset(options=options, **arguments)
        found = difference(options, before, "options")
        self.demand(found is None, "options", f"reset changed its caller's dict: {found}")
        return result


def _rows_of(run: Trajectory, index: slice) -> Trajectory:
    """A trajectory of some of the machines."""
    return [rows(moment, index) for moment in run]


def _first_episodes(run: Trajectory) -> Trajectory:
    """A trajectory up to the step before the first episode ends."""
    for k, (_, _, terminated, truncated) in enumerate(run):
        if (terminated | truncated).any():
            return run[:k]
    return run


def _first_difference(left: Trajectory, right: Trajectory) -> str | None:
    """Where two trajectories part, as far as both go, or `None`."""
    for step, (one, other) in enumerate(zip(left, right, strict=False)):
        found = difference(one, other, "")
        if found is not None:
            return f"step {step}: {found}"
    return None
