"""`hybridenv info`: what a ROM's header says, in words."""

import hashlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from rich.table import Table

from hybridenv.batch import GameBoyBatch, Model
from hybridenv.cartridge import RomHeader, read_images
from hybridenv.cli.console import out

MAPPERS = {
    "ROM": "no memory controller: 32 KiB of ROM, always there",
    "MBC1": "MBC1 memory controller, up to 2 MiB of ROM in banks",
    "MBC2": "MBC2 memory controller, up to 256 KiB of ROM, 512 half-bytes of RAM inside",
    "MBC3": "MBC3 memory controller, up to 2 MiB of ROM in banks",
    "MBC5": "MBC5 memory controller, up to 8 MiB of ROM in banks",
}

CONSOLES = {"dmg": "dmg, the monochrome Game Boy", "cgb": "cgb, the Game Boy Color"}

COLOR = {
    "none": "made for the monochrome Game Boy",
    "enhanced": "runs on the monochrome Game Boy, with colour on the Game Boy Color",
    "required": "asks for a Game Boy Color",
}


def info(path: Path | None, model: Model, as_json: bool) -> None:
    """Print the header of a ROM.

    Args:
        path: The ROM file; `None` is the embedded game.
        model: `"auto"`, `"dmg"` or `"cgb"`, as for the other commands.
        as_json: Print JSON instead of words.

    Raises:
        RomError: The file is not a ROM that hybridenv runs.
        RomFileError: The file cannot be read.
    """
    [image] = read_images(path, 1)
    with GameBoyBatch(path, 1, num_threads=1, model=model) as batch:
        header = batch.header()
        [console] = batch.models
    digest = hashlib.sha256(image).hexdigest()
    if as_json:
        report = asdict(header) | {"model": console, "file_size": len(image), "sha256": digest}
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, words in explain(header).items():
        table.add_row(name, words)
    table.add_row("model", _model(header, console, model))
    table.add_row("file", _size(len(image)))
    out.print(table)
    out.print(f"SHA-256: {digest}", soft_wrap=True)


def explain(header: RomHeader) -> dict[str, str]:
    """Put a header into words.

    Args:
        header: What `GameBoyBatch.header` returned.

    Returns:
        What the words are about, and the words.
    """
    mapper = header.kind.partition("+")[0]
    fitted = [
        name
        for name, there in (
            ("a battery that keeps the RAM", header.battery and header.ram_size > 0),
            ("a battery", header.battery and not header.ram_size),
            ("a real-time clock", header.rtc),
            ("a rumble motor", header.rumble),
        )
        if there
    ]
    words = {
        "title": header.title or "(none)",
        "cartridge": f"{header.kind} (type {header.kind_code:02X}): {MAPPERS[mapper]}",
        "also fitted": ", ".join(fitted) or "nothing",
        "ROM": f"{_size(header.rom_size)}, {header.rom_size // 0x4000} banks",
        "RAM": _size(header.ram_size) if header.ram_size else "none",
        "colour": COLOR[header.cgb],
        "Super Game Boy": "uses its functions" if header.sgb else "not used",
        "sold": "outside Japan" if header.overseas else "in Japan",
        "licensee": header.licensee,
        "version": str(header.version),
        "logo": "as a real Game Boy demands it"
        if header.logo_valid
        else "not the one that a real Game Boy demands: it would not start this ROM",
        "header checksum": f"{header.header_checksum:02X}, right",
        "global checksum": _global_checksum(header),
    }
    if header.manufacturer:
        words["manufacturer"] = header.manufacturer
    return words


def _model(header: RomHeader, console: Literal["dmg", "cgb"], asked: Model) -> str:
    words = CONSOLES[console]
    if asked == "auto":
        return f"{words}: what model={asked!r} makes of the header"
    if console == "cgb" and header.cgb == "none":
        return f"{words}, in its compatibility mode for monochrome games"
    if console == "dmg" and header.cgb == "required":
        return f"{words}, though the game asks for a Game Boy Color"
    return words


def _global_checksum(header: RomHeader) -> str:
    stored, computed = header.global_checksum, header.computed_global_checksum
    if stored == computed:
        return f"{stored:04X}, right"
    return f"{stored:04X}, but the bytes add up to {computed:04X} (no Game Boy minds)"


def _size(count: int) -> str:
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count} bytes"
