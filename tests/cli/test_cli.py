"""The command line as its users meet it: a process with output, errors and exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

import hybridenv
from hybridenv.data import embedded_rom


def hybridenv_cli(
    *arguments: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "hybridenv", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"COLUMNS": "100", "NO_COLOR": "1"} | environment,
        timeout=120,
    )


def succeed(*arguments: str, cwd: Path | None = None) -> str:
    result = hybridenv_cli(*arguments, cwd=cwd)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout


def playing_time(film: Image.Image) -> int:
    """Milliseconds of a GIF, in which equal pictures are kept once."""
    frames = ImageSequence.Iterator(film)
    return sum(int(frame.info["duration"]) for frame in frames)


@pytest.fixture(scope="module")
def rom(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rom") / "game.gb"
    path.write_bytes(embedded_rom())
    return path


# -- help ------------------------------------------------------------------------------------------


def test_help_lists_every_command() -> None:
    text = succeed("--help")
    for command in ("play", "bench", "info", "demo", "diverge-gameboy"):
        assert command in text
        assert "Usage" in succeed(command, "--help")


def test_version() -> None:
    assert succeed("--version").startswith(f"hybridenv {hybridenv.__version__} (release, ")


# -- info ------------------------------------------------------------------------------------------


def test_info_explains_the_header_in_words(rom: Path) -> None:
    text = succeed("info", str(rom))
    for words in (
        "POLAR POST",
        "no memory controller: 32 KiB of ROM",
        "32 KiB, 2 banks",
        "made for the monochrome Game Boy",
        "not the one that a real Game Boy demands",
        "SHA-256: ",
    ):
        assert words in text
    assert text == succeed("info")


def test_info_as_json(rom: Path) -> None:
    report = json.loads(succeed("info", str(rom), "--json"))
    assert report["model"] == "dmg"
    assert report["title"] == "POLAR POST"
    assert report["rom_size"] == report["file_size"] == 0x8000
    assert report["global_checksum"] == report["computed_global_checksum"]
    assert len(report["sha256"]) == 64


@pytest.mark.parametrize(
    ("knows", "asked", "words"),
    [
        (0x00, "auto", "dmg, the monochrome Game Boy: what model='auto' makes of the header"),
        (0x80, "auto", "cgb, the Game Boy Color: what model='auto' makes of the header"),
        (0x80, "dmg", "dmg, the monochrome Game Boy"),
        (0xC0, "dmg", "dmg, the monochrome Game Boy, though the game asks for a Game Boy Color"),
        (0x00, "cgb", "cgb, the Game Boy Color, in its compatibility mode for monochrome games"),
    ],
)
def test_info_says_which_console_runs_it(
    knows: int, asked: str, words: str, tmp_path: Path
) -> None:
    image = bytearray(embedded_rom())
    image[0x14D] = (image[0x14D] + image[0x143] - knows) & 0xFF
    image[0x143] = knows
    path = tmp_path / "game.gbc"
    path.write_bytes(image)
    lines = succeed("info", str(path), "--model", asked).splitlines()
    assert [line.split(maxsplit=1)[1].rstrip() for line in lines if line.startswith("model")] == [
        words
    ]
    report = json.loads(succeed("info", str(path), "--json", "--model", asked))
    assert report["model"] == words[:3]


def test_info_explains_real_cartridges(shared_games: Path) -> None:
    roms = sorted(shared_games.glob("*/*.gb"))
    assert len(roms) >= 8
    seen = ""
    for path in roms:
        seen += succeed("info", str(path))
    for words in ("MBC1 memory controller", "MBC5 memory controller", "right"):
        assert words in seen


# -- play ------------------------------------------------------------------------------------------


def test_play_writes_pictures_and_nothing_beside_the_rom(rom: Path, tmp_path: Path) -> None:
    before = sorted(rom.parent.iterdir())
    png, gif = tmp_path / "last.png", tmp_path / "film.gif"
    text = succeed(
        "play", str(rom), "--n", "3", "--frames", "40", "--png", str(png), "--gif", str(gif)
    )
    assert "3 x 40 frames" in text
    with Image.open(png) as picture:
        assert picture.size == (3 * 162 + 2, 148)
        assert len(picture.convert("RGB").getcolors() or []) >= 3
    with Image.open(gif) as film:
        assert playing_time(film) == 11 * 70
    assert sorted(rom.parent.iterdir()) == before


def test_play_follows_a_script(rom: Path, tmp_path: Path) -> None:
    title, playing = tmp_path / "title.png", tmp_path / "playing.png"
    succeed("play", str(rom), "--frames", "120", "--buttons", "none", "--png", str(title))
    script = "60 start*5, 30 down*20"
    succeed("play", str(rom), "--frames", "120", "--buttons", script, "--png", str(playing))
    with Image.open(title) as one, Image.open(playing) as two:
        assert np.count_nonzero(np.asarray(one) != np.asarray(two)) > 1_000


def test_play_is_reproducible(rom: Path, tmp_path: Path) -> None:
    pictures = []
    for k, seed in enumerate((5, 5, 6)):
        path = tmp_path / f"{k}.png"
        succeed("play", str(rom), "--frames", "200", "--seed", str(seed), "--png", str(path))
        pictures.append(path.read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0] != pictures[2]


def test_play_shows_the_screen(rom: Path) -> None:
    lines = succeed("play", str(rom), "--frames", "60", "--show").splitlines()
    drawn = [line for line in lines if set(line) <= set(" ░▒█") and len(line) >= 70]
    assert len(drawn) == 36


def test_a_terminal_without_blocks_gets_ascii(rom: Path, tmp_path: Path) -> None:
    snowy = tmp_path / "❄.gb"
    snowy.write_bytes(rom.read_bytes())
    png = tmp_path / "❄.png"
    for colour in ({"NO_COLOR": "1"}, {"NO_COLOR": "", "FORCE_COLOR": "1"}):
        result = hybridenv_cli(
            *("play", str(snowy), "--frames", "60", "--show", "--png", str(png)),
            PYTHONIOENCODING="ascii",
            **colour,
        )
        assert result.returncode == 0, result.stderr
        assert "Traceback" not in result.stderr
        lines = [line for line in result.stdout.splitlines() if len(line) >= 70]
        drawn = [line for line in lines if set(line) <= set(" .+#")]
        assert len(drawn) == 36
        assert png.is_file()
    for command in ("info", "bench"):
        options = ("--seconds", "0.05", "--n", "1") if command == "bench" else ()
        result = hybridenv_cli(command, str(snowy), *options, PYTHONIOENCODING="ascii")
        assert result.returncode == 0, result.stderr


# -- bench -----------------------------------------------------------------------------------------


def test_bench_prints_a_table() -> None:
    text = succeed("bench", "--n", "2", "--threads", "1", "--seconds", "0.05")
    assert "env-steps/s" in text
    assert "frames/s" in text


def test_bench_as_json(rom: Path) -> None:
    text = succeed(
        "bench", str(rom), "--n", "1", "--n", "4", "--threads", "1", "--threads", "2",
        "--seconds", "0.05", "--frame-skip", "6", "--obs", "packed", "--model", "cgb", "--json",
    )  # fmt: skip
    report = json.loads(text)
    assert report["version"] == hybridenv.__version__
    assert report["rom"] == "game.gb"
    assert (report["frame_skip"], report["model"]) == (6, "cgb")
    assert [run["n"] for run in report["runs"]] == [1, 1, 4, 4]
    for run in report["runs"]:
        assert run["frames_per_second"] == pytest.approx(6 * run["env_steps_per_second"])
        assert run["seconds"] >= 0.05


# -- demo ------------------------------------------------------------------------------------------


def test_demo_races_and_leaves_pictures(tmp_path: Path) -> None:
    pytest.importorskip("pyboy")
    result = hybridenv_cli("demo", "--n", "6", "--seconds", "0.3", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Playing the embedded game on 6 machines" in result.stderr
    table = [line.split() for line in result.stdout.splitlines()]
    assert table[1][0] == "hybridenv"
    assert table[2][0] == "PyBoy"
    assert table[2][-1].endswith("x")
    rates = [float(row[-1 - k].replace(",", "")) for k, row in enumerate(table[1:3])]
    assert all(rate > 0 for rate in rates)
    with Image.open(tmp_path / "demo" / "contact-sheet.png") as sheet:
        assert sheet.size == (3 * 162 + 2, 2 * 146 + 2)
    with Image.open(tmp_path / "demo" / "film.gif") as film:
        assert playing_time(film) == 91 * 70


# -- diverge-gameboy -------------------------------------------------------------------------------


def test_equal_games_are_said_to_be_equal(rom: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyboy")
    text = succeed("diverge-gameboy", str(rom), "--frames", "20", cwd=tmp_path)
    assert text.startswith("game.gb: equal to PyBoy 2.")
    assert text.endswith(" for 20 frames (screen, wram, hram, vram, oam, registers, clock)\n")
    assert list(tmp_path.iterdir()) == []


def test_the_first_difference_is_shown(rom: Path) -> None:
    pytest.importorskip("pyboy")
    result = hybridenv_cli(
        *("diverge-gameboy", str(rom), "--profile", "hardware", "--kind", "clock"),
        *("--around", "2", "--buttons", "start*3"),
    )
    assert (result.returncode, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "game.gb: different from the start; frame 0 (buttons held: start) differs in"
    assert any(line.startswith("  clock ") for line in lines)
    assert any(line.startswith("Instruction 0 of the frame is the first") for line in lines)
    assert sum(line.startswith("> PyBoy ") for line in lines) == 1
    assert sum(line.startswith("  hybridenv ") for line in lines) == 2


def test_a_missing_pyboy_is_named(rom: Path) -> None:
    code = (
        "import sys; sys.modules['pyboy'] = None; from hybridenv.cli import main;"
        f"sys.argv = ['hybridenv', 'diverge-gameboy', {str(rom)!r}]; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert "pip install 'hybridenv[pyboy]'" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_game_that_pyboy_would_never_return_from_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("pyboy")
    image = bytearray(embedded_rom())
    image[0x100:0x104] = (0x00, 0xD3, 0x00, 0x00)
    path = tmp_path / "stuck.gb"
    path.write_bytes(image)
    result = hybridenv_cli("diverge-gameboy", str(path))
    assert result.returncode == 2
    assert "error: frame 0: the game runs into an undefined opcode at PC=01" in result.stderr
    assert result.stdout == ""


# -- what users get wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("info", "no/such.gb"), 1, "error: rom: no/such.gb: No such file or directory, expected"),
        (("info", "."), 1, "error: rom: .: Is a directory, expected"),
        (("play", "--png", "no/such.png"), 1, "error: --png: got no, which is no folder"),
        (("play", "--gif", "no/such.gif"), 1, "error: --gif: got no, which is no folder"),
        (("play", "--gif", "."), 1, "error: --gif: got the folder ., expected the path of a file"),
        (("diverge-gameboy", "no/such.gb"), 2, "error: rom: no/such.gb: No such file or directory"),
        (("diverge-gameboy", "."), 2, "error: rom: .: Is a directory, expected"),
        (("diverge-gameboy", "--frames", "0"), 2, "'--frames'"),
        (("diverge-gameboy", "--around", "-1"), 2, "'--around'"),
        (("diverge-gameboy", "--kind", "sound"), 2, "'--kind'"),
        (("diverge-gameboy", "--model", "sgb"), 2, "'--model'"),
        (("diverge-gameboy", "--buttons", "jump"), 2, "got 'jump'"),
        (("demo", "--out", "no/such"), 1, "error: --out: got no, which is no folder"),
        (("play", "no/such.gb"), 1, "No such file"),
        (("bench", "no/such.gb"), 1, "No such file"),
        (("play", "--n", "0"), 2, "'--n'"),
        (("play", "--frames", "-1"), 2, "'--frames'"),
        (("play", "--profile", "snes"), 2, "'--profile'"),
        (("play", "--buttons", "jump*3"), 1, "got 'jump'"),
        (("play", "--buttons", "a*x"), 1, "got 'a*x', expected FRAMES, BUTTONS or BUTTONS*FRAMES"),
        (("play", "--buttons", "0"), 1, "got '0'"),
        (("play", "--buttons", ""), 1, "got ''"),
        (("bench", "--threads", "0"), 2, "'--threads'"),
        (("demo", "--seconds", "0"), 2, "'--seconds'"),
        (("fly",), 2, "fly"),
        (("play", "--wings"), 2, "--wings"),
    ],
)
def test_errors_are_one_clear_message(
    arguments: tuple[str, ...], code: int, message: str, tmp_path: Path
) -> None:
    result = hybridenv_cli(*arguments, cwd=tmp_path)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (b"", "bad.gb): ROM"),
        (b"hello", "bad.gb): ROM"),
        (embedded_rom()[:0x4000], "bad.gb): ROM"),
        (embedded_rom()[:0x134] + b"X" + embedded_rom()[0x135:], "checksum"),
    ],
    ids=["empty", "text", "truncated", "changed"],
)
def test_bad_roms_are_explained(image: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.gb"
    path.write_bytes(image)
    for command in ("info", "play", "bench", "diverge-gameboy"):
        result = hybridenv_cli(command, str(path))
        assert result.returncode == (2 if command == "diverge-gameboy" else 1)
        assert result.stderr.startswith("error: env 0 ("), "something came before the message"
        assert message in result.stderr
        assert "Traceback" not in result.stderr


def test_unwritable_pictures_are_explained(rom: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    wanted = [("play", str(rom), f"--{kind}", f"file/x.{kind}") for kind in ("png", "gif")]
    for arguments in (*wanted, ("demo", "--out", "file")):
        result = hybridenv_cli(*arguments, cwd=tmp_path)
        assert result.returncode == 1
        assert result.stderr.startswith("error: --"), "it was refused only after the run"
        assert "got file, which is no folder" in result.stderr
        assert result.stdout == ""


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to this user"
)
def test_forbidden_places_are_refused_before_the_run(rom: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    result = hybridenv_cli("play", str(rom), "--png", str(closed / "x.png"))
    assert result.returncode == 1
    assert result.stderr.startswith("error: --png")


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_interrupt_ends_at_once_with_130() -> None:
    # What a shell runs in the background is started with the signal ignored.
    code = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('hybridenv', run_name='__main__', alter_sys=True)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "bench", "--n", "64", "--seconds", "60"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    maps = Path(f"/proc/{process.pid}/maps")
    started = time.monotonic()
    while maps.exists() and "_native" not in maps.read_text():
        assert time.monotonic() - started < 60, "the program does not start"
        time.sleep(0.1)
    time.sleep(2)  # from the last import into the measurement
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "Traceback" not in out + err


@pytest.mark.parametrize("missing", ["typer", "rich", "PIL"])
def test_a_missing_extra_is_named(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from hybridenv.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert f"{missing!r}" in result.stderr
    assert "pip install 'hybridenv[cli]'" in result.stderr
