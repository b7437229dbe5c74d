"""Reinforcement-learning environments that are fast, and shown to equal what they stand in for.

Start with `GameBoyBatch`: n Game Boys stepped together. `Task` declares what they are rewarded for;
ready tasks are in `hybridenv.tasks`. Gymnasium environments are in `hybridenv.gym`, which loads
only when it is imported.
"""

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
    ClosedError,
    EnvCrashedError,
    EnvIndexError,
    ForkError,
    HybridEnvError,
    MissingDependencyError,
    NotResetError,
    OracleError,
    RomError,
    RomFileError,
    RomIsADirectoryError,
    RomNotFoundError,
    RomPermissionError,
    StateError,
    TaskError,
    UncopyableError,
)
from hybridenv.memory import Memory, Registers
from hybridenv.task import Compare, Delta, Field, Task, Value

__version__ = str(build_info()["version"])

__all__ = [
    "DEFAULT_PALETTE",
    "TRACE_COLUMNS",
    "ActionError",
    "ArgumentError",
    "BusyError",
    "Button",
    "CartRamError",
    "ClosedError",
    "Compare",
    "Delta",
    "EnvCrashedError",
    "EnvIndexError",
    "Field",
    "ForkError",
    "GameBoyBatch",
    "HybridEnvError",
    "Memory",
    "MissingDependencyError",
    "NotResetError",
    "OracleError",
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
    "Task",
    "TaskError",
    "UncopyableError",
    "Value",
    "__version__",
    "build_info",
    "tasks",
]
