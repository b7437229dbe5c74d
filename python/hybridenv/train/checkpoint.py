"""Checkpoints of a run: everything it needs to go on as if it had never stopped.

A checkpoint is a folder named by the number of environment steps, written beside its final place
and moved there when it is complete, so that a full disk or a crash leaves the older ones whole.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import orbax.checkpoint as ocp
from jax import Array

import hybridenv
from hybridenv.errors import CheckpointError
from hybridenv.train.config import Config

_FREE = ("calls", "checkpoint_every", "keep", "steps")
"""Settings that may change when a run goes on: they do not touch what it learns."""

State = TypeVar("State")


class Checkpoints:
    """The checkpoints of one run, in one folder.

    Args:
        folder: Where they are; made if missing.
        keep: How many of the newest are kept.

    Raises:
        CheckpointError: The folder cannot be made.
    """

    def __init__(self, folder: Path, keep: int = 2) -> None:
        self.folder = folder.absolute()
        self._keep = keep
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"{folder}: the folder cannot be made: {error}") from None
        self._writer = ocp.Checkpointer(
            ocp.CompositeCheckpointHandler(
                state=ocp.StandardCheckpointHandler(), run=ocp.JsonCheckpointHandler()
            )
        )

    def steps(self) -> list[int]:
        """Return the environment steps of the complete checkpoints, oldest first."""
        return sorted(int(path.name) for path in self.folder.iterdir() if path.name.isdecimal())

    def path(self, step: int) -> Path:
        """Return the folder of a checkpoint."""
        return self.folder / str(step)

    def save(self, step: int, state: Any, config: Config, devices: int) -> Path:
        """Write a checkpoint, then remove those that are too many.

        Args:
            step: Environment steps so far.
            state: A pytree of arrays.
            config: The run.
            devices: On how many devices it runs.

        Returns:
            The folder of the checkpoint.

        Raises:
            CheckpointError: It cannot be written, for instance because the disk is full. Older
                ones are untouched and no part of it is left.
        """
        target = self.path(step)
        if target.exists():
            return target
        run = {"config": config.to_dict(), "devices": devices, "version": hybridenv.__version__}
        try:
            self._writer.save(
                target,
                args=ocp.args.Composite(
                    state=ocp.args.StandardSave(_leaves(state)), run=ocp.args.JsonSave(run)
                ),
            )
        except Exception as error:  # the storage library raises errors of many kinds
            for part in self.folder.glob(f"{step}*"):
                shutil.rmtree(part, ignore_errors=True)
            raise CheckpointError(self._unwritten(target, error)) from error
        for old in self.steps()[: -self._keep]:
            shutil.rmtree(self.path(old), ignore_errors=True)
        return target

    def _unwritten(self, target: Path, error: Exception) -> str:
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or any(
            sign in str(error) for sign in ("No space left", "RESOURCE_EXHAUSTED", "ENOSPC")
        )
        last = self.steps()
        reason = "the disk is full" if full else f"{type(error).__name__}: {error}"
        kept = f"the last good one is {self.path(last[-1])}" if last else "there is no older one"
        return f"checkpoint {target}: cannot be written: {reason}; {kept}"

    def config(self, step: int) -> dict[str, Any]:
        """Return the settings that a checkpoint was made with.

        Raises:
            CheckpointError: There is no such checkpoint, or it is damaged.
        """
        return dict(self._run(step)["config"])

    def restore(self, step: int, like: State, config: Config, devices: int | None) -> State:
        """Read a checkpoint.

        Args:
            step: Its environment steps, one of `steps()`.
            like: A state of the same shapes, arrays or `jax.ShapeDtypeStruct` with shardings.
            config: The run that is to go on.
            devices: On how many devices it is to go on; `None` takes any number, for those who only
                want to look at it.

        Returns:
            The state, placed as `like` says.

        Raises:
            CheckpointError: It is damaged, or was made by a run of other settings; the message
                names each of them.
        """
        run = self._run(step)
        _check_same(self.path(step), run, config, devices)
        wanted = jax.tree.map(_abstract, like)
        leaves, shape = jax.tree.flatten(wanted)
        try:
            read = self._writer.restore(
                self.path(step),
                args=ocp.args.Composite(
                    state=ocp.args.StandardRestore(dict(zip(_names(leaves), leaves, strict=True)))
                ),
            )["state"]
        except Exception as error:  # as above
            raise CheckpointError(f"checkpoint {self.path(step)}: is damaged: {error}") from error
        state = jax.tree.unflatten(shape, [read[name] for name in _names(leaves)])
        return jax.tree.map(
            lambda leaf, old: jax.random.wrap_key_data(leaf) if _is_key(old) else leaf, state, like
        )

    def _run(self, step: int) -> dict[str, Any]:
        try:
            read = self._writer.restore(
                self.path(step), args=ocp.args.Composite(run=ocp.args.JsonRestore())
            )
            return dict(read["run"])
        except Exception as error:  # as above
            raise CheckpointError(
                f"checkpoint {self.path(step)}: cannot be read: {error}"
            ) from error


def _check_same(path: Path, run: dict[str, Any], config: Config, devices: int | None) -> None:
    # Settings that are younger than the checkpoint were at their defaults.
    then, now = Config(env=config.env).to_dict() | run["config"], config.to_dict()
    free = () if config.anneal else _FREE
    changes = [
        f"{key}: then {then.get(key)!r}, now {now.get(key)!r}"
        for key in sorted({*then, *now})
        if then.get(key) != now.get(key) and key not in free
    ]
    if devices is not None and run["devices"] != devices:
        changes.append(f"number of devices: then {run['devices']}, now {devices}")
    if changes:
        raise CheckpointError(
            f"checkpoint {path}: belongs to a run with other settings ({'; '.join(changes)}), "
            "expected the same; go on with those, or start a run in another folder"
        )


def _names(leaves: list[Any]) -> list[str]:
    return [f"{i:04d}" for i in range(len(leaves))]


def _leaves(state: Any) -> dict[str, Array]:
    """Name the leaves by their number; keys become plain numbers."""
    leaves = jax.tree.leaves(state)
    plain = [jax.random.key_data(leaf) if _is_key(leaf) else leaf for leaf in leaves]
    return dict(zip(_names(plain), plain, strict=True))


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _abstract(leaf: Any) -> jax.ShapeDtypeStruct:
    if not _is_key(leaf):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=leaf.sharding)
    data = jax.eval_shape(jax.random.key_data, leaf)
    return jax.ShapeDtypeStruct(data.shape, data.dtype, sharding=leaf.sharding)
