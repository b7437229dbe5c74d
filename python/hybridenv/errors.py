"""Every exception that hybridenv raises on purpose.

Each class has two bases: `HybridEnvError`, to catch whatever comes from here, and the built-in
class whose meaning it shares. Messages say what, where, got and expected. Rust code raises these
same classes.
"""


class HybridEnvError(Exception):
    """Base of all errors of hybridenv."""


class ArgumentError(HybridEnvError, ValueError):
    """An argument has a wrong type, shape or value."""


class ActionError(ArgumentError):
    """The buttons of a step have a wrong type, dtype or shape."""


class TaskError(HybridEnvError, ValueError):
    """A `Task` or one of its parts does not make sense."""


class RomError(HybridEnvError, ValueError):
    """A cartridge image is damaged, of the wrong size, or needs hardware that is not emulated."""


class RomFileError(HybridEnvError, OSError):
    """The file of a cartridge image cannot be read.

    Attributes:
        errno: The system's number of the error.
        filename: The path.
    """

    def __str__(self) -> str:
        return str(self.strerror)


class RomNotFoundError(RomFileError, FileNotFoundError):
    """There is no such file."""


class RomIsADirectoryError(RomFileError, IsADirectoryError):
    """The path is that of a folder."""


class RomPermissionError(RomFileError, PermissionError):
    """The file may not be read."""


class StateError(HybridEnvError, ValueError):
    """A save state is damaged, from another game, or from a newer version."""


class CartRamError(HybridEnvError, ValueError):
    """Bytes do not fit the cartridge's RAM."""


class EnvIndexError(HybridEnvError, IndexError):
    """There is no env with this index."""


class NotResetError(HybridEnvError, RuntimeError):
    """An env was stepped before `reset` or a loaded state gave it an episode."""


class ClosedError(HybridEnvError, RuntimeError):
    """The batch is closed."""


class OutOfMemoryError(HybridEnvError, MemoryError):
    """The system gives no memory for so many machines, or for their results."""


class UncopyableError(HybridEnvError, TypeError):
    """Machines and threads cannot be copied or pickled; `GameBoyBatch.save_state` says what can."""


class BusyError(HybridEnvError, RuntimeError):
    """Another thread is inside a call on the same batch."""


class ForkError(HybridEnvError, RuntimeError):
    """The process is a fork of the one that built the batch; threads do not survive a fork."""


class MissingDependencyError(HybridEnvError, ImportError):
    """An optional package is not installed."""


class ConformanceError(HybridEnvError, AssertionError):
    """An environment breaks its contract; the message names the rule and what was seen."""


class OracleError(HybridEnvError, RuntimeError):
    """The emulator to compare with refuses a ROM or fails."""


class EnvCrashedError(HybridEnvError, RuntimeError):
    """The emulator failed inside one env; the other envs finished the call.

    The env takes no further step until it is reset or a state is loaded into it.

    Attributes:
        env: Index of the (first) env that crashed.
        payload: What the failure said.
    """

    def __init__(self, message: str, env: int, payload: str) -> None:
        super().__init__(message, env, payload)
        self.env = env
        self.payload = payload

    def __str__(self) -> str:
        return str(self.args[0])


class ConfigError(HybridEnvError, ValueError):
    """A setting of a training run is unknown, has a wrong type, or does not fit the others."""


class CheckpointError(HybridEnvError, OSError):
    """A checkpoint cannot be written, read, or continued with this configuration."""


class DivergedError(HybridEnvError, ArithmeticError):
    """A loss is no longer a finite number.

    Attributes:
        iteration: The first iteration in which it was not.
    """

    def __init__(self, message: str, iteration: int) -> None:
        super().__init__(message, iteration)
        self.iteration = iteration

    def __str__(self) -> str:
        return str(self.args[0])


class TargetError(HybridEnvError, RuntimeError):
    """An environment that is to be verified cannot be found, made, or played any further."""


class WrapperError(TargetError):
    """A candidate needs the package of the reference, so it may be nothing but a wrapper of it."""


class NotEquivalentError(HybridEnvError, AssertionError):
    """Two environments were not shown to be equal; the message has the verdict and its reason."""
