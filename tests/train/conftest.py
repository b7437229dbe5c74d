"""What tests of training share; `tests/conftest.py` gives them two devices."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest


@pytest.fixture(autouse=True, scope="package")
def compile_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what was compiled: many of these tests build the same programs."""
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = [getattr(jax.config, name) for name in names]
    for name, value in zip(names, (str(tmp_path_factory.mktemp("compiled")), 0.2), strict=True):
        jax.config.update(name, value)
    yield
    for name, value in zip(names, before, strict=True):
        jax.config.update(name, value)


@pytest.fixture(autouse=True)
def compile_fast(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let XLA do without most of its work, except where whole runs are trained."""
    name = "jax_disable_most_optimizations"
    before = jax.config.read(name)
    jax.config.update(name, not request.module.__name__.endswith("test_learning"))
    yield
    jax.config.update(name, before)


@pytest.fixture
def one_device() -> list[jax.Device]:
    return jax.devices()[:1]


@pytest.fixture
def two_devices() -> list[jax.Device]:
    devices = jax.devices()
    if len(devices) < 2:
        pytest.skip("JAX started with one device, before the library could ask for more")
    return devices[:2]
