"""Actor-critic networks: a trunk for vectors or pictures, optionally a memory, and two heads.

Every network has the same two calls, so that the training loops need not know which it is:
``step`` for one moment of a batch and ``unroll`` for whole sequences, from the same parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array

from hybridenv.errors import ConfigError
from hybridenv.train.config import Config
from hybridenv.train.distributions import Categorical, DiagonalGaussian, Distribution
from hybridenv.train.normalize import Normalizer, measured

Carry: TypeAlias = Any
"""Memory of a network: arrays float32[n, ...] in a pytree; empty for networks without one."""

Params: TypeAlias = Any
"""Parameters of a network, a pytree of float32 arrays (an `nnx.State`)."""

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu_tanh": lambda x: jax.nn.gelu(x, approximate=True),
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
}
"""Activation functions by the name that a configuration gives."""


@dataclass(frozen=True)
class ObsSpec:
    """What a network looks at.

    Attributes:
        shape: Shape of one observation.
        dtype: ``"float32"``, or ``"uint8"`` for what is divided by `high` first.
        high: Largest value of uint8.
        shrink: A picture is reduced to the averages of blocks of this side.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    high: float = 255.0
    shrink: int = 1

    @property
    def is_image(self) -> bool:
        """Whether an observation is a picture: height, width, and maybe channels."""
        return len(self.shape) in (2, 3)

    @property
    def kept_shape(self) -> tuple[int, ...]:
        """Shape of what `look` keeps of one observation."""
        if self.shrink == 1:
            return self.shape
        return tuple(-(-side // self.shrink) for side in self.shape[:2]) + self.shape[2:]

    @property
    def kept_high(self) -> float:
        """Largest value of what `look` keeps: sums of blocks where they fit a byte."""
        total = self.high * self.shrink**2
        return total if total <= 255 else self.high

    def look(self, obs: Array) -> Array:
        """Reduce observations [n, ...] to what is kept of them and given to the network.

        A Game Boy's picture says the same at a quarter of its sides, and costs a sixteenth to keep,
        to move and to learn from.
        """
        k = self.shrink
        if k == 1:
            return obs
        height, width = self.kept_shape[:2]
        rest = [(0, 0)] * (obs.ndim - 3)
        margins = [(0, 0), (0, height * k - obs.shape[1]), (0, width * k - obs.shape[2]), *rest]
        kind = jnp.uint8 if self.kept_high != self.high else jnp.uint16
        x = jnp.pad(obs, margins, mode="edge").astype(kind)
        # Slices and sums of whole rows: a reduction over axes of length k is many times slower.
        x = x.reshape(len(obs), height, k, width * k, *obs.shape[3:])
        x = sum(x[:, :, i] for i in range(1, k)) + x[:, :, 0]
        x = x.reshape(len(obs), height, width, k, *obs.shape[3:])
        x = sum(x[:, :, :, i] for i in range(1, k)) + x[:, :, :, 0]
        return x if kind == jnp.uint8 else (x // k**2).astype(jnp.uint8)


@dataclass(frozen=True)
class ActionSpec:
    """What a policy decides.

    Attributes:
        size: Number of choices, or of components where `continuous`.
        continuous: Whether an action is float32[size] rather than one of `size` choices.
        low: Least value of each component; `None` for choices.
        high: Greatest value of each component; `None` for choices.
        shown: Whether the first `size` entries of an observation are 1 where a choice is legal and
            0 elsewhere; no other choice is then made.
    """

    size: int
    continuous: bool = False
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    shown: bool = False

    @property
    def distribution(self) -> type[Distribution]:
        """The class of the policy's distributions."""
        return DiagonalGaussian if self.continuous else Categorical

    def noise(self, key: Array, shape: tuple[int, ...]) -> Array:
        """Draw the noise of actions of a batch shape, see `Categorical.noise`."""
        return self.distribution.noise(key, shape, self.size)


NEVER = 40.0
"""How far below the likeliest choice the logits of choices lie that are not legal."""


def permitted(logits: Array, legal: Array) -> Array:
    """Make choices that are not legal as unlikely as makes no difference.

    Args:
        logits: float32[k, ...].
        legal: bool[..., k], with at least one true in each row.

    Returns:
        float32[k, ...], finite, so that rounding never makes an infinite loss.
    """
    legal = jnp.moveaxis(legal, -1, 0)
    highest = jnp.max(jnp.where(legal, logits, -jnp.inf), axis=0)
    return jnp.where(legal, logits, jax.lax.stop_gradient(highest) - NEVER)


def _linear(inputs: int, outputs: int, scale: float, rngs: nnx.Rngs) -> nnx.Linear:
    """Return a dense layer with orthogonal weights and a bias of zero."""
    start = nnx.initializers.orthogonal(scale)
    return nnx.Linear(inputs, outputs, kernel_init=start, rngs=rngs)


class Heads(nnx.Module):
    """The last layer: outputs from the same features, such as policy and value, in one product.

    The kernel has a row an output and the result an axis of outputs in front, because both the
    gradient of the product and the arithmetic of distributions are then over long rows; the usual
    layout is several times slower on a CPU.

    Args:
        inputs: Number of features.
        parts: For each output or group of them how many there are, and the scale of their first
            weights.
        rngs: Where those come from.
    """

    def __init__(self, inputs: int, parts: Sequence[tuple[int, float]], rngs: nnx.Rngs) -> None:
        start = nnx.initializers.orthogonal
        rows = [start(scale)(rngs.params(), (outputs, inputs)) for outputs, scale in parts]
        self.kernel = nnx.Param(jnp.concatenate(rows))
        self.bias = nnx.Param(jnp.zeros(len(self.kernel[...])))

    def __call__(self, x: Array) -> Array:
        """Map float32[..., inputs] to float32[outputs, ...]."""
        out = jax.lax.dot_general(x, self.kernel[...], (((x.ndim - 1,), (1,)), ((), ())))
        return jnp.moveaxis(out + self.bias[...], -1, 0)


class Mlp(nnx.Module):
    """Dense layers over a flat observation."""

    def __init__(self, inputs: int, config: Config, rngs: nnx.Rngs) -> None:
        sizes = (inputs, *config.hidden)
        pairs = pairwise(sizes)
        self.layers = nnx.List([_linear(a, b, math.sqrt(2), rngs) for a, b in pairs])
        self.activation = config.activation
        self.outputs = sizes[-1]

    def __call__(self, x: Array) -> Array:
        """Map float32[n, inputs] to float32[n, outputs]."""
        for layer in self.layers:
            x = ACTIVATIONS[self.activation](layer(x))
        return x


class Cnn(nnx.Module):
    """Convolutions over a picture, then dense layers.

    Each convolution looks at blocks that do not overlap, of side 4 first and 2 afterwards. So it is
    one product of matrices, which a CPU does several times faster than convolutions that overlap.
    """

    def __init__(self, shape: tuple[int, ...], config: Config, rngs: nnx.Rngs) -> None:
        height, width = shape[:2]
        depth = shape[2] if len(shape) == 3 else 1
        self.activation = config.activation
        self.sides = tuple(4 if i == 0 else 2 for i in range(len(config.channels)))
        layers = []
        for side, outputs in zip(self.sides, config.channels, strict=True):
            layers.append(_linear(side * side * depth, outputs, math.sqrt(2), rngs))
            height, width, depth = -(-height // side), -(-width // side), outputs
        self.layers = nnx.List(layers)
        self.dense = Mlp(height * width * depth, config, rngs)
        self.outputs = self.dense.outputs

    def __call__(self, x: Array) -> Array:
        """Map float32[n, height, width, depth] to float32[n, outputs]."""
        for side, layer in zip(self.sides, self.layers, strict=True):
            n, height, width, depth = x.shape
            rows, columns = -(-height // side), -(-width // side)
            margins = ((0, 0), (0, rows * side - height), (0, columns * side - width), (0, 0))
            x = jnp.pad(x, margins).reshape(n, rows, side, columns, side, depth)
            x = x.transpose(0, 1, 3, 2, 4, 5).reshape(n, rows, columns, side * side * depth)
            x = ACTIVATIONS[self.activation](layer(x))
        return self.dense(x.reshape(x.shape[0], -1))


class Lstm(nnx.Module):
    """Long short-term memory; its carry is ``(h, c)``, both float32[n, size].

    Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997, with a forget gate.
    """

    gates = 4

    def __init__(self, inputs: int, size: int, rngs: nnx.Rngs) -> None:
        self.memory_sizes = (size, size)
        self.entry = _linear(inputs, self.gates * size, 1.0, rngs)
        start = nnx.initializers.orthogonal()
        self.memory = nnx.Linear(
            size, self.gates * size, use_bias=False, kernel_init=start, rngs=rngs
        )

    def __call__(self, entry: Array, carry: Carry) -> tuple[Array, Carry]:
        """Advance by one moment.

        Args:
            entry: float32[n, 4 size], what ``self.entry`` made of the input.
            carry: The memory.

        Returns:
            Output float32[n, size] and the memory after it.
        """
        h, c = carry
        keep_in, keep, new, out = jnp.split(entry + self.memory(h), 4, axis=-1)
        c = jax.nn.sigmoid(keep) * c + jax.nn.sigmoid(keep_in) * jnp.tanh(new)
        h = jax.nn.sigmoid(out) * jnp.tanh(c)
        return h, (h, c)


class Gru(nnx.Module):
    """Gated recurrent unit; its carry is ``(h,)``, float32[n, size].

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014, with the
    reset gate after the product, as in cuDNN and PyTorch.
    """

    gates = 3

    def __init__(self, inputs: int, size: int, rngs: nnx.Rngs) -> None:
        self.memory_sizes = (size,)
        self.entry = _linear(inputs, self.gates * size, 1.0, rngs)
        start = nnx.initializers.orthogonal()
        self.memory = nnx.Linear(size, self.gates * size, kernel_init=start, rngs=rngs)

    def __call__(self, entry: Array, carry: Carry) -> tuple[Array, Carry]:
        """Advance by one moment; as `Lstm.__call__`, with `entry` float32[n, 3 size]."""
        (h,) = carry
        reset_in, update_in, new_in = jnp.split(entry, 3, axis=-1)
        reset_h, update_h, new_h = jnp.split(self.memory(h), 3, axis=-1)
        update = jax.nn.sigmoid(update_in + update_h)
        new = jnp.tanh(new_in + jax.nn.sigmoid(reset_in + reset_h) * new_h)
        h = update * h + (1 - update) * new
        return h, (h,)


class ActorCritic(nnx.Module):
    """A policy and a value that share everything but their last layer, or nothing.

    The policy's last weights start small, so that all actions are about equally likely.

    Args:
        obs: What it looks at.
        action: What it decides.
        config: Names the kind, the sizes and the activation.
        rngs: Where the initial weights come from.

    Raises:
        ConfigError: The kind does not fit the observation.
    """

    def __init__(self, obs: ObsSpec, action: ActionSpec, config: Config, rngs: nnx.Rngs) -> None:
        self.obs = obs
        self.action = action
        size = config.hidden[-1] if config.recurrent else 0
        if config.network == "cnn" and not obs.is_image:
            raise ConfigError(
                f'network: "cnn" needs pictures, got observations of shape {obs.shape}'
            )
        self.trunk = self._trunk(config, rngs)
        cells: dict[str, type[Lstm | Gru]] = {"lstm": Lstm, "gru": Gru}
        cell = cells.get(config.network)
        self.cell: Lstm | Gru | None = (
            None if cell is None else cell(self.trunk.outputs, size, rngs)
        )
        features = size or self.trunk.outputs
        policy, value = (action.size, 0.01), (1, 1.0)
        apart = config.separate_value
        self.heads = Heads(features, [policy] if apart else [policy, value], rngs)
        self.value_trunk = self._trunk(config, rngs) if apart else None
        self.value_head = Heads(features, [value], rngs) if apart else None
        start = jnp.full(action.size, math.log(config.initial_std), jnp.float32)
        self.log_std = nnx.Param(start) if action.continuous else None
        self.normalizer = Normalizer(obs.shape) if config.normalize_observations else None

    def _trunk(self, config: Config, rngs: nnx.Rngs) -> Mlp | Cnn:
        if self.obs.is_image and config.network != "mlp":
            return Cnn(self.obs.kept_shape, config, rngs)
        return Mlp(math.prod(self.obs.kept_shape), config, rngs)

    def step(self, obs: Array, carry: Carry) -> tuple[Distribution, Array, Carry]:
        """Look at one moment.

        Args:
            obs: [n, ...] observations as `ObsSpec.look` keeps them.
            carry: The memory before it.

        Returns:
            The distribution of the next action, the value float32[n], and the memory after it.
        """
        seen = self._seen(obs)
        x = self.trunk(seen)
        if self.cell is not None:
            x, carry = self.cell(self.cell.entry(x), carry)
        return *self._heads(x, seen, obs), carry

    def unroll(self, obs: Array, carry: Carry, restart: Array) -> tuple[Distribution, Array]:
        """Look at sequences.

        Args:
            obs: [t, n, ...] observations, likewise.
            carry: The memory before the first of them.
            restart: bool[t, n], where an episode begins: the memory is emptied before it.

        Returns:
            Distributions and values of shape [t, n].
        """
        t, n = obs.shape[:2]
        seen = self._seen(obs.reshape(t * n, *obs.shape[2:]))
        x = self.trunk(seen)
        if self.cell is not None:
            cell = self.cell
            entries = cell.entry(x).reshape(t, n, -1)

            def advance(carry: Carry, moment: tuple[Array, Array]) -> tuple[Carry, Array]:
                entry, begins = moment
                h, carry = cell(entry, emptied(carry, begins))
                return carry, h

            _, hs = jax.lax.scan(advance, carry, (entries, restart))
        else:
            hs = x.reshape(t, n, -1)
        return self._heads(hs, seen, obs)

    def _seen(self, obs: Array) -> Array:
        """Return observations as a trunk takes them: numbers of about 1, flat or as pictures."""
        x = obs.astype(jnp.float32)
        if self.obs.dtype == "uint8":
            x = x * (1 / self.obs.kept_high)
        if self.normalizer is not None:
            x = self.normalizer(x)
        if isinstance(self.trunk, Cnn):
            return x if x.ndim == 4 else x[..., None]
        return x.reshape(x.shape[0], -1)

    def _heads(self, x: Array, seen: Array, obs: Array) -> tuple[Distribution, Array]:
        """Return distributions and values of features [..., size] of what was seen."""
        out = self.heads(x)
        if self.value_trunk is None or self.value_head is None:
            out, value = out[:-1], out[-1]
        else:
            value = self.value_head(self.value_trunk(seen))[0].reshape(x.shape[:-1])
        if self.log_std is not None:
            return DiagonalGaussian(jnp.moveaxis(out, 0, -1), self.log_std[...]), value
        if self.action.shown:
            out = permitted(out, obs[..., : self.action.size] > 0)
        return Categorical.of(out), value


def emptied(carry: Carry, where: Array) -> Carry:
    """Return the memory with the rows of a mask bool[n] set to zero."""
    return jax.tree.map(lambda leaf: jnp.where(where[:, None], 0.0, leaf), carry)


@dataclass(frozen=True)
class Policy:
    """A network taken apart into structure and parameters, as pure functions of the parameters.

    Attributes:
        graph: The structure, hashable.
        obs: What it looks at.
        action: What it decides.
        memory: Sizes of the arrays of its memory; empty without one.
        normalized: Whether it measures observations, see `Config.normalize_observations`.
    """

    graph: nnx.GraphDef[ActorCritic]
    obs: ObsSpec
    action: ActionSpec
    memory: tuple[int, ...]
    normalized: bool = False

    @property
    def recurrent(self) -> bool:
        """Whether it has a memory."""
        return bool(self.memory)

    def initial(self, n: int) -> Carry:
        """Return the memory of n beginnings."""
        return tuple(jnp.zeros((n, size)) for size in self.memory)

    def step(self, params: Params, obs: Array, carry: Carry) -> tuple[Distribution, Array, Carry]:
        """Look at one moment, see `ActorCritic.step`."""
        return nnx.merge(self.graph, params).step(obs, carry)

    def unroll(
        self, params: Params, obs: Array, carry: Carry, restart: Array
    ) -> tuple[Distribution, Array]:
        """Look at sequences, see `ActorCritic.unroll`."""
        return nnx.merge(self.graph, params).unroll(obs, carry, restart)

    def observed(
        self, params: Params, obs: Array, weight: Array | None, axis_name: str | None
    ) -> Params:
        """Take an iteration's observations into account for those that follow.

        Args:
            params: The parameters.
            obs: [t, n, ...], of this device.
            weight: As for `hybridenv.train.normalize.measured`.
            axis_name: As there.

        Returns:
            The same parameters but for what is measured of observations; the same altogether where
            nothing is.
        """
        if not self.normalized:
            return params
        network = nnx.merge(self.graph, params)
        if network.normalizer is not None:
            network.normalizer.see(measured(obs, weight, axis_name))
        return nnx.state(network, nnx.Param)


def build(
    obs: ObsSpec, action: ActionSpec, config: Config
) -> tuple[Policy, Callable[[Array], Params]]:
    """Return a run's network as pure functions, and what makes its first parameters from a key.

    Args:
        obs: What it looks at.
        action: What it decides.
        config: The run.

    Raises:
        ConfigError: The kind does not fit the observation.
    """

    def make(key: Array) -> ActorCritic:
        return ActorCritic(obs, action, config, nnx.Rngs(params=key))

    if config.shrink > 1:
        if not obs.is_image or obs.dtype != "uint8":
            raise ConfigError(
                f"shrink: got {config.shrink} for observations {obs.dtype}{list(obs.shape)}, "
                "expected 1: only pictures of uint8 can shrink"
            )
        obs = replace(obs, shrink=config.shrink)
    if config.normalize_observations and obs.dtype == "uint8":
        raise ConfigError(
            f"normalize_observations: got true for observations {obs.dtype}{list(obs.shape)}, "
            "expected false: bytes are divided by their largest value already"
        )
    shapes = nnx.eval_shape(lambda: make(jax.random.key(0)))
    memory = () if shapes.cell is None else shapes.cell.memory_sizes
    policy = Policy(nnx.graphdef(shapes), obs, action, tuple(memory), config.normalize_observations)
    return policy, lambda key: nnx.state(make(key), nnx.Param)


def count(params: Params) -> int:
    """Return the number of parameters."""
    return sum(leaf.size for leaf in jax.tree.leaves(params))
