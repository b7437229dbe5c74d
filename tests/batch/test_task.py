"""Tasks: what they may say, and that Rust computes what they say."""

import time
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridenv import Compare, Delta, Field, GameBoyBatch, Task, TaskError, Value
from hybridenv.task import MAX_FIELD_BYTES
from hybridenv.tasks import POLAR_POST

MakeBatch = Callable[..., GameBoyBatch]
MakeRom = Callable[..., bytes]

BASE = 0xD000  # memory that the small cartridge leaves alone
STILL = np.zeros(1, dtype=np.uint8)


def decode(field: Field, data: bytes) -> int:
    """What a field means, said in Python."""
    raw = data[field.address - BASE :][: field.size]
    if field.kind == "bcd":
        digits = raw if field.byteorder == "big" else raw[::-1]
        value = 0
        for byte in digits:
            value = value * 100 + (byte >> 4) * 10 + (byte & 15)
        return value
    value = int.from_bytes(raw, field.byteorder, signed=field.kind == "int")
    return value if field.bit is None else value >> field.bit & 1


fields = st.builds(
    lambda address, size, kind, order, bit: Field(
        BASE + address, size, kind, order, bit % (8 * size) if kind == "bit" else None
    ),
    st.integers(0, 10),
    st.integers(1, MAX_FIELD_BYTES),
    st.sampled_from(["uint", "int", "bcd", "bit"]),
    st.sampled_from(["little", "big"]),
    st.integers(0, 255),
)
weights = st.floats(-100, 100, width=32)


@settings(max_examples=60, deadline=None)
@given(
    field=fields,
    before=st.binary(min_size=16, max_size=16),
    now=st.binary(min_size=16, max_size=16),
    weight=weights,
    bounds=st.tuples(weights, weights).map(sorted),
    op=st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "changed", "increased", "decreased"]),
    constant=st.one_of(st.none(), weights),
)
def test_rust_and_python_agree(
    make_rom: MakeRom,
    field: Field,
    before: bytes,
    now: bytes,
    weight: float,
    bounds: list[float],
    op: Any,
    constant: float | None,
) -> None:
    old, new = decode(field, before), decode(field, now)
    against = float(new) if constant is None else constant
    truth = {
        "==": new == against,
        "!=": new != against,
        "<": new < against,
        "<=": new <= against,
        ">": new > against,
        ">=": new >= against,
        "changed": new != old,
        "increased": new > old,
        "decreased": new < old,
    }[op]
    task = Task(
        fields={"other": Field(BASE), "x": field},
        reward=[Value("x", weight), Delta("x", weight, *bounds), Compare("x", op, against, weight)],
        terminated=[Compare("x", op, against)],
        truncated=[Compare("other", "<", 0), Compare("x", op, against)],
        info=["x", "other", "x"],
    )
    with GameBoyBatch(make_rom(), 1, frame_skip=1, task=task) as batch:
        batch.reset()
        batch.memory()[BASE : BASE + 16] = before
        assert batch.step(STILL).info["x"][0] == old
        batch.memory()[BASE : BASE + 16] = now
        result = batch.step(STILL)
    clipped = min(max(float(new - old), bounds[0]), bounds[1])
    expected = np.float32(0.0 + weight * new + weight * clipped + (weight if truth else 0.0))
    assert result.reward[0] == expected
    assert result.terminated[0] == result.truncated[0] == truth
    assert list(result.info) == ["x", "other"]
    assert result.info["x"].dtype == np.int64
    assert result.info["x"][0] == new


def test_episodes_end_after_max_steps(make: MakeBatch, make_rom: MakeRom) -> None:
    batch = make(make_rom(), n=2, frame_skip=1, task=Task(max_steps=3))
    batch.reset()
    still = np.zeros(2, dtype=np.uint8)
    flags = [batch.step(still).truncated.tolist() for _ in range(2)]
    batch.reset(mask=np.array([True, False]))
    flags += [batch.step(still).truncated.tolist() for _ in range(3)]
    assert flags == [[False] * 2, [False] * 2, [False, True], [False, True], [True, True]]


def test_a_reset_is_no_change(make: MakeBatch, make_rom: MakeRom) -> None:
    task = Task({"x": Field(BASE)}, reward=[Delta("x")])
    batch = make(make_rom(), n=1, frame_skip=1, task=task)
    batch.reset()
    batch.memory()[BASE] = 100
    assert batch.step(STILL).reward[0] == 100
    state = batch.save_state()
    batch.reset()
    assert batch.step(STILL).reward[0] == 0
    batch.load_state(0, state)
    assert batch.step(STILL).reward[0] == 0
    result = batch.step(STILL, restart=np.array([True]))
    assert result.reward[0] == 0
    assert batch.step(STILL).reward[0] == 0


def test_the_warm_up_is_played_once_before_the_start(make: MakeBatch) -> None:
    start = ((0, 60), (0x80, 8), (0, 50))
    warm = make(n=2, task=Task(start=start))
    cold = make(n=2, frame_skip=1)
    cold.reset()
    for buttons, frames in start:
        for _ in range(frames):
            cold.step(np.full(2, buttons, dtype=np.uint8))
    obs = warm.reset()
    assert np.array_equal(obs, cold.screen())
    assert list(warm.frames) == [118, 118]
    assert warm.reset().tobytes() == obs.tobytes()
    assert np.array_equal(
        warm.read_memory(range(0xC000, 0xE000)), cold.read_memory(range(0xC000, 0xE000))
    )


PRESS_A = Task(
    {"pad": Field(0xC001)},
    reward=[Compare("pad", "changed")],
    info=["pad"],
    start=[(0, 5)],
    opening=[(0x10, 3)],
)
"""Pays when the small cartridge sees other buttons; the opening holds A."""


def test_an_opening_follows_divider_and_idle_frames(make: MakeBatch, make_rom: MakeRom) -> None:
    n, noop_max = 6, 9
    opened = make(make_rom(), n=n, seed=4, noop_max=noop_max, task=PRESS_A)
    seeded = make(make_rom(), n=n, seed=4, noop_max=noop_max, task=Task(start=[(0, 5)]))
    obs = opened.reset()
    seeded.reset()
    assert len(set(opened.frames.tolist())) > 1
    by_hand = make(make_rom(), n=n, frame_skip=3)
    by_hand.load_states(seeded.save_states())
    played = by_hand.step(np.full(n, 0x10, dtype=np.uint8))
    assert np.array_equal(obs, played.obs)
    assert np.array_equal(opened.clocks, by_hand.clocks)
    ram = range(0xC000, 0xE000)
    assert np.array_equal(opened.read_memory(ram), by_hand.read_memory(ram))


def test_an_episode_is_compared_with_the_end_of_its_opening(
    make: MakeBatch, make_rom: MakeRom
) -> None:
    batch = make(make_rom(), n=2, seed=1, task=PRESS_A)
    batch.reset()
    held = np.array([0x10, 0], dtype=np.uint8)
    assert batch.step(held).reward.tolist() == [0, 1]
    result = batch.step(held, restart=np.array([True, True]))
    assert result.reward.tolist() == [0, 0]
    assert (result.info["pad"] & 0x0F).tolist() == [0b1110] * 2
    assert batch.step(held).reward.tolist() == [0, 1]


def test_without_a_seed_the_opening_is_played_once(make: MakeBatch) -> None:
    n, frames = 64, 6_000
    begin = time.perf_counter()
    batch = make(n=n, task=Task(opening=[(0, frames)]))
    once = time.perf_counter() - begin
    begin = time.perf_counter()
    first = batch.reset()
    assert time.perf_counter() - begin < once, f"{n} resets took longer than one opening"
    assert list(batch.frames) == [frames] * n
    assert np.array_equal(batch.reset(), first)
    mixed = batch.reset(seed=[7] + [None] * (n - 1))
    assert list(batch.frames) == [frames] * n
    assert np.array_equal(mixed[1:], first[1:])


class SplitMix64:
    """The stream of an env, said in Python."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31


def test_random_fields_take_what_the_documentation_says(make: MakeBatch, make_rom: MakeRom) -> None:
    n, seed = 5, 2**64 - 2
    numbers = {
        "a": Field(BASE, size=4),
        "b": Field(BASE + 4, size=3, byteorder="big"),
        "c": Field(0xFFFE),
        "d": Field(BASE + 7, size=2),
    }
    task = Task(numbers, info=list(numbers), opening=[(0, 2)], randomize=["d", "b", "a", "c"])
    batch = make(make_rom(), n=n, seed=seed, noop_max=5, task=task)
    streams = [SplitMix64((seed + i) % 2**64) for i in range(n)]
    every = np.ones(n, dtype=np.bool_)
    for _ in range(3):
        info = batch.step(np.zeros(n, dtype=np.uint8), restart=every).info
        for i, stream in enumerate(streams):
            stream.next()  # the divider
            assert batch.frames[i] == 2 + (stream.next() * 6 >> 64)
            for name in task.randomize:
                most = 256 ** numbers[name].size - 1
                assert info[name][i] == (stream.next() * most >> 64) + 1, name


def test_only_starts_with_a_seed_are_random(make: MakeBatch) -> None:
    batch = make(n=3, task=POLAR_POST)
    plain = make(n=3, task=replace(POLAR_POST, randomize=()))
    batch.reset()
    plain.reset()
    ram = range(0xC000, 0xE000)
    usual = plain.read_memory(ram)
    assert np.array_equal(batch.read_memory(ram), usual)
    batch.reset(seed=[None, 4, None])
    assert np.array_equal(batch.read_memory(ram)[[0, 2]], usual[[0, 2]])
    batch.set_start(plain.save_state())
    batch.reset()
    changed = np.argwhere(batch.read_memory(ram) != usual)
    assert {(env, 0xC000 + at) for env, at in changed.tolist()} == {(1, 0xC012), (1, 0xC013)}


@pytest.mark.parametrize("profile", ["hardware", "pyboy"])
def test_another_seed_is_another_episode(make: MakeBatch, profile: str) -> None:
    batch = make(n=1_000, profile=profile, task=POLAR_POST)
    batch.reset(seed=0)
    states = set(map(bytes, batch.read_memory(range(0xC012, 0xC014))))
    assert len(states) >= 980
    assert bytes(2) not in states

    def play() -> list[bytes]:
        batch = make(n=128, seed=7, frame_skip=8, profile=profile, task=POLAR_POST)
        batch.reset()
        for _ in range(20):
            batch.step(np.zeros(128, dtype=np.uint8))
        # The rock ahead and what floats in it.
        return [bytes(row) for row in batch.read_memory([*range(0xC030, 0xC0C0)])]

    episodes = play()
    assert len(set(episodes)) >= 126
    assert play() == episodes


def test_without_a_task_nothing_is_paid_and_nothing_ends(make: MakeBatch) -> None:
    batch = make(n=3)
    batch.reset()
    result = batch.step(np.zeros(3, dtype=np.uint8))
    assert result.reward.dtype == np.float32
    assert result.reward.tobytes() == bytes(12)
    assert result.terminated.dtype == result.truncated.dtype == np.bool_
    assert not result.terminated.any()
    assert not result.truncated.any()
    assert result.info == {}


GOOD = {"x": Field(0xC000)}
# Without their types: what follows is what a type checker would not let through.
AnyField: Any = Field
AnyDelta: Any = Delta
AnyCompare: Any = Compare
AnyTask: Any = Task
BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: AnyField(-1), "Field.address: got -1"),
    (lambda: AnyField(0x10000), "Field.address: got 65536"),
    (lambda: AnyField(0xFFFF, size=2), "Field.address"),
    (lambda: AnyField(True), "Field.address: got True"),
    (lambda: AnyField(0, size=0), "Field.size: got 0"),
    (lambda: AnyField(0, size=7), "Field.size: got 7, expected a whole number 1 to 6"),
    (lambda: AnyField(0, kind="float"), "Field.kind: got 'float', expected one of uint"),
    (lambda: AnyField(0, byteorder="middle"), "Field.byteorder: got 'middle'"),
    (lambda: AnyField(0, kind="bit"), "Field.bit: got None"),
    (lambda: AnyField(0, kind="bit", bit=8), "Field.bit: got 8"),
    (lambda: AnyField(0, bit=0), "Field.bit: got 0 for kind 'uint', expected None"),
    (lambda: Value("x", weight=float("nan")), "Value.weight: got nan"),
    (lambda: AnyDelta("x", weight=float("inf")), "Delta.weight: got inf"),
    (lambda: AnyDelta("x", low=2, high=1), "Delta.low: got 2.0 above high = 1.0"),
    (lambda: AnyDelta("x", low="0"), "Delta.low: got '0'"),
    (lambda: AnyCompare("x", "=~"), "Compare.op: got '=~'"),
    (lambda: AnyCompare("x", "==", value=None), "Compare.value: got None"),
    (lambda: AnyTask({"x": 0xC000}), r"Task.fields\['x'\]: got 49152, expected a Field"),
    (lambda: AnyTask([Field(0)]), r"Task.fields: got \[Field.*expected a mapping"),
    (lambda: AnyTask({1: Field(0)}), "Task.fields: a name: got 1, expected a str"),
    (lambda: AnyTask(GOOD, info=[["x"]]), r"Task.info\[0\]: got \['x'\]"),
    (lambda: AnyTask(GOOD, reward=[Value("y")]), r"Task.reward\[0\].field: got 'y'.*\(x\)"),
    (lambda: AnyTask(GOOD, reward=[3]), r"Task.reward\[0\]: got 3, expected a Value or Delta or"),
    (lambda: AnyTask(GOOD, terminated=[Value("x")]), r"Task.terminated\[0\]: .* a Compare"),
    (lambda: AnyTask(GOOD, truncated=Compare("x", "==")), "Task.truncated: got .* a sequence"),
    (lambda: AnyTask(GOOD, info="x"), "Task.info: got 'x', expected a sequence"),
    (lambda: AnyTask(GOOD, info=["z"]), r"Task.info\[0\]: got 'z'"),
    (lambda: AnyTask(max_steps=0), "Task.max_steps: got 0"),
    (lambda: AnyTask(start=[(256, 1)]), r"Task.start\[0\] buttons: got 256"),
    (lambda: AnyTask(start=[(0, 0)]), r"Task.start\[0\] frames: got 0"),
    (lambda: AnyTask(start=[5]), r"Task.start\[0\]: got 5, expected a pair"),
    (lambda: AnyTask(start=[(0, 1)], opening=[(0, 1), (-1, 1)]), r"opening\[1\] buttons: got -1"),
    (lambda: AnyTask(opening=[(0, 2**32)]), r"Task.opening\[0\] frames: got 4294967296"),
    (lambda: AnyTask(opening=[(1, 2, 3)]), r"Task.opening\[0\]: got \(1, 2, 3\), expected a pair"),
    (lambda: AnyTask(opening=8), "Task.opening: got 8, expected a sequence"),
    (lambda: AnyTask(GOOD, randomize="x"), "Task.randomize: got 'x', expected a sequence"),
    (lambda: AnyTask(GOOD, randomize=["x", "y"]), r"Task.randomize\[1\]: got 'y'.*\(x\)"),
    *(
        (lambda field=field: AnyTask({"x": field}, randomize=["x"]), message)
        for field, message in [
            (Field(0xC000, kind="int"), r"randomize\[0\]: got 'x' of kind 'int'.* a 'uint'"),
            (Field(0xC000, kind="bit", bit=0), "of kind 'bit'"),
            (Field(0xC000, size=5), "at 0xc000 to 0xc004, .* of 1 to 4 bytes"),
            (Field(0x9FFF, size=2), "at 0x9fff to 0xa000, .* in 0xa000 to 0xdfff"),
            (Field(0xDFFF, size=2), "at 0xdfff to 0xe000"),
            (Field(0xFF7F), "at 0xff7f to 0xff7f, .* or 0xff80 to 0xfffe"),
            (Field(0xFFFE, size=2), "at 0xfffe to 0xffff"),
        ]
    ),
]


@pytest.mark.parametrize(("build", "message"), BAD)
def test_nonsense_is_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(TaskError, match=message):
        build()


def test_tasks_are_frozen_copies() -> None:
    fields, reward = dict(GOOD), [Value("x")]
    task = Task(fields, reward=reward)
    fields.clear()
    reward.clear()
    assert dict(task.fields) == GOOD
    assert task.reward == (Value("x"),)
    with pytest.raises(FrozenInstanceError):
        task.max_steps = 3  # type: ignore[misc]
    assert replace(task, max_steps=3).max_steps == 3
