"""Who chooses the actions of an episode: chance, a script or a policy, on the reference's side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import gymnasium
import numpy as np
from numpy.typing import NDArray

from hybridenv.errors import ArgumentError
from hybridenv.verify._record import STOP, Chooser, listed

SEED_BITS = 31
"""Seeds of episodes are below 2**31, which every environment takes."""


@runtime_checkable
class Policy(Protocol):
    """Anything that chooses actions. It may have `begin()`, called as an episode starts.

    A policy that can choose for several episodes at once has `begin_many(n)` and
    `act_many(observations, keys)`, which returns as many actions. Level 4 is then many times
    faster, where both environments can play side by side.
    """

    def act(self, obs: Any, key: int) -> Any:
        """Choose an action.

        Args:
            obs: One observation.
            key: A number 0 to 2**63 - 1, another one at each step, to draw from. Both sides are
                given the same.

        Returns:
            An element of the action space.
        """


@dataclass(frozen=True)
class Source:
    """A way to choose actions.

    Attributes:
        name: What the user called it.
        start: Makes the chooser of one episode from its seed.
    """

    name: str
    start: Callable[[int], Chooser]


def episode_seeds(seed: int, name: str, count: int) -> list[int]:
    """Derive seeds of episodes, the same ones for the same arguments.

    Args:
        seed: The user's seed.
        name: What they are for.
        count: How many.

    Returns:
        Numbers 0 to 2**31 - 1.
    """
    words = np.random.SeedSequence([seed, *name.encode()]).generate_state(count)
    return [int(word) >> (32 - SEED_BITS) for word in words]


def uniform(space: gymnasium.Space[Any]) -> Source:
    """Draw every action evenly from the space."""

    def start(seed: int) -> Chooser:
        rng = _generator(seed)
        return lambda *_: draw(space, rng)

    return Source("uniform", start)


def masked(space: gymnasium.Space[Any], name: str) -> Source:
    """Draw every action evenly from the legal ones.

    Args:
        space: The space of actions.
        name: Name of the environment, for messages.

    Raises:
        ArgumentError: The space is not `Discrete`.
    """
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise ArgumentError(f"actions 'mask': {name} has {space}, expected a Discrete space")

    def start(seed: int) -> Chooser:
        rng = _generator(seed)

        def choose(obs: Any, mask: NDArray[Any] | None, step: int) -> Any:
            del obs, step
            if mask is None:
                return draw(space, rng)
            legal = np.flatnonzero(mask)
            return STOP if legal.size == 0 else space.start + legal[rng.integers(legal.size)]

        return choose

    return Source("mask", start)


def scripted(actions: Sequence[Any], name: str = "script") -> Source:
    """Play a list of actions, then stop."""
    return Source(name, lambda _: listed(actions))


def by_policy(policy: Policy, name: str) -> Source:
    """Let a policy choose."""
    return Source(name, lambda seed: policy_chooser(policy, seed))


def policy_chooser(policy: Policy, seed: int) -> Chooser:
    """Make the chooser of one episode.

    Args:
        policy: Who chooses.
        seed: Seed of the keys.
    """
    begin = getattr(policy, "begin", None)
    key = keys_of(seed)
    if begin is not None:
        begin()
    return lambda obs, *_: policy.act(obs, key())


def keys_of(seed: int) -> Callable[[], int]:
    """Return what draws the keys of one episode, one a call.

    Args:
        seed: Seed of the episode.
    """
    rng = _generator(seed)
    return lambda: int(rng.integers(2**63))


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 0xAC7])


def draw(space: gymnasium.Space[Any], rng: np.random.Generator) -> Any:
    """Draw an action evenly, fast for the common spaces.

    Args:
        space: The space.
        rng: Where chance comes from.

    Raises:
        ArgumentError: The space is of a kind that cannot be drawn from here.
    """
    if isinstance(space, gymnasium.spaces.Discrete):
        return space.start + rng.integers(space.n)
    if isinstance(space, gymnasium.spaces.Box) and space.is_bounded():
        if space.dtype is not None and np.issubdtype(space.dtype, np.floating):
            return rng.uniform(space.low, space.high).astype(space.dtype)
        return rng.integers(space.low, space.high, endpoint=True).astype(space.dtype)
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        return (space.start + rng.integers(space.nvec)).astype(space.dtype)
    if isinstance(space, gymnasium.spaces.MultiBinary):
        return rng.integers(0, 2, space.shape).astype(space.dtype)
    if isinstance(space, gymnasium.spaces.Tuple):
        return tuple(draw(one, rng) for one in space.spaces)
    if isinstance(space, gymnasium.spaces.Dict):
        return {key: draw(one, rng) for key, one in space.spaces.items()}
    raise ArgumentError(
        f"actions: got {space}, expected Discrete, a bounded Box, MultiDiscrete, MultiBinary, or a "
        "Tuple or Dict of them; choose actions by a policy instead"
    )
