"""PPO as one compiled program: environments, network and optimiser in a single `jit`.

A call of the program runs several iterations. Each is a rollout (`scan` over time), advantages (a
scan backwards) and epochs of minibatches. The environments are divided between all devices with
`shard_map`; every device keeps its own copy of the parameters and they agree on the gradients.

Source: the single-program layout is that of PureJaxRL (Lu et al., "Discovered Policy Optimisation",
2022).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh, PartitionSpec

from hybridenv.envs import (
    AutoReset,
    Batch,
    ChanceEnvironment,
    Environment,
    compiler_options,
)
from hybridenv.train import losses
from hybridenv.train.config import Config
from hybridenv.train.games import chosen_devices, clipped, specs
from hybridenv.train.learner import Batch as Data
from hybridenv.train.learner import Learner, OptState
from hybridenv.train.networks import Carry, Params, build, emptied
from hybridenv.train.normalize import RewardScale

AXIS = "devices"
"""Name of the axis of devices, which divides the environments."""

Metrics: TypeAlias = dict[str, Array]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Episodes:
    """Sums over the steps of episodes, float32[n] each.

    Attributes:
        total: Of the rewards.
        length: Of the steps.
        score: Of the points.
        count: Of the episodes that ended; 0 for episodes under way.
    """

    total: Array
    length: Array
    score: Array
    count: Array

    @classmethod
    def none(cls, n: int) -> Episodes:
        """Return sums over nothing."""
        return cls(*[jnp.zeros(n)] * 4)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class TrainState:
    """Everything that a run needs to go on; saved and restored bit for bit.

    With several seeds every leaf has one more axis in front.

    Attributes:
        params: Parameters of the network.
        opt_state: State of the optimiser.
        env_state: States of the n environments.
        obs: [n, ...], what they show.
        restart: bool[n], an episode begins with this observation.
        carry: The network's memory.
        running: The episodes under way.
        key: Where all further chance comes from.
        iteration: int32[], iterations done.
        scale: What rewards are divided by; `None` without `Config.scale_rewards`.
    """

    params: Params
    opt_state: OptState
    env_state: Any
    obs: Array
    restart: Array
    carry: Carry
    running: Episodes
    key: Array
    iteration: Array
    scale: RewardScale | None = None


class _Now(NamedTuple):
    """What one step of a rollout hands to the next."""

    env_state: Any
    obs: Array
    restart: Array
    carry: Carry
    running: Episodes
    ended: Episodes


class _Record(NamedTuple):
    """What is kept of a step."""

    obs: Array
    action: Array
    log_prob: Array
    value: Array
    reward: Array
    terminated: Array
    ended: Array
    cut_value: Array
    restart: Array


class Program:
    """The compiled program of a run.

    Args:
        env: The environment of one game, without automatic restarts.
        env_params: Its parameters.
        config: The run.
        devices: Where it runs; `None` takes `Config.devices` of all that JAX has.

    Attributes:
        config: The run.
        devices: Where it runs.
        policy: The network.
        make_params: Makes the first parameters from a key; another function may take its place
            before `init`.
        learner: The update.
        specs: How the parts of a state are divided between devices.
        run: Compiled: a `TrainState`, which is used up, to the state `Config.calls` iterations
            later and the metrics, float32[calls] each (with several seeds: float32[seeds, calls]).

    Raises:
        ConfigError: The devices cannot share the environments evenly, or no network fits.
    """

    def __init__(
        self,
        env: Environment[Any, Any] | ChanceEnvironment[Any, Any],
        env_params: Any,
        config: Config,
        devices: list[jax.Device] | None = None,
    ) -> None:
        self.devices = devices or chosen_devices(config)
        config.check_division(len(self.devices))
        self.config = config
        self._local = config.n_envs // len(self.devices)
        self._env = Batch(AutoReset(env), self._local)
        obs, action = specs(
            env.observation_space(env_params),
            env.action_space(env_params),
            env.name,
            shown=self._env.shows_legal_actions,
        )
        self.policy, self.make_params = build(obs, action, config)
        self._env_params = env_params
        self.learner = Learner(self.policy, config, len(self.devices), AXIS)
        self._mesh = Mesh(np.asarray(self.devices), (AXIS,))
        seeds = () if config.n_seeds == 1 else (None,)
        self._whole, parts = PartitionSpec(), PartitionSpec(*seeds, AXIS)
        common = ("params", "opt_state", "key", "iteration")
        places: dict[str, Any] = {
            f.name: self._whole if f.name in common else parts for f in fields(TrainState)
        }
        if config.scale_rewards:
            places["scale"] = RewardScale.places(self._whole, parts)
        self.specs: Any = TrainState(**places)
        self._start = self.mapped(self._first, self._whole, self.specs)
        self.run = self.mapped(
            self._iterate, self.specs, (self.specs, self._whole), donate_argnums=0
        )

    def init(self) -> TrainState:
        """Return the state before the first iteration."""
        c = self.config
        keys = [jax.random.key(c.seed + i) for i in range(c.n_seeds)]
        return self._start(keys[0] if c.n_seeds == 1 else jnp.stack(keys))

    def cut(self) -> None:
        """Do nothing: the environments are part of the state."""

    def close(self) -> None:
        """Do nothing: nothing outside of JAX is held."""

    def mapped(
        self, function: Callable[[Any], Any], inputs: Any, outputs: Any, **options: Any
    ) -> Any:
        """Compile a function of one seed and device for all seeds and devices.

        Args:
            function: From one argument to a result, both pytrees.
            inputs: How the argument is divided between devices, see `specs`.
            outputs: How the result is.
            **options: Of `jax.jit`.

        Seeds run one after the other within each device: a run is then the same, bit for bit,
        whatever else runs beside it, and as fast, since one run keeps all cores busy.
        """

        def every(argument: Any) -> Any:
            return (
                function(argument) if self.config.n_seeds == 1 else jax.lax.map(function, argument)
            )

        return jax.jit(
            jax.shard_map(
                every, mesh=self._mesh, in_specs=(inputs,), out_specs=outputs, check_vma=False
            ),
            compiler_options=compiler_options(self.devices),
            **options,
        )

    # -- one seed on one device ----------------------------------------------------------------

    @staticmethod
    def _own(key: Array) -> Array:
        """Return this device's own key."""
        return jax.random.fold_in(key, jax.lax.axis_index(AXIS))

    def _first(self, key: Array) -> TrainState:
        key, key_params, key_env = jax.random.split(key, 3)
        params = self.make_params(key_params)
        n = self._local
        obs, env_state = self._env.reset(self._own(key_env), self._env_params)
        return TrainState(
            params=params,
            opt_state=self.learner.optimizer.init(params),
            env_state=env_state,
            obs=obs,
            restart=jnp.ones(n, bool),
            carry=self.policy.initial(n),
            running=Episodes.none(n),
            key=key,
            iteration=jnp.int32(0),
            scale=RewardScale.none(n) if self.config.scale_rewards else None,
        )

    def _iterate(self, state: TrainState) -> tuple[TrainState, Metrics]:
        def body(state: TrainState, _: None) -> tuple[TrainState, tuple[Metrics, Metrics]]:
            return self._iteration(state)

        state, (metrics, sums) = jax.lax.scan(body, state, length=self.config.calls)
        return state, metrics | losses.summary(losses.across(sums, AXIS), self.config.batch)

    def _iteration(self, state: TrainState) -> tuple[TrainState, tuple[Metrics, Metrics]]:
        key, own = jax.random.split(state.key)
        key_rollout, key_order = jax.random.split(self._own(own))
        state, data, sums = self.rollout(state, key_rollout)
        params, opt_state, metrics = self.learner.update(
            state.params, state.opt_state, data, key_order
        )
        state = replace(
            state, params=params, opt_state=opt_state, key=key, iteration=state.iteration + 1
        )
        return state, (metrics, sums)

    def rollout(self, state: TrainState, key: Array) -> tuple[TrainState, Data, Metrics]:
        """Play `horizon` steps in every environment of this device.

        Args:
            state: Where they are.
            key: A key of this device's own.

        Returns:
            Where they are then, what to learn from, and this device's sums for `losses.summary`.
        """
        c, n, policy, params = self.config, self._local, self.policy, state.params
        key_noise, key_env = jax.random.split(key)
        noises = policy.action.noise(key_noise, (c.horizon, n))
        draws = self._env.step_draws(key_env, self._env_params, (c.horizon,))

        look = policy.obs.look

        def step(now: _Now, chance: tuple[Array, Any]) -> tuple[_Now, _Record]:
            noise, draw = chance
            kept = look(now.obs)
            memory = emptied(now.carry, now.restart)
            distribution, value, carry = policy.step(params, kept, memory)
            action = distribution.sample(noise)
            obs, env_state, reward, terminated, truncated, info = self._env.step_with(
                draw, now.env_state, clipped(action, policy.action), self._env_params
            )
            # Only an episode that was cut off needs the value of where it would have gone on.
            cut_value = jax.lax.cond(
                jnp.any(truncated),
                lambda: policy.step(params, look(info["final_obs"]), carry)[1],
                lambda: jnp.zeros(n),
            )
            over = terminated | truncated
            running = Episodes(
                now.running.total + reward,
                now.running.length + 1,
                now.running.score + self._env.score(reward),
                now.running.count + 1,
            )
            one = replace(running, count=jnp.ones(n))
            ended = jax.tree.map(lambda a, b: a + jnp.where(over, b, 0), now.ended, one)
            running = jax.tree.map(lambda a: jnp.where(over, 0, a), running)
            record = _Record(
                obs=kept,
                action=action,
                log_prob=distribution.log_prob(action),
                value=value,
                reward=reward,
                terminated=terminated,
                ended=over,
                cut_value=cut_value,
                restart=now.restart,
            )
            return _Now(env_state, obs, over, carry, running, ended), record

        start = _Now(
            state.env_state,
            state.obs,
            state.restart,
            state.carry,
            state.running,
            Episodes.none(n),
        )
        now, record = jax.lax.scan(step, start, (noises, draws))
        _, last_value, _ = policy.step(params, look(now.obs), emptied(now.carry, now.restart))
        next_values = jnp.concatenate([record.value[1:], last_value[None]])
        reward, scale = record.reward, state.scale
        if scale is not None:
            reward, scale = scale.apply(reward, record.ended, c.gamma, None, AXIS)
        advantage = losses.gae(
            reward,
            record.value,
            jnp.where(record.ended, record.cut_value, next_values),
            record.terminated,
            record.ended,
            c.gamma,
            c.gae_lambda,
        )
        data = Data(
            obs=record.obs,
            action=record.action,
            log_prob=record.log_prob,
            value=record.value,
            advantage=advantage,
            restart=record.restart,
            carry=state.carry,
        )
        state = replace(
            state,
            env_state=now.env_state,
            obs=now.obs,
            restart=now.restart,
            carry=now.carry,
            running=now.running,
            scale=scale,
        )
        sums = {
            "total": jnp.sum(now.ended.total),
            "length": jnp.sum(now.ended.length),
            "score": jnp.sum(now.ended.score),
            "count": jnp.sum(now.ended.count),
            "reward": jnp.sum(record.reward),
        } | losses.value_sums(data.value, advantage)
        return state, data, sums
