"""Films are written, and what cannot be one is refused."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hybridenv.errors import ArgumentError, MissingDependencyError
from hybridenv.film import save_film


def pictures(n: int = 4, shape: tuple[int, ...] = (21, 31, 3)) -> list[Any]:
    return [np.full(shape, 40 * i, np.uint8) for i in range(n)]


def test_a_gif_has_every_picture(tmp_path: Path) -> None:
    path = tmp_path / "film.GIF"
    save_film(path, iter(pictures()), fps=20)
    with Image.open(path) as film:
        assert film.n_frames == 4  # type: ignore[attr-defined]
        assert film.size == (31, 21)
        assert film.info["duration"] == 50
        assert film.info["loop"] == 0
        for i in range(4):
            film.seek(i)
            assert np.all(np.asarray(film.convert("RGB")) == 40 * i)


def test_an_mp4_has_every_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def write_frames(path: str, size: tuple[int, int], **options: Any) -> Any:
        seen.append((Path(path).name, size, options["fps"]))
        while True:
            seen.append((yield))

    fake = ModuleType("imageio_ffmpeg")
    fake.write_frames = write_frames  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", fake)
    save_film(tmp_path / "film.mp4", pictures(), fps=15)
    assert seen[0] == ("film.mp4", (30, 20), 15)
    assert [frame.shape for frame in seen[1:]] == [(20, 30, 3)] * 4


@pytest.mark.parametrize(("package", "ending"), [("imageio_ffmpeg", "mp4"), ("PIL", "gif")])
def test_what_is_missing_is_named(
    package: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        save_film(tmp_path / f"film.{ending}", pictures())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "frames", "fps", "message"),
    [
        ("film.avi", pictures(), 30, r"ends in \.gif or \.mp4"),
        ("film.gif", [], 30, "pictures: got none"),
        ("film.gif", pictures(), 0, "fps: got 0"),
        ("film.gif", pictures(), True, "fps: got True"),
        ("film.gif", [tuple(pictures(2))], 30, r"pictures\[0\]: got tuple"),
        ("film.gif", pictures(shape=(4, 4)), 30, r"shape \(4, 4\), expected uint8"),
        ("film.gif", [pictures()[0] / 2], 30, "got float64"),
        ("film.gif", [*pictures(1), *pictures(1, (9, 9, 3))], 30, r"pictures\[1\]: got shape"),
    ],
)
def test_what_is_no_film_is_refused(
    name: str, frames: Any, fps: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ArgumentError, match=message):
        save_film(tmp_path / name, frames, fps)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_a_folder_that_is_missing_is_an_os_error(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", ModuleType("imageio_ffmpeg"))
    with pytest.raises(OSError, match="No such file"):
        save_film(tmp_path / "none" / f"film.{ending}", pictures())
