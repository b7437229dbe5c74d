"""Who chooses the actions of an episode: chance, a script or a policy, on the reference's side."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import gymnasium
import numpy as np
from numpy.typing import NDArray

from hybridenv.errors import ArgumentError, TargetError
from hybridenv.verify._record import STOP, Chooser, listed
from hybridenv.verify._target import Target

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


def legal_source(target: Target) -> Source:
    """Draw evenly from the legal actions of a target that names them, else from all.

    Args:
        target: The reference.
    """
    space = target.action_space
    if "mask" in target.offers and isinstance(space, gymnasium.spaces.Discrete):
        return masked(space, target.identity.name)
    return uniform(space)


def scripted(actions: Sequence[Any], name: str = "script") -> Source:
    """Play a list of actions, then stop."""
    return Source(name, lambda _: listed(actions))


def by_policy(policy: Policy, name: str) -> Source:
    """Let a policy choose.

    Args:
        policy: Who chooses.
        name: Its name, for the report and for the `TargetError` where it raises something.
    """

    def start(seed: int) -> Chooser:
        act = policy_chooser(policy, seed)

        def choose(obs: Any, mask: NDArray[Any] | None, step: int) -> Any:
            try:
                return act(obs, mask, step)
            except Exception as error:  # blamed on the policy, not on the side that it plays
                raise TargetError(
                    f"actions {name!r}: step {step + 1} of the episode with seed {seed}: "
                    f"{type(error).__name__}: {error}"
                ) from error

        return choose

    return Source(name, start)


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
    """Draw an action, evenly and fast for the common spaces.

    Others, such as an unbounded Box, are sampled as Gymnasium does, with a seed from `rng`.

    Args:
        space: The space.
        rng: Where chance comes from.
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
    own = deepcopy(space)  # an environment may draw from the space itself
    own.seed(int(rng.integers(2**31)))
    return own.sample()
