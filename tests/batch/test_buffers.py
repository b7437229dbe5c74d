"""Arrays handed out belong to the caller: the batch never writes them again."""

import gc
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hybridenv import GameBoyBatch, StepResult
from hybridenv.tasks import POLAR_POST

MakeBatch = Callable[..., GameBoyBatch]
Table = NDArray[np.uint8]


def arrays(result: StepResult) -> Iterable[NDArray[np.generic]]:
    yield from (result.obs, result.reward, result.terminated, result.truncated)
    yield from result.info.values()


def test_handed_out_arrays_never_change(make: MakeBatch, actions: Table) -> None:
    batch = make(n=16, task=POLAR_POST)
    held: list[tuple[NDArray[np.generic], bytes]] = []

    def hold(array: NDArray[np.generic]) -> None:
        held.append((array, array.tobytes()))

    hold(batch.reset())
    for t, row in enumerate(actions):
        for array in arrays(batch.step(row[:16])):
            hold(array)
        hold(batch.screen())
        hold(batch.read_memory(np.arange(0xC000, 0xC100)))
        hold(batch.clocks)
        hold(batch.frames)
        if t % 5 == 0:
            hold(batch.reset(mask=row[:16] > 128))
            batch.load_states(batch.save_states())
    batch.close()
    gc.collect()
    assert len(held) > 400
    assert all(array.tobytes() == before for array, before in held)
    blocks = {array.__array_interface__["data"][0] for array, _ in held}
    assert len(blocks) == len(held), "two results share memory"


def test_results_are_aligned_contiguous_and_writable(make: MakeBatch, actions: Table) -> None:
    batch = make(n=3, task=POLAR_POST)
    batch.reset()
    seen = 0
    for array in [*arrays(batch.step(actions[0, :3])), batch.screen("packed"), batch.clocks]:
        assert array.__array_interface__["data"][0] % 64 == 0
        assert array.flags.c_contiguous
        assert array.flags.writeable
        seen += 1
    assert seen == 10


def test_what_the_caller_writes_stays_out_of_the_machine(make: MakeBatch, actions: Table) -> None:
    batch, twin = make(n=2), make(n=2)
    for each in (batch, twin):
        each.reset()
    buttons = actions[0, :2].copy()
    result = batch.step(buttons)
    result.obs[:] = 77
    buttons[:] = 0
    twin.step(actions[0, :2])
    assert np.array_equal(batch.screen(), twin.screen())


def test_memory_comes_back_when_the_last_owner_is_gone(make: MakeBatch, actions: Table) -> None:
    batch = make(n=16)
    batch.reset()
    row = actions[0, :16]

    def address(array: NDArray[np.generic]) -> int:
        return int(array.__array_interface__["data"][0])

    first = batch.step(row).obs
    where = address(first)
    assert address(batch.step(row).obs) != where, "memory was reused while it was held"
    view = first[3:5, ::2]
    del first
    gc.collect()
    held = [batch.step(row).obs for _ in range(4)]
    assert where not in map(address, held), "memory was reused while a view held it"
    before = view.tobytes()
    batch.step(row)
    assert view.tobytes() == before
    del view
    gc.collect()
    assert address(batch.step(row).obs) == where, "memory did not come back"
    del held


def test_other_libraries_keep_memory_alive(make: MakeBatch, actions: Table) -> None:
    batch = make(n=4)
    batch.reset()
    alias = np.from_dlpack(batch.step(actions[0, :4]).obs)
    exported: Any = batch.step(actions[1, :4]).obs
    buffer = memoryview(exported)
    del exported
    before = alias.tobytes(), buffer.tobytes()
    gc.collect()
    for row in actions[2:10]:
        batch.step(row[:4])
    batch.close()
    assert (alias.tobytes(), buffer.tobytes()) == before


@pytest.mark.parametrize("step", [2, -1])
def test_inputs_may_be_any_stride(make: MakeBatch, actions: Table, step: int) -> None:
    batch, twin = make(n=8), make(n=8)
    for each in (batch, twin):
        each.reset()
    strided = actions[0, :16:2] if step == 2 else actions[0, 7::-1]
    assert not strided.flags.c_contiguous
    one, other = batch.step(strided), twin.step(strided.copy())
    assert np.array_equal(one.obs, other.obs)
    assert batch.save_state(7) == twin.save_state(7)
