"""The two streams that the command line writes to, and its progress bars."""

import sys
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hybridenv.errors import HybridEnvError

out = Console(highlight=False)
"""Results: standard output."""

err = Console(stderr=True, highlight=False)
"""Progress and messages: standard error."""


def progress() -> Progress:
    """Make a progress bar on standard error; it shows each task's field `rate` behind its bar.

    Returns:
        A context manager.
    """
    return Progress(
        TextColumn("{task.description:<26}"),
        BarColumn(bar_width=32),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=err,
    )


def fail(error: HybridEnvError | OSError, code: int = 1) -> NoReturn:
    """Say what is wrong on standard error and leave the process with an exit code."""
    message = str(error)
    if isinstance(error, OSError) and not isinstance(error, HybridEnvError) and error.filename:
        message = f"{error.filename}: {error.strerror}"
    for text in (f"error: {message}", *getattr(error, "__notes__", ())):
        err.print(text, style="red", markup=False, soft_wrap=True)
    sys.exit(code)
