"""Recorded battles and, where it is installed, Pokémon Showdown itself."""

from collections.abc import Iterator

import pytest
from tests.envs.pokemon.oracle import Oracle, missing, running
from tests.envs.pokemon.record import FILES
from tests.envs.pokemon.traces import Trace, read


@pytest.fixture(scope="session")
def random_battles() -> list[Trace]:
    """The first of the recorded random battles, with both kinds of teams."""
    return [trace for name in ("gen1randombattle", "movesets") for trace in read(FILES[name])[:20]]


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """A running Pokémon Showdown; the test skips where it is not installed."""
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with running() as started:
        yield started
