"""A training run from beginning to end: loop, logs, checkpoints, and ways to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import jax
import numpy as np

from hybridenv.errors import CheckpointError, ConfigError, DivergedError, OutOfMemoryError
from hybridenv.train.checkpoint import Checkpoints, saved_steps
from hybridenv.train.config import Config
from hybridenv.train.logging import JsonLines, ProgressBar, Row, Sink, Sinks, TensorBoard
from hybridenv.train.networks import Params, Policy


class Trainer(Protocol):
    """One of the two loops: `hybridenv.train.ppo.Program` or `hybridenv.train.host.HostLoop`."""

    config: Config
    devices: list[jax.Device]
    policy: Policy

    def init(self) -> Any:
        """Return the state before the first iteration."""

    def run(self, state: Any, /) -> tuple[Any, dict[str, Any]]:
        """Do `Config.calls` iterations."""

    def cut(self) -> None:
        """Forget what a checkpoint does not hold: a state was saved and will go on alone."""

    def close(self) -> None:
        """Release what is held."""


@dataclass(frozen=True)
class Result:
    """What a run came to.

    Attributes:
        config: The run.
        policy: The network.
        params: Its parameters; with several seeds every array has an axis of them in front.
        rows: The iterations, see `hybridenv.train.logging.Row`.
        seconds: Time spent training, without compiling.
        compile_seconds: Time of the first call beyond that of the others: compiling.
        interrupted: The signal that ended it early, SIGINT (Ctrl-C) or SIGTERM; 0 where none did.
        checkpoint: Folder of the last checkpoint, or `None` without `out`.
    """

    config: Config
    policy: Policy
    params: Params
    rows: list[Row] = field(repr=False)
    seconds: float
    compile_seconds: float
    interrupted: int
    checkpoint: Path | None

    def params_of(self, seed: int) -> Params:
        """Return the parameters of one of the seeds, counted from 0."""
        if self.config.n_seeds == 1:
            return self.params
        return jax.tree.map(lambda leaf: leaf[seed], self.params)


def train(
    config: Config,
    *,
    out: Path | str | None = None,
    resume: bool = False,
    progress: bool = False,
    tensorboard: bool = False,
    trainer: Trainer | None = None,
    on_row: Callable[[Row], bool | None] | None = None,
) -> Result:
    """Train a policy.

    Ctrl-C and SIGTERM let the current iterations finish, write a checkpoint and return; a second
    one stops at once. An error of an environment of the host leaves a checkpoint, too, of the
    iterations before the call of the trainer that it happened in; a note of the error names it.

    Args:
        config: The run.
        out: Folder for ``metrics.jsonl`` and ``checkpoints/``; `None` keeps nothing.
        resume: Go on from the newest checkpoint in `out` instead of refusing a folder that has one.
        progress: Show a bar on standard error.
        tensorboard: Also write for TensorBoard, into ``out/tensorboard``.
        trainer: The loop; `None` makes the one for `Config.env`. It is closed at the end.
        on_row: Called with every iteration; the run ends where it returns true.

    Returns:
        The trained policy and the figures of every iteration.

    Raises:
        ConfigError: The configuration does not make sense, or no environment has this name.
        CheckpointError: A checkpoint cannot be written or read, or belongs to other settings.
        DivergedError: A loss is not a finite number. The last good checkpoint is kept.
        OutOfMemoryError: The devices have not as much memory as this run needs.
    """
    if not isinstance(config, Config):
        raise ConfigError(
            f"config: got {type(config).__name__}, expected a Config, such as Config.of('pong')"
        )
    if out is None and (resume or tensorboard):
        raise ConfigError("out: got none, expected a folder to resume from or to write logs to")
    folder = None if out is None else Path(out) / "checkpoints"
    old = [] if folder is None else saved_steps(folder)
    if old and not resume:
        raise CheckpointError(
            f"{folder}: has checkpoints of an earlier run, expected none; resume it or choose "
            "another folder"
        )
    if resume and not old:
        raise CheckpointError(f"{folder}: got no checkpoint to resume from")
    made = trainer or make_trainer(config)
    try:
        return _Run(made, None if out is None else Path(out)).train(progress, tensorboard, on_row)
    except jax.errors.JaxRuntimeError as error:
        if not any(sign in str(error) for sign in ("Out of memory", "RESOURCE_EXHAUSTED")):
            raise
        raise OutOfMemoryError(
            f"{config.env}: got too little memory ({str(error).splitlines()[0]}), expected enough "
            "for the network, and for n_envs times horizon steps; make one of them smaller"
        ) from error
    finally:
        made.close()


def load(out: Path | str, step: int | None = None) -> tuple[Config, Policy, Params]:
    """Read the policy of a run.

    Args:
        out: The folder of the run, as given to `train`.
        step: Which checkpoint, by its steps; `None` takes the newest.

    Returns:
        The run, its network, and the parameters (with several seeds as in `Result.params`).

    Raises:
        CheckpointError: There is no such checkpoint, or it is damaged.
    """
    from hybridenv.envs import host_devices

    host_devices()
    folder = Path(out) / "checkpoints"
    steps = saved_steps(folder)
    if not steps or (step is not None and step not in steps):
        got = "no checkpoint" if step is None else f"no checkpoint {step}"
        expected = f"one of {steps}" if steps else "the folder of a run, as given to `train`"
        raise CheckpointError(f"{folder}: got {got}, expected {expected}")
    chosen = steps[-1] if step is None else step
    checkpoints = Checkpoints(folder)
    settings = checkpoints.config(chosen)
    config = Config.of(settings["env"], settings)
    trainer = make_trainer(config)
    try:
        state = checkpoints.restore(chosen, trainer.init(), config, None)
    finally:
        trainer.close()
    return config, trainer.policy, jax.device_get(state.params)


def make_trainer(config: Config) -> Trainer:
    """Return the loop for a configuration's environment.

    Raises:
        ConfigError: There is no such environment, or its options are wrong.
    """
    from hybridenv.envs import host_devices, make, names

    host_devices()
    if config.env in names():
        from hybridenv.train.ppo import Program

        env, params = make(config.env, **config.env_args)
        return Program(env, params, config)
    from hybridenv.train.host import HostLoop

    return HostLoop(config)


class _Run:
    """A run in progress."""

    def __init__(self, trainer: Trainer, out: Path | None) -> None:
        self.trainer = trainer
        self.config = trainer.config
        self.out = out
        self.rows: list[Row] = []
        self.before = 0.0
        self.checkpoints = (
            None if out is None else Checkpoints(out / "checkpoints", self.config.keep)
        )

    def train(
        self,
        progress: bool,
        tensorboard: bool,
        on_row: Callable[[Row], bool | None] | None,
    ) -> Result:
        c = self.config
        state, done = self._begin()
        with self._sinks(done * c.batch, progress, tensorboard) as sinks, _interrupts() as stop:
            saved, path = done, None
            spent, times = 0.0, []
            while done < c.iterations and not stop.signal:
                begin = time.perf_counter()
                try:
                    state, metrics = self.trainer.run(state)
                except Exception as error:
                    if done > saved:
                        self._rescue(error, state, done)
                    raise
                values = {k: np.asarray(v, np.float64) for k, v in metrics.items()}
                times.append(time.perf_counter() - begin)
                spent = self._training_time(times)
                self._check(values, done)
                ended = self._report(values, done, times, sinks, on_row)
                done += c.calls
                if c.checkpoint_every and (done - saved) * c.batch >= c.checkpoint_every:
                    path, saved = self._save(state, done), done
                if ended:
                    break
            if self.checkpoints is not None:
                path = self._save(state, done)
        return Result(
            config=c,
            policy=self.trainer.policy,
            params=state.params,
            rows=self.rows,
            seconds=spent,
            compile_seconds=sum(times) - spent,
            interrupted=stop.signal,
            checkpoint=path,
        )

    @staticmethod
    def _training_time(times: list[float]) -> float:
        """Time of all calls, where the first, which compiles, counts as much as the second."""
        return times[0] if len(times) == 1 else sum(times[1:]) + min(times[:2])

    def _begin(self) -> tuple[Any, int]:
        """Return the first state and the iterations done before."""
        state = self.trainer.init()
        old = [] if self.checkpoints is None else self.checkpoints.steps()
        if self.checkpoints is None or not old:
            return state, 0
        devices = len(self.trainer.devices)
        state = self.checkpoints.restore(old[-1], state, self.config, devices)
        return state, old[-1] // self.config.batch

    def _save(self, state: Any, done: int) -> Path | None:
        if self.checkpoints is None:
            return None
        steps = done * self.config.batch
        self.trainer.cut()
        return self.checkpoints.save(steps, state, self.config, len(self.trainer.devices))

    def _rescue(self, error: Exception, state: Any, done: int) -> None:
        """Keep what was done before an error, and say so in a note of it.

        A program that failed may have used up its state already; then there is nothing to keep.
        """
        if any(leaf.is_deleted() for leaf in jax.tree.leaves(state)):
            return
        try:
            path = self._save(state, done)
        except CheckpointError as another:
            error.add_note(str(another))
        else:
            if path is not None:
                error.add_note(f"{done * self.config.batch:,} steps are kept in checkpoint {path}")

    def _sinks(self, steps: int, progress: bool, tensorboard: bool) -> Sinks:
        sinks: list[Sink] = []
        if self.out is not None:
            lines = JsonLines(self.out / "metrics.jsonl", steps)
            self.before = lines.seconds
            sinks.append(lines)
            if tensorboard:
                sinks.append(TensorBoard(self.out / "tensorboard"))
        if progress:
            sinks.append(ProgressBar(self.config.iterations * self.config.batch, steps))
        return Sinks(*sinks)

    def _report(
        self,
        values: dict[str, Any],
        done: int,
        times: list[float],
        sinks: Sinks,
        on_row: Callable[[Row], bool | None] | None,
    ) -> bool:
        """Write the rows of a call; true if the run is to end."""
        c = self.config
        ended = False
        speed = len(times) * c.calls * c.batch * c.n_seeds / self._training_time(times)
        begun = self.before + sum(times[:-1])
        for i in range(c.calls):
            row: Row = {
                "iteration": done + i + 1,
                "steps": (done + i + 1) * c.batch,
                "seconds": begun + times[-1] * (i + 1) / c.calls,
                "steps_per_second": speed,
            }
            row |= {name: value[..., i].tolist() for name, value in values.items()}
            self.rows.append(row)
            sinks.write(row)
            if on_row is not None and on_row(row):
                ended = True
        return ended

    def _check(self, values: dict[str, Any], done: int) -> None:
        sound = np.isfinite(values["loss"]) & np.isfinite(values["grad_norm"])
        if sound.all():
            return
        iteration = done + 1 + int(np.argmin(sound.reshape(-1, self.config.calls).all(axis=0)))
        old = [] if self.checkpoints is None else self.checkpoints.steps()
        kept = (
            f"the last good checkpoint is {self.checkpoints.path(old[-1])}"
            if self.checkpoints is not None and old
            else "there is no checkpoint yet"
        )
        # The first of these that is no number is nearest to the cause.
        kinds = {"reward": "mean reward", "loss": "loss", "grad_norm": "gradient's length"}
        then = {kind: np.ravel(values[kind][..., iteration - done - 1]) for kind in kinds}
        kind = next(kind for kind in kinds if not np.isfinite(then[kind]).all())
        value = then[kind][~np.isfinite(then[kind])][0]
        raise DivergedError(
            f"iteration {iteration}: the {kinds[kind]} is {value} (lr {self.config.lr:g}), "
            f"expected a finite number; {kept}",
            iteration,
        )


@dataclass
class _Stop:
    """Whether a run is to end: the signal that said so, or 0."""

    signal: int = 0


@contextmanager
def _interrupts() -> Iterator[_Stop]:
    """Note the first Ctrl-C or SIGTERM; a second one of its kind does what it always does."""
    stop = _Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: Any) -> None:
        del frame
        stop.signal = stop.signal or number
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
