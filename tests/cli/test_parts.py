"""Parts of the command line that have rules of their own."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from hybridenv import ActionError, HybridEnvError
from hybridenv.cli import main
from hybridenv.cli.pictures import SHADES, columns_for, preview, sheet
from hybridenv.cli.players import parse_script, random_masks, script_masks
from hybridenv.cli.timing import Rate, require_release
from hybridenv.oracle import reference


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("60", [(0, 60)]),
        ("start", [(0x80, 1)]),
        ("60 start*5 30 right+a*120", [(0, 60), (0x80, 5), (0, 30), (0x11, 120)]),
        (" a*2,b*3 , 4 ", [(0x10, 2), (0x20, 3), (0, 4)]),
        ("*7", [(0, 7)]),
    ],
)
def test_scripts(text: str, steps: list[tuple[int, int]]) -> None:
    assert parse_script(text) == steps


@pytest.mark.parametrize("text", ["", "a*0", "a*", "a*-3", "0", "a*1*2", "a b*c", "1.5"])
def test_wrong_scripts(text: str) -> None:
    with pytest.raises(ActionError, match="got"):
        parse_script(text)


def test_a_script_ends_with_idle_hands() -> None:
    assert list(islice(script_masks([(1, 2), (128, 1)]), 6)) == [1, 1, 128, 0, 0, 0]


def test_random_players_press_everything_sooner_or_later(rng: np.random.Generator) -> None:
    masks = random_masks(rng, 2_000)
    assert masks.dtype == np.uint8
    assert len(set(masks.tolist())) == 12
    assert np.bitwise_or.reduce(masks) == 0b1011_1111  # everything but Select


@pytest.mark.parametrize(
    ("n", "columns"), [(1, 1), (2, 2), (6, 3), (16, 4), (128, 16), (100, 13), (97, 14)]
)
def test_sheets_are_wide_and_full(n: int, columns: int) -> None:
    assert columns_for(n) == columns


def test_sheet_keeps_every_pixel() -> None:
    screens = np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5) % 4
    page = sheet(screens, 2)
    assert page.shape == (2 * 6 + 2, 2 * 7 + 2)
    assert np.array_equal(page[2:6, 2:7], screens[0])
    assert np.array_equal(page[2:6, 9:14], screens[1])
    assert np.array_equal(page[8:12, 2:7], screens[2])
    assert (page[8:12, 9:14] == 3).all()


def test_preview_in_colour_has_both_halves() -> None:
    shades = np.zeros((144, 160), dtype=np.uint8)
    shades[2:4] = 3
    text = preview(shades, colour=True)
    assert text.plain == ("▀" * 80 + "\n") * 36
    light, dark = ("rgb({},{},{})".format(*SHADES[shade]) for shade in (0, 3))
    assert str(text.spans[0].style) == f"{light} on {dark}"
    assert preview(shades, colour=False).plain.splitlines()[:2] == ["▒" * 80, " " * 80]
    for colour in (True, False):
        lines = preview(shades, colour, "ascii").plain.splitlines()
        assert lines[:2] == ["+" * 80, " " * 80]


def test_the_guide_names_the_frames_and_cycles_of_pyboys_boot_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "pyboy.md"
    assert f"`tick({reference.BOOT_FRAMES})` once" in page.read_text(encoding="utf-8")
    assert f"{reference.BOOT_CYCLES:,}" in page.read_text(encoding="utf-8")


def test_debug_builds_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    require_release()
    monkeypatch.setattr("hybridenv.cli.timing.build_info", lambda: {"profile": "debug"})
    with pytest.raises(HybridEnvError, match="got a debug build, expected a release build"):
        require_release()


def test_rate_counts_machines_and_frames() -> None:
    rate = Rate(n=8, frame_skip=24)
    assert rate.frames == 0
    spent = list(rate.run(lambda: None, 0.0))
    assert spent == []
    assert len(list(rate.run(lambda: None, 1e-9))) == 1
    assert rate.steps == 1
    assert rate.env_steps == pytest.approx(8 / rate.seconds)
    assert rate.frames == pytest.approx(24 * rate.env_steps)


def test_ctrl_c_while_modules_load_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def press() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hybridenv.cli.app.run", press)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 130
