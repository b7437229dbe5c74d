"""`hybridenv:NAME/KIND`: the environments of this package, and what they are judged by."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from hybridenv.verify._target import Identity

_FIXED = {
    "gameboy/hybridenv": ("hybridenv.verify.adapters._gameboy", "HybridenvGame"),
    "gameboy/pyboy": ("hybridenv.verify.adapters._gameboy", "PyBoyGame"),
    "pong/reference": ("hybridenv.verify.adapters._pong", "PongReferenceGame"),
}
HOMES = {
    "gameboy/pyboy": ("pyboy",),
    "pong/reference": ("hybridenv.envs.pong.reference",),
}
"""Modules that a reference's rules are in, where that is not the module of its class."""


class _Ours(Mapping[str, Callable[..., Any]]):
    """Makers by name; those of JAX environments follow `hybridenv.envs.names`."""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if name in _FIXED:
            module, member = _FIXED[name]
            found: Callable[..., Any] = getattr(import_module(module), member)
            return found
        env, slash, kind = name.partition("/")
        if slash and kind == "jax" and env in self._jax():
            from hybridenv.envs import make

            return partial(make, env)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        yield from _FIXED
        yield from (f"{name}/jax" for name in self._jax())

    def __len__(self) -> int:
        return len(list(iter(self)))

    @staticmethod
    def _jax() -> tuple[str, ...]:
        try:
            from hybridenv.envs import names
        except ImportError:
            return ()
        return names()


OURS = _Ours()


def identity_of(name: str, spec: str, found: Identity) -> Identity:
    """Return who a target of this package is.

    Args:
        name: `NAME/KIND`.
        spec: What the user wrote.
        found: Who its class is.
    """
    modules = HOMES.get(name, found.modules)
    return Identity(spec, modules, found.version, found.commit)
