"""How good a policy is: whole episodes, one in each of n environments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import VectorEnv
from jax import Array
from numpy.typing import NDArray

from hybridenv.checks import whole
from hybridenv.envs import Batch, ChanceEnvironment, Environment
from hybridenv.errors import ArgumentError
from hybridenv.train.games import clipped, specs, vector_score
from hybridenv.train.networks import Carry, Params, Policy

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Evaluation:
    """What n episodes came to, float32[n] each.

    Attributes:
        returns: Sums of rewards.
        scores: Sums of points, see `hybridenv.envs.ChanceEnvironment.score`.
        lengths: Steps; an episode that did not end counts `max_steps`.
    """

    returns: Floats
    scores: Floats
    lengths: Floats

    def __str__(self) -> str:
        return (
            f"{len(self.returns)} episodes: return {self.returns.mean():.2f} "
            f"± {self.returns.std():.2f}, score {self.scores.mean():.2f}, "
            f"length {self.lengths.mean():.0f}"
        )


def evaluate(
    env: Environment[Any, Any] | ChanceEnvironment[Any, Any],
    env_params: Any,
    policy: Policy,
    params: Params,
    *,
    episodes: int = 128,
    seed: int = 0,
    greedy: bool = True,
    max_steps: int = 100_000,
) -> Evaluation:
    """Play one episode in each of n environments; short ones do not count more than long ones.

    Args:
        env: The environment, without automatic restarts.
        env_params: Its parameters.
        policy: The network.
        params: Its parameters, of one seed.
        episodes: The number n.
        seed: Seed of the environments and actions.
        greedy: Always take the likeliest action instead of drawing one.
        max_steps: Steps after which episodes are cut off.

    Returns:
        Return, score and length of each episode.

    Raises:
        ArgumentError: A number makes no sense, or the policy was made for other observations or
            actions.
    """
    games = Batch(env, episodes)
    _check(env.observation_space(env_params), env.action_space(env_params), env.name, policy)
    _check_numbers(seed, max_steps)

    def going(now: tuple[Any, ...]) -> Array:
        return jnp.any(now[-1]) & (now[-2] < max_steps)

    def step(now: tuple[Any, ...]) -> tuple[Any, ...]:
        obs, state, carry, key, sums, t, alive = now
        key, key_env, key_noise = jax.random.split(key, 3)
        action, carry = _act(policy, params, obs, carry, key_noise, greedy)
        obs, state, reward, terminated, truncated, _ = games.step(
            key_env, state, action, env_params
        )
        gains = jnp.stack([reward, games.score(reward), jnp.ones(episodes)])
        sums = sums + jnp.where(alive, gains, 0)
        return obs, state, carry, key, sums, t + 1, alive & ~(terminated | truncated)

    @jax.jit
    def play(key: Array, carry: Carry) -> Array:
        key, key_env = jax.random.split(key)
        obs, state = games.reset(key_env, env_params)
        start = (
            obs, state, carry, key, jnp.zeros((3, episodes)), jnp.int32(0),
            jnp.ones(episodes, bool),
        )  # fmt: skip
        return jax.lax.while_loop(going, step, start)[4]

    returns, scores, lengths = np.asarray(play(jax.random.key(seed), policy.initial(episodes)))
    return Evaluation(returns, scores, lengths)


def evaluate_vector(
    env: VectorEnv[Any, Any, Any],
    policy: Policy,
    params: Params,
    *,
    seed: int = 0,
    greedy: bool = True,
    max_steps: int = 100_000,
    on_step: Callable[[], object] | None = None,
) -> Evaluation:
    """Play the first episode of each environment outside of JAX.

    Args:
        env: The environments; any mode of starting over will do. They are reset, not closed.
        policy: The network.
        params: Its parameters.
        seed: Seed of the environments and actions.
        greedy: Always take the likeliest action instead of drawing one.
        max_steps: Steps after which episodes are cut off.
        on_step: Called after every step, for instance to take a picture.

    Returns:
        Return, score (the same where the environments have no `score`) and length of each episode.

    Raises:
        ArgumentError: As `evaluate`, or `env` is no vector environment.
    """
    if not isinstance(env, VectorEnv):
        raise ArgumentError(
            f"env: got {type(env).__name__}, expected a vector environment, as gymnasium.make_vec "
            "makes it"
        )
    name = type(env.unwrapped).__name__
    _check(env.single_observation_space, env.single_action_space, name, policy)
    _check_numbers(seed, max_steps)

    @jax.jit
    def choose(key: Array, obs: Array, carry: Carry) -> tuple[Array, Carry]:
        return _act(policy, params, obs, carry, key, greedy)

    n = env.num_envs
    key, carry = jax.random.key(seed), policy.initial(n)
    obs, _ = env.reset(seed=seed)
    points = vector_score(env)
    returns, scores, lengths = np.zeros((3, n))
    alive = np.ones(n, np.bool_)
    for t in range(max_steps):
        action, carry = choose(jax.random.fold_in(key, t), obs, carry)
        obs, reward, terminated, truncated, _ = env.step(np.asarray(action))
        returns += np.where(alive, reward, 0)
        scores += np.where(alive, points(reward), 0)
        lengths += alive
        alive &= ~(terminated | truncated)
        if on_step is not None:
            on_step()
        if not alive.any():
            break
    return Evaluation(*(sums.astype(np.float32) for sums in (returns, scores, lengths)))


def _check(observations: Any, actions: Any, name: str, policy: Policy) -> None:
    """Refuse a policy that was made for something else; its program would fail with many words."""
    obs, action = specs(observations, actions, name)
    found = (obs.shape, obs.dtype, action.size, action.continuous)
    wanted = (policy.obs.shape, policy.obs.dtype, policy.action.size, policy.action.continuous)
    if found != wanted:
        raise ArgumentError(
            f"policy: got one of {_words(*wanted)} for {name}, which has {_words(*found)}"
        )


def _words(shape: tuple[int, ...], dtype: str, size: int, continuous: bool) -> str:
    actions = f"float32[{size}] as action" if continuous else f"{size} actions to choose from"
    return f"observations {dtype}{list(shape)} and {actions}"


def _check_numbers(seed: int, max_steps: int) -> None:
    whole("seed", seed, 0, 2**63 - 1)
    whole("max_steps", max_steps, 1, 2**31 - 1)


def _act(
    policy: Policy, params: Params, obs: Array, carry: Carry, key: Array, greedy: bool
) -> tuple[Array, Carry]:
    """Return actions within their bounds, the likeliest or drawn ones, and the memory after."""
    distribution, _, carry = policy.step(params, policy.obs.look(obs), carry)
    noise = policy.action.noise(key, obs.shape[:1])
    action = distribution.mode() if greedy else distribution.sample(noise)
    return clipped(action, policy.action), carry
