"""What a policy's head says about the next action: a distribution over actions.

Each class is a pytree that stands for a batch of any shape ``[...]``. Sampling takes ready-made
noise, because drawing it in one block outside the rollout is much cheaper than once a step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Categorical:
    """One of k choices.

    The choices are the first axis, so that all arithmetic is over whole batches at once.

    Attributes:
        log_probs: float32[k, ...], logarithms of the probabilities.
    """

    log_probs: Array

    @classmethod
    def of(cls, logits: Array) -> Self:
        """Return the distribution with logits float32[k, ...], which need no normalisation."""
        shifted = logits - jax.lax.stop_gradient(jnp.max(logits, axis=0))
        return cls(shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=0)))

    @staticmethod
    def noise(key: Array, shape: tuple[int, ...], size: int) -> Array:
        """Draw what `sample` needs for actions of a batch shape.

        Args:
            key: A typed key.
            shape: The batch shape.
            size: Ignored; a choice needs one number however many choices there are.

        Returns:
            float32[*shape], uniform in [0, 1).
        """
        del size
        return jax.random.uniform(key, shape)

    def sample(self, noise: Array) -> Array:
        """Choose by the inverse of the distribution function.

        Args:
            noise: float32[...] from `noise`.

        Returns:
            int32[...], 0 to k - 1.
        """
        below = jnp.cumsum(jnp.exp(self.log_probs[:-1]), axis=0)
        return jnp.sum(below <= noise, axis=0, dtype=jnp.int32)

    def mode(self) -> Array:
        """Return the likeliest choice, int32[...]."""
        return jnp.argmax(self.log_probs, axis=0).astype(jnp.int32)

    def log_prob(self, action: Array) -> Array:
        """Return the logarithm of the probability of choices int32[...], float32[...]."""
        choices = jnp.arange(len(self.log_probs), dtype=action.dtype)
        chosen = choices.reshape(-1, *[1] * action.ndim) == action
        return jnp.sum(jnp.where(chosen, self.log_probs, 0), axis=0)

    def entropy(self) -> Array:
        """Return the entropy in nats, float32[...]."""
        return -jnp.sum(jnp.exp(self.log_probs) * self.log_probs, axis=0)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class DiagonalGaussian:
    """d independent normal numbers.

    Attributes:
        mean: float32[..., d].
        log_std: float32[d], logarithm of the standard deviations, the same for every state.
    """

    mean: Array
    log_std: Array

    _LOG_SQRT_TAU: ClassVar[float] = 0.5 * math.log(2 * math.pi)

    @staticmethod
    def noise(key: Array, shape: tuple[int, ...], size: int) -> Array:
        """Draw what `sample` needs for actions of a batch shape.

        Args:
            key: A typed key.
            shape: The batch shape.
            size: The number d of components.

        Returns:
            float32[*shape, d], standard normal.
        """
        return jax.random.normal(key, (*shape, size))

    def sample(self, noise: Array) -> Array:
        """Return mean plus scaled noise, float32[..., d]."""
        return self.mean + jnp.exp(self.log_std) * noise

    def mode(self) -> Array:
        """Return the mean, float32[..., d]."""
        return self.mean

    def log_prob(self, action: Array) -> Array:
        """Return the logarithm of the density at float32[..., d], float32[...]."""
        distance = (action - self.mean) * jnp.exp(-self.log_std)
        return -jnp.sum(0.5 * distance**2 + self.log_std + self._LOG_SQRT_TAU, axis=-1)

    def entropy(self) -> Array:
        """Return the entropy in nats, float32[...]."""
        each = jnp.sum(self.log_std + 0.5 + self._LOG_SQRT_TAU)
        return jnp.broadcast_to(each, self.mean.shape[:-1])


Distribution: TypeAlias = Categorical | DiagonalGaussian
