"""`hybridenv bench`: how fast a ROM runs here."""

import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.table import Table

import hybridenv
from hybridenv.batch import GameBoyBatch
from hybridenv.cli.console import out, progress
from hybridenv.cli.players import random_masks
from hybridenv.cli.timing import Rate, require_release
from hybridenv.clock import FRAMES_PER_SECOND

WARM_UP_STEPS = 10
"""Steps before the clock runs, which also leave most title screens."""


@dataclass(frozen=True)
class Bench:
    """What to measure.

    Attributes:
        rom: The ROM file; `None` plays the embedded game.
        sizes: Numbers of machines.
        threads: Numbers of worker threads; `None` is one a core.
        frame_skip: Frames a step.
        obs: Kind of observation.
        profile: `"hardware"` or `"pyboy"`.
        model: `"auto"`, `"dmg"` or `"cgb"`.
        seconds: How long each pair of size and threads runs.
        seed: Seed of the machines and of the random buttons.
    """

    rom: Path | None
    sizes: Sequence[int]
    threads: Sequence[int | None]
    frame_skip: int
    obs: Literal["shades", "rgb", "packed"]
    profile: Literal["hardware", "pyboy"]
    model: Literal["auto", "dmg", "cgb"]
    seconds: float
    seed: int


def bench(wanted: Bench, as_json: bool) -> None:
    """Measure every pair of size and threads and print a table or JSON.

    Args:
        wanted: What to measure.
        as_json: Print JSON instead of a table.

    Raises:
        HybridEnvError: The ROM or an option is refused, or this is a debug build.
    """
    require_release()
    with GameBoyBatch(wanted.rom, 1, num_threads=1, model=wanted.model) as batch:
        [model] = batch.models  # refuses a ROM before a bar is drawn
    rows = []
    with progress() as bars:
        for n, threads in product(wanted.sizes, wanted.threads):
            label = f"n={n} threads={threads or 'all'}"
            bar = bars.add_task(label, total=wanted.seconds, rate="")
            with GameBoyBatch(
                wanted.rom,
                n,
                frame_skip=wanted.frame_skip,
                obs=wanted.obs,
                profile=wanted.profile,
                model=wanted.model,
                num_threads=threads,
                seed=wanted.seed,
            ) as batch:
                rate = Rate(n, wanted.frame_skip)
                for spent in rate.run(_player(batch, wanted.seed), wanted.seconds):
                    text = f"{rate.frames:>11,.0f} frames/s"
                    bars.update(bar, completed=spent, rate=text)
                rows.append((batch.num_threads, rate))
    if as_json:
        sys.stdout.write(json.dumps(_report(wanted, model, rows), indent=2) + "\n")
    else:
        _print_table(wanted, model, rows)


def _player(batch: GameBoyBatch, seed: int) -> Callable[[], object]:
    """Reset, warm up, and return what steps the batch with random buttons."""
    rng = np.random.default_rng(seed)

    def step() -> object:
        return batch.step(random_masks(rng, batch.n))

    batch.reset()
    for _ in range(WARM_UP_STEPS):
        step()
    return step


def _report(wanted: Bench, model: str, rows: Sequence[tuple[int, Rate]]) -> dict[str, Any]:
    return {
        "version": hybridenv.__version__,
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "rom": "embedded" if wanted.rom is None else wanted.rom.name,
        "frame_skip": wanted.frame_skip,
        "obs": wanted.obs,
        "profile": wanted.profile,
        "model": model,
        "seed": wanted.seed,
        "runs": [
            {
                "n": rate.n,
                "threads": threads,
                "steps": rate.steps,
                "seconds": rate.seconds,
                "env_steps_per_second": rate.env_steps,
                "frames_per_second": rate.frames,
            }
            for threads, rate in rows
        ],
    }


def _print_table(wanted: Bench, model: str, rows: Sequence[tuple[int, Rate]]) -> None:
    game = "the embedded game" if wanted.rom is None else wanted.rom.name
    settings = f"obs={wanted.obs}, {wanted.profile}, {model}"
    table = Table(
        title=f"{game}: {wanted.frame_skip} frames a step, {settings}",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    for heading in ("machines", "threads", "env-steps/s", "frames/s", "x real time"):
        table.add_column(heading, justify="right")
    for threads, rate in rows:
        table.add_row(
            str(rate.n),
            str(threads),
            f"{rate.env_steps:,.0f}",
            f"{rate.frames:,.0f}",
            f"{rate.frames / FRAMES_PER_SECOND:,.0f}",
        )
    out.print(table)
