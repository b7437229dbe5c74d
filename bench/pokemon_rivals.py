"""The processes of others that play Pokémon battles; `bench.measure.Worker` starts them.

Showdown in its own process plays both sides without messages. poke-env plays with its own random
players over a WebSocket, with a Showdown server on this machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from bench.worker import serve

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tests" / "oracle" / "showdown" / "node_modules" / "pokemon-showdown"
FORMAT = "gen1randombattle"

#: Seconds of one measurement of Showdown, of its first one, and until a server must listen.
MEASURE, WARM_UP, LISTEN = 1.0, 2.0, 60.0

#: Battles of one measurement of poke-env, and of its first one.
BATTLES, FIRST_BATTLES = 20, 5


class RivalError(RuntimeError):
    """A rival is not installed, or failed."""


class Rival(Protocol):
    """What plays."""

    version: str

    def play(self) -> dict[str, float]:
        """Play one measurement: steps, and seconds of wall clock."""

    def close(self) -> None:
        """Release what is held."""


def node() -> str:
    """Return Node.js, if it and Showdown are installed.

    Raises:
        RivalError: One of them is not.
    """
    found = shutil.which("node")
    if found is None:
        raise RivalError("node is not installed")
    if not PACKAGE.is_dir():
        raise RivalError("Pokémon Showdown is not installed: `make showdown`")
    return found


class InProcess:
    """Showdown in a process of Node.js, see `showdown_in_process.mjs`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [node(), str(Path(__file__).with_name("showdown_in_process.mjs"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.version = f"Showdown {self._answer()['version']}"
        self._play(WARM_UP)

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RivalError(f"Showdown ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _play(self, seconds: float) -> dict[str, Any]:
        if self._process.stdin is None:
            raise RivalError("Showdown has no input")
        self._process.stdin.write(json.dumps({"seconds": seconds}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def play(self) -> dict[str, float]:
        """Play for `MEASURE` seconds."""
        return self._play(MEASURE)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


class Server:
    """A Showdown server on this machine, for no one else.

    Raises:
        RivalError: It does not listen within `LISTEN` seconds.
    """

    def __init__(self) -> None:
        found = node()
        config = PACKAGE / "config" / "config.js"
        config.write_text("exports.bindaddress = '127.0.0.1';\n", encoding="utf-8")
        (PACKAGE / "logs" / "repl").mkdir(parents=True, exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._process = subprocess.Popen(
            [found, "dist/server/index.js", str(self.port), "--no-security"],
            cwd=PACKAGE,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        end = time.monotonic() + LISTEN
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > end:
                words = self._last_words()
                self.close()
                raise RivalError(f"the Showdown server does not listen: {words}")
            time.sleep(0.2)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().split("\n")
        return lines[-1]

    def close(self) -> None:
        """End the server and its own processes."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, 15)
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, 9)
                self._process.wait()
        self._log.close()


class PokeEnv:
    """poke-env's random players against each other, over a `Server`.

    A step is a turn, or a replacement that one player chose: where both replace at once it counts
    twice, to poke-env's advantage.

    Args:
        concurrent: Battles at a time.
    """

    def __init__(self, concurrent: int) -> None:
        from poke_env import AccountConfiguration, ServerConfiguration
        from poke_env.player import RandomPlayer

        class Counting(RandomPlayer):  # type: ignore[misc]
            replaced = 0

            def choose_move(self, battle: Any) -> Any:
                self.replaced += bool(battle.force_switch)
                return super().choose_move(battle)

        self.version = f"poke-env {version('poke-env')}"
        self._server = Server()
        where = ServerConfiguration(f"ws://127.0.0.1:{self._server.port}/showdown/websocket", "")
        self._players = [
            Counting(
                account_configuration=AccountConfiguration(f"player{number}", None),
                battle_format=FORMAT,
                server_configuration=where,
                max_concurrent_battles=concurrent,
                log_level=40,
            )
            for number in (1, 2)
        ]
        self._play(FIRST_BATTLES)

    def _steps(self) -> int:
        turns: int = sum(battle.turn for battle in self._players[0].battles.values())
        replaced: int = sum(player.replaced for player in self._players)
        return turns + replaced

    def _play(self, battles: int) -> dict[str, float]:
        before, begin = self._steps(), time.perf_counter()
        asyncio.run(self._players[0].battle_against(self._players[1], n_battles=battles))
        return {"steps": self._steps() - before, "wall": time.perf_counter() - begin}

    def play(self) -> dict[str, float]:
        """Play `BATTLES` battles."""
        return self._play(BATTLES)

    def close(self) -> None:
        """End the server."""
        self._server.close()


RIVALS: Mapping[str, Callable[[], Rival]] = {
    "showdown": InProcess,
    "poke-env-1": lambda: PokeEnv(1),
    "poke-env-10": lambda: PokeEnv(10),
}


class Session:
    """What the worker holds between commands."""

    def __init__(self) -> None:
        self.rival: Rival | None = None

    def open(self, side: str, cores: int) -> dict[str, Any]:
        """Start a rival on some cores (0: all), and say which version of it runs."""
        if cores and hasattr(os, "sched_setaffinity"):  # its own processes inherit it
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
        self.rival = RIVALS[side]()
        return {"version": self.rival.version}

    def play(self) -> dict[str, float]:
        """Play one measurement."""
        if self.rival is None:
            raise RuntimeError("play: no side is open")
        return self.rival.play()

    def close(self) -> None:
        """Release the rival."""
        if self.rival is not None:
            self.rival.close()
            self.rival = None


if __name__ == "__main__":
    serve(Session(), sys.argv[1:])
