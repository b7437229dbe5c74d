"""Whatever is handed to `step`: it acts as documented or is refused, and the machines go on."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, scalar_dtypes
from numpy.typing import NDArray

from hybridenv import ActionError
from hybridenv.gym import GameBoyVectorEnv

N = 4


@pytest.fixture(scope="module")
def tables() -> dict[str, GameBoyVectorEnv]:
    """Machines with each kind of action space."""
    envs = {
        "list": GameBoyVectorEnv(N, actions=["", "a", "b"], frame_skip=1),
        "buttons": GameBoyVectorEnv(N, actions="buttons", frame_skip=1),
    }
    for env in envs.values():
        env.reset(seed=0)
    return envs


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(["list", "buttons"]),
    action=st.one_of(
        arrays(scalar_dtypes(), array_shapes(min_dims=0, max_dims=3, max_side=8)),
        scalar_dtypes().flatmap(lambda dtype: arrays(dtype, (N,))),
        scalar_dtypes().flatmap(lambda dtype: arrays(dtype, (N, 8))),
        arrays(st.sampled_from([np.int8, np.uint64]), (N,), elements=st.integers(0, 2)),
        arrays(st.sampled_from([np.uint8, np.bool_]), (N, 8), elements=st.integers(0, 1)),
    ),
)
def test_no_action_array_is_misread(
    tables: dict[str, GameBoyVectorEnv], kind: str, action: NDArray[Any]
) -> None:
    env = tables[kind]
    shape, high, kinds = ((N,), 2, "iu") if kind == "list" else ((N, 8), 1, "iub")
    fits = action.shape == shape and action.dtype.kind in kinds
    before = env.batch.frames
    if fits and not ((action < 0) | (action > high)).any():
        env.step(action)
        if kind == "list":
            masks = np.array([0, 0x10, 0x20])[action.astype(np.int64)]
        else:
            masks = (action.astype(np.int64) << np.arange(8)).sum(1)
        assert np.array_equal(env._table.to_buttons(action, N), masks)
        assert np.array_equal(env.batch.frames, before + 1)
        return
    with pytest.raises(ActionError):
        env.step(action)
    assert np.array_equal(env.batch.frames, before)
