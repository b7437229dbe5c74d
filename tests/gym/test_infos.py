"""Infos of resets: the same as those of a step that starts an episode."""

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.batch.conftest import build_rom

from hybridenv import Field, Task
from hybridenv.gym import GameBoyEnv, GameBoyVectorEnv
from hybridenv.gym._fields import FieldReader
from hybridenv.tasks import POLAR_POST

N = 5

SHORT = Task(
    fields={"frames": Field(0xC010, size=2), "score": Field(0xC005, size=2)},
    max_steps=8,
    info=("frames", "score"),
    start=POLAR_POST.start,
)
"""Ends after eight steps, so that resets are frequent."""

NOOPS = np.zeros(N, dtype=np.int64)


def test_a_reset_has_the_infos_of_a_restart() -> None:
    env = GameBoyVectorEnv(N, task=SHORT)
    _, info = env.reset(seed=3)
    assert list(info) == ["frames", "_frames", "score", "_score"]
    assert info["frames"].dtype == np.int64
    assert info["_frames"].all()
    assert (info["frames"] > 0).all()
    for _ in range(8):
        *_, truncated, _ = env.step(NOOPS)
    assert truncated.all()
    *_, restarted = env.step(NOOPS)  # no seed has an effect on these two numbers
    assert restarted.keys() == info.keys()
    assert all(np.array_equal(info[key], restarted[key]) for key in info)


def test_a_masked_reset_tells_of_every_machine() -> None:
    env = GameBoyVectorEnv(N, task=SHORT)
    _, start = env.reset(seed=3)
    *_, before = env.step(NOOPS)
    mask = np.arange(N) % 2 == 0
    _, info = env.reset(options={"reset_mask": mask})
    assert np.array_equal(info["frames"], np.where(mask, start["frames"], before["frames"]))
    assert info["_frames"].all()


def test_without_infos_a_reset_has_none() -> None:
    env = GameBoyVectorEnv(1, rom=build_rom())
    assert env.reset(seed=0)[1] == {}


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_equals_gymnasium_batching_single_environments(mode: AutoresetMode) -> None:
    def same(left: Any, right: Any) -> bool:
        if isinstance(left, dict):
            return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
        if left.dtype == object:
            return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))
        return bool(np.array_equal(left, right))

    options: dict[str, Any] = {"task": SHORT, "noop_max": 90}
    ours = GameBoyVectorEnv(N, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: GameBoyEnv(**options)] * N, autoreset_mode=mode)
    assert all(same(a, b) for a, b in zip(ours.reset(seed=1), theirs.reset(seed=1), strict=True))
    ends = 0
    for _ in range(30):
        one, two = ours.step(NOOPS), theirs.step(NOOPS)
        ends += int((one[2] | one[3]).sum())
        assert all(same(a, b) for a, b in zip(one, two, strict=True))
    theirs.close()
    assert ends >= 2 * N


fields = st.builds(
    lambda address, size, kind, order, bit: Field(
        0xD000 + address, size, kind, order, bit % (8 * size) if kind == "bit" else None
    ),
    st.integers(0, 10),
    st.integers(1, 6),
    st.sampled_from(["uint", "int", "bcd", "bit"]),
    st.sampled_from(["little", "big"]),
    st.integers(0, 255),
)


@settings(max_examples=60, deadline=None)
@given(fields=st.lists(fields, min_size=1, max_size=3), ram=st.binary(min_size=16, max_size=16))
def test_fields_are_read_as_the_task_reads_them(fields: list[Field], ram: bytes) -> None:
    names = [f"f{k}" for k in range(len(fields))]
    task = Task(dict(zip(names, fields, strict=True)), info=names)
    env = GameBoyVectorEnv(1, rom=build_rom(), task=task, frame_skip=1)
    env.reset(seed=0)
    env.batch.memory()[0xD000:0xD010] = ram
    *_, info = env.step(NOOPS[:1])
    read = FieldReader(task).read(env.batch)
    env.close()
    assert {name: column.tolist() for name, column in read.items()} == {
        name: info[name].tolist() for name in names
    }
