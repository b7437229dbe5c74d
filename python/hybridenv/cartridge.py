"""Cartridges: reading images, and what is written and kept on them."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from hybridenv.data import embedded_rom
from hybridenv.errors import (
    ArgumentError,
    RomError,
    RomFileError,
    RomIsADirectoryError,
    RomNotFoundError,
    RomPermissionError,
)

RomSource: TypeAlias = str | PathLike[str] | bytes
"""The path of an image or the image itself."""

_ONE_SOURCE = (str, PathLike, bytes, bytearray, memoryview)

_FILE_ERRORS: dict[type[OSError], type[RomFileError]] = {
    FileNotFoundError: RomNotFoundError,
    IsADirectoryError: RomIsADirectoryError,
    PermissionError: RomPermissionError,
}


@dataclass(frozen=True, slots=True)
class RomHeader:
    """What the header of a cartridge says.

    Source: Pan Docs, "The Cartridge Header".

    Attributes:
        title: The title up to its first NUL; bytes outside printable ASCII show as ``?``.
        manufacturer: Four characters where the header has them.
        cgb: Whether the game is for the monochrome Game Boy ("none"), knows colour ("enhanced") or
            asks for a Game Boy Color ("required").
        sgb: It uses Super Game Boy functions.
        kind: Controller and extras, such as ``MBC3+TIMER+RAM+BATTERY``.
        kind_code: The byte that says so.
        battery: A battery keeps RAM or clock.
        rtc: It has a real-time clock.
        rumble: It has a rumble motor.
        rom_size: Bytes of ROM.
        ram_size: Bytes of cartridge RAM that the header names; zero for MBC2, which has 512
            half-bytes of its own.
        overseas: Not for Japan.
        licensee: The publisher's code.
        version: Revision of the game.
        logo_valid: The logo is the one that a real Game Boy demands.
        header_checksum: Checksum of the header; it is right, or the image would be refused.
        global_checksum: Checksum of the image as the header has it; no Game Boy looks at it.
        computed_global_checksum: What that should be.
        hash: 64 bits that name the image; states remember them.
    """

    title: str
    manufacturer: str | None
    cgb: Literal["none", "enhanced", "required"]
    sgb: bool
    kind: str
    kind_code: int
    battery: bool
    rtc: bool
    rumble: bool
    rom_size: int
    ram_size: int
    overseas: bool
    licensee: str
    version: int
    logo_valid: bool
    header_checksum: int
    global_checksum: int
    computed_global_checksum: int
    hash: int


class RtcTime(NamedTuple):
    """The clock of an MBC3 cartridge, which runs on emulated time.

    Attributes:
        days: 0 to 511.
        hours: 0 to 23; games can set up to 31.
        minutes: 0 to 59; games can set up to 63.
        seconds: 0 to 59; games can set up to 63.
        carry: The days have overflowed.
        halted: The game has stopped the clock.
        cycles: Clock cycles into the current second, 0 to 4,194,303.
    """

    days: int = 0
    hours: int = 0
    minutes: int = 0
    seconds: int = 0
    carry: bool = False
    halted: bool = False
    cycles: int = 0


def read_images(rom: RomSource | Sequence[RomSource] | None, n: int) -> list[bytes]:
    """Read the image of every env.

    Args:
        rom: One source for all, n sources, or `None` for the embedded game.
        n: Number of envs.

    Returns:
        n images; equal ones are the same object.

    Raises:
        ArgumentError: `rom` is neither, or has another length than n.
        RomFileError: A file cannot be read.
    """
    if rom is None:
        return [embedded_rom()] * n
    if isinstance(rom, _ONE_SOURCE):
        return [_read_image("rom", rom, {})] * n
    if not isinstance(rom, Sequence):
        raise ArgumentError(
            f"rom: got {type(rom).__name__}, expected a path, bytes, a sequence of n of these, "
            "or None for the embedded game"
        )
    if len(rom) != n:
        raise ArgumentError(f"rom: got {len(rom)} images, expected one, or one per env, n = {n}")
    seen: dict[str | bytes, bytes] = {}
    return [_read_image(f"rom[{k}]", source, seen) for k, source in enumerate(rom)]


def _read_image(what: str, source: object, seen: dict[str | bytes, bytes]) -> bytes:
    """Read an image, or return the object that an earlier equal source gave."""
    if isinstance(source, str | PathLike):
        path = os.fspath(source)
        return seen[path] if path in seen else seen.setdefault(path, _read_file(what, path))
    if isinstance(source, bytes | bytearray | memoryview):
        image = bytes(source)
        return seen.setdefault(image, image)
    raise ArgumentError(f"{what}: got {type(source).__name__}, expected a path or bytes")


def _read_file(what: str, path: str) -> bytes:
    if not path or "\0" in path:
        raise ArgumentError(f"{what}: got {path!r}, expected the path of a ROM file")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        message = f"{what}: {path}: {error.strerror}, expected a readable ROM file"
        kind = _FILE_ERRORS.get(type(error), RomFileError)
        raise kind(error.errno, message, path) from error


def with_path(error: RomError, rom: RomSource | Sequence[RomSource] | None) -> RomError:
    """Name the file in an error about its contents.

    Args:
        error: What the native module raised: it names the env.
        rom: Where the images came from, as in `read_images`.

    Returns:
        The error with the path behind the env; the same one for an image that came as bytes.
    """
    found = re.match(r"env (\d+)", str(error))
    if found is None:
        return error
    one = rom is None or isinstance(rom, _ONE_SOURCE)
    source = rom if one else rom[int(found[1])]  # type: ignore[index]
    if not isinstance(source, str | PathLike):
        return error
    return RomError(f"{found[0]} ({os.fspath(source)}){str(error)[found.end() :]}")
