"""Films of what environments render: GIF with Pillow, MP4 with imageio-ffmpeg."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybridenv.checks import written
from hybridenv.errors import ArgumentError, MissingDependencyError

Picture = NDArray[np.uint8]


def save_film(path: str | Path, pictures: Iterable[Picture], fps: float = 30.0) -> None:
    """Write pictures as a film.

    Args:
        path: Where to, in a folder that exists. Its ending chooses the format: `.gif`, which
            repeats for ever, or `.mp4` (H.264).
        pictures: uint8[h, w, 3] each, all of one size, at least one: red, green and blue. A tuple
            of several, as `VectorEnv.render` gives, is not one.
        fps: Pictures a second, above 0 and at most 1000. A GIF shows each for a multiple of 10 ms,
            at least 20, since players slow down what is faster.

    Raises:
        ArgumentError: The ending is another, `fps` is out of range, or a picture has another dtype
            or shape.
        MissingDependencyError: The package that writes this format is not installed.
        OSError: The file cannot be written.

    Example:
        ```python
        save_film("game.gif", pictures, fps=env.metadata["render_fps"])
        ```
    """
    target = Path(path)
    writers = {".gif": _save_gif, ".mp4": _save_mp4}
    writer = writers.get(target.suffix.lower())
    if writer is None:
        raise ArgumentError(f"path: got {str(path)!r}, expected one that ends in .gif or .mp4")
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0 < fps <= 1000:
        raise ArgumentError(f"fps: got {fps!r}, expected a number above 0 and at most 1000")
    frames = [_checked(i, picture) for i, picture in enumerate(pictures)]
    if not frames:
        raise ArgumentError("pictures: got none, expected at least one")
    for i, frame in enumerate(frames):
        if frame.shape != frames[0].shape:
            raise ArgumentError(
                f"pictures[{i}]: got shape {frame.shape}, expected {frames[0].shape} as the first"
            )
    writer(target, frames, float(fps))


def _checked(i: int, picture: object) -> Picture:
    frame = picture if isinstance(picture, np.ndarray) else None
    if frame is None or frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
        got = type(picture).__name__ if frame is None else f"{frame.dtype} of shape {frame.shape}"
        raise ArgumentError(f"pictures[{i}]: got {got}, expected uint8 of shape (h, w, 3)")
    return frame


def _save_gif(path: Path, frames: list[Picture], fps: float) -> None:
    try:
        from PIL import Image
    except ImportError:
        raise MissingDependencyError(
            "save_film: a GIF needs Pillow, which is not installed: pip install 'hybridenv[image]'"
        ) from None
    first, *rest = (Image.fromarray(frame) for frame in frames)
    duration = max(20, 10 * round(100 / fps))
    with written(path):
        first.save(path, format="GIF", save_all=True, append_images=rest, duration=duration, loop=0)


def _save_mp4(path: Path, frames: list[Picture], fps: float) -> None:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise MissingDependencyError(
            "save_film: an MP4 needs imageio-ffmpeg, which is not installed: "
            "pip install 'hybridenv[mp4]'"
        ) from None
    height, width = (size - size % 2 for size in frames[0].shape[:2])  # H.264 wants even sizes
    with path.open("wb"):  # a folder that is missing or full speaks up before FFmpeg does
        pass
    writer = imageio_ffmpeg.write_frames(str(path), (width, height), fps=fps, macro_block_size=2)
    writer.send(None)
    for frame in frames:
        writer.send(np.ascontiguousarray(frame[:height, :width]))
    writer.close()
