"""A random walk that conforms to the contract of `hybridenv.envs`, with flaws to order."""

from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces as gymnasium_spaces
from jax import Array

from hybridenv.envs import Box, ChanceEnvironment, Discrete

LENGTH = 9


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Params:
    stride: Any = 1.0


@jax.tree_util.register_dataclass
@dataclass
class MutableParams:
    stride: Any = 1.0


@dataclass(frozen=True)
class UnknownParams:
    stride: Any = 1.0


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class StaticParams:
    stride: Any = 1.0
    length: int = field(default=LENGTH, metadata={"static": True})


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    place: Any
    age: Any


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class TwofoldState(State):
    again: Any = None


@jax.tree_util.register_dataclass
@dataclass
class MutableState:
    place: Any
    age: Any


@dataclass(frozen=True)
class UnknownState:
    place: Any
    age: Any


class Walk(ChanceEnvironment[Any, Any]):
    """A walk to the left (0), right (2) or neither (1), and by chance, of `LENGTH` steps.

    A flaw is a name from `FLAWS` in the tests, or none.
    """

    def __init__(self, flaw: str = "") -> None:
        self.flaw = flaw
        self.calls = 0

    @property
    def name(self) -> str:
        return "walk"

    @property
    def default_params(self) -> Any:
        kinds = {
            "parameters that can be changed": MutableParams,
            "parameters unknown to JAX": UnknownParams,
            "static parameters": StaticParams,
        }
        return kinds.get(self.flaw, Params)()

    def observation_space(self, params: Any) -> Any:
        if self.flaw == "a space of Gymnasium":
            return gymnasium_spaces.Discrete(3)
        if self.flaw == "spaces change":
            self.calls += 1
            return Box(-self.calls - 999, 999, (2,))
        return Box(-999, 999, (2,))

    def action_space(self, params: Any) -> Any:
        return Box(0, 2, (1,)) if self.flaw == "legal actions of a box" else Discrete(3)

    def reset_draws(self, key: Array, params: Any, shape: tuple[int, ...] = ()) -> Any:
        if self.flaw == "draws ignore their shape":
            shape = ()
        if self.flaw == "the key has no effect":
            return jnp.zeros(shape)
        return jax.random.uniform(key, shape)

    step_draws = reset_draws

    def reset_with(self, draws: Any, params: Any) -> Any:
        if self.flaw == "reset raises":
            raise ZeroDivisionError("no start")
        kinds = {"state that can be changed": MutableState, "state unknown to JAX": UnknownState}
        age: Any = jnp.zeros((), jnp.int32)
        if self.flaw == "a Python number in the state":
            age = 0
        state: Any = kinds.get(self.flaw, State)(draws, age)
        if self.flaw == "state is a dict":
            state = {"place": draws, "age": age}
        if self.flaw == "one array twice in the state":
            state = TwofoldState(draws, age, draws)
        obs = self.observe(state, params)
        return obs if self.flaw == "reset returns no state" else (obs, state)

    def restart_with(self, draws: Any, state: Any, params: Any) -> Any:
        if self.flaw == "never restarts":
            return self.observe(state, params), state
        return self.reset_with(draws, params)

    def observe(self, state: Any, params: Any) -> Any:
        if self.flaw == "state is a dict":
            state = State(**state)
        obs = jnp.stack((state.place, jnp.float32(state.age)))
        late = state.age > 6
        if self.flaw == "observation not a number":
            obs = jnp.where(late, jnp.nan, obs)
        if self.flaw == "observation outside of its space":
            obs = jnp.where(late, 1001.0, obs)
        return obs.astype(jnp.int32) if self.flaw == "observation of integers" else obs

    def step_with(self, draws: Any, state: Any, action: Any, params: Any) -> Any:
        return self.spoil(*self.plain_step(draws, state, action, params))

    def plain_step(self, draws: Any, state: Any, action: Any, params: Any) -> Any:
        if self.flaw == "a branch of Python" and action == 0:
            draws = draws + 1
        if self.flaw == "chance outside of the keys":
            draws = draws + np.random.default_rng().random(dtype=np.float32)
        if self.flaw in ("counts its calls", "plays by its calls"):
            self.calls += 1
        if self.flaw == "plays by its calls":
            draws = draws + self.calls
        if self.flaw == "compiled games differ" and isinstance(draws, jax.core.Tracer):
            draws = draws + 1
        if self.flaw == "games mix":
            draws = jax.pure_callback(
                lambda x: np.full_like(x, x.mean()), draws, draws, vmap_method="broadcast_all"
            )
        push = draws + action.astype(jnp.float32) - 1
        if self.flaw == "legal actions of a box":
            push = draws
        state = replace(state, place=state.place + push * params.stride, age=state.age + 1)
        if self.flaw == "state changes its dtype":
            state = replace(state, age=state.age.astype(jnp.int16))
        if self.flaw == "state of a weak dtype":
            state = replace(state, place=jnp.asarray(1.5) * 1)
        obs = self.observe(state, params)
        reward = push.astype(jnp.float32)
        terminated = state.age >= (10**9 if self.flaw == "never ends" else LENGTH)
        return obs, state, reward, terminated, jnp.zeros((), jnp.bool_), {"age": state.age}

    def spoil(
        self, obs: Any, state: Any, reward: Any, terminated: Any, truncated: Any, info: Any
    ) -> Any:
        late = state.age > 6 if not isinstance(state, dict) else False
        match self.flaw:
            case "five results":
                return obs, state, reward, terminated, info
            case "reward of integers":
                reward = reward.astype(jnp.int32)
            case "reward with an axis":
                reward = reward[None]
            case "flag of a number":
                terminated = terminated.astype(jnp.float32)
            case "flag of Python":
                truncated = 0
            case "reward not a number":
                reward = jnp.where(late, jnp.nan, reward)
            case "observation of the step before":
                obs = obs - 1
            case "info is a list":
                info = [info]
            case "info comes and goes":
                info = info if int(state.age) % 2 else {}
        return obs, state, reward, terminated, truncated, info

    def step(self, key: Any, state: Any, action: Any, params: Any) -> Any:
        if self.flaw == "step draws another way":
            key = jax.random.split(key)[0]
        return super().step(key, state, action, params)

    def legal_actions(self, state: Any, params: Any) -> Any:
        match self.flaw:
            case "nothing is legal":
                return jnp.arange(3) + state.age * 0 > jnp.where(state.age > 6, 9, 0)
            case "legal actions of another number":
                return jnp.ones(4, jnp.bool_)
            case "legal actions of numbers":
                return jnp.ones(3)
            case "legal actions of a box":
                return jnp.ones(1, jnp.bool_)
            case "shows legal actions without any":
                return None
        return (jnp.arange(3) != 0) | (state.place > -9)

    @property
    def shows_legal_actions(self) -> bool:
        return self.flaw.startswith("shows")

    def score(self, reward: Any) -> Any:
        match self.flaw:
            case "score of another kind":
                return jnp.round(reward).astype(jnp.int32)
            case "score of many together":
                return reward - reward.mean() if reward.ndim else reward
        return super().score(reward)


class Shown(Walk):
    """Begins its observations with what is legal, and counts whole steps to the right."""

    shows_legal_actions = True

    def observation_space(self, params: Any) -> Any:
        return Box(-999, 999, (5,))

    def legal_actions(self, state: Any, params: Any) -> Any:
        return (jnp.arange(3) != 0) | (state.place > 0)

    def observe(self, state: Any, params: Any) -> Any:
        legal = self.legal_actions(state, params).astype(jnp.float32)
        wrong = self.flaw == "shows other legal actions"
        return jnp.concatenate((1 - legal if wrong else legal, super().observe(state, params)))

    def score(self, reward: Any) -> Any:
        return jnp.trunc(reward)


class Plain:
    """The same without chance apart and without anything optional: what a third party may have."""

    name = "plain"
    default_params = Params()

    def __init__(self) -> None:
        self.walk = Walk()

    def reset(self, key: Array, params: Params) -> Any:
        return self.walk.reset(key, params)

    def step(self, key: Array, state: State, action: Array, params: Params) -> Any:
        return self.walk.step(key, state, action, params)

    def observe(self, state: State, params: Params) -> Any:
        return self.walk.observe(state, params)

    def observation_space(self, params: Params) -> Box:
        return Box(-99, 99, (2,))

    def action_space(self, params: Params) -> Discrete:
        return Discrete(3)
