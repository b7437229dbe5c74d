"""The escape hatch: rewards and ends computed in Python from memory, for all machines at once."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybridenv.batch import GameBoyBatch
from hybridenv.checks import address_array
from hybridenv.errors import ArgumentError, TaskError


class RewardFunction(Protocol):
    """A function over the memory of all n machines, called once a step.

    It sees the m bytes at `ram_addresses` before and after the step, so most rewards are one
    NumPy expression and no loop over machines is needed::

        def coins_and_lives(before, after):
            coins = after[:, 0].astype(int) - before[:, 0]
            return coins, after[:, 1] == 0, False
    """

    def __call__(
        self, before: NDArray[np.uint8], after: NDArray[np.uint8], /
    ) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        """Judge one step.

        Args:
            before: uint8[n, m], the bytes when the step began (for the first step of an
                episode: after its reset). Reading only.
            after: uint8[n, m], the bytes when it ended. Reading only.

        Returns:
            The reward (finite numbers [n]), terminated and truncated (bools [n]); a single number
            or bool stands for all machines.
        """
        ...


class RewardHook:
    """Calls a `RewardFunction` and remembers the bytes of the step before.

    Args:
        function: The function to call.
        addresses: The m addresses to gather.

    Raises:
        ArgumentError: The function cannot be called, there is no address to gather, or one is no
            address.
    """

    def __init__(self, function: RewardFunction, addresses: Sequence[int]) -> None:
        if not callable(function):
            raise ArgumentError(
                f"reward_fn: got {function!r}, expected a function of the bytes before and after"
            )
        self._addresses = address_array(addresses, "ram_addresses")
        if len(self._addresses) == 0:
            raise ArgumentError(
                "ram_addresses: got none, expected the addresses whose bytes reward_fn receives"
            )
        self._function = function
        self._before: NDArray[np.uint8]

    def start(self, batch: GameBoyBatch) -> None:
        """Take the bytes after a reset as those before the next step.

        Args:
            batch: The machines. Those that were not reset have not run since the last step, so
                reading all of them changes nothing for the others.
        """
        self._before = self._gather(batch)

    def judge(
        self, batch: GameBoyBatch
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
        """Call the function for the step that the machines have just run.

        Args:
            batch: The machines.

        Returns:
            Reward float32[n], terminated bool[n] and truncated bool[n].

        Raises:
            TaskError: The function returned something else than three such columns, or a reward
                that is no finite number in float32.
        """
        before, self._before = self._before, self._gather(batch)
        columns = self._function(before, self._before)
        if not isinstance(columns, tuple) or len(columns) != 3:
            raise TaskError(
                f"reward_fn: returned {type(columns).__name__}, expected a tuple "
                "(reward, terminated, truncated)"
            )
        reward, terminated, truncated = columns
        return (
            _finite(_column("reward", reward, "biuf", batch.n)),
            _column("terminated", terminated, "b", batch.n).astype(np.bool_),
            _column("truncated", truncated, "b", batch.n).astype(np.bool_),
        )

    def _gather(self, batch: GameBoyBatch) -> NDArray[np.uint8]:
        ram = batch.read_memory(self._addresses)
        ram.flags.writeable = False
        return ram


def _column(name: str, values: ArrayLike, kinds: str, n: int) -> NDArray[np.generic]:
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise TaskError(f"reward_fn: {name}: expected one column, but {error}") from None
    if array.dtype.kind not in kinds:
        expected = "bool" if kinds == "b" else "a number"
        raise TaskError(f"reward_fn: {name} has dtype {array.dtype}, expected {expected}")
    if array.shape not in ((), (n,)):
        raise TaskError(f"reward_fn: {name} has shape {array.shape}, expected ({n},) or ()")
    return np.broadcast_to(array, (n,))


def _finite(reward: NDArray[np.generic]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        rounded = reward.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(rounded))
    if wrong.size:
        i = int(wrong[0])
        raise TaskError(
            f"reward_fn: reward of machine {i} is {reward[i]}, expected a finite float32"
        )
    return rounded
