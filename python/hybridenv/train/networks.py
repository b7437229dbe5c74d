"""Actor-critic networks: a trunk for vectors or pictures, optionally a memory, and two heads.

Every network has the same two calls, so that the training loops need not know which it is:
``step`` for one moment of a batch and ``unroll`` for whole sequences, from the same parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array

from hybridenv.errors import ConfigError
from hybridenv.train.config import Config
from hybridenv.train.distributions import Categorical, DiagonalGaussian, Distribution

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
        dtype: Its type; ``"uint8"`` means a picture, which is divided by `high`.
        high: Largest value of a picture.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    high: float = 255.0

    @property
    def is_image(self) -> bool:
        """Whether an observation is a picture: height, width, and maybe channels."""
        return len(self.shape) in (2, 3)


@dataclass(frozen=True)
class ActionSpec:
    """What a policy decides.

    Attributes:
        size: Number of choices, or of components where `continuous`.
        continuous: Whether an action is float32[size] rather than one of `size` choices.
        low: Least value of each component; `None` for choices.
        high: Greatest value of each component; `None` for choices.
    """

    size: int
    continuous: bool = False
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None

    @property
    def distribution(self) -> type[Distribution]:
        """The class of the policy's distributions."""
        return DiagonalGaussian if self.continuous else Categorical

    def noise(self, key: Array, shape: tuple[int, ...]) -> Array:
        """Draw the noise of actions of a batch shape, see `Categorical.noise`."""
        return self.distribution.noise(key, shape, self.size)


def _linear(inputs: int, outputs: int, scale: float, rngs: nnx.Rngs) -> nnx.Linear:
    """Return a dense layer with orthogonal weights and a bias of zero."""
    start = nnx.initializers.orthogonal(scale)
    return nnx.Linear(inputs, outputs, kernel_init=start, rngs=rngs)


class Heads(nnx.Module):
    """The last layer: policy and value from the same features, in one product.

    The kernel has a row an output and the result an axis of outputs in front, because both the
    gradient of the product and the arithmetic of distributions are then over long rows; the usual
    layout is several times slower on a CPU. The policy's weights start small, so that all actions
    are about equally likely.
    """

    def __init__(self, inputs: int, outputs: int, rngs: nnx.Rngs) -> None:
        start = nnx.initializers.orthogonal
        actor = start(0.01)(rngs.params(), (outputs, inputs))
        critic = start(1.0)(rngs.params(), (1, inputs))
        self.kernel = nnx.Param(jnp.concatenate([actor, critic]))
        self.bias = nnx.Param(jnp.zeros(outputs + 1))

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Map float32[..., inputs] to the policy's float32[outputs, ...] and the value's [...]."""
        both = jax.lax.dot_general(x, self.kernel[...], (((x.ndim - 1,), (1,)), ((), ())))
        both = jnp.moveaxis(both + self.bias[...], -1, 0)
        return both[:-1], both[-1]


class Mlp(nnx.Module):
    """Dense layers over a flat observation."""

    def __init__(self, inputs: int, config: Config, rngs: nnx.Rngs) -> None:
        sizes = (inputs, *config.hidden)
        pairs = zip(sizes[:-1], sizes[1:], strict=True)
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

    The picture is shrunk by averaging blocks first, which costs next to nothing and keeps what a
    Game Boy's 160 x 144 pixels say.
    """

    def __init__(self, shape: tuple[int, ...], config: Config, rngs: nnx.Rngs) -> None:
        height, width = (-(-side // config.shrink) for side in shape[:2])
        depth = shape[2] if len(shape) == 3 else 1
        self.shrink = config.shrink
        self.activation = config.activation
        layers = []
        for outputs in config.channels:
            if min(height, width) < 3:
                raise ConfigError(
                    f"channels: {len(config.channels)} convolutions over a picture of {shape} "
                    f"shrunk by {config.shrink} leave {height} x {width} pixels, expected at least 3 x 3"
                )
            layers.append(
                nnx.Conv(
                    depth,
                    outputs,
                    (3, 3),
                    strides=2,
                    padding="SAME",
                    kernel_init=nnx.initializers.orthogonal(math.sqrt(2)),
                    rngs=rngs,
                )
            )
            height, width, depth = -(-height // 2), -(-width // 2), outputs
        self.layers = nnx.List(layers)
        self.dense = Mlp(height * width * depth, config, rngs)
        self.outputs = self.dense.outputs

    def __call__(self, x: Array) -> Array:
        """Map float32[n, height, width, depth] to float32[n, outputs]."""
        window = (1, self.shrink, self.shrink, 1)
        x = nnx.avg_pool(x, window[1:3], strides=window[1:3], padding="SAME")
        for layer in self.layers:
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
    """A policy and a value that share everything but their last layer.

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
        size = config.hidden[-1] if config.recurrent else 0
        if config.network == "cnn" and not obs.is_image:
            raise ConfigError(
                f'network: "cnn" needs pictures, got observations of shape {obs.shape}'
            )
        self.trunk: Mlp | Cnn
        if obs.is_image and config.network != "mlp":
            self.trunk = Cnn(obs.shape, config, rngs)
        else:
            self.trunk = Mlp(math.prod(obs.shape), config, rngs)
        cell = {"lstm": Lstm, "gru": Gru}.get(config.network)
        self.cell = None if cell is None else cell(self.trunk.outputs, size, rngs)
        features = size or self.trunk.outputs
        self.heads = Heads(features, action.size, rngs)
        self.log_std = nnx.Param(jnp.zeros(action.size)) if action.continuous else None

    def step(self, obs: Array, carry: Carry) -> tuple[Distribution, Array, Carry]:
        """Look at one moment.

        Args:
            obs: [n, ...] observations.
            carry: The memory before it.

        Returns:
            The distribution of the next action, the value float32[n], and the memory after it.
        """
        x = self._features(obs)
        if self.cell is not None:
            x, carry = self.cell(self.cell.entry(x), carry)
        return *self._heads(x), carry

    def unroll(self, obs: Array, carry: Carry, restart: Array) -> tuple[Distribution, Array]:
        """Look at sequences.

        Args:
            obs: [t, n, ...] observations.
            carry: The memory before the first of them.
            restart: bool[t, n], where an episode begins: the memory is emptied before it.

        Returns:
            Distributions and values of shape [t, n].
        """
        t, n = obs.shape[:2]
        x = self._features(obs.reshape(t * n, *obs.shape[2:]))
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
        return self._heads(hs)

    def _features(self, obs: Array) -> Array:
        x = obs.astype(jnp.float32)
        if self.obs.dtype == "uint8":
            x = x * (1 / self.obs.high)
        if isinstance(self.trunk, Cnn):
            return self.trunk(x if x.ndim == 4 else x[..., None])
        return self.trunk(x.reshape(x.shape[0], -1))

    def _heads(self, x: Array) -> tuple[Distribution, Array]:
        out, value = self.heads(x)
        if self.log_std is not None:
            return DiagonalGaussian(jnp.moveaxis(out, 0, -1), self.log_std[...]), value
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
    """

    graph: nnx.GraphDef[ActorCritic]
    obs: ObsSpec
    action: ActionSpec
    memory: tuple[int, ...]

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

    shapes = nnx.eval_shape(lambda: make(jax.random.key(0)))
    memory = () if shapes.cell is None else shapes.cell.memory_sizes
    policy = Policy(nnx.graphdef(shapes), obs, action, tuple(memory))
    return policy, lambda key: nnx.state(make(key), nnx.Param)


def count(params: Params) -> int:
    """Return the number of parameters."""
    return sum(leaf.size for leaf in jax.tree.leaves(params))
