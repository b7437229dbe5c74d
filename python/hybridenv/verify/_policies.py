"""Policies by name: functions of a module, and checkpoints of `hybridenv.train`."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from hybridenv.errors import ArgumentError, MissingDependencyError
from hybridenv.verify._actions import Policy


def load_policy(place: str) -> Policy:
    """Load one policy.

    Args:
        place: `module:function`, where the function returns a `Policy`; or the folder of a
            training run, whose newest checkpoint plays greedily (with several seeds, the first).

    Returns:
        The policy.

    Raises:
        ArgumentError: There is no such thing.
        CheckpointError: The checkpoint is damaged.
    """
    if Path(place).is_dir():
        return next(iter(_of_run(Path(place)).values()))
    module, colon, member = place.partition(":")
    if not (colon and module and member):
        raise ArgumentError(f"policy: got {place!r}, expected module:function or a folder of a run")
    try:
        made = getattr(import_module(module), member)()
    except Exception as error:  # whatever a user's module raises
        raise ArgumentError(f"policy {place!r}: {type(error).__name__}: {error}") from error
    if not isinstance(made, Policy):
        raise ArgumentError(f"policy {place!r}: got {type(made).__name__} without act(obs, key)")
    return made


def load_policies(folder: Path | str, *, draws: bool = False) -> dict[str, Policy]:
    """Load every policy of a folder.

    Args:
        folder: The folder of a training run, or one whose folders are training runs.
        draws: Draw actions as in training, from the keys that both sides are given alike, instead
            of taking the likeliest.

    Returns:
        Policies by name; a run of several seeds gives one for each.

    Raises:
        ArgumentError: There is no run in it.
        CheckpointError: A checkpoint is damaged.
    """
    place = Path(folder)
    runs = [place] if _is_run(place) else sorted(p for p in _folders(place) if _is_run(p))
    if not runs:
        raise ArgumentError(f"policies: got {place}, expected a folder with training runs")
    return {name: one for run in runs for name, one in _of_run(run, draws).items()}


class CheckpointPolicy:
    """A network of `hybridenv.train` that takes its likeliest action, or draws one.

    Args:
        network: The network.
        params: Its parameters, of one seed.
        draws: Draw actions from the keys.
    """

    def __init__(self, network: Any, params: Any, draws: bool = False) -> None:
        import jax

        from hybridenv.train.games import clipped

        self._network, self._carry = network, network.initial(1)

        def noise(seed: Any) -> Any:
            return network.action.noise(jax.random.key(seed), ())

        def choose(obs: Any, carry: Any, seeds: Any) -> Any:
            distribution, _, carry = network.step(params, network.obs.look(obs), carry)
            action = distribution.sample(jax.vmap(noise)(seeds)) if draws else distribution.mode()
            return clipped(action, network.action), carry

        self._choose: Callable[[Any, Any, Any], Any] = jax.jit(choose)

    def begin(self) -> None:
        """Forget the episode before."""
        self.begin_many(1)

    def act(self, obs: Any, key: int) -> Any:
        """Choose an action."""
        return self.act_many([obs], [key])[0]

    def begin_many(self, n: int) -> None:
        """Forget the episodes before; n are to follow side by side."""
        self._carry = self._network.initial(n)

    def act_many(self, obs: Sequence[Any], keys: Sequence[int]) -> list[Any]:
        """Choose an action for each of n episodes."""
        seeds = np.array([key & 0xFFFFFFFF for key in keys], np.uint32)
        actions, self._carry = self._choose(np.stack(obs), self._carry, seeds)
        return list(np.asarray(actions))


def _of_run(folder: Path, draws: bool = False) -> dict[str, Policy]:
    try:
        from hybridenv.train.run import load
    except ImportError as error:
        raise MissingDependencyError(
            "policies of training runs need JAX and flax: pip install 'hybridenv[train]'"
        ) from error
    import jax

    config, network, params = load(folder)
    if config.n_seeds == 1:
        return {folder.name: CheckpointPolicy(network, params, draws)}
    return {
        f"{folder.name}/{i}": CheckpointPolicy(
            network, jax.tree.map(lambda leaf, i=i: leaf[i], params), draws
        )
        for i in range(config.n_seeds)
    }


def _is_run(folder: Path) -> bool:
    return (folder / "checkpoints").is_dir()


def _folders(place: Path) -> list[Path]:
    return [path for path in place.iterdir() if path.is_dir()] if place.is_dir() else []
