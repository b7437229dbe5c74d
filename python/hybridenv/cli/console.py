"""The two streams that the command line writes to, and its progress bars."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

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
