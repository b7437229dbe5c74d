"""A batch plays every machine as if it were alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hybridenv import DEFAULT_PALETTE, TRACE_COLUMNS, Button, GameBoyBatch, StepResult
from hybridenv.data import embedded_rom
from hybridenv.tasks import POLAR_POST

MakeBatch = Callable[..., GameBoyBatch]
MakeRom = Callable[..., bytes]
Table = NDArray[np.uint8]


def same(left: StepResult, right: StepResult) -> bool:
    columns = [(getattr(left, name), getattr(right, name)) for name in StepResult._fields[:4]]
    columns += [(left.info[key], right.info[key]) for key in left.info]
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in columns)


def part(result: StepResult, i: int) -> StepResult:
    obs, reward, terminated, truncated, info = result
    row = slice(i, i + 1)
    columns = {key: column[row] for key, column in info.items()}
    return StepResult(obs[row], reward[row], terminated[row], truncated[row], columns)


def test_a_batch_equals_as_many_single_machines(make: MakeBatch, actions: Table) -> None:
    n = 5
    options: dict[str, Any] = {"task": POLAR_POST, "noop_max": 30}
    batch = make(n=n, seed=3, **options)
    singles = [make(n=1, seed=3 + i, **options) for i in range(n)]
    pictures = batch.reset()
    assert len(set(batch.frames.tolist())) > 1
    for i, single in enumerate(singles):
        assert np.array_equal(single.reset()[0], pictures[i])
    addresses = np.arange(0xC000, 0xE000, dtype=np.uint16)
    for row in actions:
        result = batch.step(row[:n])
        for i, single in enumerate(singles):
            assert same(single.step(row[i : i + 1]), part(result, i))
    ram = batch.read_memory(addresses)
    assert len({row.tobytes() for row in ram}) == n, "the machines all did the same"
    for i, single in enumerate(singles):
        assert np.array_equal(single.read_memory(addresses)[0], ram[i])
        assert single.save_state() == batch.save_state(i)


@pytest.mark.parametrize("profile", ["hardware", "pyboy"])
def test_thread_counts_agree(make: MakeBatch, actions: Table, profile: str) -> None:
    def play(threads: int) -> tuple[list[StepResult], list[bytes]]:
        batch = make(
            n=13, num_threads=threads, seed=5, noop_max=9, task=POLAR_POST, profile=profile
        )
        assert batch.num_threads == threads
        batch.reset()
        results = [batch.step(row[:13]) for row in actions[:25]]
        return results, [batch.save_state(i) for i in range(13)]

    alone, states = play(1)
    assert len(set(states)) == 13
    for threads in (2, 8):
        results, other_states = play(threads)
        assert all(same(a, b) for a, b in zip(alone, results, strict=True))
        assert other_states == states


def test_a_thousand_machines(make: MakeBatch, actions: Table) -> None:
    n = 1000
    batch = make(n=n, seed=0, frame_skip=2, task=POLAR_POST)
    few = make(n=64, seed=0, frame_skip=2, task=POLAR_POST)
    batch.reset()
    few.reset()
    for row in actions[:8]:
        result = batch.step(np.resize(row, n))
        assert result.obs.shape == (n, 144, 160)
        expected = few.step(row)
        assert np.array_equal(result.obs[:64], expected.obs)
    assert len(batch) == n
    assert [batch.save_state(i) for i in range(64)] == [few.save_state(i) for i in range(64)]


def test_batches_with_different_roms_live_side_by_side(
    make: MakeBatch, make_rom: MakeRom, actions: Table
) -> None:
    def solo(rom: bytes) -> list[StepResult]:
        batch = make(rom, n=4)
        batch.reset()
        return [batch.step(row[:4]) for row in actions[:6]]

    roms = [make_rom(), embedded_rom()]
    expected = [solo(rom) for rom in roms]
    both = [make(rom, n=4) for rom in roms]
    for batch in both:
        batch.reset()
    for t, row in enumerate(actions[:6]):
        for batch, results in zip(both, expected, strict=True):
            assert same(batch.step(row[:4]), results[t])


def test_one_rom_for_each_env(
    make: MakeBatch, make_rom: MakeRom, actions: Table, tmp_path: Path
) -> None:
    path = tmp_path / "tiny.gb"
    path.write_bytes(make_rom())
    sources = [path, embedded_rom(), str(path), bytearray(embedded_rom())]
    batch = make(sources, n=4)
    assert [batch.header(i).title for i in range(4)] == ["TINY", "POLAR POST"] * 2
    batch.reset()
    result = batch.step(np.zeros(4, dtype=np.uint8))
    for i, rom in enumerate([make_rom(), embedded_rom()] * 2):
        single = make(rom, n=1)
        single.reset()
        assert same(single.step(np.zeros(1, dtype=np.uint8)), part(result, i))
    assert list(tmp_path.iterdir()) == [path], "something was written beside the ROM"


def test_buttons_are_held_for_press_frames(make: MakeBatch, make_rom: MakeRom) -> None:
    mask = np.array([Button.A, Button.B, Button.SELECT, Button.START, 0], dtype=np.uint8)
    held = make(make_rom(), n=5, frame_skip=4)
    let_go = make(make_rom(), n=5, frame_skip=4, press_frames=3)
    for batch in (held, let_go):
        batch.reset()
        batch.step(mask)
    low = {i: int(value) & 0x0F for i, value in enumerate(held.read_memory([0xC001])[:, 0])}
    assert low == {0: 0b1110, 1: 0b1101, 2: 0b1011, 3: 0b0111, 4: 0b1111}
    assert (let_go.read_memory([0xC001]) & 0x0F == 0x0F).all()
    held.step(np.zeros(5, dtype=np.uint8))
    assert (held.read_memory([0xC001]) & 0x0F == 0x0F).all(), "a press outlived its step"
    assert list(held.frames) == [8] * 5


def test_observations_are_one_picture_in_three_layouts(make: MakeBatch, actions: Table) -> None:
    palette = [(1, 2, 3), (40, 50, 60), (70, 80, 90), (200, 210, 220)]
    shades, packed = make(n=3), make(n=3, obs="packed")
    rgb, grey = make(n=3, obs="rgb", palette=palette), make(n=3, obs="rgb")
    for batch in (shades, packed, rgb, grey):
        batch.reset()
        for row in actions[:8]:
            result = batch.step(row[:3])
        assert result.obs.shape == batch.obs_shape == batch.screen().shape
        assert result.obs.dtype == batch.obs_dtype == np.uint8
    picture = shades.screen()
    assert set(np.unique(picture)) == {0, 1, 2, 3}
    assert np.array_equal(rgb.screen(), np.array(palette, dtype=np.uint8)[picture])
    assert np.array_equal(grey.screen(), np.array(DEFAULT_PALETTE, dtype=np.uint8)[picture])
    quads = picture.reshape(3, 144, 40, 4)
    assert np.array_equal(packed.screen(), (quads << np.array([6, 4, 2, 0])).sum(-1))
    for batch in (shades, packed, rgb):
        assert np.array_equal(batch.screen("shades"), picture)
        assert np.array_equal(batch.screen("packed"), packed.screen())


def test_screenshot(make: MakeBatch, actions: Table) -> None:
    pytest.importorskip("PIL")
    batch = make(n=2)
    batch.reset()
    for row in actions[:8]:
        batch.step(row[:2])
    image = batch.screenshot(1)
    assert image.size == (160, 144)
    assert np.array_equal(np.asarray(image), batch.screen("rgb")[1])


def test_masked_resets_touch_only_their_envs(make: MakeBatch, actions: Table) -> None:
    batch = make(n=4, seed=9, noop_max=60)
    first = batch.reset()
    started = [batch.save_state(i) for i in range(4)]
    for row in actions[:10]:
        last = batch.step(row[:4]).obs
    states = [batch.save_state(i) for i in range(4)]
    mask = np.array([False, True, False, True])
    obs = batch.reset(mask=mask, seed=9)
    assert np.array_equal(obs[mask], first[mask])
    assert np.array_equal(obs[~mask], last[~mask])
    for i in range(4):
        assert batch.save_state(i) == (started if mask[i] else states)[i]


def test_seeds_name_streams_of_starts(make: MakeBatch) -> None:
    def starts(batch: GameBoyBatch, **options: Any) -> list[bytes]:
        batch.reset(**options)
        return [batch.save_state(i) for i in range(3)]

    batch = make(n=3, noop_max=100)
    plain = starts(batch)
    assert len(set(plain)) == 1
    assert starts(batch) == plain
    seeded = starts(batch, seed=70)
    assert len({*seeded, *plain}) == 4
    again = starts(batch)
    assert not set(again) & set(seeded), "streams do not go on"
    assert starts(batch, seed=[70, 71, 72]) == seeded
    assert starts(batch, seed=[None, None, np.int64(70)])[2] == seeded[0]
    assert starts(make(n=3, noop_max=100, seed=70)) == seeded
    assert starts(batch, seed=2**64 - 1)[1:] == starts(make(n=3, noop_max=100, seed=0))[:2]


def test_the_documented_draws_are_the_ones_made(make: MakeBatch) -> None:
    def splitmix(state: int) -> int:
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    golden, n, noop_max = 0x9E3779B97F4A7C15, 50, 20
    batch = make(n=n, seed=1000, noop_max=noop_max)
    batch.reset()
    idle = [splitmix((1000 + i + 2 * golden) % 2**64) * (noop_max + 1) >> 64 for i in range(n)]
    assert list(batch.frames) == idle
    assert min(idle) == 0
    assert max(idle) == noop_max
    still = make(n=n, seed=1000)
    still.reset()
    dividers = [splitmix((1000 + i + golden) % 2**64) >> 8 & 0xFF for i in range(n)]
    assert still.read_memory([0xFF04])[:, 0].tolist() == dividers


def test_restart_takes_the_place_of_a_step(make: MakeBatch, actions: Table) -> None:
    batch, twin = (make(n=4, seed=1, task=POLAR_POST, noop_max=50) for _ in range(2))
    for each in (batch, twin):
        each.reset()
        for row in actions[:6]:
            each.step(row[:4])
    mask = np.array([True, False, False, True])
    result = batch.step(actions[6, :4], restart=mask)
    expected = twin.step(actions[6, :4])
    fresh = twin.reset(mask=mask)
    assert np.array_equal(result.obs, fresh)
    assert np.array_equal(result.reward, np.where(mask, 0, expected.reward))
    assert not result.terminated[mask].any()
    assert [batch.save_state(i) for i in range(4)] == [twin.save_state(i) for i in range(4)]


@pytest.mark.parametrize("profile", ["hardware", "pyboy"])
def test_a_trace_shows_the_frame_to_come_and_leaves_the_env_alone(
    make: MakeBatch, profile: str
) -> None:
    batch = make(n=2, frame_skip=1, profile=profile)
    batch.reset()
    for _ in range(60):
        batch.step(np.array([0, 0], dtype=np.uint8))
    before = batch.save_state(1)
    registers, clock = batch.registers(1), int(batch.cycles[1])
    trace = batch.trace_frame(1, Button.START)
    assert batch.save_state(1) == before
    assert trace.dtype == np.uint64
    assert trace.shape[1] == len(TRACE_COLUMNS)
    assert len(trace) > 100
    names = {name: trace[:, k] for k, name in enumerate(TRACE_COLUMNS)}
    assert (names["cycles"][0], names["SP"][0]) == (clock, registers.sp)
    assert (np.diff(names["cycles"].astype(np.int64)) >= 4).all()
    batch.step(np.array([0, Button.START], dtype=np.uint8))
    after = batch.registers(1)
    end = {name: int(column[-1]) for name, column in names.items()}
    assert (end["cycles"], end["PC"], end["SP"]) == (batch.cycles[1], after.pc, after.sp)
    assert end["AF"] == after.a << 8 | after.f
    assert end["LY"] == batch.memory(1)[0xFF44]
