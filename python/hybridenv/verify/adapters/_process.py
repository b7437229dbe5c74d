"""An environment in another language: a process that answers JSON, one object a line.

Requests have a `method`: `spaces`, `reset` (`seed`), `step` (`action`), `close`, and, where the
answer to `spaces` lists them in `offers`, `get_state`, `set_state` (`state`), `action_mask`,
`take_chance` and `set_chance` (`draws`). An answer is an object: `spaces` gives `observation`,
`action` and `offers`; `reset` gives `obs` and `info`; `step` gives `obs`, `reward`, `terminated`,
`truncated` and `info`; the others give `value`. An answer with `error` stands for an exception.
"""

import json
import os
import select
import shlex
import subprocess
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hybridenv.errors import TargetError
from hybridenv.verify._record import Draws, EnvState, RemoteError, plain
from hybridenv.verify._target import Identity, Offer, Seen, Target, require_posix

_OFFERS: tuple[Offer, ...] = ("state", "mask", "tape", "chance")


class ProcessTarget(Target):
    """A process that speaks JSON lines on its standard input and output.

    Args:
        command: The command line; no shell reads it.
        identity: Who it is.
        timeout: Seconds that one answer may take.

    Raises:
        TargetError: It cannot be started, or answers something else.
    """

    def __init__(self, command: str, identity: Identity, timeout: float = 60.0) -> None:
        require_posix(f"target {identity.name!r}", "run it there, or name it as module:function")
        self.identity, self._timeout = identity, timeout
        try:
            words = shlex.split(command)
            if not words:
                raise ValueError("got no words, expected a command")
            self._process = subprocess.Popen(  # noqa: S603  # the user's own command, no shell
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                process_group=0,  # Ctrl-C is for the process that asks; `close` ends this one
            )
        except (OSError, ValueError) as error:
            raise TargetError(f"target {identity.name!r}: cannot be started: {error}") from error
        self._rest = b""
        try:
            described = self._ask("spaces")
            self.observation_space = space_of(described.get("observation"), identity.name)
            self.action_space = space_of(described.get("action"), identity.name)
            given = described.get("offers", [])
            if not isinstance(given, list):
                raise self._odd("offers", given)
            self.offers = frozenset(offer for offer in _OFFERS if offer in given)
        except RemoteError as error:
            self.close()
            raise TargetError(f"target {identity.name!r}: cannot be made: {error}") from error
        except BaseException:
            self.close()
            raise

    def reset(self, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        answer = self._ask("reset", seed=seed)
        return self._obs(answer), self._info(answer)

    def step(self, action: Any) -> Seen:
        """Play one step."""
        answer = self._ask("step", action=plain(action))
        try:
            reward, ends = float(answer["reward"]), (answer["terminated"], answer["truncated"])
        except (KeyError, TypeError, ValueError) as error:
            raise self._odd("step", answer) from error
        return self._obs(answer), reward, *ends, self._info(answer)

    def get_state(self) -> EnvState:
        """Return the state."""
        return {name: np.asarray(value) for name, value in self._value("get_state").items()}

    def set_state(self, state: EnvState) -> Any:
        """Take over a state."""
        value = self._value("set_state", state=plain(dict(state)))
        return None if value is None else read(self.observation_space, value)

    def action_mask(self) -> NDArray[Any] | None:
        """Return which actions are legal."""
        return np.asarray(self._value("action_mask"), bool) if "mask" in self.offers else None

    def take_chance(self) -> Draws:
        """Return the draws since the last call."""
        return self._value("take_chance")

    def set_chance(self, draws: Draws) -> None:
        """Use these draws next."""
        self._value("set_chance", draws=plain(draws))

    def close(self) -> None:
        """Ask the process to end, and end it where it does not."""
        if self._process.poll() is None:
            try:
                self._send({"method": "close"})
                self._process.wait(2)
            except (TargetError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # what was not read by a process that has ended
                    continue

    def _obs(self, answer: dict[str, Any]) -> Any:
        if "obs" not in answer:
            raise self._odd("obs", answer)
        return read(self.observation_space, answer["obs"])

    def _info(self, answer: dict[str, Any]) -> dict[str, Any]:
        info = answer.get("info", {})
        if not isinstance(info, dict):
            raise self._odd("info", answer)
        return info

    def _value(self, method: str, **rest: Any) -> Any:
        return self._ask(method, **rest).get("value")

    def _ask(self, method: str, **rest: Any) -> dict[str, Any]:
        """Send a request and read its answer.

        Raises:
            TargetError: The process has ended, hangs, or answers something else.
            RemoteError: It answers with an error.
        """
        self._send({"method": method, **rest})
        line = self._line(method)
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise self._odd(method, line[:200]) from error
        if not isinstance(answer, dict):
            raise self._odd(method, answer)
        if "error" in answer:
            raise RemoteError(str(answer["error"]))
        return answer

    def _send(self, request: dict[str, Any]) -> None:
        pipe = self._process.stdin
        try:
            if pipe is not None:
                pipe.write(json.dumps(request).encode() + b"\n")
                pipe.flush()
        except OSError as error:
            raise self._ended(str(request["method"])) from error

    def _line(self, method: str) -> bytes:
        until = time.monotonic() + self._timeout
        pipe = self._process.stdout
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            if pipe is None or left <= 0 or not select.select([pipe], [], [], left)[0]:
                self._process.kill()
                raise TargetError(
                    f"target {self.identity.name!r}: hangs: no answer to {method!r} within "
                    f"{self._timeout:g} seconds"
                )
            data = os.read(pipe.fileno(), 1 << 16)
            if not data:
                raise self._ended(method)
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _ended(self, method: str) -> TargetError:
        try:
            end = f"exit code {self._process.wait(2)}"
        except subprocess.TimeoutExpired:
            end = "it closed its output"
        return TargetError(
            f"target {self.identity.name!r}: its process ended during {method!r} ({end})"
        )

    def _odd(self, what: str, answer: Any) -> TargetError:
        return TargetError(
            f"target {self.identity.name!r}: got {answer!r} for {what!r}, expected one line of "
            "JSON as described for cmd: targets"
        )


def space_of(given: Any, name: str) -> gymnasium.Space[Any]:
    """Read a space: `{"type": "Box", "low": .., "high": .., "shape": [..], "dtype": ".."}`.

    Args:
        given: The description; `Discrete` has `n` and `start`, `MultiDiscrete` has `nvec`,
            `MultiBinary` has `n`, `Dict` and `Tuple` have `spaces`.
        name: Name of the target, for messages.

    Raises:
        TargetError: It describes no space.
    """
    try:
        match given["type"]:
            case "Box":
                low, high = (np.asarray(given[end], np.float64) for end in ("low", "high"))
                dtype = np.dtype(given["dtype"])
                shape = tuple(given["shape"])
                bounds = [np.broadcast_to(end, shape).astype(dtype) for end in (low, high)]
                return spaces.Box(bounds[0], bounds[1], shape, dtype.type)
            case "Discrete":
                return spaces.Discrete(int(given["n"]), start=int(given.get("start", 0)))
            case "MultiDiscrete":
                return spaces.MultiDiscrete(given["nvec"])
            case "MultiBinary":
                return spaces.MultiBinary(given["n"])
            case "Dict":
                inner = given["spaces"].items()
                return spaces.Dict({key: space_of(one, name) for key, one in inner})
            case "Tuple":
                return spaces.Tuple([space_of(one, name) for one in given["spaces"]])
    except (KeyError, TypeError, ValueError, AssertionError) as error:
        raise TargetError(f"target {name!r}: got the space {given!r}: {error}") from error
    raise TargetError(f"target {name!r}: got the space {given!r}, expected a known type")


def read(space: gymnasium.Space[Any], value: Any) -> Any:
    """Read an element of a space from plain data."""
    if isinstance(space, spaces.Dict):
        return {key: read(one, value[key]) for key, one in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(read(one, part) for one, part in zip(space.spaces, value, strict=True))
    return np.asarray(value, space.dtype)
