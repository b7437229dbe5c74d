"""Two devices for the programs of these tests, whichever of them runs first."""

from __future__ import annotations

import jax
import pytest

from hybridenv.envs import host_devices

host_devices(2)


@pytest.fixture
def one_device() -> list[jax.Device]:
    return jax.devices()[:1]


@pytest.fixture
def two_devices() -> list[jax.Device]:
    devices = jax.devices()
    if len(devices) < 2:
        pytest.skip("JAX started with one device, before the library could ask for more")
    return devices[:2]
