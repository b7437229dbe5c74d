"""Fixtures for every test."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from bench.cases import shared_folder

if find_spec("jax"):  # it must be told before any module of tests starts it
    from hybridenv.envs import host_devices

    host_devices(2)

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True, scope="module")
def forget_programs() -> Iterator[None]:
    """Let go of a module's compiled programs.

    Each takes mappings of memory, of which a process may have 65,530; beyond that JAX crashes.
    """
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_games() -> Path:
    """The folder of third-party games; the test skips where it is missing."""
    games = shared_folder() / "data" / "gameboy" / "games"
    if not games.is_dir():
        pytest.skip(f"third-party games: {games} is missing (set HYBRIDENV_SHARED)")
    return games


@pytest.fixture
def rng() -> np.random.Generator:
    """Chance that is the same in every run."""
    return np.random.default_rng(20_240_501)
