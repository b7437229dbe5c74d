"""No sequence of calls corrupts a batch: whatever happens, it equals machines played alone."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, scalar_dtypes
from numpy.typing import NDArray

from hybridenv import ActionError, GameBoyBatch

N = 4


@pytest.fixture(scope="module")
def batch() -> Iterator[GameBoyBatch]:
    with GameBoyBatch(n=N, frame_skip=2, num_threads=2) as batch:
        batch.reset()
        yield batch


@settings(max_examples=100, deadline=None)
@given(action=arrays(scalar_dtypes(), array_shapes(min_dims=1, max_dims=2, max_side=6)))
def test_no_action_array_is_misread(batch: GameBoyBatch, action: NDArray[Any]) -> None:
    before = [batch.save_state(i) for i in range(N)]
    if action.dtype == np.uint8 and action.shape == (N,):
        batch.step(action)
        return
    with pytest.raises(ActionError):
        batch.step(action)
    assert [batch.save_state(i) for i in range(N)] == before


calls = st.lists(
    st.one_of(
        st.tuples(st.just("step"), st.lists(st.integers(0, 255), min_size=N, max_size=N)),
        st.tuples(st.just("reset"), st.lists(st.booleans(), min_size=N, max_size=N)),
        st.tuples(st.just("copy"), st.tuples(st.integers(0, N - 1), st.integers(0, N - 1))),
        st.tuples(st.just("save"), st.none()),
        st.tuples(st.just("load"), st.lists(st.booleans(), min_size=N, max_size=N)),
        st.tuples(st.just("bytes"), st.tuples(st.integers(0, N - 1), st.integers(0, N - 1))),
        st.tuples(
            st.just("poke"),
            st.tuples(st.integers(0, N - 1), st.integers(0, 0xFFFF), st.integers(0, 255)),
        ),
        st.tuples(st.just("crash"), st.integers(0, N - 1)),
    ),
    max_size=12,
)


@settings(max_examples=25, deadline=None)
@given(calls=calls)
def test_any_calls_equal_single_machines(calls: list[tuple[str, object]]) -> None:
    """Every call on the batch is made on single machines too, by other means."""
    with GameBoyBatch(n=N, frame_skip=3, num_threads=2) as batch:
        singles = [GameBoyBatch(n=1, frame_skip=3, num_threads=1) for _ in range(N)]
        batch.reset()
        for single in singles:
            single.reset()
        snapshot, kept = batch.save_states(), [single.save_state() for single in singles]
        for name, value in calls:
            match name, value:
                case "step", list(buttons):
                    batch.step(np.array(buttons, dtype=np.uint8))
                    for single, button in zip(singles, buttons, strict=True):
                        single.step(np.array([button], dtype=np.uint8))
                case "reset", list(mask):
                    batch.reset(mask=np.array(mask))
                    for single, chosen in zip(singles, mask, strict=True):
                        if chosen:
                            single.reset()
                case "copy", (int(source), int(target)):
                    batch.copy([source], [target])
                    singles[target].load_state(0, singles[source].save_state())
                case "save", _:
                    snapshot, kept = batch.save_states(), [s.save_state() for s in singles]
                case "load", list(mask):
                    batch.load_states(snapshot, np.array(mask))
                    for single, chosen, state in zip(singles, mask, kept, strict=True):
                        if chosen:
                            single.load_state(0, state)
                case "bytes", (int(source), int(target)):
                    batch.load_state(target, batch.save_state(source))
                    singles[target].load_state(0, singles[source].save_state())
                case "poke", (int(i), int(address), int(byte)):
                    batch.write_memory(i, address, byte)
                    singles[i].write_memory(0, address, byte)
                case "crash", int(i):
                    batch.inject_crash(i)
                    batch.reset(mask=np.arange(N) == i)
                    singles[i].reset()
        for i, single in enumerate(singles):
            assert batch.save_state(i) == single.save_state()
            assert np.array_equal(batch.screen()[i], single.screen()[0])
            single.close()
