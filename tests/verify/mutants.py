"""Faults by hand in three environments and a vector of them, and the level that finds each.

The level is the lowest of 0 to 3 that can see the fault; `docs/verify.md` has the table.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from hypothesis import strategies as st
from jax import Array
from tests.verify.cartpole import Cart
from tests.verify.courier import LIMIT, SIZE, Courier, Diligent
from tests.verify.mountain import MountainCar, Rocking
from tests.verify.vector_cart import LANES, Carts

from hybridenv.verify import Property, by_policy


@dataclass(frozen=True)
class Pairing:
    """A reference, and how candidates are compared with it."""

    name: str
    reference: Any
    sound: Callable[[], Any]
    options: dict[str, Any] = field(default_factory=dict)


class Balancing:
    """A policy that keeps the pole up for 500 steps."""

    def act(self, obs: Any, key: int) -> int:
        return int(obs[2] + 0.35 * obs[3] + 0.04 * obs[0] + 0.08 * obs[1] > 0)


class Leaving(Balancing):
    """A policy that balances and goes off to the left."""

    def act(self, obs: Any, key: int) -> int:
        return super().act(obs + np.array([2.6, 0, 0, 0]), key)


def _move(make: Callable[[], Cart]) -> Callable[..., Any]:
    def move(state: Any, action: int) -> Any:
        cart = make()
        cart.state = np.array(state)
        return cart.move(float(cart.force(action)))

    return move


_cart_states = st.tuples(st.tuples(*(st.floats(-2.0, 2.0) for _ in range(4))), st.integers(0, 1))


def cart_property(make: Callable[[], Cart]) -> Property:
    """Property of level 1: a step of the dynamics from any state."""
    return Property("dynamics", _move(Cart), _move(make), _cart_states)


CARTPOLE = Pairing(
    "CartPole",
    "gym:CartPole-v1",
    Cart,
    {
        "actions": [
            "uniform",
            by_policy(Balancing(), "balancing"),
            by_policy(Leaving(), "leaving"),
        ]
    },
)
MOUNTAIN = Pairing(
    "MountainCar",
    "gym:MountainCar-v0",
    MountainCar,
    {
        "chance": "inject",
        "tol": {"obs": 2e-4},
        "actions": ["uniform", by_policy(Rocking(), "rocking")],
    },
)
COURIER = Pairing(
    "Courier",
    Courier,
    Courier,
    {"chance": "tape", "actions": ["mask", by_policy(Diligent(), "diligent")]},
)
VECTOR = Pairing("CartPole, four lanes", "gym:CartPole-v1", Carts, {})


@dataclass(frozen=True)
class Mutant:
    """A fault."""

    pairing: Pairing
    fault: str
    level: int
    make: Callable[[], Any]
    properties: tuple[Property, ...] = ()


MUTANTS: list[Mutant] = []


def mutant(pairing: Pairing, fault: str, level: int, **more: Any) -> Callable[[Any], Any]:
    def add(cls: Any) -> Any:
        if pairing is CARTPOLE and level == 1:
            more["properties"] = (cart_property(cls),)
        MUTANTS.append(Mutant(pairing, fault, level, cls, **more))
        return cls

    return add


# -- CartPole in NumPy -----------------------------------------------------------------------------


@mutant(CARTPOLE, "observations are float64", 0)
class Float64(Cart):
    def look(self) -> Any:
        return self.state.copy()


@mutant(CARTPOLE, "a third action", 0)
class ThirdAction(Cart):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Discrete(3)


@mutant(CARTPOLE, "the seed is ignored", 0)
class NoSeed(Cart):
    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return super().reset(seed=None)


@mutant(CARTPOLE, "narrower bounds of observations", 0)
class Narrow(Cart):
    def __init__(self) -> None:
        super().__init__()
        space = self.observation_space
        self.observation_space = spaces.Box(space.low / 2, space.high / 2, dtype=np.float32)


@mutant(CARTPOLE, "wrong sign of gravity", 1)
class Gravity(Cart):
    def move(self, force: float) -> Any:
        self.state[2] = -self.state[2]
        return super().move(force)


@mutant(CARTPOLE, "the pole's mass is left out", 1)
class Massless(Cart):
    def move(self, force: float) -> Any:
        return super().move(force * 1.1)


@mutant(CARTPOLE, "single precision inside", 1)
class Single(Cart):
    def move(self, force: float) -> Any:
        return super().move(force).astype(np.float32).astype(np.float64)


@mutant(CARTPOLE, "both pushes are swapped", 1)
class Swapped(Cart):
    def force(self, action: Any) -> float:
        return -super().force(action)


@mutant(CARTPOLE, "every seeded start comes from the same key", 2)
class ReusedKey(Cart):
    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.first = seed if seed is not None else getattr(self, "first", 0)
        return super().reset(seed=self.first)


@mutant(CARTPOLE, "the reward comes a step late", 2)
class LateReward(Cart):
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, _, terminated, truncated, info = super().step(action)
        return obs, float(self.steps > 1), terminated, truncated, info


@mutant(CARTPOLE, "the cart may leave on the left", 3)
class OpenLeft(Cart):
    def fallen(self) -> bool:
        x, _, angle, _ = self.state
        return bool(x > 2.4 or abs(angle) > 12 * np.pi / 180 + 0.0 * x)


@mutant(CARTPOLE, "truncated one step early", 3)
class Early(Cart):
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, _, info = super().step(action)
        return obs, reward, terminated, self.steps >= 499, info


@mutant(CARTPOLE, "never truncated", 3)
class Endless(Cart):
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, _, info = super().step(action)
        return obs, reward, terminated, False, info


# -- MountainCar in JAX ----------------------------------------------------------------------------


@mutant(MOUNTAIN, "one end instead of the other", 2)
class Confused(MountainCar):
    def step(self, key: Array, state: Any, action: Array, params: None) -> Any:
        obs, state, reward, terminated, truncated, info = super().step(key, state, action, params)
        return obs, state, reward, truncated, terminated, info


@mutant(MOUNTAIN, "wrong sign of the slope", 2)
class Uphill(MountainCar):
    def drive(self, position: Array, velocity: Array, action: Array) -> tuple[Array, Array]:
        velocity = velocity + 2 * jnp.cos(3 * position) * 0.0025
        return super().drive(position, velocity, action)  # type: ignore[no-any-return]


@mutant(MOUNTAIN, "actions count from one", 2)
class OneBased(MountainCar):
    def drive(self, position: Array, velocity: Array, action: Array) -> tuple[Array, Array]:
        return super().drive(position, velocity, action + 1)  # type: ignore[no-any-return]


@mutant(MOUNTAIN, "truncated one step late", 2)
class OneMore(MountainCar):
    def late(self, elapsed: Array) -> Array:
        return elapsed >= 201


@mutant(MOUNTAIN, "no penalty where it arrives", 3)
class FreeArrival(MountainCar):
    def reward(self, done: Array) -> Array:
        return jnp.where(done, 0.0, -1.0)


@mutant(MOUNTAIN, "the goal is a little further", 3)
class Further(MountainCar):
    def arrived(self, position: Array, velocity: Array) -> Array:
        return position >= 0.55


@mutant(MOUNTAIN, "the left wall does not stop the car", 3)
class Bouncy(MountainCar):
    def drive(self, position: Array, velocity: Array, action: Array) -> tuple[Array, Array]:
        velocity = velocity + (action - 1) * 0.001 + jnp.cos(3 * position) * -0.0025
        velocity = jnp.clip(velocity, -0.07, 0.07)
        return jnp.clip(position + velocity, -1.2, 0.6), velocity


# -- Courier ---------------------------------------------------------------------------------------


@mutant(COURIER, "place and parcel are swapped", 2)
class Mirrored(Courier):
    def look(self) -> dict[str, Any]:
        seen = super().look()
        return {**seen, "place": seen["parcel"], "parcel": seen["place"]}


@mutant(COURIER, "up and down are swapped", 2)
class UpsideDown(Courier):
    def move(self, action: int) -> None:
        super().move({0: 2, 2: 0}.get(action, action))


@mutant(COURIER, "the mask is that of the step before", 2)
class StaleMask(Courier):
    def begin(self) -> None:
        super().begin()
        self.before: Any = None

    def action_mask(self) -> Any:
        fresh = super().action_mask()
        stale = fresh if self.before is None else self.before
        self.before = fresh
        return stale


@mutant(COURIER, "the mask allows walking into the wall", 2)
class LooseMask(Courier):
    def action_mask(self) -> Any:
        mask = super().action_mask()
        mask[3] = True
        return mask


@mutant(COURIER, "an info has another name", 2)
class OtherName(Courier):
    def info(self) -> dict[str, Any]:
        return {"parcel": self.parcels}


@mutant(COURIER, "the info counts one too many", 2)
class OneTooMany(Courier):
    def info(self) -> dict[str, Any]:
        return {"parcels": self.parcels + (self.parcels > 0)}


@mutant(COURIER, "fuel is kept over a reset", 2)
class OldFuel(Courier):
    def begin(self) -> None:
        fuel = getattr(self, "fuel", None)
        super().begin()
        if fuel is not None and fuel > 0:
            self.fuel = fuel


@mutant(COURIER, "rows and columns of a parcel are swapped", 2)
class Transposed(Courier):
    def new_parcel(self) -> None:
        self.parcel = np.array(divmod(self.draw(), SIZE)[::-1], np.int64)


@mutant(COURIER, "the score wraps at 256", 3)
class Overflow(Courier):
    def pay(self) -> float:
        reward = super().pay()
        self.score %= 256
        return reward


@mutant(COURIER, "terminated and truncated at once", 3)
class BothEnds(Courier):
    def ends(self) -> tuple[bool, bool]:
        late = self.steps >= LIMIT
        return self.fuel <= 0 or late, late


@mutant(COURIER, "the tank has no lid", 3)
class NoLid(Courier):
    def pay(self) -> float:
        full = self.fuel
        reward = super().pay()
        if self.parcels > 20:
            self.fuel = full + 8
        return reward


# -- lanes of a vector -----------------------------------------------------------------------------


@mutant(VECTOR, "the neighbour of an ended lane restarts", 3)
class WrongLane(Carts):
    def restart(self, lane: int) -> None:
        super().restart((lane + 1) % LANES)


@mutant(VECTOR, "lane 2 begins where lane 1 does", 3)
class SharedKey(Carts):
    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if isinstance(seed, list):
            seed = [*seed[:2], seed[1], *seed[3:]]
        return super().reset(seed=seed, options=options)


@mutant(VECTOR, "the last lane's action is the first one's", 3)
class OneAction(Carts):
    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        return super().step(np.array([*actions[:-1], actions[0]]))
