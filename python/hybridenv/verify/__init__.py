"""Prove that a fast environment equals its reference, or show where it does not.

    from hybridenv.verify import verify
    report = verify("gym:CartPole-v1", "my_package.fast:make", level=3, episodes=100)
    print(report)

Works for any two environments; `docs/verify.md` is the guide. Needs the extra:
``pip install "hybridenv[verify]"``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybridenv.verify._actions import Policy, Source, by_policy, masked, scripted, uniform
    from hybridenv.verify._bench import bench
    from hybridenv.verify._policies import load_policies, load_policy
    from hybridenv.verify._properties import Property
    from hybridenv.verify._report import Report, schema
    from hybridenv.verify._results import (
        Check,
        Divergence,
        Equivalence,
        LevelResult,
        Status,
        Verdict,
    )
    from hybridenv.verify._run import assert_equivalent, replay, verify
    from hybridenv.verify._statistics import tost, tost_power, tost_size
    from hybridenv.verify._target import Identity, Target, VerifiableEnv
    from hybridenv.verify.adapters import adapt, resolve

__all__ = [
    "Check",
    "Divergence",
    "Equivalence",
    "Identity",
    "LevelResult",
    "Policy",
    "Property",
    "Report",
    "Source",
    "Status",
    "Target",
    "Verdict",
    "VerifiableEnv",
    "adapt",
    "assert_equivalent",
    "bench",
    "by_policy",
    "load_policies",
    "load_policy",
    "masked",
    "replay",
    "resolve",
    "schema",
    "scripted",
    "tost",
    "tost_power",
    "tost_size",
    "uniform",
    "verify",
]

_PLACES = {
    "_actions": ("Policy", "Source", "by_policy", "masked", "scripted", "uniform"),
    "_bench": ("bench",),
    "_policies": ("load_policies", "load_policy"),
    "_properties": ("Property",),
    "_report": ("Report", "schema"),
    "_results": ("Check", "Divergence", "Equivalence", "LevelResult", "Status", "Verdict"),
    "_run": ("assert_equivalent", "replay", "verify"),
    "_statistics": ("tost", "tost_power", "tost_size"),
    "_target": ("Identity", "Target", "VerifiableEnv"),
    "adapters": ("adapt", "resolve"),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for: an isolated candidate loads few of them."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'hybridenv.verify' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"hybridenv.verify.{module}"), name)
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing not in ("gymnasium", "scipy", "hypothesis"):
            raise
        from hybridenv.errors import MissingDependencyError

        raise MissingDependencyError(
            f"hybridenv.verify needs {missing}, which is not installed: "
            "pip install 'hybridenv[verify]'"
        ) from error
    globals()[name] = value
    return value
