"""Saving, loading, copying and starting points."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from hybridenv import GameBoyBatch, StateError, States
from hybridenv.tasks import POLAR_POST

MakeBatch = Callable[..., GameBoyBatch]
MakeRom = Callable[..., bytes]
Table = NDArray[np.uint8]


@pytest.fixture
def batch(make: MakeBatch, actions: Table) -> GameBoyBatch:
    """Four machines, each at another place of the game."""
    batch = make(n=4, seed=2, noop_max=20, task=POLAR_POST)
    batch.reset()
    for row in actions[:12]:
        batch.step(row[:4])
    return batch


def states_of(batch: GameBoyBatch) -> list[bytes]:
    return [batch.save_state(i) for i in range(batch.n)]


def test_a_state_goes_on_in_a_fresh_process_s_machine(
    make: MakeBatch, batch: GameBoyBatch, actions: Table
) -> None:
    fresh = make(n=4, num_threads=1, task=POLAR_POST)
    for i in range(4):
        fresh.load_state(i, batch.save_state(i))
    assert np.array_equal(fresh.screen(), batch.screen())
    for row in actions[12:20]:
        assert np.array_equal(fresh.step(row[:4]).obs, batch.step(row[:4]).obs)
    assert states_of(fresh) == states_of(batch)


def test_snapshots_go_back_as_often_as_wanted(batch: GameBoyBatch, actions: Table) -> None:
    states = batch.save_states()
    assert isinstance(states, States)
    assert len(states) == 4
    futures = []
    for _ in range(2):
        futures.append([batch.step(row[:4]) for row in actions[12:18]])
        batch.load_states(states)
    for one, other in zip(*futures, strict=True):
        assert np.array_equal(one.obs, other.obs)
        assert np.array_equal(one.reward, other.reward)
    mask = np.array([False, True, True, False])
    here = states_of(batch)
    batch.step(actions[20, :4])
    there = states_of(batch)
    batch.load_states(states, mask)
    assert states_of(batch) == [there[0], here[1], here[2], there[3]]
    some = batch.save_states(mask)
    assert some.held.tolist() == mask.tolist()
    assert len(some) == 2
    batch.step(actions[21, :4])
    later = states_of(batch)
    batch.load_states(some)
    assert states_of(batch) == [later[0], here[1], here[2], later[3]]


def test_copies_swap_and_spread(batch: GameBoyBatch) -> None:
    before = states_of(batch)
    assert len(set(before)) == 4
    batch.copy([0, 1], [1, 0])
    assert states_of(batch) == [before[1], before[0], before[2], before[3]]
    batch.copy([2] * 3, np.array([0, 1, 3]).tolist())
    assert states_of(batch) == [before[2]] * 4
    batch.copy([], [])


def test_a_start_replaces_power_on(make: MakeBatch, batch: GameBoyBatch) -> None:
    begin = batch.save_state(1)
    plain = make(n=3, task=POLAR_POST)
    plain.reset()
    origin = plain.save_state()
    plain.set_start(begin, mask=np.array([True, True, False]))
    assert states_of(plain) == [origin] * 3, "setting a start moved a machine"
    plain.reset()
    assert states_of(plain) == [begin, begin, origin]
    plain.set_start(None)
    plain.reset()
    assert states_of(plain) == [origin] * 3


def test_a_given_start_is_exact_until_a_seed_varies_it(
    make: MakeBatch, batch: GameBoyBatch
) -> None:
    begin = batch.save_state(1)
    plain = make(n=3, task=replace(POLAR_POST, randomize=()))
    plain.set_start(begin)
    plain.reset()
    assert states_of(plain) == [begin] * 3
    frames = int(plain.frames[0])
    plain.reset(seed=[None, 0, 1])
    assert list(plain.frames) == [frames] * 3, "an opening was played"
    one, *others = states_of(plain)
    assert one == begin
    assert len({begin, *others}) == 3
    ram = [plain.memory(i)[0xC000:0xE000] for i in range(3)]
    assert len(set(ram)) == 1, "more than the divider was changed"


def test_every_damaged_byte_is_noticed_and_changes_nothing(batch: GameBoyBatch) -> None:
    state = batch.save_state(0)
    before = states_of(batch)
    positions = range(0, len(state), 997)
    assert len(positions) > 20
    for at in positions:
        damaged = state[:at] + bytes([state[at] ^ 0x40]) + state[at + 1 :]
        with pytest.raises(StateError, match="env 2"):
            batch.load_state(2, damaged)
        with pytest.raises(StateError):
            batch.load_state(2, state[:at])
        with pytest.raises(StateError):
            batch.set_start(damaged)
    with pytest.raises(StateError):
        batch.load_state(2, state + b"\0")
    assert states_of(batch) == before
    batch.step(np.zeros(4, dtype=np.uint8))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_states_are_any_string_of_bytes(
    make: MakeBatch, batch: GameBoyBatch, kind: Callable[[bytes], bytes]
) -> None:
    state = batch.save_state(1)
    plain = make(n=2)
    plain.load_state(0, kind(state))
    plain.set_start(kind(state), mask=np.array([False, True]))
    plain.reset(mask=np.array([False, True]))
    assert states_of(plain) == [state, state]


def test_states_of_another_game_or_profile_are_refused(
    make: MakeBatch, make_rom: MakeRom, batch: GameBoyBatch
) -> None:
    other = make(make_rom(), n=4)
    pyboy = make(n=4, profile="pyboy")
    before = states_of(batch)
    for stranger in (other, pyboy):
        stranger.reset()
        with pytest.raises(StateError, match=r"env 0.*expected"):
            batch.load_state(0, stranger.save_state())
        with pytest.raises(StateError, match=r"env 0.*expected"):
            batch.load_states(stranger.save_states())
    with pytest.raises(StateError, match='profile "pyboy", expected "hardware"'):
        batch.load_state(0, pyboy.save_state())
    mixed = make([make_rom(1), make_rom(2)], n=2)
    mixed.reset()
    with pytest.raises(StateError, match="env 1"):
        mixed.copy([0], [1])
    assert states_of(batch) == before
