"""Environments of `hybridenv.envs`: pure functions in JAX, whole batches of episodes at once.

The chance of an episode with seed s: the reset draws from `fold_in(key(s), 0)`, step t (from 1)
from `fold_in(key(s), t)`. Two environments of this kind under shared chance draw the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hybridenv.envs import ChanceEnvironment, Environment, with_chance
from hybridenv.errors import TargetError
from hybridenv.trees import leaves
from hybridenv.verify._record import Draws, EnvState, Play, Trajectory
from hybridenv.verify._target import Identity, Offer, Seen, Target

BATCH = 16
"""Episodes played side by side."""
SHORTEST = 64
"""Programs are compiled for lengths that are powers of two from here."""


class FunctionalTarget(Target):
    """An environment written in JAX.

    A state is a dataclass, handed out by the names of its fields. An environment that keeps its
    state in another form than the other side may have `export_state(state, params) -> dict` and
    `import_state(values, state, params) -> state`.

    Args:
        env: The environment, without automatic restarts.
        params: Its parameters; `None` for its own.
        identity: Who it is.
    """

    def __init__(
        self,
        env: Environment[Any, Any] | ChanceEnvironment[Any, Any],
        params: Any,
        identity: Identity,
    ) -> None:
        self.identity = identity
        self.params = env.default_params if params is None else params
        self._plain = env
        self._env = with_chance(env)
        self.observation_space = _gymnasium(env.observation_space(self.params))
        self.action_space = _gymnasium(env.action_space(self.params))
        offers: list[Offer] = []
        if isinstance(env, ChanceEnvironment):
            offers.append("chance")
        self._key = jax.random.key(0)
        self._now = 0
        self._draws: Any = None
        obs_and_state = jax.eval_shape(self._fresh, self._key)
        self._state: Any = None
        if dataclasses.is_dataclass(obs_and_state[1]) or hasattr(env, "import_state"):
            offers.append("state")
        self.lanes = True
        self._lane_keys: Any = None
        self._lane_states: Any = None
        self._lane_step = 0
        self._masked = self._mask_shape(obs_and_state[1]) is not None
        if self._masked:
            offers.append("mask")
        self.offers = frozenset(offers)
        self.batch = BATCH

    def reset(self, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        if seed is not None:
            self._key, self._now = jax.random.key(seed), 0
        draws = self._replayed(_reset_draws(self._env, self._key, self._now, self.params))
        obs, self._state = _reset(self._env, draws, self.params)
        self._now += 1
        return _numpy(obs), {}

    def step(self, action: Any) -> Seen:
        """Play one step."""
        draws = self._replayed(_step_draws(self._env, self._key, self._now, self.params))
        obs, self._state, *rest = _step(
            self._env, draws, self._state, self._cast(action), self.params
        )
        self._now += 1
        reward, terminated, truncated, info = _numpy(rest)
        return _numpy(obs), reward, bool(terminated), bool(truncated), info

    def get_state(self) -> EnvState:
        """Return the state by the names of its fields."""
        return self._exported(self._state)

    def _exported(self, state: Any) -> EnvState:
        export = getattr(self._plain, "export_state", None)
        if export is not None:
            return dict(_numpy(export(state, self.params)))
        return {f.name: _numpy(getattr(state, f.name)) for f in dataclasses.fields(state)}

    def set_state(self, state: EnvState) -> Any:
        """Take over a state; fields that it does not name stay as they are."""
        self._state = self._imported(state, self._state)
        return _numpy(self._env.observe(self._state, self.params))

    def action_mask(self) -> NDArray[Any] | None:
        """Return which actions are legal."""
        if not self._masked:
            return None
        return np.asarray(self._env.legal_actions(self._state, self.params))

    def set_chance(self, draws: Draws) -> None:
        """Use these draws next; an empty list draws nothing, and zeros stand in."""
        self._draws = draws

    def rollouts(self, plays: Sequence[Play]) -> list[Trajectory]:
        """Play all at once in one compiled program, each up to its end."""
        if not plays or any(play.restarts or not play.actions for play in plays):
            return super().rollouts(plays)
        length = max(len(play.actions) for play in plays)
        padded = max(SHORTEST, 1 << (length - 1).bit_length())
        width = BATCH if len(plays) > 1 else 1
        rows = [plays[min(i, len(plays) - 1)] for i in range(-(-len(plays) // width) * width)]
        seen: list[Trajectory] = []
        for at in range(0, len(rows), width):
            seen += self._side_by_side(rows[at : at + width], padded)
        return seen[: len(plays)]

    def start_lanes(
        self, seeds: Sequence[int], starts: Sequence[EnvState] | None = None, keep: bool = False
    ) -> tuple[list[Any], list[EnvState] | None]:
        """Start an episode in each of n lanes of one compiled program."""
        self._lane_keys = jnp.stack([jax.random.key(seed) for seed in seeds])
        self._lane_step = 1
        first = _first_draws(self._env, self._lane_keys, self.params)
        obs, self._lane_states = self._started(first, starts)
        states = [self._exported(_take(self._lane_states, i)) for i in range(len(seeds))]
        return _apart(obs), states if keep else None

    def step_lanes(
        self, actions: Sequence[Any]
    ) -> tuple[list[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Play one step in every lane, also in those whose episodes have ended."""
        cast = np.stack([self._cast(action) for action in actions])
        obs, self._lane_states, rewards, ended = _lane_steps(
            self._env, self._lane_keys, self._lane_step, self._lane_states, cast, self.params
        )
        self._lane_step += 1
        return _apart(obs), np.asarray(rewards, np.float64), np.asarray(ended)

    def _started(self, draws: Any, starts: Sequence[EnvState] | None) -> tuple[Any, Any]:
        """Start one episode for each row of draws, from given states if there are any."""
        obs, state = _resets(self._env, draws, self.params)
        if starts is None:
            return obs, state
        state = _stack([self._imported(one, _take(state, i)) for i, one in enumerate(starts)])
        return jax.vmap(self._env.observe, (0, None))(state, self.params), state

    def _side_by_side(self, plays: Sequence[Play], padded: int) -> list[Trajectory]:
        """Play a full row of plays, padded to one length."""
        keys = jnp.stack([jax.random.key(play.seed) for play in plays])
        taped = plays[0].tape is not None
        first, later = _draws(self._env, keys, self.params, padded)
        if taped:
            first, later = self._taped(plays, first, later)
        starts = [play.start or {} for play in plays] if plays[0].start is not None else None
        obs, state = self._started(first, starts)
        anchors = self._anchors(plays, state, padded)
        actions = np.stack([self._padded(play.actions, padded) for play in plays])
        columns = _episodes(self._env, self.params, obs, state, actions, later, anchors)
        table = dict(leaves(_numpy(columns), ""))
        return [_cut(table, i, len(play.actions)) for i, play in enumerate(plays)]

    def _padded(self, actions: Sequence[Any], length: int) -> NDArray[Any]:
        cast = np.stack([self._cast(action) for action in actions])
        rest = np.repeat(cast[-1:], length - len(cast), axis=0)
        return np.concatenate((cast, rest))

    def _anchors(self, plays: Sequence[Play], state: Any, length: int) -> Any:
        """States before each step, with a leading axis of plays and one of steps; or `None`."""
        if plays[0].anchors is None:
            return None
        filled = []
        for i, play in enumerate(plays):
            like = _take(state, i)
            kept = list(play.anchors or ())[: len(play.actions)]
            states = [self._imported(values, like) for values in kept]
            filled.append(_stack([*states, *[states[-1]] * (length - len(states))]))
        return _stack(filled)

    def _taped(self, plays: Sequence[Play], first: Any, later: Any) -> tuple[Any, Any]:
        """Draws of the tapes in place of those of the keys."""
        tapes = [list(play.tape or ()) for play in plays]
        like_first, like = _take(first, 0), _take(_take(later, 0), 0)
        opening = [_drawn(tape[0] if tape else None, like_first) for tape in tapes]
        first_leaf = next(iter(jax.tree.leaves(later)), None)
        length = 0 if first_leaf is None else first_leaf.shape[1]
        steps = [
            _stack([_drawn(tape[t] if t < len(tape) else None, like) for t in range(1, length + 1)])
            for tape in tapes
        ]
        return _stack(opening), (_stack(steps) if length else later)

    def _replayed(self, own: Any) -> Any:
        if self._draws is None:
            return own
        draws, self._draws = self._draws, None
        return _drawn(draws, own)

    def _imported(self, values: EnvState, state: Any) -> Any:
        importer = getattr(self._plain, "import_state", None)
        if importer is not None:
            return importer(values, state, self.params)
        if not dataclasses.is_dataclass(state) or isinstance(state, type):
            raise TargetError(f"{self.identity.name}: its state is no dataclass; give import_state")
        known = {f.name for f in dataclasses.fields(state)} & values.keys()
        if not known:
            raise TargetError(
                f"{self.identity.name}: got a state with {', '.join(values)}, expected some of "
                f"{', '.join(f.name for f in dataclasses.fields(state))}; or give import_state"
            )
        return dataclasses.replace(
            state, **{name: cast_like(values[name], getattr(state, name)) for name in known}
        )

    def _fresh(self, key: Array) -> Any:
        return self._env.reset_with(self._env.reset_draws(key, self.params), self.params)

    def _mask_shape(self, state: Any) -> Any:
        return jax.eval_shape(self._env.legal_actions, state, self.params)

    def _cast(self, action: Any) -> NDArray[Any]:
        return np.asarray(action, self._env.action_space(self.params).dtype)


@partial(jax.jit, static_argnums=0)
def _reset_draws(env: Any, key: Any, now: Any, params: Any) -> Any:
    return env.reset_draws(jax.random.fold_in(key, now), params)


@partial(jax.jit, static_argnums=0)
def _step_draws(env: Any, key: Any, now: Any, params: Any) -> Any:
    return env.step_draws(jax.random.fold_in(key, now), params)


@partial(jax.jit, static_argnums=0)
def _reset(env: Any, draws: Any, params: Any) -> Any:
    return env.reset_with(draws, params)


@partial(jax.jit, static_argnums=0)
def _step(env: Any, draws: Any, state: Any, action: Any, params: Any) -> Any:
    return env.step_with(draws, state, action, params)


@partial(jax.jit, static_argnums=0)
def _first_draws(env: Any, keys: Any, params: Any) -> Any:
    return jax.vmap(lambda key: env.reset_draws(jax.random.fold_in(key, 0), params))(keys)


@partial(jax.jit, static_argnums=0)
def _resets(env: Any, draws: Any, params: Any) -> Any:
    return jax.vmap(env.reset_with, (0, None))(draws, params)


@partial(jax.jit, static_argnums=(0, 3))
def _draws(env: Any, keys: Any, params: Any, steps: int) -> Any:
    """The draws of resets and steps, as `reset` and `step` would make them one by one."""

    def one(key: Array) -> Any:
        first = env.reset_draws(jax.random.fold_in(key, 0), params)
        later = jax.vmap(lambda t: env.step_draws(jax.random.fold_in(key, t), params))(
            jnp.arange(1, steps + 1)
        )
        return first, later

    return jax.vmap(one)(keys)


@partial(jax.jit, static_argnums=0)
def _lane_steps(env: Any, keys: Any, now: Any, states: Any, actions: Any, params: Any) -> Any:
    """One step of every lane, with the draws that `step` would make."""

    def one(key: Array, state: Any, action: Any) -> Any:
        draws = env.step_draws(jax.random.fold_in(key, now), params)
        obs, state, reward, terminated, truncated, _ = env.step_with(draws, state, action, params)
        return obs, state, reward, terminated | truncated

    return jax.vmap(one)(keys, states, actions)


@partial(jax.jit, static_argnums=0)
def _episodes(
    env: Any, params: Any, obs: Any, state: Any, actions: Any, draws: Any, anchors: Any
) -> Any:
    """All steps of all plays: columns with a leading axis of plays and one of rows."""

    def one(obs: Any, state: Any, actions: Any, draws: Any, anchors: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            action, draw, anchor = now
            state = state if anchor is None else anchor
            obs, state, reward, terminated, truncated, info = env.step_with(
                draw, state, action, params
            )
            mask = env.legal_actions(state, params)
            return state, (obs, reward, terminated, truncated, info, mask)

        mask = env.legal_actions(state, params)
        _, (later, *rest, info, masks) = jax.lax.scan(step, state, (actions, draws, anchors))
        seen = jax.tree.map(lambda a, b: jnp.concatenate((a[None], b)), (obs, mask), (later, masks))
        reward, terminated, truncated = rest
        return {
            "obs": seen[0],
            "mask": seen[1],
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "info": info,
        }

    return jax.vmap(one)(obs, state, actions, draws, anchors)


def _cut(table: Mapping[str, NDArray[Any]], which: int, steps: int) -> Trajectory:
    """The rows of one play up to its end."""
    named = {path[2:-2] + rest: table[path + rest] for path, rest in map(_halves, table)}
    ends = named["terminated"][which, :steps] | named["truncated"][which, :steps]
    taken = int(np.argmax(ends)) + 1 if ends.any() else steps
    columns: dict[str, NDArray[Any]] = {}
    for name, values in named.items():
        if values is None:
            continue
        if name.startswith(("obs", "mask")):
            columns[name] = values[which, : taken + 1]
            continue
        rows = values[which, :taken]
        if name == "reward":
            rows = rows.astype(np.float64)
        # A reset has no reward, no flags and, unlike a step, no info.
        if name.startswith("info"):
            columns[name] = _with_missing(rows)
        else:
            columns[name] = np.concatenate((np.zeros_like(rows, shape=(1, *rows.shape[1:])), rows))
    return Trajectory(columns, np.arange(taken + 1), bool(ends.any()))


def _halves(path: str) -> tuple[str, str]:
    """`['obs']['x']` as `['obs']` and `['x']`."""
    end = path.index("]") + 1
    return path[:end], path[end:]


def _with_missing(rows: NDArray[Any]) -> NDArray[Any]:
    from hybridenv.verify._record import MISSING

    column = np.empty(len(rows) + 1, np.object_)
    column[0] = MISSING
    column[1:] = list(rows)
    return column


def _drawn(draws: Draws, like: Any) -> Any:
    """Draws of the other side in the form of one's own; zeros where it drew nothing."""
    if isinstance(draws, list | tuple) and len(draws) == 1:
        draws = draws[0]
    if draws is None or (isinstance(draws, list | tuple) and not draws):
        return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), like)
    given, shape = jax.tree.flatten(draws)
    expected: Any = jax.tree.structure(like)
    if expected != shape:
        raise TargetError(f"set_chance: got draws of the form {shape}, expected {expected}")
    return jax.tree.unflatten(
        shape, [cast_like(a, b) for a, b in zip(given, jax.tree.leaves(like), strict=True)]
    )


def cast_like(value: Any, leaf: Any) -> NDArray[Any]:
    """Give an array the dtype of another.

    Raises:
        TargetError: Their shapes differ.
    """
    given = np.asarray(value)
    if given.shape != jnp.shape(leaf):
        raise TargetError(f"state: got shape {given.shape}, expected {jnp.shape(leaf)}")
    return given.astype(jnp.result_type(leaf))


def _take(tree: Any, index: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[index], tree)


def _stack(trees: Sequence[Any]) -> Any:
    """Trees of one kind as one with a leading axis; NumPy first, which is fast for many."""
    return jax.tree.map(
        lambda *leaves: jnp.asarray(np.stack([np.asarray(x) for x in leaves])), *trees
    )


def _apart(tree: Any) -> list[Any]:
    """Rows of a tree with a leading axis, as NumPy has them."""
    table = _numpy(tree)
    return [_take(table, i) for i in range(len(jax.tree.leaves(table)[0]))]


def _numpy(tree: Any) -> Any:
    return jax.tree.map(np.asarray, tree)


def _gymnasium(space: Any) -> gymnasium.Space[Any]:
    made: gymnasium.Space[Any] = space.to_gymnasium()
    return made
