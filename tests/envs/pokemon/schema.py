"""What a trace records: columns of numbers and named draws, from the oracle's `schema.json`."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

#: The node project that plays battles with Pokémon Showdown.
ORACLE = Path(__file__).resolve().parents[2] / "oracle" / "showdown"


@dataclass(frozen=True)
class Column:
    """One thing that is recorded at every step.

    Attributes:
        name: Its name.
        shape: Shape of its numbers; an axis of 2 in front is the player.
        begin: Where they begin in a row.
        about: What they mean.
    """

    name: str
    shape: tuple[int, ...]
    begin: int
    about: str

    @property
    def end(self) -> int:
        """Where the numbers end in a row."""
        return self.begin + math.prod(self.shape)

    def of(self, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Take the column out of rows.

        Args:
            rows: int32[..., width], whole rows.

        Returns:
            int32[..., *shape], a view of ``rows``.
        """
        return rows[..., self.begin : self.end].reshape(*rows.shape[:-1], *self.shape)

    def place(self, at: int) -> str:
        """Name a number of the column by its flat position, as in ``hp[1, 4]``."""
        if not self.shape:
            return self.name
        index = ", ".join(str(int(i)) for i in np.unravel_index(at, self.shape))
        return f"{self.name}[{index}]"


@dataclass(frozen=True)
class Schema:
    """Columns and draw sites of one version of the traces.

    Attributes:
        version: Of the format.
        showdown: Version of Pokémon Showdown that plays.
        columns: Every column by name, in the order of a row.
        header: Names of the numbers that describe a Pokémon of a team before the battle.
        volatiles: Names of the bits of the column ``volatiles``.
        sites: Names of the draw sites by number.
        digest: Hash of all of this; traces of another schema are refused.
    """

    version: int
    showdown: str
    columns: Mapping[str, Column]
    header: tuple[str, ...]
    volatiles: tuple[str, ...]
    sites: tuple[str, ...]
    digest: str

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return max(column.end for column in self.columns.values())


@cache
def load_schema() -> Schema:
    """Read the schema that the oracle and the tests share."""
    text = (ORACLE / "schema.json").read_text(encoding="utf-8")
    package = json.loads((ORACLE / "package.json").read_text(encoding="utf-8"))
    given = json.loads(text)
    columns: dict[str, Column] = {}
    begin = 0
    for entry in given["columns"]:
        column = Column(entry["name"], tuple(entry["shape"]), begin, entry["about"])
        columns[column.name] = column
        begin = column.end
    layout = [[column.name, column.shape] for column in columns.values()]
    names = [given["header"], given["volatiles"], given["sites"]]
    digest = hashlib.sha256(json.dumps([given["version"], layout, names]).encode()).hexdigest()
    return Schema(
        given["version"],
        package["dependencies"]["pokemon-showdown"],
        columns,
        tuple(given["header"]),
        tuple(given["volatiles"]),
        tuple(given["sites"]),
        digest,
    )
