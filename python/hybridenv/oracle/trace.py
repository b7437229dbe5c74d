"""Find where hybridenv and PyBoy part: first the frame, then the instruction.

Both sides play until something differs after a frame; then that one frame is played again
instruction by instruction, and the first instruction that they do not share is shown with its
surroundings.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hybridenv.batch import TRACE_COLUMNS, Model, Profile
from hybridenv.errors import OracleError
from hybridenv.oracle.lockstep import KINDS, Difference, Lockstep

#: The moment before an instruction: numbers that `hybridenv.TRACE_COLUMNS` names.
Row = tuple[int, ...]

#: Columns by which an instruction is told from another: the clock and the registers.
_COMPARED = TRACE_COLUMNS.index("SP") + 1
#: Characters of each column: the clock in decimal, the others in hexadecimal.
_WIDTHS = (10, *[4] * (len(TRACE_COLUMNS) - 1))

#: T-cycles of a HALT that is over at once.
_HALT = 4


@dataclass(frozen=True)
class Trace:
    """The instructions of one frame.

    Attributes:
        rows: What each executed instruction saw, and last the frame's end.
        drawn: PyBoy's notes about the lines it drew.
    """

    rows: list[Row]
    drawn: list[str] = field(default_factory=list)

    @classmethod
    def of_pyboy(cls, text: str) -> Trace:
        """Read what `hybridenv.oracle.pyboy_trace` printed."""
        lines = text.splitlines()
        rows = [
            tuple(int(number, 16) for number in line.split())
            for line in lines
            if line and not line.startswith("L ")
        ]
        kept = rows[:1] + [
            row for before, row in itertools.pairwise(rows) if not _halts_again(before, row)
        ]
        return cls(kept, [line for line in lines if line.startswith("L ")])


def _halts_again(before: Row, row: Row) -> bool:
    """Whether PyBoy executes a HALT a second time, as it does after EI: nothing changes in 4 T."""
    return before[1:_COMPARED] == row[1:_COMPARED] and row[0] - before[0] == _HALT


def trace_pyboy(rom: bytes, masks: Sequence[int], *, color: bool) -> Trace:
    """Trace the last frame of PyBoy under ``masks``.

    Args:
        rom: ROM image.
        masks: Buttons of every frame up to the one to be traced.
        color: Whether it is a Game Boy Color.

    Returns:
        The trace. All frames before are replayed in plain Python, some hundred a second.

    Raises:
        OracleError: PyBoy fails.
    """
    model = "cgb" if color else "dmg"
    # -P: modules in the user's folder are not to be taken for PyBoy's.
    program = [sys.executable, "-P", "-m", "hybridenv.oracle.pyboy_trace"]
    program += [str(len(masks) - 1), model]
    done = subprocess.run(  # noqa: S603 - this package's own program
        program, input=bytes(masks) + rom, capture_output=True, check=False
    )
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise OracleError(f"the trace of PyBoy failed: {reason}")
    return Trace.of_pyboy(done.stdout.decode())


@dataclass(frozen=True)
class Divergence:
    """The first frame in which the two sides differ.

    Attributes:
        differences: What differs after it, in the order of `KINDS`.
        mask: The buttons that it was played under.
        expected: PyBoy's instructions in it.
        actual: hybridenv's instructions in it.
    """

    differences: list[Difference]
    mask: int
    expected: Trace
    actual: Trace

    @property
    def frame(self) -> int:
        """Number of the frame; 0 is the first that game code runs in."""
        return self.differences[0].frame


def first_divergence(
    rom: bytes,
    masks: Sequence[int],
    *,
    kinds: Iterable[str] = KINDS,
    profile: Profile = "pyboy",
    model: Model = "auto",
) -> Divergence | None:
    """Play both sides until something differs, and trace that frame on both.

    Args:
        rom: ROM image.
        masks: Buttons, one mask a frame.
        kinds: Stop only where one of these `KINDS` differs.
        profile: hybridenv's profile.
        model: The console on both sides; ``"auto"`` is the one that the ROM asks for.

    Returns:
        The first frame that differs; `None` if they agree to the end.

    Raises:
        RomError: hybridenv refuses the ROM.
        OracleError: PyBoy refuses the ROM or fails.
        MissingDependencyError: PyBoy is not installed.
    """
    wanted = set(kinds)
    with Lockstep(rom, masks, profile=profile, model=model) as lockstep:
        for _, _, differences in lockstep.play():
            if any(difference.kind in wanted for difference in differences):
                frame = differences[0].frame
                played = masks[: frame + 1]
                actual = Trace(lockstep.actual.trace(played[-1]))
                expected = trace_pyboy(rom, played, color=lockstep.actual.color)
                return Divergence(differences, played[-1], expected, actual)
    return None


def split(expected: Trace, actual: Trace) -> int | None:
    """Return the first instruction that differs in the clock or a register, or ``None``.

    The last row is no instruction but the end of the frame, of which only the clock counts: PyBoy
    leaves PC on a HALT and hybridenv after it.
    """
    pairs = enumerate(zip(expected.rows[:-1], actual.rows[:-1], strict=False))
    for index, (theirs, ours) in pairs:
        if theirs[:_COMPARED] != ours[:_COMPARED]:
            return index
    last = min(len(expected.rows), len(actual.rows)) - 1
    ends = expected.rows[-1][0] == actual.rows[-1][0]
    return None if len(expected.rows) == len(actual.rows) and ends else last


def explain(expected: Trace, actual: Trace, around: int) -> str:
    """Return both sides of the place where the traces part, for a person.

    Args:
        expected: PyBoy's trace.
        actual: hybridenv's trace of the same frame.
        around: Instructions shown before and after the place.
    """
    index = split(expected, actual)
    if index is None:
        count = len(actual.rows) - 1
        lines = [
            f"Both sides execute the same {count:,} instructions at the same clock in this frame,",
            "so the difference is in the picture or in memory.",
        ]
        if expected.drawn:
            lines += [
                "PyBoy drew its lines with (clock line LCDC SCY SCX WY WX BGP OBP0 OBP1):",
                *(f"  {line.removeprefix('L ')}" for line in expected.drawn),
            ]
        return "\n".join(lines)
    theirs, ours = expected.rows[index], actual.rows[index]
    differ = [
        name for name, one, other in zip(TRACE_COLUMNS, theirs, ours, strict=True) if one != other
    ]
    what = f"in {', '.join(differ)}" if differ else "in what follows"
    names = " ".join(f"{name:>{width}}" for name, width in zip(TRACE_COLUMNS, _WIDTHS, strict=True))
    lines = [f"Instruction {index} of the frame is the first that differs, {what}:", ""]
    lines.append(f"  {'':10} {names}")
    lines += [_shown("both", row) for row in actual.rows[max(0, index - around) : index]]
    for name, trace in (("PyBoy", expected), ("hybridenv", actual)):
        lines.append("")
        for number in range(index, min(index + around + 1, len(trace.rows))):
            last = number == len(trace.rows) - 1
            lines.append(_shown(name, trace.rows[number], number == index, last))
    return "\n".join(lines)


def _shown(name: str, row: Row, first: bool = False, last: bool = False) -> str:
    clock, *registers = row
    sizes = zip(registers, _WIDTHS[1:], strict=True)
    hexed = (
        f"{number:0{4 if place < _COMPARED else 2}X}".rjust(width)
        for place, (number, width) in enumerate(sizes, 1)
    )
    note = "  (end of the frame)" if last else ""
    return f"{'>' if first else ' '} {name:10} {clock:>10} {' '.join(hexed)}{note}"
