"""The command line, `hybridenv`. Needs the extra: ``pip install "hybridenv[cli]"``."""

import sys
from collections.abc import Callable


def main() -> None:
    """Run the command line and leave the process: the console script `hybridenv`.

    Exit codes: 0 success, 1 a file, ROM or option that hybridenv refuses, 2 wrong usage or a
    missing extra, 130 interrupted, 143 training that SIGTERM ended. Messages go to standard error,
    results to standard output.
    """
    try:
        _loaded()()
    except KeyboardInterrupt:  # while modules load; commands have answers of their own
        sys.exit(130)


def _loaded() -> Callable[[], None]:
    """Load the command line, or leave the process where a package of it is missing."""
    try:
        from hybridenv.cli.app import run
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing not in ("typer", "rich", "PIL"):
            raise
        print(  # noqa: T201  # rich may be what is missing
            f"hybridenv: the command line needs the package {missing!r}, which is not "
            "installed: pip install 'hybridenv[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    return run
