"""Flags for XLA's CPU compiler that make the environments faster, offered and never set unasked."""

import os
import sys

from hybridenv.checks import flag
from hybridenv.errors import ArgumentError

_FUSION = "xla_cpu_use_multi_output_fusion"
_OPTIONS = "--xla_backend_extra_options="
_YNN = "--xla_cpu_experimental_ynn_fusion_type="


def cpu_flags(*, apply: bool = False) -> str:
    """Return the value of `XLA_FLAGS` that suits this package's environments on a CPU.

    It is what the variable holds now, with two flags added where they are missing:

    - `--xla_backend_extra_options=xla_cpu_use_multi_output_fusion` lets one loop compute several
      arrays, where XLA by default computes what they share once for each (`hybridenv.envs.once`
      avoids that by hand, so Pong gains little). It is an option inside
      of jaxlib and no documented flag, and it makes some other programs (MJX, Brax) abort, so it
      is never set unless you ask.
    - `--xla_cpu_experimental_ynn_fusion_type=` (empty) takes reductions from a library that is
      slower than XLA's own code on small arrays.

    XLA reads the variable once, when JAX first computes something.

    Args:
        apply: Also set the variable for this process and those that it starts.

    Returns:
        The value.

    Raises:
        ArgumentError: `apply` is no bool, or JAX has been imported and it may be too late.

    Example:
        ```python
        hybridenv.cpu_flags(apply=True)  # before `import jax`
        ```
    """
    words = os.environ.get("XLA_FLAGS", "").split()
    if not any(word.startswith(_YNN) for word in words):
        words.append(_YNN)
    options = [word for word in words if word.startswith(_OPTIONS)]
    if not options:
        words.append(_OPTIONS + _FUSION)
    elif not any(_FUSION in word for word in options):
        words[words.index(options[-1])] = f"{options[-1]},{_FUSION}"
    value = " ".join(words)
    if flag("cpu_flags apply", apply):
        if "jax" in sys.modules and os.environ.get("XLA_FLAGS", "") != value:
            raise ArgumentError(
                "cpu_flags: JAX is imported already, expected the call before `import jax`"
            )
        os.environ["XLA_FLAGS"] = value
    return value
