"""Checkpoints of a run: everything it needs to go on as if it had never stopped.

A checkpoint is a folder named by the number of environment steps, written beside its final place
and moved there when it is complete, so that a full disk or a crash leaves the older ones whole and
no half of a new one. It lists its files with their sizes and checksums: damage is found, and named,
before anything is read.
"""

from __future__ import annotations

import errno
import json
import shutil
import zlib
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import orbax.checkpoint as ocp
from jax import Array

import hybridenv
from hybridenv.errors import CheckpointError
from hybridenv.train.config import Config

_FREE = ("checkpoint_every", "keep")
"""Settings that may change when a run goes on: they do not touch what it learns."""

_FREE_WITHOUT_ANNEAL = ("calls", "steps")
"""Settings that may change too where the step size does not depend on the length of the run."""

_CONTENTS = "contents.json"
"""File with the size and the CRC-32 of every other file of a checkpoint."""

_PART = ".new"
"""Ending of the folder of a checkpoint that is being written."""

_SPARE = 64 << 10
"""Bytes that a checkpoint needs beside its arrays, at least."""

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
        self._sound: set[int] = set()
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
        return saved_steps(self.folder)

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
        for part in self.folder.glob(f"[0-9]*{_PART}*"):  # of a run that was killed
            shutil.rmtree(part, ignore_errors=True)
        part = self.folder / f"{step}{_PART}"
        run = {"config": config.to_dict(), "devices": devices, "version": hybridenv.__version__}
        leaves = _leaves(state)
        self._check_room(target, leaves)
        try:
            self._writer.save(
                part,
                args=ocp.args.Composite(
                    state=ocp.args.StandardSave(leaves), run=ocp.args.JsonSave(run)
                ),
            )
            (part / _CONTENTS).write_text(json.dumps(_contents(part)), encoding="utf-8")
            part.rename(target)
        except Exception as error:  # the storage library raises errors of many kinds
            for piece in self.folder.glob(f"{part.name}*"):
                shutil.rmtree(piece, ignore_errors=True)
            raise CheckpointError(self._unwritten(target, _reason(error))) from error
        for old in self.steps()[: -self._keep]:
            shutil.rmtree(self.path(old), ignore_errors=True)
        return target

    def _check_room(self, target: Path, leaves: dict[str, Array]) -> None:
        """Refuse what cannot fit before the storage library fails halfway, with many words."""
        disk = shutil.disk_usage(self.folder)
        needed = sum(leaf.nbytes for leaf in leaves.values()) + _SPARE
        if disk.total and disk.free < needed:
            reason = f"the disk is full: got {disk.free:,} bytes free, expected at least {needed:,}"
            raise CheckpointError(self._unwritten(target, reason))

    def _unwritten(self, target: Path, reason: str) -> str:
        last = self.steps()
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
        if step not in self._sound:  # looking at every byte takes seconds for large networks
            try:
                _check_contents(self.path(step))
            except CheckpointError as error:
                if older := [one for one in self.steps() if one < step]:
                    error.add_note(
                        f"{self.path(older[-1])} is older; without the damaged one, a run that is "
                        "resumed goes on from there"
                    )
                raise
            self._sound.add(step)
        try:
            read = self._writer.restore(
                self.path(step), args=ocp.args.Composite(run=ocp.args.JsonRestore())
            )
            return dict(read["run"])
        except Exception as error:  # as above
            raise CheckpointError(
                f"checkpoint {self.path(step)}: cannot be read: {error}"
            ) from error


def saved_steps(folder: Path) -> list[int]:
    """Return the environment steps of the complete checkpoints in a folder, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())


def _reason(error: Exception) -> str:
    """Say in a few words why a checkpoint could not be written."""
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or any(
        sign in str(error) for sign in ("No space left", "RESOURCE_EXHAUSTED", "ENOSPC")
    )
    return "the disk is full" if full else f"{type(error).__name__}: {error}"


def _contents(folder: Path) -> dict[str, list[int]]:
    """Return the size and the CRC-32 of every file below a folder, by its place there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        if not path.is_file() or place == _CONTENTS:
            continue
        crc = 0
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                crc = zlib.crc32(block, crc)
        found[place] = [path.stat().st_size, crc]
    return found


def _check_contents(folder: Path) -> None:
    """Check that the files of a checkpoint are those that were written.

    Raises:
        CheckpointError: They are not; the message names the first that differs.
    """
    try:
        text = (folder / _CONTENTS).read_text(encoding="utf-8")
        wanted = {place: tuple(numbers) for place, numbers in json.loads(text).items()}
        found = {place: tuple(numbers) for place, numbers in _contents(folder).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"checkpoint {folder}: is damaged or incomplete: {_CONTENTS} cannot be read: {error}"
        ) from None
    for place in sorted({*wanted, *found}):
        if found.get(place) == wanted.get(place):
            continue
        got, expected = (
            f"{one[place][0]} bytes with CRC-32 {one[place][1]:08x}" if place in one else "none"
            for one in (found, wanted)
        )
        raise CheckpointError(
            f"checkpoint {folder}: is damaged: file {place}: got {got}, expected {expected}"
        )


def _check_same(path: Path, run: dict[str, Any], config: Config, devices: int | None) -> None:
    # Settings that are younger than the checkpoint were at their defaults.
    then, now = Config(env=config.env).to_dict() | run["config"], config.to_dict()
    free = _FREE if config.anneal else (*_FREE, *_FREE_WITHOUT_ANNEAL)
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
