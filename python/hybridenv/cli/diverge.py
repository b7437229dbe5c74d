"""`hybridenv diverge-gameboy`: the first frame and instruction at which PyBoy goes another way."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from hybridenv.batch import Model, Profile
from hybridenv.buttons import Button
from hybridenv.cartridge import read_images, with_path
from hybridenv.cli.console import err, out
from hybridenv.cli.players import parse_script, script_masks
from hybridenv.errors import RomError
from hybridenv.oracle.lockstep import KINDS, script
from hybridenv.oracle.reference import PYBOY_VERSION, pyboy_version
from hybridenv.oracle.trace import Divergence, explain, first_divergence


@dataclass(frozen=True)
class Diverge:
    """What to compare.

    Attributes:
        rom: The ROM file; `None` plays the embedded game.
        frames: Most frames to play.
        buttons: `"random"`, `"none"` or a script.
        seed: Seed of random buttons.
        kinds: Stop only where one of these differs; all without any.
        around: Instructions shown before and after the first one that differs.
        profile: `"hardware"` or `"pyboy"`.
        model: `"auto"`, `"dmg"` or `"cgb"`.
    """

    rom: Path | None
    frames: int
    buttons: str
    seed: int
    kinds: Sequence[str]
    around: int
    profile: Profile
    model: Model


def diverge(wanted: Diverge) -> bool:
    """Play both sides until they differ and print where and why.

    Args:
        wanted: What to compare.

    Returns:
        Whether they are equal in all frames.

    Raises:
        HybridEnvError: The ROM or the script is refused, or PyBoy is missing or fails.
    """
    [image] = read_images(wanted.rom, 1)
    name = wanted.rom.name if wanted.rom else "the embedded game"
    masks = list(islice(_masks(wanted), wanted.frames))
    found = pyboy_version()
    if found not in (None, PYBOY_VERSION):
        err.print(f"note: PyBoy {found} is installed; the profile reproduces {PYBOY_VERSION}")
    try:
        divergence = first_divergence(
            image,
            masks,
            kinds=wanted.kinds or KINDS,
            profile=wanted.profile,
            model=wanted.model,
        )
    except RomError as error:
        raise with_path(error, wanted.rom) from None
    if divergence is None:
        what = ", ".join(wanted.kinds or KINDS)
        _print(f"{name}: equal to PyBoy {found} for {wanted.frames:,} frames ({what})")
        return True
    _print(_words(name, divergence, wanted.around))
    return False


def _masks(wanted: Diverge) -> Iterator[int]:
    if wanted.buttons == "random":
        return iter(script(wanted.seed, wanted.frames))
    return script_masks([] if wanted.buttons == "none" else parse_script(wanted.buttons))


def _words(name: str, found: Divergence, around: int) -> str:
    held = [button.name.lower() for button in Button if button & found.mask and button.name]
    equal = f"equal for {found.frame:,} frames" if found.frame else "different from the start"
    buttons = " + ".join(held) or "none"
    lines = [f"{name}: {equal}; frame {found.frame} (buttons held: {buttons}) differs in", ""]
    for one in found.differences:
        unit = {"screen": "pixels", "clock": "T-cycles"}.get(one.kind, "bytes")
        place = "" if one.kind == "clock" else f", first at {one.where}"
        form = "," if one.kind == "clock" else "02X"
        lines.append(
            f"  {one.kind:9} {one.count:,} {unit}{place}: "
            f"PyBoy {one.expected:{form}}, hybridenv {one.actual:{form}}"
        )
    return "\n".join([*lines, "", explain(found.expected, found.actual, around)])


def _print(text: str) -> None:
    out.print(text, markup=False, soft_wrap=True)
