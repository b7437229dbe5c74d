"""Progress bars on standard error, or none."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Self

from hybridenv.errors import MissingDependencyError
from hybridenv.verify._plan import Tick

TITLES = ("L0 interface", "L1 properties", "L2 operations", "L3 episodes", "L4 policies")


class Progress(AbstractContextManager["Progress"]):
    """One bar for each level.

    Args:
        bars: A `rich.progress.Progress`; `None` makes one, `False` shows nothing.

    Raises:
        MissingDependencyError: rich is not installed.
    """

    def __init__(self, bars: Any = None) -> None:
        self._bars = _rich() if bars is None else bars

    def __enter__(self) -> Self:
        if self._bars:
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars:
            self._bars.stop()

    @contextmanager
    def level(self, n: int, total: int) -> Iterator[Tick]:
        """Show the bar of a level.

        Args:
            n: Its number.
            total: How many units of work it has.

        Yields:
            What is to be told of work done.
        """
        if not self._bars:
            yield lambda _: None
            return
        bar = self._bars.add_task(TITLES[n], total=total)
        yield lambda done: self._bars.advance(bar, done)


def hidden() -> Progress:
    """Return a `Progress` that shows nothing."""
    return Progress(False)


def _rich() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars
    except ImportError:
        raise MissingDependencyError(
            "progress: rich is not installed: pip install 'hybridenv[verify]'"
        ) from None
    return Bars(
        TextColumn("{task.description:<14}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, highlight=False),
    )
