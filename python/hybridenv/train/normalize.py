"""Running means and deviations, by which observations and rewards are brought to one size.

Networks learn from numbers of about 1. Where an environment's own are of many sizes, as a
mechanism's positions and velocities are, `Config.normalize_observations` measures observations and
`Config.scale_rewards` measures returns, both while a run goes on.

Source: Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample
Variances", 1979. What is measured is as in OpenAI's Baselines and in Gymnasium's `NormalizeReward`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.flatten_util import ravel_pytree

FARTHEST = 10.0
"""Deviations from the mean beyond which observations are cut off."""
LEAST = 1e-8
"""Added to variances, so that what never changes can be divided by its deviation."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Moments:
    """What numbers of one kind came to so far.

    Attributes:
        count: How many, float32[], or as many as there are kinds.
        mean: float32[...].
        variance: float32[...].
    """

    count: Array
    mean: Array
    variance: Array

    @classmethod
    def none(cls, shape: tuple[int, ...] = ()) -> Moments:
        """Return the moments of nothing, which change nothing: mean 0 and variance 1."""
        return cls(jnp.zeros(()), jnp.zeros(shape), jnp.ones(shape))

    def joined(self, other: Moments) -> Moments:
        """Return the moments of all that both have seen."""
        count = self.count + other.count
        share = other.count / jnp.maximum(count, 1)
        step = other.mean - self.mean
        between = share * (1 - share) * jnp.square(step)
        variance = self.variance + share * (other.variance - self.variance) + between
        return Moments(count, self.mean + share * step, variance)

    def shared(self, axis_name: str | None) -> Moments:
        """Return the moments of what all devices have seen, the same on every device.

        They travel in one vector, as in `losses.across`.

        Args:
            axis_name: Name of the mapped axis of devices, or `None` for one device alone.
        """
        if axis_name is None:
            return self
        vector, restore = ravel_pytree(self)
        parts: list[Moments] = [restore(part) for part in jax.lax.all_gather(vector, axis_name)]
        return functools.reduce(Moments.joined, parts)


def measured(values: Array, weight: Array | None, axis_name: str | None) -> Moments:
    """Measure the numbers of an iteration.

    Args:
        values: float32[t, n, ...].
        weight: float32[t, n], 0 for those that do not count and 1 for others; `None` where all do.
        axis_name: Name of the mapped axis of devices, each with numbers of its own, or `None`.

    Returns:
        Their moments over the first two axes, the same on every device.
    """
    weight = jnp.ones(values.shape[:2]) if weight is None else weight
    weights = weight.reshape(weight.shape + (1,) * (values.ndim - 2))
    count = weight.sum()
    mean = (weights * values).sum((0, 1)) / jnp.maximum(count, 1)
    variance = (weights * jnp.square(values - mean)).sum((0, 1)) / jnp.maximum(count, 1)
    return Moments(count, mean, variance).shared(axis_name)


def discounted(rewards: Array, ended: Array, before: Array, gamma: float) -> tuple[Array, Array]:
    """Add up rewards, those of earlier steps less and less; each episode begins with nothing.

    Args:
        rewards: float32[t, n].
        ended: bool[t, n], an episode ended in this step.
        before: float32[n], the sums of episodes under way.
        gamma: What is left of a sum a step later.

    Returns:
        The sum at every step, float32[t, n], and those of the episodes under way, float32[n].
    """

    def add(total: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        reward, over = step
        total = gamma * total + reward
        return jnp.where(over, 0, total), total

    after, sums = jax.lax.scan(add, before, (rewards, ended))
    return sums, after


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class RewardScale:
    """What rewards are divided by: the deviation of discounted sums.

    Attributes:
        moments: Of the sums.
        sums: Of the episodes under way, float32[n].
    """

    moments: Moments
    sums: Array

    @classmethod
    def none(cls, n: int) -> RewardScale:
        """Return the scale before the first step of n environments."""
        return cls(Moments.none(), jnp.zeros(n))

    @classmethod
    def places(cls, whole: Any, parts: Any) -> Any:
        """Return how it is divided between devices.

        Args:
            whole: Of what every device has.
            parts: Of what has a row for each environment.
        """
        return cls(Moments(whole, whole, whole), parts)

    def apply(
        self,
        rewards: Array,
        ended: Array,
        gamma: float,
        weight: Array | None,
        axis_name: str | None,
    ) -> tuple[Array, RewardScale]:
        """Measure the rewards of an iteration, then scale them.

        Args:
            rewards: float32[t, n].
            ended: bool[t, n], an episode ended in this step.
            gamma: The run's discount.
            weight: As for `measured`.
            axis_name: As for `measured`.

        Returns:
            The rewards by the new scale, and that scale.
        """
        sums, after = discounted(rewards, ended, self.sums, gamma)
        moments = self.moments.joined(measured(sums, weight, axis_name))
        return rewards * jax.lax.rsqrt(moments.variance + LEAST), RewardScale(moments, after)


class Statistic(nnx.Param[Array]):
    """A number that is measured, not learned.

    It is kept with the parameters, so that whatever has those can use the network; its gradient is
    always zero, for which Adam changes nothing.
    """


class Normalizer(nnx.Module):
    """Brings observations to mean 0 and deviation 1, as far as they are known.

    Args:
        shape: Shape of one observation.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        start = Moments.none(shape)
        self.count = Statistic(start.count)
        self.mean = Statistic(start.mean)
        self.variance = Statistic(start.variance)

    def __call__(self, obs: Array) -> Array:
        """Normalise float32[n, ...], cut off at 10 deviations."""
        mean, variance = map(jax.lax.stop_gradient, (self.mean[...], self.variance[...]))
        return jnp.clip((obs - mean) * jax.lax.rsqrt(variance + LEAST), -FARTHEST, FARTHEST)

    def see(self, moments: Moments) -> None:
        """Take in the moments of further observations."""
        now = Moments(self.count[...], self.mean[...], self.variance[...]).joined(moments)
        self.count[...], self.mean[...], self.variance[...] = now.count, now.mean, now.variance
