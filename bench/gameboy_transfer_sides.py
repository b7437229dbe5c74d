"""The embedded game in PyBoy and here as vector environments, and policies trained on each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv, VectorEnv

from bench.gameboy_transfer import FRAME_SKIP
from hybridenv.train import Config, train
from hybridenv.train.host import HostLoop, MakeEnv
from hybridenv.train.logging import read_rows
from hybridenv.verify.adapters._gameboy import HybridenvGame, PyBoyGame

SIDES: dict[str, type[PyBoyGame] | type[HybridenvGame]] = {
    "pyboy": PyBoyGame,
    "hybridenv": HybridenvGame,
}
"""Name of each side, and its game: the same that `hybridenv.verify` compares."""


class Game(gymnasium.Env[Any, Any]):
    """One side's game as an environment of Gymnasium, without memory in its infos.

    Args:
        side: A key of `SIDES`.
        frame_skip: Frames a step.
    """

    def __init__(self, side: str, frame_skip: int = FRAME_SKIP) -> None:
        self._game = SIDES[side](frame_skip=frame_skip, memory=False)
        self.observation_space = self._game.observation_space
        self.action_space = self._game.action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        return self._game.reset(seed=seed, options=options)[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one step."""
        obs, reward, terminated, truncated, _ = self._game.step(action)
        return obs, float(reward), terminated, truncated, {}

    def close(self) -> None:
        """Free the machine."""
        self._game.close()


def games(side: str, count: int, frame_skip: int = FRAME_SKIP) -> VectorEnv[Any, Any, Any]:
    """Make so many games of a side, stepped one after the other."""
    return SyncVectorEnv([partial(Game, side, frame_skip)] * count)


@dataclass(frozen=True)
class Learned:
    """One training run.

    Attributes:
        side: Where it was trained.
        seed: Its seed.
            steps: Environment steps.
        seconds: How long it took, with compiling.
        first: Mean return of the episodes that ended in the first tenth of the run.
        last: Likewise in the last tenth.
    """

    side: str
    seed: int
    steps: int
    seconds: float
    first: float
    last: float


def learn(side: str, seed: int, changes: dict[str, Any], out: Path) -> Learned:
    """Train a policy on one side with the package's loop around the host.

    Args:
        side: A key of `SIDES`. PyBoys are stepped one after the other; our games are
            `GameBoyVectorEnv`, as a user would train on them.
        seed: Seed of the run.
        changes: Settings that differ from the defaults for the embedded game.
        out: Folder of the runs; one that is there already is not trained anew.
    """
    folder = out / f"{side}-{seed}"
    if not folder.is_dir():
        args = {"frame_skip": FRAME_SKIP, "profile": "pyboy"}
        config = Config.of("gameboy", {**changes, "seed": seed, "env_args": args})
        make: MakeEnv | None = partial(games, side) if side == "pyboy" else None
        train(config, out=folder, trainer=HostLoop(config, make), progress=True)
    rows = read_rows(folder / "metrics.jsonl")
    tenth = max(1, len(rows) // 10)
    first, last = (
        float(np.nanmean([row["return"] for row in part])) for part in (rows[:tenth], rows[-tenth:])
    )
    return Learned(side, seed, int(rows[-1]["steps"]), rows[-1]["seconds"], first, last)
