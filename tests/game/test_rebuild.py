"""The embedded game's ROM is what its sources build, byte for byte."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
GAME = ROOT / "games" / "polar_post"
ROM = ROOT / "python" / "hybridenv" / "data" / "polar_post.gb"


def load_build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("polar_post_build", GAME / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BUILD = load_build()


def test_rebuild_is_equal() -> None:
    version = BUILD.sdcc_version()
    if version is None:
        pytest.skip("SDCC is not installed")
    if not version.startswith(BUILD.SDCC_VERSION + "."):
        pytest.skip(f"the ROM was built with SDCC {BUILD.SDCC_VERSION}, installed: {version}")
    rebuilt = BUILD.build()
    packaged = ROM.read_bytes()
    differing = [i for i, (a, b) in enumerate(zip(rebuilt, packaged, strict=True)) if a != b]
    assert not differing, f"{len(differing)} bytes differ, the first at {differing[0]:04X}h"


def test_header() -> None:
    rom = ROM.read_bytes()
    assert len(rom) == 0x8000
    assert rom[0x134:0x144].rstrip(b"\0") == b"POLAR POST"
    assert rom[0x147:0x14A] == b"\0\0\0", "ROM only, 32 KiB, no RAM"
    assert rom[0x14D] == -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
    total = sum(rom) - rom[0x14E] - rom[0x14F]
    assert int.from_bytes(rom[0x14E:0x150], "big") == total & 0xFFFF


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a b]\n" + "........ ........\n" * 7, "end of the strip"),
        ("[a b]\n" + "........\n" * 8, "expected 2 cells"),
        ("[a]\n" + "...x....\n" * 8, "expected 1 cells"),
        ("[a a]\n" + "........ ........\n" * 8, "drawn twice"),
        ("........\n", "outside a strip"),
    ],
)
def test_damaged_art_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "art.txt"
    path.write_text(text, encoding="ascii")
    with pytest.raises(BUILD.BuildError, match=message):
        BUILD.read_art(path, 8)


@pytest.mark.parametrize("page", [GAME / "README.md", ROOT / "docs" / "game.md"])
def test_documents_hold_the_ram_map(page: Path) -> None:
    header = (GAME / "src" / "status.h").read_text(encoding="ascii")
    fields = re.findall(r"(\w+)(?:\[\w+\])?;\s+/\* (C0[0-9A-F]{2})", header)
    assert len(fields) >= 25
    text = page.read_text(encoding="utf-8")
    missing = [name for name, address in fields if f"| {address} | `{name}` |" not in text]
    assert not missing
