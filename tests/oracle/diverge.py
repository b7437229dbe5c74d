"""Find where ``profile="pyboy"`` first departs from PyBoy: ``python -m tests.oracle.diverge ROM``.

First both sides play a script frame by frame until something differs; then that one frame is
played again instruction by instruction on both sides, and the first instruction that they do not
share is shown with its surroundings. Needs cargo (`tests/oracle/trace.rs`) for the second part.
"""

# ruff: noqa: T201 - a command line

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.pyboy_lockstep import KINDS, Difference, Lockstep, script

ROOT = Path(__file__).resolve().parent.parent.parent

#: Heads of a trace's columns.
COLUMNS = "clock PC AF BC DE HL SP IF IE LCDC STAT LY DIV TIMA"

_VECTORS = {"0040", "0048", "0050", "0058", "0060"}
#: T-cycles of an interrupt dispatch.
_DISPATCH = 20
#: T-cycles of a HALT that is over at once.
_HALT = 4


@dataclass(frozen=True)
class Trace:
    """The instructions of one frame.

    Attributes:
        rows: Columns of each executed instruction (`COLUMNS`), as text.
        drawn: PyBoy's notes about the lines it drew.
    """

    rows: list[list[str]]
    drawn: list[str]

    @classmethod
    def parse(cls, text: str) -> Trace:
        """Read a trace and keep what both sides count as an executed instruction."""
        lines = text.splitlines()
        rows = [line.split() for line in lines if line[:1].isdigit()]
        rows = rows[:1] + [
            row for before, row in itertools.pairwise(rows) if not _halts_again(before, row)
        ]
        kept = [row for row, after in itertools.pairwise(rows) if not _forestalled(row, after)]
        return cls([*kept, *rows[-1:]], [line for line in lines if line.startswith("L ")])


def _forestalled(row: list[str], after: list[str]) -> bool:
    """Whether the processor took an interrupt instead of the instruction of ``row``."""
    pushed = (int(row[6], 16) - int(after[6], 16)) & 0xFFFF == 2
    return after[1] in _VECTORS and pushed and int(after[0]) - int(row[0]) == _DISPATCH


def _halts_again(before: list[str], row: list[str]) -> bool:
    """Whether PyBoy executes a HALT a second time, as it does after EI: nothing changes in 4 T."""
    return before[1:7] == row[1:7] and int(row[0]) - int(before[0]) == _HALT


def trace_oracle(rom: Path, frame: int, masks: Sequence[int]) -> Trace:
    """Trace a frame of PyBoy; slow, for it replays all frames before in plain Python."""
    command = [sys.executable, "-m", "tests.oracle.pyboy_trace", str(rom), str(frame)]
    return _trace(command, masks)


def trace_hybridenv(rom: Path, frame: int, masks: Sequence[int]) -> Trace:
    """Trace a frame of this project's core."""
    cargo = ["cargo", "run", "--quiet", "--release", "-p", "gb-core", "--example", "trace", "--"]
    return _trace([*cargo, str(rom), str(frame)], masks)


def _trace(command: list[str], masks: Sequence[int]) -> Trace:
    done = subprocess.run(command, cwd=ROOT, input=bytes(masks), capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode(errors='replace')}")
    return Trace.parse(done.stdout.decode())


def first_difference(
    rom: bytes, seed: int, frames: int, kinds: Sequence[str]
) -> list[Difference] | None:
    """Return what differs after the first frame in which one of ``kinds`` does."""
    with Lockstep(rom, seed, frames) as lockstep:
        for _, _, differences in lockstep.play():
            if any(difference.kind in kinds for difference in differences):
                return differences
    return None


def split(expected: Trace, actual: Trace) -> int | None:
    """Return the first instruction that differs in the clock or a register, or ``None``.

    The last row is no instruction but the end of the frame, of which only the clock counts: PyBoy
    leaves PC on a HALT and hybridenv after it.
    """
    pairs = enumerate(zip(expected.rows[:-1], actual.rows[:-1], strict=False))
    for index, (theirs, ours) in pairs:
        if theirs[:7] != ours[:7]:
            return index
    last = min(len(expected.rows), len(actual.rows)) - 1
    ends = expected.rows[-1][0] == actual.rows[-1][0]
    return None if len(expected.rows) == len(actual.rows) and ends else last


def explain(expected: Trace, actual: Trace, around: int) -> str:
    """Return both sides of the place where the traces part, for a person."""
    index = split(expected, actual)
    if index is None:
        lines = [
            "Both sides execute the same instructions at the same clock in this frame, so the",
            "difference is in the picture or in memory. PyBoy drew its lines with",
            "  L clock line LCDC SCY SCX WY WX BGP OBP0 OBP1",
            *(f"  {line}" for line in expected.drawn),
        ]
        return "\n".join(lines)
    lines = [f"Instruction {index} of the frame differs ({COLUMNS}):"]
    for name, trace in (("PyBoy", expected), ("hybridenv", actual)):
        lines.append(name)
        for number in range(max(0, index - around), index + around + 1):
            if number < len(trace.rows):
                mark = ">" if number == index else " "
                lines.append(f" {mark} {' '.join(trace.rows[number])}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Search, explain, and return 0 if the sides agree, 1 if they do not."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.diverge", description=__doc__)
    parser.add_argument("rom", type=Path)
    parser.add_argument("--frames", type=int, default=1200, help="length of the script")
    parser.add_argument("--seed", type=int, default=1, help="seed of the script")
    parser.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        help="stop only where this differs (default: anything); may be repeated",
    )
    parser.add_argument("--around", type=int, default=12, help="instructions shown on each side")
    options = parser.parse_args(arguments)
    rom = options.rom.read_bytes()
    differences = first_difference(rom, options.seed, options.frames, options.kind or KINDS)
    if differences is None:
        print(f"{options.rom.name}: equal for {options.frames} frames")
        return 0
    print(*differences, sep="\n")
    frame = differences[0].frame
    masks = script(options.seed, options.frames)
    print(f"Tracing frame {frame}, buttons {masks[frame]:08b} ...", flush=True)
    expected = trace_oracle(options.rom, frame, masks)
    actual = trace_hybridenv(options.rom, frame, masks)
    print(explain(expected, actual, options.around))
    return 1


if __name__ == "__main__":
    sys.exit(main())
