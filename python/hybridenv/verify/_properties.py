"""`Property`: two functions that must agree on examples that hypothesis makes up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class Property:
    """Two functions and the arguments on which they must agree, or one and what always holds.

    Attributes:
        name: Name for the report.
        reference: The judge; what it returns is compared leaf by leaf. `None` for an invariant.
        candidate: Who is judged. Of an invariant: returns true where it holds, otherwise
            false or what is wrong in words.
        strategy: Arguments: a strategy of tuples, one entry for each argument.
        tol: Largest absolute difference allowed; 0 means bit for bit.
    """

    name: str
    reference: Callable[..., Any] | None
    candidate: Callable[..., Any]
    strategy: SearchStrategy[tuple[Any, ...]]
    tol: float = 0.0
