"""Bad input gets a clear error of hybridenv, and the batch goes on as if nothing had been."""

import contextlib
import copy
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridenv import (
    ActionError,
    ArgumentError,
    BusyError,
    CartRamError,
    ClosedError,
    EnvCrashedError,
    EnvIndexError,
    GameBoyBatch,
    HybridEnvError,
    NotResetError,
    RomError,
    RomFileError,
    RtcTime,
    UncopyableError,
)

MakeBatch = Callable[..., GameBoyBatch]
MakeRom = Callable[..., bytes]
Call = Callable[[GameBoyBatch], Any]

STILL = np.zeros(3, dtype=np.uint8)


def changed(image: bytes, at: int, value: int) -> bytes:
    return image[:at] + bytes([value]) + image[at + 1 :]


def test_roms_are_refused_with_a_reason(make_rom: MakeRom, tmp_path: Path) -> None:
    image = make_rom()
    cases = [
        (b"", "too short.*got 0 bytes"),
        (image[:0x14F], "too short.*got 335 bytes"),
        (image[:0x4000], "truncated: got 16384 bytes, expected 32768"),
        (image + b"more", "oversized: got 32772 bytes, expected 32768"),
        (changed(image, 0x14D, image[0x14D] ^ 1), "checksum at 014D"),
        (make_rom(kind=0x20), r"0147: got 20 \(MBC6\)"),
        (make_rom(kind=0xFD), "TAMA5"),
    ]
    for bad, message in cases:
        with pytest.raises(RomError, match=f"env 0.*{message}"):
            GameBoyBatch(bad, 2)
        with pytest.raises(RomError, match=f"env 1.*{message}"):
            GameBoyBatch([image, bad], 2)


def test_files_are_named_with_what_is_wrong_inside(make_rom: MakeRom, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.gb", tmp_path / "bad.gb"
    good.write_bytes(make_rom())
    bad.write_bytes(make_rom()[:0x4000])
    with pytest.raises(RomError, match=r"^env 0 \(.*bad\.gb\): .*truncated"):
        GameBoyBatch(bad, 2)
    with pytest.raises(RomError, match=r"^env 1 \(.*bad\.gb\): .*truncated"):
        GameBoyBatch([good, str(bad)], 2)
    with pytest.raises(RomError, match=r"^env 1: "):
        GameBoyBatch([good, bad.read_bytes()], 2)


@pytest.mark.parametrize(
    ("path", "kinds", "message"),
    [
        ("nowhere.gb", (RomFileError, FileNotFoundError), r"^rom: .*nowhere\.gb: No such file"),
        (".", (RomFileError, IsADirectoryError), r"^rom: .*: Is a directory, expected"),
        ("good.gb/x.gb", (RomFileError, OSError), r"^rom: .*x\.gb: Not a directory"),
        ("n" * 300, (RomFileError, OSError), "^rom: .*too long"),
    ],
)
def test_files_that_cannot_be_read(
    path: str, kinds: tuple[type[Exception], ...], message: str, tmp_path: Path
) -> None:
    (tmp_path / "good.gb").write_bytes(b"")
    with pytest.raises(RomFileError, match=message) as caught:
        GameBoyBatch(tmp_path / path)
    assert all(isinstance(caught.value, kind) for kind in kinds)
    assert caught.value.filename == str(tmp_path / path)
    assert caught.value.errno
    second = [tmp_path / "good.gb", tmp_path / path]
    with pytest.raises(RomFileError, match=message.replace("rom", r"rom\[1\]")):
        GameBoyBatch(second, 2)


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"n": 0}, "n: got 0"),
    ({"n": -1}, "n: got -1"),
    ({"n": 2.0}, "n: got 2.0"),
    ({"n": True}, "n: got True"),
    ({"rom": 5}, "rom: got int"),
    ({"rom": ""}, "rom: got '', expected the path"),
    ({"rom": "a\0b"}, "rom: got 'a.x00b', expected the path"),
    ({"rom": [b"", ""], "n": 2}, r"rom\[1\]: got ''"),
    ({"obs": np.zeros(2)}, "obs: got array"),
    ({"rom": [b"", 5], "n": 2}, r"rom\[1\]: got int"),
    ({"rom": [b""] * 3, "n": 2}, "rom: got 3 images.*n = 2"),
    ({"frame_skip": 0}, "frame_skip: got 0"),
    ({"frame_skip": 2**32}, "frame_skip: got 4294967296"),
    ({"press_frames": 0}, "press_frames: got 0"),
    ({"press_frames": 25}, "press_frames: got 25, expected a whole number 1 to 24"),
    ({"obs": "ram"}, "obs: got 'ram', expected one of 'shades'"),
    ({"profile": "cgb"}, "profile: got 'cgb'"),
    ({"model": "sgb"}, "model: got 'sgb', expected one of 'auto', 'dmg'"),
    ({"palette": [(0, 0, 0)] * 3}, "palette: got"),
    ({"palette": [(0, 0, 256)] * 4}, "palette: got 256"),
    ({"palette": 4}, "palette: got 4"),
    ({"num_threads": 0}, "num_threads: got 0"),
    ({"num_threads": 1.5}, "num_threads: got 1.5"),
    ({"seed": -1}, "seed: got -1"),
    ({"seed": 2**64}, "seed: got 18446744073709551616"),
    ({"seed": "7"}, "seed: got '7'"),
    ({"noop_max": -1}, "noop_max: got -1"),
    ({"task": "score"}, "task: got str"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS)
def test_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        GameBoyBatch(**options)


CALLS: list[tuple[type[HybridEnvError], str, Call]] = [
    (ActionError, r"uint8 of shape \(2,\), .* uint8 of shape \(3,\)", lambda b: b.step(STILL[:2])),
    (ActionError, r"shape \(3, 1\)", lambda b: b.step(STILL[:, None])),
    (ActionError, r"shape \(\)", lambda b: b.step(np.zeros((), np.uint8))),
    (ActionError, "got int64", lambda b: b.step(STILL.astype(np.int64))),
    (ActionError, "got int8", lambda b: b.step(STILL.astype(np.int8))),
    (ActionError, "got bool", lambda b: b.step(STILL.astype(np.bool_))),
    (ActionError, "got float32", lambda b: b.step(STILL.astype(np.float32))),
    (ActionError, "got object", lambda b: b.step(STILL.astype(object))),
    (ActionError, "got list", lambda b: b.step([0, 0, 0])),  # type: ignore[arg-type]
    (ActionError, "got NoneType", lambda b: b.step(None)),  # type: ignore[arg-type]
    (ArgumentError, "restart: got uint8", lambda b: b.step(STILL, restart=STILL)),  # type: ignore[arg-type]
    (ArgumentError, "mask: got bool", lambda b: b.reset(mask=np.ones(4, np.bool_))),
    (ArgumentError, "mask: got list", lambda b: b.reset(mask=[True] * 3)),  # type: ignore[arg-type]
    (ArgumentError, "seed: got 2 seeds", lambda b: b.reset(seed=[1, 2])),
    (ArgumentError, r"seed\[1\]: got -2", lambda b: b.reset(seed=[1, -2, 3])),
    (ArgumentError, "seed: got 1.5", lambda b: b.reset(seed=1.5)),  # type: ignore[arg-type]
    (ArgumentError, "seed: got 'abc'", lambda b: b.reset(seed="abc")),
    (ArgumentError, r"seed: got shape \(\), expected", lambda b: b.reset(seed=np.array(5))),
    (ArgumentError, r"seed\[0\]: got True", lambda b: b.reset(seed=[True, 1, 2])),
    (ArgumentError, "obs: got 'png'", lambda b: b.screen("png")),  # type: ignore[arg-type]
    (ArgumentError, "addresses: got 65536", lambda b: b.read_memory([0, 65536])),
    (ArgumentError, "addresses: got -1", lambda b: b.read_memory([-1])),
    (ArgumentError, "addresses: got float64", lambda b: b.read_memory([0.5])),  # type: ignore[list-item]
    (ArgumentError, "addresses: got int64 of shape", lambda b: b.read_memory([[1]])),  # type: ignore[list-item]
    (ArgumentError, "addresses: expected integers", lambda b: b.read_memory([[1], [2, 3]])),
    (ArgumentError, "addresses: got object", lambda b: b.read_memory(None)),
    (ArgumentError, "addresses: got bool", lambda b: b.read_memory(np.ones(2, np.bool_))),
    (ArgumentError, "got address 65536", lambda b: b.write_memory(0, 65536, 0)),
    (ArgumentError, "0xc000: got 256", lambda b: b.write_memory(0, 0xC000, 256)),
    (ArgumentError, "got address -1", lambda b: b.memory()[-1]),
    (ArgumentError, "got address 65537", lambda b: b.memory()[0:65537]),
    (ArgumentError, "from 0x5 to 0x4", lambda b: b.memory()[5:4]),
    (ArgumentError, "step 2", lambda b: b.memory()[0:8:2]),
    (ArgumentError, "got address 'a'", lambda b: b.memory()["a"]),  # type: ignore[call-overload]
    (ArgumentError, "expected 4 bytes", lambda b: b.memory().__setitem__(slice(0, 4), b"abc")),
    (ArgumentError, "expected 4 bytes", lambda b: b.memory().__setitem__(slice(0, 4), 4)),  # type: ignore[call-overload]
    (EnvIndexError, "got 3, expected 0 to 2", lambda b: b.memory(3)),
    (EnvIndexError, "got -1", lambda b: b.registers(-1)),
    (EnvIndexError, "got 3, expected 0 to 2", lambda b: b.trace_frame(3, 0)),
    (ArgumentError, "buttons: got 256", lambda b: b.trace_frame(0, 256)),
    (ArgumentError, "buttons: got 'a'", lambda b: b.trace_frame(0, "a")),
    (EnvIndexError, "got 'a'", lambda b: b.save_state("a")),  # type: ignore[arg-type]
    (EnvIndexError, "got True", lambda b: b.save_state(True)),
    (EnvIndexError, "got 9", lambda b: b.copy([0], [9])),
    (EnvIndexError, "got False", lambda b: b.copy([False], [1])),
    (ArgumentError, "copy: src: got 0, expected a sequence", lambda b: b.copy(0, 1)),
    (ArgumentError, "copy: dst: got None, expected a sequence", lambda b: b.copy([0], None)),
    (ArgumentError, "got address True", lambda b: b.memory()[True]),
    (ArgumentError, "0xc000: got True", lambda b: b.write_memory(0, 0xC000, True)),
    (ArgumentError, "memory: got 256, expected a number", lambda b: 256 in b.memory()),
    (ArgumentError, "memory: got copy=False", lambda b: np.array(b.memory(), copy=False)),
    (ArgumentError, "load_state: state for env 2: got str", lambda b: b.load_state(2, "state")),
    (ArgumentError, "env 1: got NoneType, expected bytes", lambda b: b.load_state(1, None)),
    (ArgumentError, "set_start: state: got str, expected bytes", lambda b: b.set_start("state")),
    (ArgumentError, "load_cart_ram: ram for env 0: got list", lambda b: b.load_cart_ram(0, [1])),
    (ArgumentError, "ram for env 0: got NoneType", lambda b: b.load_cart_ram(0, None)),
    (ArgumentError, "set_rtc: time: got 5, expected an RtcTime", lambda b: b.set_rtc(0, 5)),
    (ArgumentError, "set_rtc: days: got None", lambda b: b.set_rtc(0, RtcTime(None))),
    (ArgumentError, "set_rtc: carry: got 2", lambda b: b.set_rtc(0, RtcTime(carry=2))),
    (ArgumentError, "freeze_rtc: frozen: got 'no'", lambda b: b.freeze_rtc(0, "no")),
    (UncopyableError, "GameBoyBatch: got a copy or pickle", copy.copy),
    (UncopyableError, "GameBoyBatch: got a copy or pickle", copy.deepcopy),
    (UncopyableError, r"save_state\(i\) gives bytes", pickle.dumps),
    (UncopyableError, "States: got a copy or pickle", lambda b: copy.copy(b.save_states())),
    (UncopyableError, "States: got a copy or pickle", lambda b: pickle.dumps(b.save_states())),
    (UncopyableError, "Memory: got a copy or pickle", lambda b: pickle.dumps(b.memory())),
    (ArgumentError, "got 1 sources and 2 targets", lambda b: b.copy([0], [1, 2])),
    (ArgumentError, "target 1 twice", lambda b: b.copy([0, 2], [1, 1])),
    (ArgumentError, "states: got bytes", lambda b: b.load_states(b"")),  # type: ignore[arg-type]
    (
        ArgumentError,
        "mask: got env 2, which the states do not hold",
        lambda b: b.load_states(b.save_states(np.array([True, True, False])), np.ones(3, np.bool_)),
    ),
    (CartRamError, "env 0.*got 3", lambda b: b.load_cart_ram(0, b"abc")),
    (ArgumentError, "env 0 has no clock", lambda b: b.set_rtc(0, RtcTime())),
    (ArgumentError, "env 0 has no clock", lambda b: b.freeze_rtc(0)),
    (ArgumentError, "set_rtc: hours: got 32", lambda b: b.set_rtc(0, RtcTime(hours=32))),
    (ArgumentError, "sample_rate: got 0", lambda b: b.set_audio(0)),
]


@pytest.mark.parametrize(("kind", "message", "call"), CALLS)
def test_calls_are_refused_and_change_nothing(
    make: MakeBatch, kind: type[HybridEnvError], message: str, call: Call
) -> None:
    batch = make(n=3, seed=1)
    batch.reset()
    before = [batch.save_state(i) for i in range(3)]
    with pytest.raises(kind, match=message):
        call(batch)
    assert [batch.save_state(i) for i in range(3)] == before
    batch.step(STILL)


def test_errors_are_built_in_errors_too() -> None:
    pairs = [(ActionError, ValueError), (EnvIndexError, IndexError), (BusyError, RuntimeError)]
    assert all(issubclass(ours, theirs) for ours, theirs in pairs)


def test_stepping_needs_a_reset(make: MakeBatch) -> None:
    batch = make(n=3)
    with pytest.raises(NotResetError, match=r"env 0 \(3 of 3 envs\)"):
        batch.step(STILL)
    with pytest.raises(NotResetError, match=r"^save_states: env 0"):
        batch.save_states()
    with pytest.raises(NotResetError, match=r"^copy: env 1"):
        batch.copy([1], [0])
    batch.reset(mask=np.array([True, False, False]))
    with pytest.raises(NotResetError, match=r"env 1 \(2 of 3 envs\)"):
        batch.step(STILL)
    batch.load_state(1, batch.save_state(0))
    batch.copy([0], [2])
    assert list(batch.frames) == [0, 0, 0]
    batch.step(STILL)


def test_closed_batches_say_so(make_rom: MakeRom) -> None:
    with GameBoyBatch(make_rom(), 3) as batch:
        batch.reset()
        memory = batch.memory()
        states = batch.save_states()
        assert not batch.closed
    assert batch.closed
    assert "closed" in repr(batch)
    batch.close()
    calls: list[Callable[[], Any]] = [
        batch.reset,
        lambda: batch.step(STILL),
        batch.screen,
        lambda: memory[0],
        lambda: batch.read_memory([0]),
        batch.save_state,
        lambda: batch.load_states(states),
        lambda: batch.clocks,
        batch.header,
        batch.screenshot,
    ]
    for call in calls:
        with pytest.raises(ClosedError, match="closed"):
            call()
    assert (batch.n, batch.obs_shape, len(states)) == (3, (3, 144, 160), 3)


def test_two_threads_in_one_batch(make: MakeBatch) -> None:
    batch = make(n=2, frame_skip=20_000)
    batch.reset()
    errors: list[BaseException] = []

    def work() -> None:
        try:
            batch.step(STILL[:2])
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    refused = 0
    calls: list[Callable[[], Any]] = [
        lambda: batch.step(STILL[:2]),
        batch.reset,
        batch.save_state,
        lambda: batch.memory()[0],
        batch.close,
    ]
    deadline = time.monotonic() + 60
    while worker.is_alive() and refused < len(calls) and time.monotonic() < deadline:
        time.sleep(0.002)
        with contextlib.suppress(BusyError):
            calls[refused]()
            continue
        refused += 1
    worker.join()
    assert refused == len(calls), "the step was over before the calls were made"
    assert not errors
    assert not batch.closed
    assert list(batch.frames) == [20_000, 20_000]
    batch.reset()


def test_a_crash_names_its_env_and_leaves_the_others(make: MakeBatch) -> None:
    batch, twin = make(n=3, seed=4), make(n=3, seed=4)
    for each in (batch, twin):
        each.reset()
    batch.inject_crash(1)
    with pytest.raises(EnvCrashedError, match=r"env 1 crashed.*injected crash") as caught:
        batch.step(STILL)
    assert (caught.value.env, caught.value.payload) == (1, "injected crash")
    twin.step(STILL)
    for i in (0, 2):
        assert batch.save_state(i) == twin.save_state(i)
    refused: list[Callable[[], Any]] = [
        lambda: batch.step(STILL),
        lambda: batch.save_state(1),
        lambda: batch.memory(1)[0],
        lambda: batch.copy([1], [0]),
        lambda: batch.read_memory([0]),
        batch.save_states,
    ]
    for call in refused:
        with pytest.raises(EnvCrashedError, match="env 1"):
            call()
    assert batch.screen().shape == (3, 144, 160)
    batch.reset(mask=np.array([False, True, False]))
    batch.step(STILL)
    batch.inject_crash(0)
    batch.step(STILL, restart=np.array([True, False, False]))
    batch.step(STILL)


def test_more_machines_than_memory_are_refused() -> None:
    # Of one process alone, since the limit would stay.
    code = """
import resource, hybridenv
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    hybridenv.GameBoyBatch(n=2**24, num_threads=1)
except hybridenv.OutOfMemoryError as error:
    assert isinstance(error, MemoryError)
    print(error)
with hybridenv.GameBoyBatch(n=2, num_threads=1) as batch:
    print(batch.reset().shape)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "n: got no memory for" in result.stdout
    assert result.stdout.endswith("(2, 144, 160)\n")
