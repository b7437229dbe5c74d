"""Reinforcement-learning environments that are fast, and shown to equal what they stand in for.

Start with `GameBoyBatch`: n Game Boys stepped together. `Task` declares what they are rewarded for;
ready tasks are in `hybridenv.tasks`. Environments written in JAX are in `hybridenv.envs`, and
`make` makes one by name; Gymnasium environments are in `hybridenv.gym`. Both load only when used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hybridenv import tasks
from hybridenv.batch import (
    DEFAULT_PALETTE,
    TRACE_COLUMNS,
    GameBoyBatch,
    RomHeader,
    RtcTime,
    States,
    StepResult,
    build_info,
)
from hybridenv.buttons import Button
from hybridenv.errors import (
    ActionError,
    ArgumentError,
    BusyError,
    CartRamError,
    CheckpointError,
    ClosedError,
    ConfigError,
    ConformanceError,
    DivergedError,
    EnvCrashedError,
    EnvIndexError,
    ForkError,
    HybridEnvError,
    MissingDependencyError,
    NotEquivalentError,
    NotResetError,
    OracleError,
    OutOfMemoryError,
    RomError,
    RomFileError,
    RomIsADirectoryError,
    RomNotFoundError,
    RomPermissionError,
    StateError,
    TargetError,
    TaskError,
    UncopyableError,
    WrapperError,
)
from hybridenv.memory import Memory, Registers
from hybridenv.task import Compare, Delta, Field, Task, Value
from hybridenv.xla import cpu_flags

if TYPE_CHECKING:
    from hybridenv import envs as envs
    from hybridenv.envs import make as make

__version__ = str(build_info()["version"])

__all__ = [
    "DEFAULT_PALETTE",
    "TRACE_COLUMNS",
    "ActionError",
    "ArgumentError",
    "BusyError",
    "Button",
    "CartRamError",
    "CheckpointError",
    "ClosedError",
    "Compare",
    "ConfigError",
    "ConformanceError",
    "Delta",
    "DivergedError",
    "EnvCrashedError",
    "EnvIndexError",
    "Field",
    "ForkError",
    "GameBoyBatch",
    "HybridEnvError",
    "Memory",
    "MissingDependencyError",
    "NotEquivalentError",
    "NotResetError",
    "OracleError",
    "OutOfMemoryError",
    "Registers",
    "RomError",
    "RomFileError",
    "RomHeader",
    "RomIsADirectoryError",
    "RomNotFoundError",
    "RomPermissionError",
    "RtcTime",
    "StateError",
    "States",
    "StepResult",
    "TargetError",
    "Task",
    "TaskError",
    "UncopyableError",
    "Value",
    "WrapperError",
    "__version__",
    "build_info",
    "cpu_flags",
    "tasks",
]

_LAZY = ("envs", "make")
"""What needs JAX. It is not in `__all__`, so that ``from hybridenv import *`` does not."""


def __getattr__(name: str) -> Any:
    """Load what needs JAX when it is first asked for."""
    if name in _LAZY:
        module = import_module("hybridenv.envs")
        value = module if name == "envs" else module.make
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hybridenv' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what needs JAX too."""
    return sorted({*globals(), *_LAZY})
