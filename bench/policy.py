"""Small trained policies, kept as files and played by NumPy alone: ``python -m bench.policy``.

They are of half cheetahs so far. They give states and actions as trained policies come to see them,
to whatever has no JAX or is to have nothing to do with how they were trained. The command trains
them anew, by the defaults of `hybridenv.train`, and writes ``bench/policies/NAME.npz``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.cases import ROOT

#: Where they are.
FOLDER = ROOT / "bench" / "policies"
NAMES = ("half_cheetah",)

Floats = NDArray[np.float64]


class SavedPolicy:
    """A policy of dense layers that takes its likeliest action: a `hybridenv.verify.Policy`.

    Args:
        arrays: ``mean`` and ``variance`` of observations; of layer i from 0 ``kernel{i}``
            float32[inputs, outputs] and ``bias{i}`` float32[outputs]. Between layers is a tanh.
    """

    def __init__(self, arrays: dict[str, Any]) -> None:
        exact = {name: np.asarray(array, np.float64) for name, array in arrays.items()}
        self._mean, self._variance = exact["mean"], exact["variance"]
        count = sum(name.startswith("kernel") for name in exact)
        self._layers = [(exact[f"kernel{i}"], exact[f"bias{i}"]) for i in range(count)]

    @classmethod
    def load(cls, name: str) -> SavedPolicy:
        """Read the policy of an environment of `NAMES`."""
        with np.load(FOLDER / f"{name}.npz") as arrays:
            return cls(dict(arrays))

    def act(self, obs: Any, key: int) -> Any:
        """Choose an action; the key is not needed."""
        return self.act_many([obs], [key])[0]

    def begin_many(self, n: int) -> None:
        """Do nothing: it has no memory."""

    def act_many(self, obs: Sequence[Any], keys: Sequence[int]) -> list[Any]:
        """Choose an action for each of n observations; the keys are not needed."""
        del keys
        scaled = (np.stack(obs) - self._mean) / np.sqrt(self._variance + 1e-8)
        x: Floats = np.clip(scaled, -10, 10)
        for kernel, bias in self._layers[:-1]:
            x = np.tanh(x @ kernel + bias)
        kernel, bias = self._layers[-1]
        return list(np.clip(x @ kernel + bias, -1, 1).astype(np.float32))


def arrays(policy: Any, params: Any) -> dict[str, Any]:
    """Take apart what `hybridenv.train` trained.

    Args:
        policy: A `hybridenv.train.networks.Policy` of dense layers with tanh, which normalises
            observations.
        params: Its parameters, of one seed.

    Returns:
        What `SavedPolicy` is made of, float32.
    """
    from flax import nnx

    network = nnx.merge(policy.graph, params)
    found = {
        "mean": network.normalizer.mean[...],
        "variance": network.normalizer.variance[...],
    }
    layers = [(layer.kernel[...], layer.bias[...]) for layer in network.trunk.layers]
    size = policy.action.size
    layers.append((network.heads.kernel[...][:size].T, network.heads.bias[...][:size]))
    for i, (kernel, bias) in enumerate(layers):
        found |= {f"kernel{i}": kernel, f"bias{i}": bias}
    return {name: np.asarray(array, np.float32) for name, array in found.items()}


def main(arguments: list[str] | None = None) -> int:
    """Train each, say what it earns, and write it; the exit status."""
    from hybridenv.envs import make
    from hybridenv.train import Config, evaluate, train

    parser = argparse.ArgumentParser(prog="python -m bench.policy", description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, help="which; those that are kept")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they go")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        result = train(Config.of(name))
        print(name, evaluate(*make(name), result.policy, result.params, episodes=64))
        np.savez(options.folder / f"{name}.npz", **arrays(result.policy, result.params))
    return 0


if __name__ == "__main__":
    sys.exit(main())
