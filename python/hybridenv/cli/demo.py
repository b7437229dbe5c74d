"""`hybridenv demo`: many machines at once, beside PyBoy, with pictures to look at."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from hybridenv.batch import GameBoyBatch
from hybridenv.cli import pictures
from hybridenv.cli.console import err, out, progress
from hybridenv.cli.players import random_masks
from hybridenv.cli.rival import PyBoyBatch
from hybridenv.cli.timing import Rate, require_release
from hybridenv.data import embedded_rom
from hybridenv.oracle.reference import pyboy_version
from hybridenv.tasks import POLAR_POST

Step: TypeAlias = Callable[[NDArray[np.uint8]], object]

OURS = "hybridenv"

FRAME_SKIP = 24

ROUNDS = 3
"""Turns that each side takes: A B A B A B, so that a slow moment of the computer hits both."""

WARM_UP_STEPS = 5
"""Steps of each side before the clock runs."""

FILM_MACHINES = 16
FILM_FRAMES = 90
FILM_SKIP = 4
"""Frames of the game between pictures of the film: about 15 pictures a second."""


def demo(n: int, threads: int | None, seconds: float, folder: Path, seed: int) -> None:
    """Play the embedded game on n machines with random buttons.

    Prints env-steps and frames a second, next to PyBoy's where it is installed, and writes
    `contact-sheet.png` and `film.gif`.

    Args:
        n: Number of machines.
        threads: Worker threads; `None` takes one a core.
        seconds: How long each side plays.
        folder: Where the pictures go; it is made if it is missing, in a folder that exists.
        seed: Seed of the machines and of the random buttons.

    Raises:
        HybridEnvError: An option is refused, or this is a debug build.
        OSError: A picture cannot be written.
    """
    require_release()
    pictures.check_folder("--out", folder if folder.exists() else folder.parent)
    with GameBoyBatch(
        n=n, num_threads=threads, frame_skip=FRAME_SKIP, task=POLAR_POST, seed=seed
    ) as batch:
        threads = batch.num_threads
        err.print(
            f"Playing the embedded game on {n} machines with {threads} threads: random buttons, "
            f"{FRAME_SKIP} frames a step, the last one rendered."
        )
        rates = _race(batch, seconds, seed)
        shades = batch.screen()
    _print_rates(rates)
    folder.mkdir(exist_ok=True)
    sheet, film = folder / "contact-sheet.png", folder / "film.gif"
    pictures.save_png(sheet, pictures.sheet(shades, pictures.columns_for(n)))
    _film(film, threads, seed)
    out.print(f"Contact sheet of all {n} machines: {sheet}")
    out.print(f"Film of {FILM_MACHINES} more: {film}")


def _race(batch: GameBoyBatch, seconds: float, seed: int) -> dict[str, Rate]:
    """Let both sides play the same buttons in turns."""
    sides: dict[str, Step] = {OURS: batch.step}
    batch.reset()
    with ExitStack() as stack:
        version = pyboy_version()
        if version is None:
            err.print("PyBoy is not installed: nothing to compare with (pip install pyboy).")
        else:
            err.print(f"Starting {batch.n} machines of PyBoy {version} for comparison ...")
            rival = PyBoyBatch(embedded_rom(), batch.n, batch.num_threads, FRAME_SKIP)
            stack.enter_context(rival)
            rival.play((*POLAR_POST.start, *POLAR_POST.opening))
            sides[f"PyBoy {version}, sound off"] = rival.step
        return _take_turns(sides, batch.n, seconds, seed)


def _take_turns(sides: dict[str, Step], n: int, seconds: float, seed: int) -> dict[str, Rate]:
    # Each side has its own stream from the same seed, so both play the same buttons.
    players = {name: _Player(step, n, seed) for name, step in sides.items()}
    for player in players.values():
        for _ in range(WARM_UP_STEPS):
            player.step()
    rates = {name: Rate(n, FRAME_SKIP) for name in sides}
    with progress() as bars:
        bar = {name: bars.add_task(name, total=seconds, rate="") for name in sides}
        for turn in range(ROUNDS):
            for name, rate in rates.items():
                before = seconds * turn / ROUNDS
                for spent in rate.run(players[name].step, seconds / ROUNDS):
                    text = f"{rate.frames:>11,.0f} frames/s"
                    bars.update(bar[name], completed=before + spent, rate=text)
    return rates


class _Player:
    """Random buttons for one side."""

    def __init__(self, step: Step, n: int, seed: int) -> None:
        self._step, self._n, self._rng = step, n, np.random.default_rng(seed)

    def step(self) -> None:
        self._step(random_masks(self._rng, self._n))


def _print_rates(rates: dict[str, Rate]) -> None:
    ours = rates[OURS].frames
    table = Table(box=None, pad_edge=False)
    for heading, justify in (("", "left"), ("env-steps/s", "right"), ("frames/s", "right")):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    table.add_column("hybridenv is faster by", justify="right")
    for name, rate in rates.items():
        ratio = "" if name == OURS else f"{ours / rate.frames:.2f}x"
        table.add_row(name, f"{rate.env_steps:,.0f}", f"{rate.frames:,.0f}", ratio)
    out.print(table)


def _film(path: Path, threads: int, seed: int) -> None:
    """Film some machines at nearly the speed of the real one."""
    players = np.random.default_rng(seed + 1)
    with GameBoyBatch(
        n=FILM_MACHINES,
        num_threads=threads,
        frame_skip=FILM_SKIP,
        task=POLAR_POST,
        seed=seed + 1,
    ) as batch:
        frames = [batch.reset()]
        for k in range(FILM_FRAMES):
            if k % (FRAME_SKIP // FILM_SKIP) == 0:
                masks = random_masks(players, FILM_MACHINES)
            frames.append(batch.step(masks).obs)
    columns = pictures.columns_for(FILM_MACHINES)
    pages = [pictures.sheet(frame, columns) for frame in frames]
    pictures.save_gif(path, pages, milliseconds=70)
