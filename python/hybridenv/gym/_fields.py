"""Reading the fields of a task from memory, for the infos of a reset.

After a step, the native module evaluates the fields; a reset hands over pictures alone.
"""

import numpy as np
from numpy.typing import NDArray

from hybridenv.batch import GameBoyBatch
from hybridenv.task import Field, Task


class FieldReader:
    """Reads the fields that a task names in its `info`.

    Args:
        task: The task; `None` has no fields.
    """

    def __init__(self, task: Task | None) -> None:
        self._fields = {} if task is None else {name: task.fields[name] for name in task.info}
        addresses = [one.address + k for one in self._fields.values() for k in range(one.size)]
        self._addresses = np.array(addresses, dtype=np.uint16)

    def read(self, batch: GameBoyBatch) -> dict[str, NDArray[np.int64]]:
        """Read the fields as they are now.

        Args:
            batch: The machines.

        Returns:
            The value of each field, int64[n], in the order of `Task.info`.
        """
        if not self._fields:
            return {}
        ram = batch.read_memory(self._addresses).astype(np.int64)
        columns = {}
        for name, one in self._fields.items():
            columns[name] = _value(one, ram[:, : one.size])
            ram = ram[:, one.size :]
        return columns


def _value(field: Field, ram: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number that the bytes int64[n, size] of a field stand for, int64[n]."""
    digits = ram if field.byteorder == "big" else ram[:, ::-1]
    if field.kind == "bcd":
        digits = (digits >> 4) * 10 + (digits & 0x0F)
    base = 100 if field.kind == "bcd" else 256
    value = digits @ (base ** np.arange(field.size - 1, -1, -1, dtype=np.int64))
    if field.kind == "bit":
        return value >> (field.bit or 0) & 1
    if field.kind == "int":
        return value - (value >> (8 * field.size - 1) << (8 * field.size))
    return value
