"""`hybridenv play`: run a ROM with nobody, chance or a script at the buttons."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hybridenv.batch import GameBoyBatch
from hybridenv.cli import pictures
from hybridenv.cli.console import out, progress
from hybridenv.cli.players import HOLD_FRAMES, parse_script, random_masks, script_masks

GIF_SKIP = 4
"""Frames of the game between pictures of the GIF: about 15 pictures a second."""


@dataclass(frozen=True)
class Play:
    """What to play and what to keep of it.

    Attributes:
        rom: The ROM file; `None` plays the embedded game.
        n: Number of machines.
        frames: Frames to run.
        buttons: `"random"`, `"none"` or a script, see `hybridenv.cli.players.parse_script`.
        profile: `"hardware"` or `"pyboy"`.
        model: `"auto"`, `"dmg"` or `"cgb"`.
        threads: Worker threads; `None` takes one a core.
        seed: Seed of the machines and of random buttons.
        png: Where the last screens go as a picture, if anywhere.
        gif: Where the screens go as an animation, if anywhere.
        show: Draw the first machine's last screen in the terminal.
    """

    rom: Path | None
    n: int
    frames: int
    buttons: str
    profile: Literal["hardware", "pyboy"]
    model: Literal["auto", "dmg", "cgb"]
    threads: int | None
    seed: int
    png: Path | None
    gif: Path | None
    show: bool


def play(wanted: Play) -> None:
    """Run the machines frame by frame and write the pictures asked for.

    Args:
        wanted: What to do.

    Raises:
        HybridEnvError: The ROM, an option or the script is refused, or a picture has nowhere to go.
        OSError: A picture cannot be written.
    """
    pictures.check_writable("--png", wanted.png)
    pictures.check_writable("--gif", wanted.gif)
    player = _player(wanted)
    with GameBoyBatch(
        wanted.rom,
        wanted.n,
        frame_skip=1,
        profile=wanted.profile,
        model=wanted.model,
        num_threads=wanted.threads,
        seed=wanted.seed,
    ) as batch:
        kind: Literal["rgb", "shades"] = "rgb" if "cgb" in batch.models else "shades"
        batch.reset()
        kept = [batch.screen(kind)]
        begin = time.perf_counter()
        with progress() as bars:
            bar = bars.add_task("playing", total=wanted.frames, rate="")
            for frame in range(1, wanted.frames + 1):
                batch.step(next(player))
                if wanted.gif and frame % GIF_SKIP == 0:
                    kept.append(batch.screen(kind))
                bars.update(bar, completed=frame)
        seconds = time.perf_counter() - begin
        last = batch.screen(kind)
    rate = wanted.n * wanted.frames / seconds
    out.print(
        f"{wanted.n} x {wanted.frames:,} frames in {seconds:.2f} s: {rate:,.0f} frames/s, every "
        "frame rendered"
    )
    columns = pictures.columns_for(wanted.n)
    if wanted.png:
        pictures.save_png(wanted.png, pictures.sheet(last, columns))
        out.print(f"wrote {wanted.png}")
    if wanted.gif:
        pages = [pictures.sheet(screens, columns) for screens in kept]
        pictures.save_gif(wanted.gif, pages, milliseconds=70)
        out.print(f"wrote {wanted.gif}")
    if wanted.show:
        colour = out.color_system is not None
        out.print(pictures.preview(last[0], colour, out.encoding))


def _player(wanted: Play) -> Iterator[NDArray[np.uint8]]:
    """Button masks uint8[n] of each frame."""
    if wanted.buttons == "random":
        return _hold(np.random.default_rng(wanted.seed), wanted.n)
    script = [] if wanted.buttons == "none" else parse_script(wanted.buttons)
    return (np.full(wanted.n, mask, dtype=np.uint8) for mask in script_masks(script))


def _hold(rng: np.random.Generator, n: int) -> Iterator[NDArray[np.uint8]]:
    while True:
        masks = random_masks(rng, n)
        for _ in range(HOLD_FRAMES):
            yield masks
