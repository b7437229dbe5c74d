"""`check_env`: the conformance test for environments written in JAX, for ours and for anybody's."""

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hybridenv.checks import demand, whole
from hybridenv.envs._contract import ChanceEnvironment, Environment, with_chance
from hybridenv.envs._pytrees import describe, first_change, kind, kinds, named, plain, stack
from hybridenv.envs._spaces import Box, Discrete
from hybridenv.envs._wrappers import AutoReset, Batch
from hybridenv.errors import ArgumentError, ConformanceError
from hybridenv.trees import difference

GAMES = 8
"""Games played side by side."""
CHUNK = 64
"""Steps of a compiled loop."""
FIRST = 3
"""Steps that are played in every way there is, and compared."""

Step = tuple[Any, Any, Array, Array, Array, dict[str, Any]]


@dataclass
class EnvReport:
    """What a check looked at, so that a test can tell a pass from a check that saw nothing.

    Attributes:
        steps: Steps of all games.
        episodes: Ends of episodes seen.
        restarts: Those after which the next episode was seen to begin with another observation.
        rules: Names of the rules exercised.
        not_exercised: Rules that could not be looked at, and why.
    """

    steps: int = 0
    episodes: int = 0
    restarts: int = 0
    rules: set[str] = field(default_factory=set)
    not_exercised: dict[str, str] = field(default_factory=dict)


def check_env(
    env: Environment[Any, Any] | ChanceEnvironment[Any, Any],
    params: Any = None,
    *,
    seed: int = 0,
    episodes: int = 3,
    max_steps: int = 8_192,
    tolerance: float = 0.0,
    keys_matter: bool = False,
) -> EnvReport:
    """Check an environment against the contract of `hybridenv.envs.Environment`.

    Args:
        env: The environment, not wrapped in `AutoReset`. `legal_actions` is optional.
        params: Parameters; `None` takes the default ones.
        seed: Seed of keys and actions.
        episodes: How many ends of episodes to see, so that restarts are really looked at.
        max_steps: Give up after so many steps of each of the 8 games without them.
        tolerance: Largest difference, relative to the larger of 1 and the value, between floats
            that differently compiled programs compute. Games of whole numbers need none; a
            physics model may, since compilers merge multiplications with additions.
        keys_matter: Demand that different keys make a difference. Without it, an environment in
            which none is seen passes, with `"keys matter"` in the report's `not_exercised`.

    Returns:
        What was looked at, and what could not be.

    Raises:
        ConformanceError: A rule is broken, the environment raised an error, or too few episodes
            ended to check restarts. The message begins with the name of the rule.
        ArgumentError: `seed` is no such number, or `env` is an `AutoReset` or a `Batch`.
    """
    whole("check_env seed", seed, 0, 2**32 - 1)
    if isinstance(env, AutoReset | Batch):
        raise ArgumentError(
            f"check_env: got an environment in {type(env).__name__}, expected one game that does "
            "not begin anew by itself"
        )
    checker = _Checker(env, params, seed, tolerance)
    checker.check_spaces()
    checker.check_params()
    checker.check_calls()
    checker.check_jit()
    checker.check_vmap()
    checker.check_draws()
    checker.check_score()
    checker.check_keys(keys_matter)
    checker.check_episodes(episodes, max_steps)
    checker.check_purity()
    return checker.report


class _Checker:
    """The rules, each a method that raises where it is broken."""

    def __init__(self, env: Any, params: Any, seed: int, tolerance: float) -> None:
        self.report = EnvReport()
        missing = [name for name in _METHODS if not hasattr(env, name)]
        demand(not missing, "methods", f"{type(env).__name__} lacks {', '.join(missing)}")
        self.env = env
        self.lifted = with_chance(env)
        self.params = env.default_params if params is None else params
        self.tolerance = tolerance
        self.keys = jax.random.split(jax.random.key(seed), 2 * FIRST + 3)
        self.before = copy.deepcopy(_attributes(env))

    # -- one call at a time --------------------------------------------------------------------

    def check_spaces(self) -> None:
        """Both spaces are spaces, and stay the same."""
        for name in ("observation_space", "action_space"):
            space = self.call("spaces", getattr(self.env, name), self.params)
            self.demand(
                isinstance(space, Discrete | Box),
                "spaces",
                f"{name} returned {type(space).__name__}, expected a Discrete or a Box",
            )
            again = self.call("spaces", getattr(self.env, name), self.params)
            self.demand(space == again, "spaces", f"{name} returned {space}, then {again}")
        self.observations = self.env.observation_space(self.params)
        self.actions = self.env.action_space(self.params)

    def check_params(self) -> None:
        """Parameters are a frozen dataclass that JAX knows, and all of them are data."""
        self._check_dataclass("params", "the parameters", self.params)

    def check_calls(self) -> None:
        """`reset` and `step` return what they should, and the same for the same key."""
        obs, state = self._start(self.env.reset, "reset")
        self._check_dataclass("state", "the state", state)
        self._check_distinct(state)
        self._check_observation(obs)
        self._check_legal(state)
        self.first = self._play(self.env.reset, self.env.step)
        _, *steps = self.first
        for step in steps:
            self._check_step(step)
            self.demand(
                kinds(step[1]) == kinds(state),
                "state",
                f"the state changed its kind in a step: {first_change(state, step[1])}",
            )
            self.demand(
                kinds(step[5]) == kinds(steps[0][5]),
                "info",
                f"info changed its kind: {first_change(steps[0][5], step[5])}",
            )
        again = self._play(self.env.reset, self.env.step)
        self.exact(self.first, again, "determinism", "the same keys and actions, played twice")
        for obs, state, *_ in self.first:
            seen = self.call("observe", self.env.observe, state, self.params)
            self.same(obs, seen, "observe", "an observation and observe() of its state")

    def check_jit(self) -> None:
        """Compiled functions do the same, and are compiled once."""
        traces = {"reset": 0, "step": 0}

        def counted(name: str) -> Callable[..., Any]:
            def function(*arguments: Any) -> Any:
                traces[name] += 1
                return getattr(self.env, name)(*arguments)

            return jax.jit(function)

        self.reset, self.step = reset, step = counted("reset"), counted("step")
        compiled = self._play(reset, step, rule="jit")
        self.same(self.first, compiled, "jit", "plain and compiled calls")
        other = jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), self.params)
        for params in (self.params, other):
            _, state = reset(self.keys[-1], params)
            step(self.keys[-2], state, self._action(state, self.keys[-3]), params)
        traces_allowed = 1 + (kinds(other, weak=True) != kinds(self.params, weak=True))
        for name, count in traces.items():
            self.demand(
                count <= traces_allowed,
                "recompilation",
                f"{name} was compiled {count} times for new keys, states and parameters, "
                f"expected {traces_allowed}: does a state return with another (weak) dtype?",
            )

    def check_vmap(self) -> None:
        """Games played side by side do what each does alone."""
        keys = jax.random.split(self.keys[0], GAMES)
        self.resets = jax.jit(jax.vmap(self.env.reset, (0, None)))
        self.steps = jax.jit(jax.vmap(self.env.step, (0, 0, 0, None)))
        starts = self.call("vmap", self.resets, keys, self.params)
        alone = [self.reset(key, self.params) for key in keys]
        self.same(starts, stack(alone), "vmap", "resets side by side and alone")
        actions = [self._action(state, key) for key, (_, state) in zip(keys, alone, strict=True)]
        batch = self.call("vmap", self.steps, keys, starts[1], jnp.stack(actions), self.params)
        alone = [
            self.step(key, state, action, self.params)
            for key, (_, state), action in zip(keys, alone, actions, strict=True)
        ]
        self.same(batch, stack(alone), "vmap", "steps side by side and alone")

    def check_draws(self) -> None:
        """Where chance stands apart from the rules, both ways to play are one."""
        if not isinstance(self.env, ChanceEnvironment):
            self.report.not_exercised["draws"] = "the environment is no ChanceEnvironment"
            return
        env, params, key = self.env, self.params, self.keys[0]
        for name in ("reset_draws", "step_draws"):
            one = self.call("draws", getattr(env, name), key, params)
            many = self.call("draws", getattr(env, name), key, params, (2, 3))
            shaped = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (2, 3, *leaf.shape)), one)
            self.demand(
                kinds(many) == kinds(shaped),
                "draws",
                f"{name} of shape (2, 3) should have it: {first_change(shaped, many)}",
            )
        start = self.call("draws", env.reset_with, env.reset_draws(key, params), params)
        self.exact(start, env.reset(key, params), "draws", "reset and reset_with of its draws")
        action = self._action(start[1], key)
        step = env.step_with(env.step_draws(key, params), start[1], action, params)
        plain = env.step(key, start[1], action, params)
        self.exact(step, plain, "draws", "step and step_with of its draws")

    def check_score(self) -> None:
        """The score of a reward is a number like it, and that of many is each one's."""
        score = self.lifted.score
        rewards = [step[2] for step in self.first[1:]]
        alone = [self.call("score", score, reward) for reward in rewards]
        for value in alone:
            found = describe(value)
            self.demand(
                found == "float32[]", "score", f"of a reward is {found}, expected float32[]"
            )
        together = self.call("score", jax.jit(score), jnp.stack(rewards))
        self.same(together, stack(alone), "score", "scores of several rewards and of each")

    def check_keys(self, demanded: bool) -> None:
        """Other keys bring something else."""
        keys = jax.random.split(self.keys[1], GAMES)
        _, state = self.first[0]
        many = stack([(state, self._action(state, self.keys[0]))] * GAMES)
        seen = (self.resets(keys, self.params), self.steps(keys, *many, self.params))
        if all((leaf == leaf[:1]).all() for leaf in named(seen).values()):
            found = f"{GAMES} keys had no visible effect on a reset or a step"
            demand(not demanded, "keys", found)
            self.report.not_exercised["keys matter"] = found
        self.report.rules.add("keys")

    # -- whole episodes ------------------------------------------------------------------------

    def check_episodes(self, episodes: int, max_steps: int) -> None:
        """Play a batch with `AutoReset` in compiled loops, and look at all that comes out."""
        games = Batch(AutoReset(self.lifted), GAMES)

        def play(state: Any, chance: Any) -> Any:
            draws, wishes = chance
            legal = games.legal_actions(state, self.params)
            action = _permitted(self.actions, wishes, legal)
            obs, state, *flags, info = games.step_with(draws, state, action, self.params)
            seen = games.observe(state, self.params)
            return state, (obs, seen, *flags, info["final_obs"], info["_final_obs"], legal)

        loop = jax.jit(lambda state, chance: jax.lax.scan(play, state, chance))
        single = jax.jit(play)
        _, state = jax.jit(games.reset)(self.keys[0], self.params)
        by_hand, parts = state, []
        chance = self._chance(games, self.keys[1])
        for i in range(FIRST):
            now = jax.tree.map(lambda leaf, i=i: leaf[i], chance)
            by_hand, part = self.call("jit", single, by_hand, now)
            parts.append(part)
        while self.report.episodes < episodes:
            self.demand(
                self.report.steps < max_steps * GAMES,
                "episodes",
                f"{self.report.episodes} ended in {max_steps} steps of each game, expected "
                f"{episodes}: restarts cannot be checked; raise max_steps or shorten the episodes",
            )
            state, out = self.call("scan", loop, state, chance)
            if parts:
                loops = jax.tree.map(lambda leaf: leaf[:FIRST], out)
                self.same(loops, stack(parts), "scan", "steps in a compiled loop and one by one")
                parts = []
            self._check_chunk(jax.tree.map(np.asarray, out))
            chance = self._chance(games, jax.random.fold_in(self.keys[1], self.report.steps))
        self.demand(
            self.report.restarts > 0,
            "restart",
            f"{self.report.episodes} episodes ended, and each time the next one began with the "
            "last observation of the old: is the environment reset at all?",
        )

    def check_purity(self) -> None:
        """The environment itself has not changed."""
        found = difference(_attributes(self.env), self.before, "env")
        self.demand(found is None, "pure", f"calls changed the environment: {found}")

    def _check_chunk(self, chunk: Any) -> None:
        obs, seen, reward, terminated, truncated, final, ended, legal = chunk
        self.report.steps += reward.size
        self.report.episodes += int(ended.sum())
        self.exact(ended, terminated | truncated, "episodes", "_final_obs and the ends of episodes")
        self.same(obs, seen, "observe", "observations and observe() of their states")
        self.exact(obs[~ended], final[~ended], "autoreset", "final_obs and obs within an episode")
        self._check_inside(obs)
        self._check_inside(final)
        self._check_shown(obs[:-1], None if legal is None else legal[1:])
        self.demand(
            bool(np.isfinite(reward).all()), "finite", "a reward is infinite or not a number"
        )
        if legal is not None:
            at_start = np.concatenate((legal[:1], legal[:-1]))
            self.demand(
                bool(at_start.any(axis=-1).all()),
                "legal",
                "no action is legal in an episode that goes on",
            )
        pairs = [tuple(where) for where in np.argwhere(ended)]
        other = [not np.array_equal(obs[where], final[where]) for where in pairs]
        self.report.restarts += sum(other)

    # -- shapes --------------------------------------------------------------------------------

    def _check_dataclass(self, rule: str, what: str, value: Any) -> None:
        options = getattr(type(value), "__dataclass_params__", None)
        self.demand(
            getattr(options, "frozen", False),
            rule,
            f"{what} is a {type(value).__name__}, expected a frozen dataclass",
        )
        children = jax.tree.leaves(value, is_leaf=lambda node: node is not value)
        self.demand(
            not (len(children) == 1 and children[0] is value),
            rule,
            f"{type(value).__name__} is unknown to JAX, expected it to be registered with "
            "jax.tree_util.register_dataclass",
        )
        data = sum(getattr(value, one.name) is not None for one in dataclasses.fields(value))
        self.demand(
            len(children) >= data,
            rule,
            f"{type(value).__name__} has {data} fields but {len(children)} are data; others are "
            "compiled into the program, which a new value compiles anew",
        )
        for path, leaf in jax.tree_util.tree_leaves_with_path(value):
            is_number = isinstance(leaf, bool | int | float | np.generic | np.ndarray | Array)
            is_array = isinstance(leaf, np.ndarray | np.generic | Array)
            self.demand(
                is_array if rule == "state" else is_number,
                rule,
                f"{what}{jax.tree_util.keystr(path)} is a {type(leaf).__name__}, expected an array",
            )

    def _check_distinct(self, state: Any) -> None:
        """No array is in a state twice, since a state is donated to the step that replaces it."""
        seen: dict[int, str] = {}
        for path, leaf in jax.tree_util.tree_leaves_with_path(plain(state)):
            where = jax.tree_util.keystr(path)
            if isinstance(leaf, Array):
                first = seen.setdefault(leaf.unsafe_buffer_pointer(), where)
                self.demand(
                    first == where,
                    "donation",
                    f"the state holds one array as {first} and as {where}, so it cannot be donated",
                )

    def _check_observation(self, obs: Any) -> None:
        found = describe(obs)
        expected = kind(self.observations.dtype, self.observations.shape)
        self.demand(found == expected, "dtypes", f"observation is {found}, expected {expected}")
        self._check_inside(np.asarray(obs))

    def _check_inside(self, obs: Any) -> None:
        finite = obs.dtype.kind != "f" or bool(np.isfinite(obs).all())
        self.demand(finite, "finite", "an observation is infinite or not a number")
        inside = np.asarray(self.observations.contains(obs))
        self.demand(
            bool(inside.all()),
            "spaces",
            f"an observation is not in {self.observations}: {obs[~inside][:1]}",
        )

    def _check_step(self, step: Any) -> None:
        self.demand(
            isinstance(step, tuple) and len(step) == 6,
            "step",
            f"returned {describe(step)}, expected (observation, state, reward, terminated, "
            "truncated, info)",
        )
        obs, _, reward, terminated, truncated, info = step
        self._check_observation(obs)
        for name, value, expected in (
            ("reward", reward, "float32[]"),
            ("terminated", terminated, "bool[]"),
            ("truncated", truncated, "bool[]"),
        ):
            found = describe(value)
            self.demand(found == expected, "dtypes", f"{name} is {found}, expected {expected}")
        self.demand(
            isinstance(info, dict), "info", f"info is a {type(info).__name__}, expected a dict"
        )

    def _check_legal(self, state: Any) -> None:
        legal = self.call("legal", self.lifted.legal_actions, state, self.params)
        if legal is None:
            self.report.not_exercised["legal"] = "every action is always allowed"
            return
        expected = f"bool[{self.actions.n}]" if isinstance(self.actions, Discrete) else "None"
        self.demand(
            kinds(legal).get("") == expected,
            "legal",
            f"legal_actions is {describe(legal)}, expected {expected} for {self.actions}",
        )

    def _check_shown(self, obs: Any, legal: Any) -> None:
        """Observations [..., n] begin with the legal actions, where the environment says so."""
        if not self.lifted.shows_legal_actions:
            return
        self.demand(
            legal is not None, "legal", "shows_legal_actions is true, but there is nothing to show"
        )
        shape = self.observations.shape
        self.demand(
            len(shape) == 1 and shape[0] >= legal.shape[-1],
            "legal",
            f"shows_legal_actions is true for observations {self.observations}, expected vectors "
            f"of at least {legal.shape[-1]} entries",
        )
        head = obs[..., : legal.shape[-1]]
        wrong = (head != legal).any(axis=-1)
        self.demand(
            not wrong.any(),
            "legal",
            "shows_legal_actions is true, but an observation begins with "
            f"{head[wrong][:1]} where legal_actions is {legal[wrong][:1]}",
        )

    # -- calls ---------------------------------------------------------------------------------

    def _play(
        self, reset: Callable[..., Any], step: Callable[..., Any], rule: str = ""
    ) -> list[Any]:
        """Reset and play a few steps: what each call returned."""
        start = self._start(reset, rule or "reset")
        results, state = [start], start[1]
        for i in range(FIRST):
            action = self._action(state, self.keys[1 + 2 * i])
            result = self.call(
                rule or "step", step, self.keys[2 + 2 * i], state, action, self.params
            )
            results.append(result)
            if not (isinstance(result, tuple) and len(result) == 6):
                break
            state = result[1]
        return results

    def _start(self, reset: Callable[..., Any], rule: str) -> Any:
        start = self.call(rule, reset, self.keys[0], self.params)
        self.demand(
            isinstance(start, tuple) and len(start) == 2,
            "reset",
            f"returned {describe(start)}, expected (observation, state)",
        )
        return start

    def _chance(self, games: Any, key: Array) -> Any:
        """Draws and wishes for a chunk of steps."""
        for_steps, for_actions = jax.random.split(key)
        draws = games.step_draws(for_steps, self.params, (CHUNK,))
        return draws, _wishes(self.actions, for_actions, (CHUNK, GAMES))

    def _action(self, state: Any, key: Array) -> Array:
        legal = self.lifted.legal_actions(state, self.params)
        return _permitted(self.actions, _wishes(self.actions, key, ()), legal)

    def call(self, rule: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the environment; what it raises breaks a rule."""
        self.report.rules.add(rule)
        try:
            return function(*arguments)
        except Exception as error:
            text = str(error).strip().partition("\n")[0]
            raise ConformanceError(f"{rule}: raised {type(error).__name__}: {text}") from error

    def demand(self, holds: bool, rule: str, message: str) -> None:
        """Count a rule and raise unless it holds."""
        self.report.rules.add(rule)
        demand(holds, rule, message)

    def exact(self, left: Any, right: Any, rule: str, what: str) -> None:
        """Demand that two pytrees are the same in every bit."""
        found = difference(named(left), named(right), "")
        self.demand(found is None, rule, f"{what} differ: {found}")

    def same(self, left: Any, right: Any, rule: str, what: str) -> None:
        """Demand that two pytrees are the same, floats within the tolerance."""
        if self.tolerance:
            right = jax.tree.map(self._snapped, plain(right), plain(left))
        self.exact(left, right, rule, what)

    def _snapped(self, value: Any, towards: Any) -> Any:
        """Take the other float where this one is near it."""
        one, other = np.asarray(value), np.asarray(towards)
        if one.dtype.kind != "f" or one.shape != other.shape:
            return value
        near = np.abs(one - other) <= self.tolerance * np.maximum(1, np.abs(other))
        return np.where(near, other, one)


_METHODS = (
    "name",
    "default_params",
    "reset",
    "step",
    "observe",
    "observation_space",
    "action_space",
)


def _wishes(space: Discrete | Box, key: Array, shape: tuple[int, ...]) -> Array:
    """Draw how much each action of a `Discrete` is wanted, or one of a `Box`."""
    if isinstance(space, Discrete):
        return jax.random.uniform(key, (*shape, space.n))
    return space.sample(key, shape)


def _permitted(space: Discrete | Box, wishes: Array, legal: Array | None) -> Array:
    """Turn wishes into actions, legal ones where that is known."""
    if not isinstance(space, Discrete):
        return wishes
    if legal is not None:
        wishes = jnp.where(legal, wishes, -1.0)
    return jnp.argmax(wishes, axis=-1).astype(space.dtype)


def _attributes(env: Any) -> dict[str, Any]:
    """What an environment keeps in its attributes, as far as it can be compared."""
    kept = getattr(env, "__dict__", {})
    return {
        name: value
        for name, value in kept.items()
        if isinstance(value, bool | int | float | str | list | tuple | dict | np.ndarray)
    }
