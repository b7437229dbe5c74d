"""`GameBoyBatch`: n Game Boys stepped together. The only module that imports `_native`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybridenv import _native
from hybridenv.cartridge import RomHeader, RomSource, RtcTime, read_images, with_path
from hybridenv.checks import (
    SEEDS,
    Uncopyable,
    address_array,
    choice,
    flag,
    four_colours,
    index_or_none,
    raw_bytes,
    seed_or_seeds,
    whole,
    whole_or_none,
)
from hybridenv.clock import CLOCK_HZ
from hybridenv.errors import (
    ArgumentError,
    EnvIndexError,
    MissingDependencyError,
    NotResetError,
    RomError,
)
from hybridenv.memory import Memory, Registers
from hybridenv.task import Task

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "DEFAULT_PALETTE",
    "TRACE_COLUMNS",
    "GameBoyBatch",
    "RomHeader",
    "RomSource",
    "RtcTime",
    "States",
    "StepResult",
    "build_info",
]

Obs: TypeAlias = Literal["shades", "rgb", "packed"]
Profile: TypeAlias = Literal["hardware", "pyboy"]
Model: TypeAlias = Literal["auto", "dmg", "cgb"]
Pixels: TypeAlias = NDArray[np.uint8]
Mask: TypeAlias = NDArray[np.bool_]

#: Red, green and blue of the four shades, lightest first: the greys that PyBoy shows.
DEFAULT_PALETTE = ((255, 255, 255), (153, 153, 153), (85, 85, 85), (0, 0, 0))


#: Columns of `GameBoyBatch.trace_frame`.
TRACE_COLUMNS = (
    *("cycles", "PC", "AF", "BC", "DE", "HL", "SP"),
    *("IF", "IE", "LCDC", "STAT", "LY", "DIV", "TIMA"),
)

_MOST_THREADS = 4096


class StepResult(NamedTuple):
    """What a step of n envs brought. Every array is the caller's; the batch never writes it again.

    Attributes:
        obs: Pictures after the step's last frame, uint8[n, ...] as the batch's `obs_shape`.
        reward: float32[n].
        terminated: Episodes that came to their end, bool[n].
        truncated: Episodes that were cut off, bool[n].
        info: The fields that `Task.info` names, each int64[n].
    """

    obs: Pixels
    reward: NDArray[np.float32]
    terminated: Mask
    truncated: Mask
    info: dict[str, NDArray[np.int64]]


class States(Uncopyable):
    """Copies of some of a batch's machines and episodes, kept in memory; see `save_states`.

    They take about 30 KiB an env beside the cartridge's RAM, stay as they are, and can be loaded
    any number of times. For states that outlive the process, see `GameBoyBatch.save_state`.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.States) -> None:
        self._native = native

    @property
    def held(self) -> Mask:
        """Which envs they hold, bool[n]."""
        return self._native.held()

    def __len__(self) -> int:
        return int(self.held.sum())


class GameBoyBatch(Uncopyable):
    """n Game Boys in one process, stepped together by a pool of threads.

    A step runs `frame_skip` frames in every machine and draws only the last one. Results are the
    same for any number of threads, and the same as those of n batches of one machine.

    **Buttons** are a byte per env: bits 0 to 7 are Right, Left, Up, Down, A, B, Select, Start (see
    `Button`). They are held for the first `press_frames` frames of the step, by default for all of
    them, and let go unless the next step presses them again.

    **Starts.** An episode starts at power-on followed by the task's `Task.start` and
    `Task.opening`, or at exactly the state given to `set_start`. The machine is deterministic, so
    without a seed all starts are equal. With one, env i owns the SplitMix64 stream of
    ``(seed + i) mod 2**64``, and every start of the env draws from it: the low 16 bits of the first
    number become the machine's 16-bit divider (which games use for chance), and the high half of
    the second times ``noop_max + 1`` (a whole number 0 to `noop_max`) is the number of frames that
    pass without input. Both happen after `Task.start` and before `Task.opening`, or to the state of
    `set_start`. Last, each field of `Task.randomize` takes the high half of the next number times
    ``256**size - 1``, plus 1. The high half is that of the 128-bit product.
    Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.

    **Threads.** One thread at a time may be inside a call; a second one gets `BusyError`. The
    interpreter is free meanwhile. Ctrl-C (or any exception of a signal handler) reaches the main
    thread within about 50 ms of a long call. The call then has 0.5 s to end for all envs; if it is
    longer, every env stops after the frame it is in. Either way the exception is raised, the result
    is lost, and the batch stays usable, each env at a frame boundary; `frames` tells how far each
    one came.

    **Failures.** If the emulator itself fails in one env, the others finish the call, which then
    raises `EnvCrashedError`. Calls that need that env refuse until `reset`, `load_state`,
    `load_states` or `copy` revives it.

    Args:
        rom: Path or bytes of an image for all envs, a sequence of n of these, or `None` for the
            embedded game. Nothing is ever written beside a ROM.
        n: Number of envs, at least 1.
        frame_skip: Frames a step, at least 1.
        press_frames: For how many of them the buttons are held, 1 to `frame_skip`; `None` for all.
        obs: ``"shades"``: uint8[n, 144, 160] from 0 (lightest) to 3 (darkest); ``"rgb"``:
            uint8[n, 144, 160, 3] in colours of `palette`; ``"packed"``: uint8[n, 144, 40] with two
            bits a pixel, the leftmost of four in the high bits. A Game Boy Color has colours of its
            own, five bits c each, which ``"rgb"`` shows as ``c << 3 | c >> 2``; shades are their
            brightness ``(2 * red + 5 * green + blue) // 8`` (0 to 31) in four equal steps.
        palette: Four colours (red, green, blue; 0 to 255), lightest first; `None` for
            `DEFAULT_PALETTE`. Used by ``"rgb"`` and `screenshot` for machines without colours.
        num_threads: Worker threads, never more than n; `None` for one per available core.
        profile: ``"hardware"``: frames end at V-blank and boot values are the console's;
            ``"pyboy"``: frames and boot values as in PyBoy 2.8.
        model: ``"dmg"`` is the monochrome Game Boy, ``"cgb"`` the Game Boy Color, on which older
            games get colours too; ``"auto"`` takes the Color for games that know it.
        seed: Seed of the starts, see above; `None` for equal starts.
        task: Reward, ends of episodes, infos and how episodes start; `None` for none of it.
        noop_max: Most idle frames of a seeded start.

    Raises:
        ArgumentError: An argument has a wrong type or value.
        RomError: An image is damaged or asks for hardware that is not emulated.
        RomFileError: A file cannot be read. It is an `OSError` too, and a `FileNotFoundError`,
            `IsADirectoryError` or `PermissionError` where it is one of these.
    """

    def __init__(
        self,
        rom: RomSource | Sequence[RomSource] | None = None,
        n: int = 128,
        *,
        frame_skip: int = 24,
        press_frames: int | None = None,
        obs: Obs = "shades",
        palette: Sequence[Sequence[int]] | None = None,
        num_threads: int | None = None,
        profile: Profile = "hardware",
        model: Model = "auto",
        seed: int | None = None,
        task: Task | None = None,
        noop_max: int = 0,
    ) -> None:
        n = whole("n", n, 1, 2**24)
        frame_skip = whole("frame_skip", frame_skip, 1, 2**32 - 1)
        press_frames = frame_skip if press_frames is None else press_frames
        press_frames = whole("press_frames", press_frames, 1, frame_skip)
        choice("obs", obs, Obs)
        choice("profile", profile, Profile)
        choice("model", model, Model)
        if task is not None and not isinstance(task, Task):
            raise ArgumentError(f"task: got {type(task).__name__}, expected a Task or None")
        images = read_images(rom, n)
        distinct = {image: k for k, image in enumerate(dict.fromkeys(images))}
        try:
            self._native = _native.Batch(
                list(distinct),
                [distinct[image] for image in images],
                frame_skip=frame_skip,
                press_frames=press_frames,
                noop_max=whole("noop_max", noop_max, 0, 2**32 - 1),
                obs=obs,
                palette=four_colours(DEFAULT_PALETTE if palette is None else palette),
                num_threads=whole_or_none("num_threads", num_threads, 1, _MOST_THREADS),
                profile=profile,
                model=model,
                seed=whole_or_none("seed", seed, 0, SEEDS - 1),
                task=None if task is None else task.compiled(),
                warm_up=[] if task is None else list(task.start),
                opening=[] if task is None else list(task.opening),
            )
        except RomError as error:
            raise with_path(error, rom) from None
        self._n = n
        self._frame_skip = frame_skip
        self._press_frames = press_frames
        self._info = () if task is None else tuple(task.info)

    # -- what it is ----------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of envs."""
        return self._n

    @property
    def num_threads(self) -> int:
        """Number of worker threads."""
        return self._native.num_threads

    @property
    def frame_skip(self) -> int:
        """Frames a step."""
        return self._frame_skip

    @property
    def press_frames(self) -> int:
        """For how many frames of a step the buttons are held."""
        return self._press_frames

    @property
    def obs_shape(self) -> tuple[int, ...]:
        """Shape of the pictures of all envs, n first."""
        return self._native.obs_shape

    @property
    def obs_dtype(self) -> np.dtype[np.uint8]:
        """Type of the pictures' elements."""
        return np.dtype(np.uint8)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._native.closed

    def header(self, i: int = 0) -> RomHeader:
        """Decode the header of env i's cartridge.

        Args:
            i: Index of the env.

        Returns:
            What the header says.

        Raises:
            EnvIndexError: There is no env i.
        """
        return RomHeader(**self._native.header(self._index(i)))

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self.num_threads} threads"
        return f"<GameBoyBatch of {self._n}, frame_skip {self._frame_skip}, {state}>"

    # -- playing -------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        mask: Mask | None = None,
    ) -> Pixels:
        """Start an episode in all envs, or in those of a mask.

        Args:
            seed: A number 0 to 2**64 - 1: env i begins the stream of ``seed + i``. A sequence of n:
                env i begins the stream of ``seed[i]``; `None` in it, as for the whole, lets the
                env go on in the stream it has (without one, starts are plain). Only envs that
                start take a seed.
            mask: bool[n], true where an episode is to start; `None` for all.

        Returns:
            The pictures of all envs, uint8[n, ...], owned by the caller.

        Raises:
            ArgumentError: A wrong type, shape or value.
            EnvCrashedError: One of these envs crashed in its idle frames or its opening.
        """
        return self._native.reset(seed_or_seeds(seed, self._n), mask)

    def step(self, buttons: NDArray[np.uint8], *, restart: Mask | None = None) -> StepResult:
        """Play one step in every env.

        Args:
            buttons: uint8[n], the buttons of each env, see the class.
            restart: bool[n]: these envs start an episode instead of playing the step, as `reset`
                without a seed does. Their picture and infos are those of the start, their
                reward is 0, their flags are false. `None` for none.

        Returns:
            Pictures, rewards, flags and infos of all envs, owned by the caller.

        Raises:
            ActionError: `buttons` has a wrong type, dtype or shape; nothing has run.
            ArgumentError: `restart` has a wrong type, dtype or shape; nothing has run.
            NotResetError: An env has no episode yet; nothing has run.
            EnvCrashedError: An env crashed earlier (nothing has run) or in this step.
        """
        obs, reward, terminated, truncated, info = self._native.step(buttons, restart)
        columns = dict(zip(self._info, info, strict=True))
        return StepResult(obs, reward, terminated, truncated, columns)

    def screen(self, obs: Obs | None = None) -> Pixels:
        """Show the pictures as they are, without running anything.

        Args:
            obs: Another kind of picture than the batch's own; `None` for that.

        Returns:
            uint8[n, ...], owned by the caller; for a crashed env the last picture drawn.

        Raises:
            ArgumentError: There is no such kind of picture.
        """
        if obs is not None:
            choice("obs", obs, Obs)
        return self._native.screen(obs)

    def screenshot(self, i: int = 0) -> Image:
        """Make an image of env i's picture.

        Args:
            i: Index of the env.

        Returns:
            A Pillow image, 160 by 144, in the colours of `palette`.

        Raises:
            EnvIndexError: There is no env i.
            MissingDependencyError: Pillow is not installed.
        """
        try:
            from PIL.Image import fromarray
        except ImportError as error:
            raise MissingDependencyError(
                "screenshot needs Pillow, which is not installed: pip install 'hybridenv[image]'"
            ) from error
        return fromarray(self._native.picture(self._index(i)))

    def set_start(self, state: bytes | None, *, mask: Mask | None = None) -> None:
        """Choose where later episodes start.

        Without a seed, episodes start at exactly this state. With one, the divider, the idle frames
        and the fields of `Task.randomize` vary it. `Task.opening` leads on from power-on, so it is
        not played here.

        Args:
            state: A state of `save_state` (bytes, bytearray or memoryview); `None` for power-on,
                `Task.start` and `Task.opening` again.
            mask: bool[n], the envs concerned; `None` for all.

        Raises:
            StateError: One of these envs cannot take the state; no start has changed.
            ArgumentError: `state` is something else, or `mask` has a wrong type or shape.
        """
        raw = None if state is None else raw_bytes("set_start: state", state)
        self._native.set_start(raw, mask)

    # -- memory --------------------------------------------------------------------------------

    def read_memory(self, addresses: Sequence[int] | NDArray[np.integer[Any]]) -> Pixels:
        """Read the bytes at m addresses in every env.

        Args:
            addresses: m addresses, each 0 to 0xFFFF; uint16[m] is fastest.

        Returns:
            uint8[n, m], owned by the caller.

        Raises:
            ArgumentError: An address is out of range or not a whole number.
            EnvCrashedError: An env has crashed.
        """
        return self._native.read_memory(address_array(addresses))

    def write_memory(self, i: int, address: int, value: int) -> None:
        """Write a byte into env i, as the processor would.

        Args:
            i: Index of the env.
            address: 0 to 0xFFFF.
            value: 0 to 255.

        Raises:
            ArgumentError: The address or the value is out of range.
            EnvIndexError: There is no env i.
        """
        self.memory(i)[address] = value

    def memory(self, i: int = 0) -> Memory:
        """Look into the memory of env i: ``batch.memory(3)[0xC000:0xC010]``.

        Args:
            i: Index of the env.

        Returns:
            A view that can be read and written.

        Raises:
            EnvIndexError: There is no env i.
        """
        return Memory(self._native, self._index(i))

    def registers(self, i: int = 0) -> Registers:
        """Read the processor's registers in env i.

        Args:
            i: Index of the env.

        Returns:
            The registers.

        Raises:
            EnvIndexError: There is no env i.
        """
        return Registers(*self._native.registers(self._index(i)))

    def trace_frame(self, i: int, buttons: int) -> NDArray[np.uint64]:
        """Play one frame on a copy of env i and show every instruction; env i stays as it is.

        Rows are the moments before each instruction that the processor executes, in order, and the
        frame's end. Interrupt dispatches and waits are no instructions. Idle loops, whose rounds a
        step skips where nothing can change, count in full.

        Args:
            i: Index of the env.
            buttons: Buttons held, 0 to 255, see the class.

        Returns:
            uint64[k + 1, 14] for k instructions, owned by the caller. `TRACE_COLUMNS` names the
            columns: T-cycles of the processor since power-on, its registers (16 bits each), and
            the registers IF, IE, LCDC, STAT, LY, DIV and TIMA (8 bits each).

        Raises:
            ArgumentError: `buttons` is out of range.
            EnvIndexError: There is no env i.
            EnvCrashedError: It has crashed.
        """
        return self._native.trace_frame(self._index(i), whole("buttons", buttons, 0, 255))

    @property
    def clocks(self) -> NDArray[np.uint64]:
        """Clock cycles (4,194,304 a second) since power-on, uint64[n]."""
        return self._native.clocks()

    @property
    def cycles(self) -> NDArray[np.uint64]:
        """T-cycles of the processor since power-on, uint64[n].

        They equal `clocks` until a Game Boy Color switches to double speed, at which two of them
        pass in one clock cycle.
        """
        return self._native.cycles()

    @property
    def frames(self) -> NDArray[np.uint64]:
        """Frames completed since power-on, uint64[n]."""
        return self._native.frames()

    @property
    def models(self) -> tuple[Literal["dmg", "cgb"], ...]:
        """Which console each env is."""
        return tuple("cgb" if model == "cgb" else "dmg" for model in self._native.models())

    @property
    def stuck(self) -> Mask:
        """Whose processor has met an undefined opcode and stands still until reset, bool[n]."""
        return self._native.stuck()

    # -- states --------------------------------------------------------------------------------

    def save_state(self, i: int = 0) -> bytes:
        """Save env i's machine as bytes that can be kept.

        Args:
            i: Index of the env.

        Returns:
            The state. It names its format, version and ROM and has a checksum.

        Raises:
            EnvIndexError: There is no env i.
            EnvCrashedError: It has crashed.
        """
        return self._native.save_state(self._index(i))

    def load_state(self, i: int, state: bytes) -> None:
        """Put a saved machine into env i, which begins an episode there.

        Args:
            i: Index of the env.
            state: What `save_state` returned, here or in another process: bytes, bytearray or
                memoryview.

        Raises:
            StateError: It is damaged, from another game or newer; the env is as it was.
            ArgumentError: It is no string of bytes.
            EnvIndexError: There is no env i.
        """
        index = self._index(i)
        self._native.load_state(index, raw_bytes(f"load_state: state for env {index}", state))

    def save_states(self, mask: Mask | None = None) -> States:
        """Copy the machines and episodes of all envs, or of those of a mask.

        Args:
            mask: bool[n], true where an env is to be copied; `None` for all.

        Returns:
            The copies.

        Raises:
            NotResetError: One of these envs has no episode yet.
            EnvCrashedError: One of them has crashed.
            ArgumentError: `mask` has a wrong type or shape.
        """
        with _as_call("save_states"):
            return States(self._native.save_states(mask))

    def load_states(self, states: States, mask: Mask | None = None) -> None:
        """Put copies back; the envs go on exactly as then, except for the streams of seeds.

        Args:
            states: What `save_states` returned, of this batch or of one with as many envs. If that
                one had another task, the envs begin an episode.
            mask: bool[n], the envs to put back; `None` for all that `states` holds.

        Raises:
            ArgumentError: `states` does not hold such an env, or a wrong type or shape.
            StateError: An env runs another ROM than its copy; no env has changed.
        """
        if not isinstance(states, States):
            raise ArgumentError(f"states: got {type(states).__name__}, expected States")
        self._native.load_states(states._native, mask)

    def copy(self, src: Sequence[int], dst: Sequence[int]) -> None:
        """Make env ``dst[k]`` a copy of what env ``src[k]`` was before the call.

        Machine and episode are copied, the streams of seeds are not.

        Args:
            src: Indices of the envs to copy.
            dst: Indices of the envs to replace, as many, each once.

        Raises:
            ArgumentError: One is no sequence, the lengths differ or a target comes twice.
            EnvIndexError: There is no such env.
            NotResetError: A source has no episode yet.
            EnvCrashedError: A source has crashed.
            StateError: A pair runs different ROMs; no env has changed.
        """
        for what, envs in (("src", src), ("dst", dst)):
            if not isinstance(envs, Iterable):
                raise ArgumentError(f"copy: {what}: got {envs!r}, expected a sequence of indices")
        with _as_call("copy"):
            self._native.copy([self._index(i) for i in src], [self._index(i) for i in dst])

    # -- cartridge -----------------------------------------------------------------------------

    def cart_ram(self, i: int = 0) -> bytes:
        """Read the cartridge's RAM in env i: what a battery would keep.

        Args:
            i: Index of the env.

        Returns:
            All of it, whatever bank is mapped; empty for a cartridge without RAM.

        Raises:
            EnvIndexError: There is no env i.
        """
        return self._native.cart_ram(self._index(i))

    def load_cart_ram(self, i: int, ram: bytes) -> None:
        """Replace the cartridge's RAM in env i.

        Args:
            i: Index of the env.
            ram: As many bytes as `cart_ram` returns: bytes, bytearray or memoryview.

        Raises:
            CartRamError: The length is another; the env is as it was.
            ArgumentError: It is no string of bytes.
            EnvIndexError: There is no env i.
        """
        index = self._index(i)
        self._native.load_cart_ram(index, raw_bytes(f"load_cart_ram: ram for env {index}", ram))

    def rtc(self, i: int = 0) -> RtcTime | None:
        """Read the cartridge's clock in env i.

        Args:
            i: Index of the env.

        Returns:
            The time; `None` for a cartridge without a clock.

        Raises:
            EnvIndexError: There is no env i.
        """
        time = self._native.rtc(self._index(i))
        return None if time is None else RtcTime(*time)

    def set_rtc(self, i: int, time: RtcTime) -> None:
        """Set the cartridge's clock in env i.

        Args:
            i: Index of the env.
            time: The time.

        Raises:
            ArgumentError: The cartridge has no clock, or a part of the time is out of range.
            EnvIndexError: There is no env i.
        """
        if not isinstance(time, RtcTime):
            raise ArgumentError(f"set_rtc: time: got {time!r}, expected an RtcTime")
        checked = RtcTime(
            days=whole("set_rtc: days", time.days, 0, 511),
            hours=whole("set_rtc: hours", time.hours, 0, 31),
            minutes=whole("set_rtc: minutes", time.minutes, 0, 63),
            seconds=whole("set_rtc: seconds", time.seconds, 0, 63),
            carry=flag("set_rtc: carry", time.carry),
            halted=flag("set_rtc: halted", time.halted),
            cycles=whole("set_rtc: cycles", time.cycles, 0, CLOCK_HZ - 1),
        )
        self._native.set_rtc(self._index(i), checked)

    def freeze_rtc(self, i: int, frozen: bool = True) -> None:
        """Stop the cartridge's clock in env i, or let it run on.

        Args:
            i: Index of the env.
            frozen: Whether it stands still.

        Raises:
            ArgumentError: The cartridge has no clock, or `frozen` is no bool.
            EnvIndexError: There is no env i.
        """
        self._native.freeze_rtc(self._index(i), flag("freeze_rtc: frozen", frozen))

    # -- sound ---------------------------------------------------------------------------------

    def set_audio(self, sample_rate: int | None) -> None:
        """Make sound in all envs, or stop making it; by default none is made.

        Samples wait in memory until `take_audio` takes them: in each env the newest 1,048,576
        (4 MiB, 22 s at 48,000 a second). Older ones are lost.

        Args:
            sample_rate: Samples a second, 8,000 to 192,000; `None` for no sound.

        Raises:
            ArgumentError: The rate is out of range.
        """
        self._native.set_audio(whole_or_none("sample_rate", sample_rate, 8_000, 192_000))

    def take_audio(self, i: int = 0) -> NDArray[np.int16]:
        """Take the sound that env i has made since the last time, as far as it is kept.

        Args:
            i: Index of the env.

        Returns:
            int16[k, 2]: k samples, left and right.

        Raises:
            EnvIndexError: There is no env i.
        """
        return self._native.take_audio(self._index(i))

    # -- the end -------------------------------------------------------------------------------

    def inject_crash(self, i: int = 0) -> None:
        """Make env i crash in its next step, to test what a program does about `EnvCrashedError`.

        Args:
            i: Index of the env.

        Raises:
            EnvIndexError: There is no env i.
        """
        self._native.inject_crash(self._index(i))

    def close(self) -> None:
        """Free the machines and threads; later calls raise `ClosedError`. Twice is fine.

        Arrays handed out stay valid.

        Raises:
            BusyError: Another thread is inside a call.
        """
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # -- checks --------------------------------------------------------------------------------

    def _index(self, i: int) -> int:
        index = index_or_none(i)
        if index is None or not 0 <= index < self._n:
            raise EnvIndexError(f"env index: got {i!r}, expected 0 to {self._n - 1}")
        return index


@contextmanager
def _as_call(name: str) -> Iterator[None]:
    """Let a `NotResetError` name the call that was made."""
    try:
        yield
    except NotResetError as error:
        raise NotResetError(f"{name}: {str(error).removeprefix('step: ')}") from None


def build_info() -> Mapping[str, str | bool]:
    """Tell how the native module was built.

    Returns:
        version, profile ("release" or "debug"), opt_level, debug_assertions, target,
        target_features and rustc.
    """
    return _native.build_info()
