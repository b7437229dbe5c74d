"""One PPO update from one iteration's data, the same for both training loops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import optax
from jax import Array

from hybridenv.train import losses
from hybridenv.train.config import Config
from hybridenv.train.networks import Carry, Params, Policy

OptState: TypeAlias = Any
"""State of the optimiser, a pytree of arrays."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Batch:
    """The data of an iteration: t steps of n environments.

    Attributes:
        obs: [t, n, ...], what was seen.
        action: [t, n] or [t, n, d], what was done.
        log_prob: float32[t, n], logarithm of its probability at the time.
        value: float32[t, n], the network's value at the time.
        advantage: float32[t, n].
        restart: bool[t, n], an episode began with this observation.
        carry: The network's memory before the first step.
        weight: float32[t, n], 1 for steps to learn from and 0 for others; `None` where all count.
    """

    obs: Array
    action: Array
    log_prob: Array
    value: Array
    advantage: Array
    restart: Array
    carry: Carry
    weight: Array | None = None

    def as_rows(self) -> Batch:
        """Return the same data as one step of t n environments, for networks without a memory."""
        return jax.tree.map(lambda leaf: leaf.reshape(1, -1, *leaf.shape[2:]), self)

    def take(self, units: Array) -> Batch:
        """Return the data of some environments, given by their indices int32[u]."""

        def pick(leaf: Array, axis: int) -> Array:
            return jnp.take(leaf, units, axis=axis, mode="clip", unique_indices=True)

        steps = jax.tree.map(lambda leaf: pick(leaf, 1), replace(self, carry=()))
        return replace(steps, carry=jax.tree.map(lambda leaf: pick(leaf, 0), self.carry))


@dataclass(frozen=True)
class Learner:
    """PPO's update as a pure function.

    Attributes:
        policy: The network.
        config: The run.
        devices: Devices that share an iteration.
        axis_name: Name of their mapped axis, or `None` for one device outside of a mapping.
    """

    policy: Policy
    config: Config
    devices: int = 1
    axis_name: str | None = None

    @property
    def optimizer(self) -> optax.GradientTransformation:
        """Adam behind a limit of the gradient's length."""
        c = self.config
        rate: Any = c.lr
        if c.anneal:
            rate = optax.linear_schedule(c.lr, 0.0, c.iterations * c.epochs * c.minibatches)
        return optax.chain(
            optax.clip_by_global_norm(c.max_grad_norm), optax.adam(rate, eps=c.adam_eps)
        )

    def update(
        self, params: Params, opt_state: OptState, batch: Batch, key: Array
    ) -> tuple[Params, OptState, dict[str, Array]]:
        """Learn from an iteration's data.

        Args:
            params: The network's parameters.
            opt_state: The optimiser's state.
            batch: The data of this device.
            key: Decides the order of the data.

        Returns:
            New parameters and state, the same on every device, and means of the loss's terms. What
            the policy measures of observations changes last, so that the whole iteration, from
            acting to learning, has one measure.
        """
        c = self.config
        if c.shuffle == "rows":
            batch = batch.as_rows()
        units = batch.value.shape[1]
        size = c.chunk_units(self.devices)

        def minibatch(
            state: tuple[Params, OptState], part: tuple[Array, losses.Scale]
        ) -> tuple[tuple[Params, OptState], dict[str, Array]]:
            params, opt_state = state
            grads, terms = self._gradient(params, batch, *part)
            updates, opt_state = self.optimizer.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            metrics = {
                "loss": losses.total(terms, c.value_coef, c.entropy_coef),
                "policy_loss": terms.policy,
                "value_loss": terms.value,
                "entropy": terms.entropy,
                "approx_kl": terms.approx_kl,
                "clip_fraction": terms.clipped,
                "grad_norm": optax.tree.norm(grads),
            }
            return (params, opt_state), metrics

        def epoch(
            state: tuple[Params, OptState], key: Array
        ) -> tuple[tuple[Params, OptState], dict[str, Array]]:
            order = jax.random.permutation(key, units).astype(jnp.int32)
            chunks = order.reshape(c.minibatches, -1, size)
            # All at once, since devices wait for each other at every exchange.
            scales = losses.scales(
                self._minibatches(batch.advantage, order),
                None if batch.weight is None else self._minibatches(batch.weight, order),
                self.axis_name,
            )
            return jax.lax.scan(minibatch, state, (chunks, scales))

        keys = jax.random.split(key, c.epochs)
        (params, opt_state), metrics = jax.lax.scan(epoch, (params, opt_state), keys)
        params = self.policy.observed(params, batch.obs, batch.weight, self.axis_name)
        return params, opt_state, jax.tree.map(jnp.mean, metrics)

    def _minibatches(self, values: Array, order: Array) -> Array:
        """Sort float32[t, units] into minibatches, float32[minibatches, rows]."""
        taken = jnp.take(values, order, axis=1, mode="clip", unique_indices=True)
        return taken.reshape(len(values), self.config.minibatches, -1).swapaxes(0, 1)

    def _gradient(
        self, params: Params, batch: Batch, chunks: Array, scale: losses.Scale
    ) -> tuple[Params, losses.Terms]:
        """Gradient of a minibatch, the mean over its rows on all devices, chunk by chunk."""
        c = self.config
        rows, mean, deviation = scale
        if not c.normalize_advantage:
            mean, deviation = jnp.zeros_like(mean), jnp.ones_like(deviation)

        def loss(params: Params, part: Batch) -> tuple[Array, losses.Terms]:
            distribution, value = self.policy.unroll(params, part.obs, part.carry, part.restart)
            terms = losses.ppo_terms(
                distribution.log_prob(part.action),
                part.log_prob,
                (part.advantage - mean) / (deviation + 1e-8),
                value,
                part.value,
                distribution.entropy(),
                clip=c.clip,
                value_clip=c.value_clip,
                target=part.value + part.advantage,
            )
            if part.weight is not None:
                terms = jax.tree.map(lambda term: term * part.weight, terms)
            sums = jax.tree.map(lambda term: jnp.sum(term) / rows, terms)
            return losses.total(sums, c.value_coef, c.entropy_coef), sums

        def chunk(done: tuple[Params, losses.Terms], units: Array) -> tuple[Any, None]:
            part = jax.grad(loss, has_aux=True)(params, batch.take(units))
            return jax.tree.map(jnp.add, done, part), None

        if len(chunks) == 1:
            result = jax.grad(loss, has_aux=True)(params, batch.take(chunks[0]))
        else:
            none = losses.Terms(*[jnp.float32(0)] * 5)
            start = (jax.tree.map(jnp.zeros_like, params), none)
            result, _ = jax.lax.scan(chunk, start, chunks)
        return losses.across(result, self.axis_name)
