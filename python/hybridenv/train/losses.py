"""The arithmetic of PPO: advantages and losses, as pure functions of arrays.

Both training loops use these, the one that is a single compiled program (`hybridenv.train.ppo`)
and the one that drives environments of the host (`hybridenv.train.host`).

Source: Schulman et al., "Proximal Policy Optimization Algorithms", 2017; Schulman et al.,
"High-Dimensional Continuous Control Using Generalized Advantage Estimation", 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from hybridenv.train.normalize import Moments

Tree = TypeVar("Tree")


def gae(
    rewards: Array,
    values: Array,
    next_values: Array,
    terminated: Array,
    ended: Array,
    gamma: float,
    lam: float,
) -> Array:
    """Estimate advantages by generalised advantage estimation, backwards in time.

    An episode that terminates has no future; one that is truncated has one, so its last step
    counts the value of the true final observation. Neither lets advantages flow across its end.

    Args:
        rewards: float32[t, n].
        values: float32[t, n], the value of the observation acted on.
        next_values: float32[t, n], the value of the observation that the action led to: where an
            episode ended that of its final observation, not of the next episode's first.
        terminated: bool[t, n], the episode reached its end in this step.
        ended: bool[t, n], it was terminated or truncated in this step.
        gamma: Discount a step, 0 to 1.
        lam: Decay of the mixture of horizons, 0 to 1.

    Returns:
        float32[t, n].
    """
    future = jnp.where(terminated, 0.0, gamma * next_values)
    errors = rewards + future - values
    decay = jnp.where(ended, 0.0, gamma * lam)

    def back(advantage: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        error, keep = step
        advantage = error + keep * advantage
        return advantage, advantage

    _, advantages = jax.lax.scan(back, jnp.zeros_like(values[0]), (errors, decay), reverse=True)
    return advantages


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Terms:
    """What a loss consists of: for single rows, sums or means, depending on where it comes from.

    Attributes:
        policy: The clipped surrogate, negated.
        value: Half the squared error of the value.
        entropy: Entropy of the policy in nats.
        approx_kl: Estimate of the KL divergence from the old policy in nats.
        clipped: Whether, or how often, the ratio left the clip range.
    """

    policy: Array
    value: Array
    entropy: Array
    approx_kl: Array
    clipped: Array


def ppo_terms(
    log_prob: Array,
    old_log_prob: Array,
    advantage: Array,
    value: Array,
    old_value: Array,
    entropy: Array,
    *,
    clip: float,
    value_clip: float | None,
    target: Array,
) -> Terms:
    """Return the terms of the loss of every row; all arrays float32[...].

    Args:
        log_prob: Of the action under the policy being trained.
        old_log_prob: Of the action under the policy that chose it.
        advantage: Normalised or not.
        value: Of the network being trained.
        old_value: Of the network at the time.
        entropy: Of the policy being trained.
        clip: Half the width of the range of ratios that are followed.
        value_clip: The same for the change of the value; `None` leaves it free.
        target: What the value should be.

    Returns:
        The terms, each float32[...]. `approx_kl` is ``(r - 1) - log r``.
        Source of that estimator: Schulman, "Approximating KL Divergence", 2020.
    """
    log_ratio = log_prob - old_log_prob
    ratio = jnp.exp(log_ratio)
    near = jnp.clip(ratio, 1 - clip, 1 + clip)
    error = jnp.square(value - target)
    if value_clip is not None:
        bounded = old_value + jnp.clip(value - old_value, -value_clip, value_clip)
        error = jnp.maximum(error, jnp.square(bounded - target))
    return Terms(
        policy=-jnp.minimum(ratio * advantage, near * advantage),
        value=0.5 * error,
        entropy=entropy,
        approx_kl=(ratio - 1) - log_ratio,
        clipped=(jnp.abs(ratio - 1) > clip).astype(ratio.dtype),
    )


def total(terms: Terms, value_coef: float, entropy_coef: float) -> Array:
    """Combine terms into what is minimised."""
    return terms.policy + value_coef * terms.value - entropy_coef * terms.entropy


def across(tree: Tree, axis_name: str | None) -> Tree:
    """Add up a pytree over the devices that share a minibatch.

    Everything travels in one vector, since devices wait for each other at every array that they
    exchange, which costs more than what is exchanged.

    Args:
        tree: A pytree of float32 arrays.
        axis_name: Name of the mapped axis of devices, or `None` for one device alone.

    Returns:
        The sums, the same on every device.
    """
    if axis_name is None:
        return tree
    vector, restore = ravel_pytree(tree)
    summed: Tree = restore(jax.lax.psum(vector, axis_name))
    return summed


class Scale(NamedTuple):
    """What the rows of minibatches are measured by, float32[m] or of one minibatch float32[].

    Attributes:
        rows: How many count.
        mean: Of their advantages.
        deviation: Of their advantages.
    """

    rows: Array
    mean: Array
    deviation: Array


def scales(advantages: Array, weight: Array | None, axis_name: str | None) -> Scale:
    """Measure m minibatches.

    Args:
        advantages: float32[m, ...].
        weight: 0 or 1 for each of them, or `None` where all count.
        axis_name: Name of the mapped axis of devices that share the minibatches, or `None`.

    Returns:
        The scale of each, the same on every device.
    """
    m = len(advantages)
    advantages = advantages.reshape(m, -1)
    weights = jnp.ones_like(advantages) if weight is None else weight.reshape(m, -1)
    rows = weights.sum(1)
    some = jnp.maximum(rows, 1)
    mean = (weights * advantages).sum(1) / some
    variance = (weights * jnp.square(advantages - mean[:, None])).sum(1) / some
    found = Moments(rows, mean, variance).shared(axis_name)
    return Scale(found.count, found.mean, jnp.sqrt(found.variance))


def value_sums(value: Array, advantage: Array) -> dict[str, Array]:
    """Return the sums from which `summary` tells how well values were predicted."""
    target = value + advantage
    return {
        "error": jnp.sum(jnp.square(advantage)),
        "target": jnp.sum(target),
        "squares": jnp.sum(jnp.square(target)),
    }


def explained(sums: dict[str, Array], steps: int) -> dict[str, Array]:
    """Return the ``explained_variance`` of the values, 1 at best, from sums of `value_sums`."""
    spread = sums["squares"] - jnp.square(sums["target"]) / steps
    return {"explained_variance": 1 - sums["error"] / jnp.maximum(spread, 1e-8)}


def summary(sums: dict[str, Array], steps: int) -> dict[str, Array]:
    """Turn an iteration's sums over all environments into its metrics.

    Args:
        sums: Of the episodes that ended, their ``total``, ``length``, ``score`` and ``count``; of
            all steps, the ``reward``; and those of `value_sums`.
        steps: Number of steps.

    Returns:
        ``return``, ``length`` and ``score`` of the mean episode (NaN where none ended),
        ``episodes``, the mean ``reward`` of a step, and what `explained` says.
    """
    count = sums["count"]
    return {
        "episodes": count,
        "return": sums["total"] / count,
        "length": sums["length"] / count,
        "score": sums["score"] / count,
        "reward": sums["reward"] / steps,
    } | explained(sums, steps)
