"""The process that measures where the time of training goes; `bench.measure.Worker` starts it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from bench.measure import spread
from bench.worker import serve

#: What is installed for a reference, by how its name ends; what has none of these is ours.
PACKAGES = {"-mujoco": "mujoco", "-pyboy": "pyboy"}


class Session:
    """What answers commands; it holds nothing."""

    def measure(self, env: str, params: int, repeats: int) -> dict[str, Any]:
        """Measure an environment with a network of a size.

        Returns:
            A `hybridenv.train.breakdown.Breakdown`, the ``shares`` of its parts (`spread` over the
            repeats), and the ``version`` of what was measured.
        """
        from hybridenv.train.breakdown import measure

        package = next((PACKAGES[end] for end in PACKAGES if env.endswith(end)), "hybridenv")
        found = measure(env, params, repeats=repeats)
        return {
            **asdict(found),
            "shares": {part: spread(found.share_in_repeats(part)) for part in found.repeats},
            "version": f"{package} {version(package)}, JAX {version('jax')}",
        }

    def close(self) -> None:
        """Do nothing."""


if __name__ == "__main__":
    serve(Session(), sys.argv[1:])
