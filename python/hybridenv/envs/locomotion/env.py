"""What the planar runners share: states, draws, options, observation, reward and time limit.

Source: `HalfCheetahEnv`, `HopperEnv` and `Walker2dEnv` of Gymnasium 1.4.0 (MIT), version 5, whose
options have the same names and defaults here.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hybridenv.checks import choice, flag, real, whole
from hybridenv.envs._contract import ChanceEnvironment, Info
from hybridenv.envs._spaces import Box
from hybridenv.envs.locomotion.render import draw
from hybridenv.envs.planar.model import Model, load
from hybridenv.envs.planar.physics import PhysicsState, advance
from hybridenv.errors import ActionError, ArgumentError, StateError

Precision = Literal["float32", "float64"]

MAX_FRAME_SKIP = 1_000
LONGEST = 2**31 - 1
"""Largest time limit; steps are counted in int32."""
PIXELS = (16, 4_096)
"""Least and greatest side of a picture."""

_steps = jax.jit(advance, static_argnums=(0, 3))
"""The physics, compiled once for calls outside of `jax.jit`; within, it makes no difference."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Params:
    """Nothing: all numbers are options, compiled into the program."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """One body under way.

    Attributes:
        physics: Positions, velocities, and where the solver starts from.
        elapsed: Steps since the episode began, int32[].
    """

    physics: PhysicsState
    elapsed: Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Noise:
    """The chance of a reset, before it is scaled by `reset_noise_scale`.

    Attributes:
        position: float[nq], uniform in [-1, 1).
        velocity: float[nq], uniform likewise or, for HalfCheetah, standard normal.
    """

    position: Array
    velocity: Array


@dataclass(frozen=True, kw_only=True)
class LocomotionEnv(ChanceEnvironment[State, Params]):
    """A body in a vertical plane that is paid for moving forwards; the base of all three.

    Args:
        frame_skip: Physics steps a step, 1 to 1,000.
        forward_reward_weight: Reward of a metre a second.
        ctrl_cost_weight: Cost of the sum of the squares of the action as it was given, before the
            physics limits it.
        reset_noise_scale: How far a body begins from its usual position and rest, at least 0.
        exclude_current_positions_from_observation: Do not show x, which the reward does not depend
            on either.
        time_limit: Truncate an episode after so many steps, as Gymnasium's registered ids do;
            `None` never does.
        dtype: `"float32"`, or `"float64"`, MuJoCo's own, which needs `jax_enable_x64`. States,
            observations and infos have it; rewards are float32 as the contract demands.
        width: Pixels of a picture from left to right, 16 to 4,096.
        height: Pixels from top to bottom, likewise.

    Attributes:
        model: The body.

    Raises:
        ArgumentError: An option is not one of these.
    """

    frame_skip: int
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 1e-3
    reset_noise_scale: float = 5e-3
    exclude_current_positions_from_observation: bool = True
    time_limit: int | None = 1_000
    dtype: Precision = "float32"
    width: int = field(default=480, compare=False)
    height: int = field(default=320, compare=False)

    body: ClassVar[str]
    """Name of the environment and of its model."""

    def __post_init__(self) -> None:
        whole("frame_skip", self.frame_skip, 1, MAX_FRAME_SKIP)
        for name in ("forward_reward_weight", "ctrl_cost_weight"):
            real(name, getattr(self, name))
        real("reset_noise_scale", self.reset_noise_scale, 0.0)
        name = "exclude_current_positions_from_observation"
        flag(name, getattr(self, name))
        if self.time_limit is not None:
            whole("time_limit", self.time_limit, 1, LONGEST)
        choice("dtype", self.dtype, Precision)
        self._check_bits()
        for name in ("width", "height"):
            whole(name, getattr(self, name), *PIXELS)

    # -- what it is ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name for `hybridenv.make`."""
        return self.body

    @property
    def model(self) -> Model:
        """The body: a table of numbers that MuJoCo compiled."""
        return load(self.body)

    @property
    def dt(self) -> float:
        """Seconds a step."""
        return self.model.timestep * self.frame_skip

    @property
    def default_params(self) -> Params:
        """The only parameters."""
        return Params()

    def observation_space(self, params: Params) -> Box:
        """All numbers, `dtype`[2 nq], or one fewer without x."""
        del params
        hidden = int(self.exclude_current_positions_from_observation)
        size = 2 * self.model.nq - hidden
        return Box(-np.inf, np.inf, (size,), np.dtype(self.dtype))

    def action_space(self, params: Params) -> Box:
        """Torques as shares of the motors' greatest, float32[nu] from -1 to 1, as Gymnasium's."""
        del params
        return Box(-1, 1, (self.model.nu,))

    # -- chance --------------------------------------------------------------------------------

    def reset_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> Noise:
        """Draw where bodies begin."""
        del params
        for_position, for_velocity = jax.random.split(key)
        position = self._even(for_position, (*shape, self.model.nq))
        return Noise(position, self._velocities(for_velocity, (*shape, self.model.nq)))

    def step_draws(self, key: Array, params: Params, shape: tuple[int, ...] = ()) -> None:
        """Draw nothing: only beginnings are random."""
        del key, params, shape

    def _velocities(self, key: Array, shape: tuple[int, ...]) -> Array:
        """Draw velocities before they are scaled, `dtype`[*shape]."""
        return self._even(key, shape)

    def _even(self, key: Array, shape: tuple[int, ...]) -> Array:
        return jax.random.uniform(key, shape, self.dtype, -1.0, 1.0)

    # -- play ----------------------------------------------------------------------------------

    def reset_with(self, draws: Noise, params: Params) -> tuple[Array, State]:
        """Start near the usual position, almost at rest.

        Raises:
            ArgumentError: JAX has no 64-bit numbers any more.
        """
        self._check_bits()
        scale = self.reset_noise_scale
        usual = jnp.asarray(self.model.qpos0, self.dtype)
        physics = PhysicsState(
            qpos=usual + scale * jnp.asarray(draws.position, self.dtype),
            qvel=scale * jnp.asarray(draws.velocity, self.dtype),
            warm=jnp.zeros(self.model.nq, self.dtype),
        )
        state = State(physics, jnp.zeros((), jnp.int32))
        return self.observe(state, params), state

    def step_with(
        self, draws: None, state: State, action: Array, params: Params
    ) -> tuple[Array, State, Array, Array, Array, Info]:
        """Play one step.

        Args:
            draws: Nothing.
            state: The state.
            action: float32[nu], also float64 where `dtype` is. Beyond -1 and 1 the motors give no
                more, but the cost goes on rising. A NaN turns all motors off and makes the reward
                NaN. Both are what Gymnasium does.
            params: The only parameters.

        Returns:
            Observation, state, reward, terminated, truncated and info: `dtype`[] each of
            `x_position`, `x_velocity`, `reward_forward` and `reward_ctrl` (and others, see
            `BalanceEnv`). The reward is the sum of those whose names begin with `reward_`.

        Raises:
            ActionError: The action has another shape or dtype.
            StateError: The state belongs to another body or precision.
        """
        del draws
        self._check_state(state)
        action = self._checked(action)
        physics, moved = self._advance(state.physics, action)
        state = State(physics, state.elapsed + 1)
        x_velocity = moved / self.dt
        forward = self.forward_reward_weight * x_velocity
        # In the action's own precision, as NumPy's rules have it in Gymnasium.
        cost = (self.ctrl_cost_weight * jnp.sum(jnp.square(action))).astype(self.dtype)
        extra, terms, terminated = self._judge(physics)
        info: Info = {
            "x_position": physics.qpos[0],
            "x_velocity": x_velocity,
            "reward_forward": forward,
            "reward_ctrl": -cost,
            **extra,
            **terms,
        }
        reward = sum(terms.values(), forward) - cost
        truncated = jnp.zeros((), jnp.bool_)
        if self.time_limit is not None:
            truncated = (state.elapsed >= self.time_limit) & ~terminated
        obs = self.observe(state, params)
        return obs, state, reward.astype(jnp.float32), terminated, truncated, info

    def _judge(self, physics: PhysicsState) -> tuple[Info, Info, Array]:
        """Look at where a step led.

        Returns:
            Further infos, further terms of the reward by name, and whether the episode is over.
        """
        del physics
        return {}, {}, jnp.zeros((), jnp.bool_)

    def observe(self, state: State, params: Params) -> Array:
        """Positions, then velocities: `dtype`[2 nq], or without x one fewer.

        Raises:
            StateError: As `step_with`.
        """
        del params
        self._check_state(state)
        hidden = int(self.exclude_current_positions_from_observation)
        return jnp.concatenate([state.physics.qpos[hidden:], self._seen(state.physics.qvel)])

    def _seen(self, qvel: Array) -> Array:
        """Velocities as they are shown."""
        return qvel

    def _advance(self, before: PhysicsState, action: Array) -> tuple[PhysicsState, Array]:
        """Move on by a step: the physics then, and the metres made, both `dtype`.

        Each step starts at x = 0, where float32 is finest: the floor is the same everywhere, and a
        difference of two places a hundred metres away would cost three digits of the velocity.
        """
        is_x = np.arange(self.model.nq) == 0
        control = jnp.where(jnp.isnan(action).any(), 0, action).astype(self.dtype)
        start = replace(before, qpos=jnp.where(is_x, 0, before.qpos))
        after = _steps(self.model, start, control, self.frame_skip)
        moved = after.qpos[0]
        return replace(after, qpos=after.qpos + jnp.where(is_x, before.qpos[0], 0)), moved

    def _check_bits(self) -> None:
        """Check that JAX has numbers of this precision, now."""
        if jax.dtypes.canonicalize_dtype(self.dtype) != self.dtype:
            raise ArgumentError(
                f"dtype: got {self.dtype!r} while JAX has no 64-bit numbers, expected "
                'jax.config.update("jax_enable_x64", True) before'
            )

    def _checked(self, action: Any) -> Array:
        allowed = {"float32", self.dtype}
        expected = " or ".join(f"{name}[{self.model.nu}]" for name in sorted(allowed))
        try:
            array = jnp.asarray(action)
        except (TypeError, ValueError):  # a text, nothing, rows of different lengths
            raise ActionError(
                f"{self.name} action: got {type(action).__name__}, expected {expected}"
            ) from None
        if array.dtype.name not in allowed or array.shape != (self.model.nu,):
            raise ActionError(
                f"{self.name} action: got {array.dtype}{list(array.shape)}, expected {expected}"
            )
        return array

    def _check_state(self, state: Any) -> None:
        if not isinstance(state, State):
            kind = type(state)
            raise StateError(
                f"{self.name} state: got {kind.__qualname__} of {kind.__module__}, expected a "
                "State, as reset and step return it"
            )
        sizes = {"qpos": self.model.nq, "qvel": self.model.nq, "warm": self.model.nq}
        for name, size in sizes.items():
            got = getattr(state.physics, name)
            if got.shape != (size,) or got.dtype != self.dtype:
                raise StateError(
                    f"{self.name} state: got {name} {got.dtype}{list(got.shape)}, expected "
                    f"{self.dtype}[{size}]: is it of another body or precision?"
                )

    # -- pictures ------------------------------------------------------------------------------

    @property
    def render_fps(self) -> float:
        """Pictures a second of a film in real time."""
        return 1 / self.dt

    def render(self, state: State, params: Params) -> NDArray[np.uint8]:
        """Draw one body outside of JAX, see `render.draw`: uint8[height, width, 3].

        Raises:
            StateError: As `step_with`.
        """
        del params
        self._check_state(state)
        return draw(self.model, np.asarray(state.physics.qpos), self.width, self.height)
