"""`hybridenv train` and `hybridenv profile-training`; JAX loads when they run."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from hybridenv.cli.console import err, out
from hybridenv.errors import ArgumentError


@dataclass(frozen=True)
class Train:
    """What to train.

    Attributes:
        env: Name of the environment.
        config: File with settings, or `None`.
        changes: Settings as ``key=value``, stronger than the file's.
        given: Settings from options of their own, stronger than both.
        folder: Where metrics and checkpoints go, or `None`.
        resume: Whether to go on from the newest checkpoint there.
        tensorboard: Whether to write for TensorBoard too.
    """

    env: str
    config: Path | None
    changes: Sequence[str]
    given: dict[str, Any]
    folder: Path | None
    resume: bool
    tensorboard: bool


def train(wanted: Train) -> None:
    """Train and say what came out.

    Args:
        wanted: What to train.

    Raises:
        HybridEnvError: A setting is refused, a checkpoint cannot be written, or the run diverged.
        SystemExit: After Ctrl-C with code 130, after SIGTERM with 143; a checkpoint was written.
    """
    from hybridenv.train import Config
    from hybridenv.train import train as run

    settings = {} if wanted.config is None else Config.read(wanted.config)
    where = "config" if wanted.config is None else f"config {wanted.config}"
    settings = Config.of(wanted.env, settings, where).to_dict()
    changes = parsed(wanted.changes)
    if isinstance(arguments := changes.get("env_args"), dict):
        changes["env_args"] = settings["env_args"] | arguments
    config = Config.of(wanted.env, settings | changes | wanted.given, "--set")
    err.print(
        f"training {config.env}: {config.n_envs} environments, network {config.network} "
        f"{list(config.hidden)}; the first call compiles",
        soft_wrap=True,
    )
    result = run(
        config,
        out=wanted.folder,
        resume=wanted.resume,
        progress=True,
        tensorboard=wanted.tensorboard,
    )
    if result.rows:
        last = result.rows[-1]
        compiled = f"compiled in {result.compile_seconds:.1f} s"
        if len(result.rows) == config.calls:
            compiled = "compiling included"
        end = "no episode has ended"
        if not np.isnan(last["return"]).all():
            end = f"return {np.nanmean(last['return']):.2f}, score {np.nanmean(last['score']):.2f}"
        out.print(
            f"{last['steps']:,} steps in {result.seconds:.1f} s "
            f"({last['steps_per_second']:,.0f} steps/s, {compiled}): {end}",
            soft_wrap=True,
        )
    else:
        out.print("nothing to do: the run is complete")
    if result.checkpoint is not None:
        out.print(f"checkpoint: {result.checkpoint}", soft_wrap=True)
    if result.interrupted:
        sys.exit(128 + result.interrupted)


def parsed(changes: Sequence[str]) -> dict[str, Any]:
    """Read settings given as ``key=value``, with values as in JSON; other text is a string.

    Raises:
        ArgumentError: There is no ``=`` in one.
    """
    settings = {}
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals or not key:
            raise ArgumentError(f"--set: got {change!r}, expected key=value")
        try:
            settings[key.strip()] = json.loads(text)
        except json.JSONDecodeError:
            settings[key.strip()] = text.strip()
    return settings


def sizes(text: str) -> list[int]:
    """Read sizes such as ``100k,2M``.

    Raises:
        ArgumentError: One of them is none.
    """
    units = {"k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
    found = []
    for part in text.split(","):
        digits, unit = part.strip(), 1
        if digits[-1:].lower() in units:
            digits, unit = digits[:-1], units[digits[-1:].lower()]
        try:
            size = float(digits) * unit
        except ValueError:
            size = 0
        if not 1 <= size < float("inf"):
            raise ArgumentError(f"--params: got {part!r}, expected a size such as 2M or 100k")
        found.append(int(size))
    return found


@dataclass(frozen=True)
class ProfileTraining:
    """What to measure.

    Attributes:
        env: Name of the environment.
        params: Sizes of networks, see `sizes`.
        n_envs: Number of environments; `None` for as many as usual.
        samples: Steps that an update learns from.
        repeats: How often everything is measured.
        folder: Where the figures and their plot go, or `None`.
        seed: Seed of everything.
    """

    env: str
    params: str
    n_envs: int | None
    samples: int
    repeats: int
    folder: Path | None
    seed: int


def profile(wanted: ProfileTraining) -> None:
    """Measure how iterations divide, for policies of several sizes; print a table.

    Args:
        wanted: What to measure.

    Raises:
        HybridEnvError: An argument is refused, or the plot's library is missing.
    """
    from hybridenv.train.breakdown import PARTS, Breakdown, measure, write

    found: list[Breakdown] = []
    for size in sizes(wanted.params):
        err.print(f"measuring {wanted.env} with about {size:,} parameters")
        one = measure(
            wanted.env,
            size,
            n_envs=wanted.n_envs,
            samples=wanted.samples,
            repeats=wanted.repeats,
            seed=wanted.seed,
        )
        found.append(one)
    table = Table(box=None, pad_edge=False)
    for heading in ("parameters", "steps/s", *PARTS):
        table.add_column(heading, justify="right")
    for one in found:
        shares = [percent(one.shares[part]) for part in PARTS]
        table.add_row(f"{one.params:,}", f"{one.steps_per_second:,.0f}", *shares)
    out.print(table)
    samples = found[0].n_envs * found[0].horizon // found[0].updates
    out.print(f"{found[0].n_envs} environments, an update for every {samples} steps")
    if wanted.folder is not None:
        for path in write(found, wanted.folder):
            out.print(f"wrote {path}", soft_wrap=True)


def percent(share: float) -> str:
    """Return a share as text, with two digits where it is small."""
    return f"{100 * share:.1f} %" if abs(share) >= 0.001 else f"{100 * share:.2g} %"
