"""The process that a candidate lives in: `python -m hybridenv.verify._worker DESCRIPTOR`."""

import os
import pickle
import signal
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from hybridenv.errors import TargetError, WrapperError
from hybridenv.verify._target import Target

CLOSED = "the reference's package is closed to the candidate"


class Blocker(MetaPathFinder):
    """Refuses to find certain modules.

    Args:
        blocked: Their names; whatever is below one is refused too.
    """

    def __init__(self, blocked: Sequence[str]) -> None:
        self.blocked = tuple(blocked)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Raise for a blocked module, and leave all others to those who come after."""
        del path, target
        for name in self.blocked:
            if fullname == name or fullname.startswith(name + "."):
                raise BlockedImportError(f"import of {fullname!r}: {CLOSED}")


class BlockedImportError(WrapperError, ImportError):
    """A candidate tried to import what it is cut off from."""


def cut_off(blocked: Sequence[str]) -> None:
    """Make modules unavailable in this process, for good.

    Args:
        blocked: Their names.
    """
    homes = tuple(home for name in blocked if (home := _home(name)) is not None)
    for loaded in list(sys.modules):
        if any(loaded == name or loaded.startswith(name + ".") for name in blocked):
            del sys.modules[loaded]
    sys.meta_path.insert(0, Blocker(blocked))

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and _inside(arguments[0], homes):
            raise BlockedImportError(f"opening {arguments[0]}: {CLOSED}")

    if homes:
        sys.addaudithook(audit)


def _home(module: str) -> str | None:
    """The folder or file that a module's source lies in, found without importing it."""
    path: Sequence[str] | None = None
    found = None
    for part in module.split("."):
        found = PathFinder.find_spec(part, path)
        if found is None:
            return None
        path = list(found.submodule_search_locations or ())
    if path:
        return str(Path(path[0]).resolve()) + os.sep
    return None if found is None or found.origin is None else str(Path(found.origin).resolve())


def _inside(name: str, homes: Sequence[str]) -> bool:
    if not name.endswith((".py", ".pyc", ".so", ".pyd")):
        return False
    full = os.path.realpath(name)
    return any(full == home or (home.endswith(os.sep) and full.startswith(home)) for home in homes)


def serve(connection: Connection) -> None:
    """Answer calls until the other side closes.

    Args:
        connection: Where they come from: pairs of a method's name and its arguments.
    """
    target: Target | None = None
    while True:
        try:
            method, arguments = connection.recv()
        except (EOFError, OSError):  # whoever asked has ended
            break
        try:
            if method == "make":
                target = _make(*arguments)
                answer: Any = _describe(target)
            else:
                answer = getattr(target, method)(*arguments)
            status = "answer"
        except (Exception, KeyboardInterrupt) as error:  # a candidate may raise anything
            status, answer = _told(error)
        try:
            connection.send_bytes(_packed(method, status, answer))
        except OSError:  # nobody waits for it any more
            break
    if target is not None:
        target.close()


def _packed(method: str, status: str, answer: Any) -> bytes:
    try:
        return pickle.dumps((status, answer))
    except Exception as error:  # such as an info with a function in it
        words = f"its answer to {method!r} cannot be sent ({type(error).__name__}: {error})"
        return pickle.dumps(("target", f"candidate: {words}"))


def _make(spec: str, blocked: Sequence[str]) -> Target:
    from hybridenv.verify.adapters import resolve

    cut_off(blocked)
    return resolve(spec)


def _describe(target: Target) -> dict[str, Any]:
    names = ("identity", "observation_space", "action_space", "offers", "batch", "vector", "lanes")
    return {name: getattr(target, name) for name in names}


def _told(error: BaseException) -> tuple[str, str]:
    """The kind of an error and its words; what caused it counts where it was a blocked import."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, WrapperError):
            return "wrapper", str(cause)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, TargetError):
        return "target", str(error)
    return "error", f"{type(error).__name__}: {error}"


def main() -> None:
    """Serve on the connection whose descriptor is the only argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # results of the command stay clean
    connection = Connection(int(sys.argv[1]))
    serve(connection)


if __name__ == "__main__":
    main()
