"""PPO around environments that live outside of JAX: Game Boys, or any Gymnasium vector env.

The environments form two groups, of which the first has one more where their number is odd. While
one group steps in a thread of its own (the emulator lets go of the interpreter), the policy looks
at what the other group shows, so neither waits for the other. Networks, losses and updates are
those of the compiled loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from jax import Array
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from numpy.typing import NDArray

from hybridenv.envs import compiler_options
from hybridenv.errors import ConfigError, HybridEnvError
from hybridenv.train import losses
from hybridenv.train.config import Config
from hybridenv.train.games import chosen_devices, clipped, specs, vector_score, vector_shows
from hybridenv.train.learner import Batch, Learner, OptState
from hybridenv.train.networks import Carry, ObsSpec, Params, build, emptied
from hybridenv.train.normalize import RewardScale

AXIS = "devices"
"""Name of the axis of devices, which divides the data of an update."""

MakeEnv: TypeAlias = Callable[[int], VectorEnv[Any, Any, Any]]
"""Makes a vector environment of so many environments."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class HostState:
    """What the learner needs to go on.

    The environments are not part of it: after a checkpoint they all start over with seeds drawn
    from `key`, in the run that continues as in one that is resumed from there, so that both go the
    same way.

    Attributes:
        params: Parameters of the network.
        actor: Parameters that choose actions: those before the last update with
            `Config.overlap`, otherwise the same.
        opt_state: State of the optimiser.
        key: Where all further chance comes from.
        iteration: int32[], iterations done.
        scale: What rewards are divided by; `None` without `Config.scale_rewards`.
    """

    params: Params
    actor: Params
    opt_state: OptState
    key: Array
    iteration: Array
    scale: RewardScale | None = None


@dataclass
class _Group:
    """Some of the environments, and where they are."""

    env: VectorEnv[Any, Any, Any]
    rows: slice
    obs: NDArray[Any]
    restart: NDArray[np.bool_]
    resetting: NDArray[np.bool_]
    carry: Carry
    points: Callable[[NDArray[Any]], NDArray[Any]]
    total: NDArray[np.float64]
    score: NDArray[np.float64]
    length: NDArray[np.int64]


class _Clock:
    """Adds up the seconds of phases; every phase ends when its results are there."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(("environment", "forward", "backward", "transfer"), 0.0)

    def time(self, phase: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function, wait for its results, and add its time to a phase."""
        begin = time.perf_counter()
        result = jax.block_until_ready(function(*arguments))
        self.seconds[phase] += time.perf_counter() - begin
        return result


class _NoClock:
    """Times nothing and waits for nothing."""

    def time(self, phase: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function."""
        del phase
        return function(*arguments)


class _Rollout:
    """Arrays of an iteration, new ones each time: JAX may look into them without copying."""

    def __init__(self, t: int, n: int, obs: ObsSpec, action: tuple[int, ...]) -> None:
        self.obs = np.empty((t, n, *obs.kept_shape), obs.dtype)
        self.action = np.empty((t, n, *action), np.float32 if action else np.int32)
        self.log_prob = np.empty((t, n), np.float32)
        self.value = np.empty((t, n), np.float32)
        self.next_value = np.empty((t, n), np.float32)
        self.reward = np.empty((t, n), np.float32)
        self.terminated = np.empty((t, n), np.bool_)
        self.ended = np.empty((t, n), np.bool_)
        self.restart = np.empty((t, n), np.bool_)
        self.weight = np.empty((t, n), np.float32)


class HostLoop:
    """Trains on environments of the host.

    Args:
        config: The run.
        make_env: Makes the environments of a group; `None` makes those that `Config.env` names:
            ``"gameboy"`` or a Gymnasium id, with the options `Config.env_args`.

    Attributes:
        config: The run.
        devices: Where the learner runs.
        policy: The network.
        make_params: Makes the first parameters from a key; another function may take its place
            before `init`.

    Raises:
        ConfigError: There is no such environment, its options are wrong, no network fits it, or
            its episodes do not start over by themselves.
    """

    def __init__(self, config: Config, make_env: MakeEnv | None = None) -> None:
        if config.n_seeds != 1:
            raise ConfigError(
                f"n_seeds: got {config.n_seeds}, expected 1: environments outside of JAX train one "
                "seed at a time"
            )
        self.devices = chosen_devices(config)
        config.check_division(len(self.devices))
        self.config = config
        make = make_env or partial(make_vector_env, config)
        half = config.n_envs // 2
        self._envs = [make(size) for size in (config.n_envs - half, half) if size]
        self._mode = _autoreset_mode(self._envs[0])
        obs, action = specs(
            self._envs[0].single_observation_space,
            self._envs[0].single_action_space,
            config.env,
            shown=vector_shows(self._envs[0]),
        )
        self.policy, self.make_params = build(obs, action, config)
        self._learner = Learner(self.policy, config, len(self.devices), AXIS)
        shape = (config.horizon, config.n_envs)
        self._pool = ThreadPoolExecutor(len(self._envs), thread_name_prefix="hybridenv-env")
        self._groups: list[_Group] | None = None
        self._act = jax.jit(self._choose)
        self._noise = jax.jit(lambda key: self.policy.action.noise(key, shape))
        self._split = jax.jit(lambda key: tuple(jax.random.split(key, 3)))
        self._value = jax.jit(self._judge)
        whole, steps, rows = PartitionSpec(), PartitionSpec(None, AXIS), PartitionSpec(AXIS)
        scale = RewardScale.places(whole, rows) if config.scale_rewards else whole
        mesh = Mesh(np.asarray(self.devices), (AXIS,))
        self._everywhere = NamedSharding(mesh, whole)
        self._divided = NamedSharding(mesh, steps)
        self._carried = NamedSharding(mesh, rows)
        self._learn = jax.jit(
            jax.shard_map(
                self._update,
                mesh=mesh,
                in_specs=(whole, scale, steps, rows, whole),
                out_specs=(whole, scale, whole),
                check_vma=False,
            ),
            compiler_options=compiler_options(self.devices),
        )

    # -- what a run needs ----------------------------------------------------------------------

    def init(self) -> HostState:
        """Return the state before the first iteration."""
        key, key_params = jax.random.split(jax.random.key(self.config.seed))
        params = jax.jit(self.make_params)(key_params)
        state = HostState(
            params=params,
            actor=params,
            opt_state=self._learner.optimizer.init(params),
            key=key,
            iteration=jnp.int32(0),
            scale=RewardScale.none(self.config.n_envs) if self.config.scale_rewards else None,
        )
        state = jax.device_put(state, self._everywhere)
        if state.scale is None:
            return state
        places = RewardScale.places(self._everywhere, self._carried)
        return replace(state, scale=jax.device_put(state.scale, places))

    def cut(self) -> None:
        """Let all environments start over in the next iteration."""
        self._groups = None

    def run(self, state: HostState) -> tuple[HostState, dict[str, NDArray[Any]]]:
        """Do `Config.calls` iterations.

        Args:
            state: Where to go on.

        Returns:
            The state after them, and their metrics, float[calls] each.

        Raises:
            HybridEnvError: An environment failed.
        """
        state, groups = self._begin(state)
        rows = []
        for _ in range(self.config.calls):
            state, row = self._iteration(state, groups, _NoClock())
            rows.append(row)
        return state, {name: np.asarray([row[name] for row in rows]) for name in rows[0]}

    def timed(self, state: HostState) -> tuple[HostState, dict[str, float]]:
        """Do one iteration with every phase by itself, nothing at the same time as anything else.

        Args:
            state: Where to go on.

        Returns:
            The state after it, and the seconds of ``environment``, ``forward``, ``backward``,
            ``transfer`` and the ``rest``, such as keeping records.
        """
        state, groups = self._begin(state)
        clock = _Clock()
        begin = time.perf_counter()
        new, _ = jax.block_until_ready(self._iteration(state, groups, clock))
        rest = time.perf_counter() - begin - sum(clock.seconds.values())
        return new, clock.seconds | {"rest": rest}

    def close(self) -> None:
        """Close the environments and end their threads."""
        self._pool.shutdown()
        for env in self._envs:
            env.close()

    # -- one iteration -------------------------------------------------------------------------

    def _begin(self, state: HostState) -> tuple[HostState, list[_Group]]:
        """Return the environments, which start over where there was a cut."""
        if self._groups is None:
            self._groups = self._start(state.key)
            if state.scale is not None:
                sums = jax.device_put(jnp.zeros_like(state.scale.sums), self._carried)
                state = replace(state, scale=replace(state.scale, sums=sums))
        return state, self._groups

    def _start(self, key: Array) -> list[_Group]:
        """Reset all environments with seeds drawn from a key."""
        seed = int(jax.random.bits(jax.random.fold_in(key, 1), dtype=jnp.uint32)) >> 1
        first = 0
        groups = []
        for env in self._envs:
            size = env.num_envs
            obs, _ = env.reset(seed=seed + first)
            groups.append(
                _Group(
                    env=env,
                    rows=slice(first, first + size),
                    obs=obs,
                    restart=np.ones(size, np.bool_),
                    resetting=np.zeros(size, np.bool_),
                    carry=self.policy.initial(size),
                    points=vector_score(env),
                    total=np.zeros(size),
                    score=np.zeros(size),
                    length=np.zeros(size, np.int64),
                )
            )
            first += size
        return groups

    def _iteration(
        self, state: HostState, groups: list[_Group], clock: _Clock | _NoClock
    ) -> tuple[HostState, dict[str, Any]]:
        key, key_noise, key_order = self._split(state.key)
        carry = jax.tree.map(lambda *parts: jnp.concatenate(parts), *[g.carry for g in groups])
        # The policy looks on one device; parameters that lie on all would make each of them look.
        actor = jax.tree.map(lambda leaf: leaf.addressable_data(0), state.actor)
        data, sums = self._rollout(actor, groups, key_noise, clock)
        placed = clock.time("transfer", jax.device_put, vars(data), self._divided)
        carry = clock.time("transfer", jax.device_put, carry, self._carried)
        learned, scale, metrics = clock.time(
            "backward",
            self._learn,
            (state.params, state.opt_state),
            state.scale,
            placed,
            carry,
            key_order,
        )
        params, opt_state = learned
        actor = state.params if self.config.overlap else params
        state = HostState(params, actor, opt_state, key, state.iteration + 1, scale)
        count = sums["count"]
        mean = {
            "episodes": count,
            "return": sums["total"] / count if count else np.nan,
            "length": sums["length"] / count if count else np.nan,
            "score": sums["score"] / count if count else np.nan,
            "reward": float(data.reward.mean()),
        }
        return state, metrics | mean

    def _rollout(
        self, params: Params, groups: list[_Group], key: Array, clock: _Clock | _NoClock
    ) -> tuple[_Rollout, dict[str, float]]:
        """Play `horizon` steps: the groups take turns, one steps while the other is looked at."""
        c, action = self.config, self.policy.action
        noises = np.asarray(self._noise(key))
        shape = (action.size,) if action.continuous else ()
        data = _Rollout(c.horizon, c.n_envs, self.policy.obs, shape)
        sums = {"count": 0.0, "total": 0.0, "score": 0.0, "length": 0.0}
        pending: list[Callable[[], Any] | None] = [None] * len(groups)
        for t in range(c.horizon):
            for i, group in enumerate(groups):
                if (step := pending[i]) is not None:
                    self._record(params, group, step(), data, t - 1, sums)
                obs = clock.time("transfer", jax.device_put, group.obs)
                noise = noises[t, group.rows]
                chosen = clock.time(
                    "forward", self._act, params, obs, group.carry, group.restart, noise
                )
                kept, action_, bounded, log_prob, value, group.carry = chosen
                data.restart[t, group.rows] = group.restart
                data.weight[t, group.rows] = ~group.resetting
                bounded = clock.time("transfer", np.asarray, bounded)
                pending[i] = self._step(group.env, bounded, clock)
                data.obs[t, group.rows] = kept
                data.action[t, group.rows] = action_
                data.log_prob[t, group.rows] = log_prob
                data.value[t, group.rows] = value
                if t:
                    self._fill(data, t - 1, group.rows, data.value[t, group.rows])
        for i, group in enumerate(groups):
            step = pending[i]
            if step is not None:
                self._record(params, group, step(), data, c.horizon - 1, sums)
            last = self._value(params, group.obs, group.carry, group.restart)
            self._fill(data, c.horizon - 1, group.rows, np.asarray(last))
        return data, sums

    def _step(
        self, env: VectorEnv[Any, Any, Any], action: NDArray[Any], clock: _Clock | _NoClock
    ) -> Callable[[], Any]:
        """Begin a step of a group; returns what waits for its end and hands the result over."""
        if isinstance(clock, _NoClock):
            return self._pool.submit(env.step, action).result
        result = clock.time("environment", env.step, action)
        return lambda: result

    def _choose(
        self, params: Params, obs: Array, carry: Carry, restart: Array, noise: Array
    ) -> tuple[Array, Array, Array, Array, Array, Carry]:
        """Look at a group.

        Returns:
            What is kept of the observation, the action, the same within its bounds, its
            log-probability, the value, and the memory after it.
        """
        kept = self.policy.obs.look(obs)
        distribution, value, carry = self.policy.step(params, kept, emptied(carry, restart))
        action = distribution.sample(noise)
        bounded = clipped(action, self.policy.action)
        return kept, action, bounded, distribution.log_prob(action), value, carry

    def _judge(self, params: Params, obs: Array, carry: Carry, restart: Array) -> Array:
        """Return the value of what a group shows."""
        kept = self.policy.obs.look(obs)
        return self.policy.step(params, kept, emptied(carry, restart))[1]

    def _record(
        self,
        params: Params,
        group: _Group,
        result: tuple[Any, ...],
        data: _Rollout,
        t: int,
        sums: dict[str, float],
    ) -> None:
        """Keep what a step of a group led to."""
        obs, reward, terminated, truncated, info = result
        over = (terminated | truncated) & ~group.resetting
        rows = group.rows
        data.reward[t, rows] = reward
        data.terminated[t, rows] = terminated
        data.ended[t, rows] = over
        data.next_value[t, rows] = np.nan
        group.total += np.where(group.resetting, 0, reward)
        group.score += np.where(group.resetting, 0, group.points(reward))
        group.length += ~group.resetting
        if over.any():
            sums["count"] += int(over.sum())
            sums["total"] += float(group.total[over].sum())
            sums["score"] += float(group.score[over].sum())
            sums["length"] += float(group.length[over].sum())
            group.total[over] = 0
            group.score[over] = 0
            group.length[over] = 0
        if self._mode is AutoresetMode.SAME_STEP:
            if (truncated & ~terminated).any():
                final = obs.copy()
                final[over] = np.stack(info["final_obs"][over])
                nothing = np.zeros_like(group.restart)
                value = np.asarray(self._value(params, final, group.carry, nothing))
                data.next_value[t, rows] = np.where(over, value, np.nan)
            group.restart = over
        else:
            group.restart, group.resetting = group.resetting, over
        group.obs = obs

    @staticmethod
    def _fill(data: _Rollout, t: int, rows: slice, value: NDArray[np.float32]) -> None:
        """Take the next observation's value for steps whose own is not known."""
        known = data.next_value[t, rows]
        data.next_value[t, rows] = np.where(np.isnan(known), value, known)

    def _update(
        self,
        learned: tuple[Params, OptState],
        scale: RewardScale | None,
        data: dict[str, Array],
        carry: Carry,
        key: Array,
    ) -> tuple[tuple[Params, OptState], RewardScale | None, dict[str, Array]]:
        """Learn from an iteration, on one device from its share."""
        params, opt_state = learned
        c = self.config
        weight = data["weight"] if self._mode is AutoresetMode.NEXT_STEP else None
        reward = data["reward"]
        if scale is not None:
            reward, scale = scale.apply(reward, data["ended"], c.gamma, weight, AXIS)
        advantage = losses.gae(
            reward,
            data["value"],
            data["next_value"],
            data["terminated"],
            data["ended"],
            c.gamma,
            c.gae_lambda,
        )
        batch = Batch(
            obs=data["obs"],
            action=data["action"],
            log_prob=data["log_prob"],
            value=data["value"],
            advantage=advantage,
            restart=data["restart"],
            carry=carry,
            weight=weight,
        )
        key = jax.random.fold_in(key, jax.lax.axis_index(AXIS))
        params, opt_state, metrics = self._learner.update(params, opt_state, batch, key)
        sums = losses.across(losses.value_sums(batch.value, advantage), AXIS)
        return (params, opt_state), scale, metrics | losses.explained(sums, c.batch)


def make_vector_env(config: Config, n: int) -> VectorEnv[Any, Any, Any]:
    """Make the environments that a configuration names.

    Args:
        config: The run.
        n: How many.

    Raises:
        ConfigError: There is no such environment, or an option is wrong.
    """
    from hybridenv.envs import names
    from hybridenv.gym import GameBoyVectorEnv

    try:
        if config.env == "gameboy":
            return GameBoyVectorEnv(n, **config.env_args)
        return gymnasium.make_vec(config.env, num_envs=n, **config.env_args)
    except gymnasium.error.Error as error:
        known = ", ".join(map(repr, (*names(), "gameboy")))
        raise ConfigError(
            f"env: got {config.env!r}, expected one of {known} or the id of a Gymnasium "
            f"environment: {error}"
        ) from None
    except TypeError as error:
        raise ConfigError(f"env_args: got {config.env_args} for {config.env!r}: {error}") from None
    except HybridEnvError:
        raise
    except Exception as error:  # a module that is missing, or whatever an environment raises
        raise ConfigError(
            f"env: {config.env!r} with env_args {config.env_args} cannot be made: "
            f"{type(error).__name__}: {error}"
        ) from error


def _autoreset_mode(env: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
    if mode not in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        raise ConfigError(
            f"autoreset_mode: got {mode}, expected NEXT_STEP or SAME_STEP: episodes must "
            "start over by themselves"
        )
    return AutoresetMode(mode)
