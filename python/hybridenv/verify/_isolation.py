"""The candidate in a process of its own, in which the reference's package cannot be imported.

A candidate that calls the reference would equal it at every level, so it is cut off: the package
cannot be imported, and its files cannot be opened to run them in some other way. What is not
prevented, and the report says so: a candidate that starts a process of its own, or one that
carries a copy of the reference's code.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridenv.errors import TargetError, WrapperError
from hybridenv.verify._record import Draws, EnvState, Play, RemoteError, Trajectory
from hybridenv.verify._target import Identity, Seen, Target, require_posix

START_TIMEOUT = 120.0
"""Seconds that a candidate may take to be made: imports, and what it compiles."""


def modules_to_block(reference: Identity, candidate: str) -> tuple[str, ...]:
    """Say which modules a candidate must do without.

    Args:
        reference: Who the reference is.
        candidate: What the user called the candidate.

    Returns:
        Names of modules; whatever is below one is meant too. It is the whole package of the
        reference, unless that is Gymnasium or hybridenv, which the candidate needs for its spaces,
        or the candidate's own package: then it is as much of it as the reference lies in.

    Raises:
        WrapperError: The candidate lies in the reference's own module.
    """
    blocked = []
    own = candidate.partition(":")[0].partition(".")[0]
    for module in reference.modules:
        package = module.partition(".")[0]
        if package == "gymnasium":
            blocked.append(module.rpartition(".")[0])
        elif package in ("hybridenv", own):
            blocked.append(module)
        else:
            blocked.append(package)
    home = candidate.partition(":")[0]
    if home in blocked:
        raise WrapperError(
            f"candidate {candidate!r}: lies in the module of the reference {reference.name!r}, "
            "which is closed to it; put it into another module, or do without isolation"
        )
    return tuple(dict.fromkeys(blocked))


class IsolatedTarget(Target):
    """A target that lives in another process.

    Args:
        spec: What names it, as for `resolve`.
        blocked: Modules that it must do without.
        timeout: Seconds that one answer may take.

    Raises:
        WrapperError: It cannot be made without one of the blocked modules.
        TargetError: It cannot be made for another reason.
    """

    def __init__(self, spec: str, blocked: Sequence[str], timeout: float) -> None:
        require_posix("isolation", "run without it: isolate=False, or --no-isolate")
        ours, theirs = Pipe()
        self._timeout, self._spec = timeout, spec
        self._connection: Connection = ours
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter, fixed words
            [sys.executable, "-m", "hybridenv.verify._worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C is for the process that asks, also while this one starts
        )
        theirs.close()
        try:
            described = self._ask(
                "make", spec, tuple(blocked), timeout=max(START_TIMEOUT, self._timeout)
            )
        except RemoteError as error:
            self.close()
            raise TargetError(f"candidate {spec!r}: cannot be made: {error}") from error
        except BaseException:
            self.close()
            raise
        for name, value in described.items():
            setattr(self, name, value)

    def reset(self, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        obs, info = self._ask("reset", seed)
        return obs, info

    def step(self, action: Any) -> Seen:
        """Play one step."""
        seen: Seen = self._ask("step", action)
        return seen

    def get_state(self) -> EnvState:
        """Return the state."""
        state: EnvState = self._ask("get_state")
        return state

    def set_state(self, state: EnvState) -> Any:
        """Take over a state."""
        return self._ask("set_state", state)

    def action_mask(self) -> Any:
        """Return which actions are legal."""
        return self._ask("action_mask") if "mask" in self.offers else None

    def take_chance(self) -> Draws:
        """Return the draws since the last call."""
        return self._ask("take_chance")

    def set_chance(self, draws: Draws) -> None:
        """Use these draws next."""
        self._ask("set_chance", draws)

    def rollouts(self, plays: Sequence[Play]) -> list[Trajectory]:
        """Play a number of plays."""
        seen: list[Trajectory] = self._ask("rollouts", list(plays))
        return seen

    def rollout(self, play: Play) -> Trajectory:
        """Play one play."""
        return self.rollouts([play])[0]

    def start_lanes(
        self, seeds: Sequence[int], starts: Sequence[EnvState] | None = None, keep: bool = False
    ) -> tuple[list[Any], list[EnvState] | None]:
        """Start an episode in each of n lanes."""
        obs, states = self._ask("start_lanes", list(seeds), starts, keep)
        return obs, states

    def step_lanes(
        self, actions: Sequence[Any]
    ) -> tuple[list[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Play one step in every lane."""
        obs, rewards, ended = self._ask("step_lanes", list(actions))
        return obs, rewards, ended

    def api_problems(self) -> list[str] | None:
        """Run the checks that exist for this kind of environment."""
        problems: list[str] | None = self._ask("api_problems")
        return problems

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        if self._process.poll() is None:
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _ask(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Call a method over there.

        Raises:
            WrapperError: It needs the reference.
            TargetError: The process has ended or does not answer.
            Exception: Whatever the method raised, as a `RemoteError`.
        """
        seconds = self._timeout if timeout is None else timeout
        try:
            self._connection.send_bytes(self._packed(method, arguments))
            if not self._connection.poll(seconds):
                self._process.kill()
                raise TargetError(
                    f"candidate {self._spec!r}: hangs: no answer to {method!r} within "
                    f"{seconds:g} seconds; give a longer timeout if it is only slow"
                )
            data = self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise TargetError(
                f"candidate {self._spec!r}: its process ended during {method!r} ({self._end()})"
            ) from error
        try:
            status, answer = pickle.loads(data)  # noqa: S301  # what the user named runs anyway
        except Exception as error:  # classes that only the candidate's process knows
            raise TargetError(
                f"candidate {self._spec!r}: its answer to {method!r} cannot be read here "
                f"({type(error).__name__}: {error}), expected numbers, texts, arrays, lists and "
                "dicts"
            ) from error
        if status == "wrapper":
            raise WrapperError(f"candidate {self._spec!r}: {answer}")
        if status == "target":
            raise TargetError(answer)
        if status == "error":
            raise RemoteError(answer)
        return answer

    def _packed(self, method: str, arguments: tuple[Any, ...]) -> bytes:
        try:
            return pickle.dumps((method, arguments))
        except Exception as error:  # such as an action that is a function
            raise TargetError(
                f"candidate {self._spec!r}: {method!r} cannot be sent to its process "
                f"({type(error).__name__}: {error})"
            ) from error

    def _end(self) -> str:
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "it closed the connection"
        if code < 0:
            return f"signal {signal.Signals(-code).name}"
        return f"exit code {code}"
