"""One XLA device for each core of the CPU, set up before JAX starts."""

import os
from collections.abc import Sequence
from contextlib import suppress

import jax

from hybridenv.checks import whole_or_none
from hybridenv.errors import ArgumentError

VARIABLE = "HYBRIDENV_HOST_DEVICES"
"""Environment variable with the number of devices; 1 leaves JAX as it is."""


_ONE_CORE_EACH: dict[str, bool | str] = {
    "xla_cpu_enable_concurrency_optimized_scheduler": False,
    "xla_cpu_multi_thread_eigen": False,
}
"""XLA's options for programs of several devices of a CPU: each has a core of its own to keep busy,
and would only disturb the others by spreading its operations over theirs."""
_WITHOUT = "xla_disable_hlo_passes"
_CUTTING = "cpu-parallel-task-assigner"


def compiler_options(devices: Sequence[jax.Device]) -> dict[str, bool | str]:
    """Return what to tell XLA of a program that these devices share.

    On a CPU with a device for each core, every device has its core busy already, but XLA still cuts
    longer loops in pieces for all cores and hands them to whichever thread is free. These options
    leave a device's work to it. They change no result, and apply to the one program that is
    compiled with them.

    Args:
        devices: Those that the program runs on.

    Returns:
        `compiler_options` for `jax.jit`; empty for one device, and for others than CPUs.

    Example:
        ```python
        devices = hybridenv.envs.host_devices()
        program = jax.jit(
            jax.shard_map(play, mesh=jax.make_mesh((len(devices),), ("device",)), ...),
            compiler_options=hybridenv.envs.compiler_options(devices),
        )
        ```

    Source: measured with jaxlib 0.10.2 on half cheetah, where two devices made 1.75 times the steps
        of one without them and 1.93 times with; `bench/locomotion.py`.
    """
    if len(devices) < 2 or any(device.platform != "cpu" for device in devices):
        return {}
    # The option takes the place of the flag, which may leave out other passes.
    words = [word.partition("=") for word in os.environ.get("XLA_FLAGS", "").split()]
    passes = [value for name, _, value in words if name == f"--{_WITHOUT}" and value]
    return {**_ONE_CORE_EACH, _WITHOUT: ",".join([*passes, _CUTTING])}


def host_devices(n: int | None = None) -> list[jax.Device]:
    """Return the devices of the CPU to share a batch among, after setting them up where needed.

    JAX shows the whole CPU as one device, and a program of small operations on it uses hardly more
    than one core. This asks JAX for one device a core, which must happen before JAX first computes
    something; whoever wants it calls this early. Later calls return what there is.

    Nothing is changed where JAX has started, where `XLA_FLAGS` or `jax_num_cpu_devices` choose a
    number already, or where the environment variable `HYBRIDENV_HOST_DEVICES` is 1.

    Args:
        n: How many devices; `None` takes the number in `HYBRIDENV_HOST_DEVICES`, else one for
            each core that this process may use.

    Returns:
        The CPU's devices: all there are, or the first `n` of them.

    Raises:
        ArgumentError: `n` or the variable is no whole number of at least 1, or JAX has fewer than
            `n` devices and it is too late to change that.
    """
    asked = whole_or_none("host_devices n", n, 1, 1024)
    wanted = asked or _from_environment() or _cores()
    if wanted > 1 and not _chosen():
        with suppress(RuntimeError):  # JAX has started
            jax.config.update("jax_num_cpu_devices", wanted)  # type: ignore[no-untyped-call]
    devices = jax.devices("cpu")
    if asked is not None and len(devices) < asked:
        raise ArgumentError(
            f"host_devices: got n={asked}, but JAX has {len(devices)} on the CPU and has started "
            "or was told so; call host_devices before anything else of JAX"
        )
    return devices[:asked]


def _chosen() -> bool:
    """Whether somebody has already chosen how many devices the CPU has."""
    flags = os.environ.get("XLA_FLAGS", "")
    return (
        int(getattr(jax.config, "jax_num_cpu_devices", 0)) > 0
        or "host_platform_device_count" in flags
    )


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _from_environment() -> int | None:
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentError(f"{VARIABLE}: got {text!r}, expected a whole number of at least 1")
    return int(text)
