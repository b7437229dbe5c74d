"""What a training run is: one frozen record, read from a TOML or JSON file, checked at once."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self, get_args, get_type_hints

from hybridenv.errors import ConfigError

_CHOICES = {
    "network": ("mlp", "cnn", "gru", "lstm"),
    "activation": ("gelu", "gelu_tanh", "relu", "tanh"),
    "shuffle": ("rows", "envs"),
}


_SEEDS = 2**63
"""A seed is a whole number below this; JAX takes no larger one."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A training run. Everything here, the number of devices and the seed fix its result.

    Attributes:
        env: Name of the environment: one of `hybridenv.envs`, ``"gameboy"``, or the id of any
            Gymnasium environment.
        env_args: Options of the environment, passed to its constructor.
        seed: Seed of everything: weights, environments, actions, order of the data.
        n_seeds: Independent runs in one program, with the seeds ``seed`` to ``seed + n_seeds - 1``.
        steps: Environment steps to train for, each run; rounded up to whole calls of the program.
        n_envs: Environments of each run.
        horizon: Steps of each environment in an iteration.
        epochs: How often an iteration's data is used.
        minibatches: Updates an epoch.
        chunk: Rows whose gradient is computed at once; the gradients of a minibatch's chunks are
            added up, so that what a chunk needs stays in the processor's cache. 0 takes whole
            minibatches.
        shuffle: ``"rows"`` draws minibatches from single steps, ``"envs"`` from whole
            environments, which is cheaper and what networks with a memory need.
        gamma: Discount a step.
        gae_lambda: Decay of generalised advantage estimation.
        clip: Clip range of the policy's ratio.
        value_clip: Clip range of the value's change; `None` for none.
        value_coef: Weight of the value loss.
        entropy_coef: Weight of the entropy.
        normalize_observations: Whether the network sees observations with the mean and deviation
            taken off that they had so far in the run; for floats only.
        scale_rewards: Whether rewards are divided by the deviation that discounted sums of them had
            so far in the run. Returns are reported as the environment pays them.
        normalize_advantage: Whether advantages get mean 0 and deviation 1 in every minibatch.
        lr: Adam's step size.
        anneal: Whether the step size falls linearly to zero over the run.
        adam_eps: Adam's epsilon.
        max_grad_norm: Longest gradient; longer ones are shortened to it.
        network: ``"mlp"``, ``"cnn"``, ``"gru"`` or ``"lstm"``.
        hidden: Sizes of the dense layers; the last one is also the memory's.
        activation: ``"gelu"``, ``"gelu_tanh"``, ``"relu"`` or ``"tanh"``.
        separate_value: Whether the value has a network of its own, of the same sizes, instead of
            sharing all but the last layer with the policy; for networks without a memory.
        initial_std: Standard deviation of continuous actions at first.
        channels: Channels of the convolutions; the first one divides the sides of the picture by
            4, the others by 2.
        shrink: A picture is reduced to the averages of blocks of this side before anything else.
        devices: Devices to use; 0 for all. Environments are divided evenly between them.
        overlap: Only for environments outside of JAX: collect the next iteration with the
            parameters from before the update, while the learner is at work.
        calls: Iterations in one call of the compiled program.
        checkpoint_every: Steps between checkpoints; 0 for one at the end only.
        keep: Checkpoints that are kept, the newest.
    """

    env: str
    env_args: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    n_seeds: int = 1
    steps: int = 10_000_000
    n_envs: int = 1_024
    horizon: int = 64
    epochs: int = 2
    minibatches: int = 16
    chunk: int = 1_024
    shuffle: str = "envs"
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_clip: float | None = None
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    normalize_observations: bool = False
    scale_rewards: bool = False
    normalize_advantage: bool = True
    lr: float = 3e-3
    anneal: bool = False
    adam_eps: float = 1e-5
    max_grad_norm: float = 0.5
    network: str = "mlp"
    hidden: tuple[int, ...] = (128,)
    activation: str = "gelu_tanh"
    separate_value: bool = False
    initial_std: float = 1.0
    channels: tuple[int, ...] = (32, 64)
    shrink: int = 1
    devices: int = 0
    overlap: bool = False
    calls: int = 4
    checkpoint_every: int = 0
    keep: int = 2

    def __post_init__(self) -> None:
        self._check()

    # -- sizes that follow from others ---------------------------------------------------------

    @property
    def batch(self) -> int:
        """Steps of an iteration of one run."""
        return self.n_envs * self.horizon

    @property
    def iterations(self) -> int:
        """Iterations of the run, a multiple of `calls`."""
        return -(-self.steps // (self.batch * self.calls)) * self.calls

    @property
    def recurrent(self) -> bool:
        """Whether the network has a memory."""
        return self.network in ("gru", "lstm")

    # -- reading -------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: Path | str) -> dict[str, Any]:
        """Read the keys of a TOML or JSON file; `with_changes` checks and applies them.

        Args:
            path: The file, with the suffix ``.toml`` or ``.json``.

        Returns:
            Its keys and values.

        Raises:
            ConfigError: It cannot be read or is malformed.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"config {path}: cannot be read: {error}") from None
        try:
            keys = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except RecursionError:
            raise ConfigError(
                f"config {path}: is nested too deeply, expected keys and values"
            ) from None
        except ValueError as error:  # malformed, or a number of thousands of digits
            kind = "JSON" if path.suffix == ".json" else "TOML"
            raise ConfigError(f"config {path}: is no valid {kind}: {error}") from None
        if not isinstance(keys, dict):
            raise ConfigError(f"config {path}: got {type(keys).__name__}, expected a table of keys")
        return keys

    @classmethod
    def of(cls, env: str, changes: Mapping[str, Any] | None = None, where: str = "config") -> Self:
        """Return the defaults for an environment with some keys changed.

        Args:
            env: Its name; one that is not listed in `DEFAULTS` gets those for small vectors.
            changes: Keys and values.
            where: What the message calls their source.

        Raises:
            ConfigError: As `with_changes`, or `changes` names another environment.
        """
        if changes is not None and not isinstance(changes, Mapping):
            raise ConfigError(f"{where}: got {type(changes).__name__}, expected a dict of settings")
        changes = dict(changes or {})
        if (named := changes.get("env", env)) != env:
            raise ConfigError(f"{where}: env is {named!r}, but {env!r} was asked for")
        defaults = {**DEFAULTS.get(env, DEFAULTS[""])}
        if isinstance(args := changes.get("env_args"), dict):
            changes["env_args"] = {**defaults.get("env_args", {}), **args}
        return cls(env=env).with_changes({**defaults, **changes}, where)

    def with_changes(self, changes: Mapping[str, Any], where: str = "config") -> Self:
        """Return the record with some keys changed.

        Args:
            changes: Keys and values.
            where: What the message calls their source.

        Raises:
            ConfigError: A key is unknown, or a value has a wrong type or does not make sense.
        """
        known = {f.name for f in dataclasses.fields(self)}
        if unknown := sorted(set(changes) - known):
            raise ConfigError(
                f"{where}: unknown key {', '.join(map(repr, unknown))}, expected one of "
                f"{', '.join(sorted(known))}"
            )
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in changes.items()
        }
        try:
            return dataclasses.replace(self, **values)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return all keys and values, fit for JSON."""
        values = dataclasses.asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    # -- checking ------------------------------------------------------------------------------

    def _check(self) -> None:
        hints = get_type_hints(type(self))
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            wanted = hints[f.name]
            fitted = _fitted(value, wanted)
            if fitted is None and not (value is None and _optional(wanted)):
                raise ConfigError(f"{f.name}: got {value!r}, expected {_words(wanted)}")
            object.__setattr__(self, f.name, fitted)
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise ConfigError(f"{name}: got {value!r}, expected one of {', '.join(choices)}")
        at_least = {
            "seed": 0, "n_seeds": 1, "steps": 1, "n_envs": 1, "horizon": 1, "epochs": 1,
            "minibatches": 1, "chunk": 0, "shrink": 1, "devices": 0, "calls": 1,
            "checkpoint_every": 0, "keep": 1,
        }  # fmt: skip
        for name, least in at_least.items():
            if (value := getattr(self, name)) < least:
                raise ConfigError(f"{name}: got {value}, expected at least {least}")
        if self.seed + self.n_seeds > _SEEDS:
            raise ConfigError(
                f"seed: got {self.seed} for {self.n_seeds} seeds, expected all below {_SEEDS}"
            )
        for name in ("gamma", "gae_lambda"):
            if not 0 <= (value := getattr(self, name)) <= 1:
                raise ConfigError(f"{name}: got {value}, expected 0 to 1")
        for name in ("clip", "lr", "adam_eps", "max_grad_norm", "initial_std"):
            if not 0 < (value := getattr(self, name)) < math.inf:
                raise ConfigError(f"{name}: got {value}, expected a positive number")
        for name in ("value_coef", "entropy_coef"):
            if not math.isfinite(value := getattr(self, name)):
                raise ConfigError(f"{name}: got {value}, expected a finite number")
        if self.value_clip is not None and not 0 < self.value_clip < math.inf:
            raise ConfigError(
                f"value_clip: got {self.value_clip}, expected a positive number or none"
            )
        for name in ("hidden", "channels"):
            sizes = getattr(self, name)
            if not sizes or min(sizes) < 1:
                raise ConfigError(
                    f"{name}: got {list(sizes)}, expected positive sizes, at least one"
                )
        if self.recurrent and self.shuffle != "envs":
            raise ConfigError(
                f'shuffle: got {self.shuffle!r} with network {self.network!r}, expected "envs": '
                "a memory is trained on whole sequences"
            )
        if self.recurrent and self.separate_value:
            raise ConfigError(
                f"separate_value: got true with network {self.network!r}, expected false: the "
                "value shares the policy's memory"
            )
        self.check_division(1)

    def check_division(self, devices: int) -> None:
        """Check that an iteration's data can be divided between devices and into minibatches.

        Args:
            devices: Number of devices.

        Raises:
            ConfigError: It cannot; the message names a number that would do.
        """
        if self.n_envs % devices:
            raise ConfigError(
                f"n_envs: got {self.n_envs}, which {devices} devices cannot divide evenly, "
                f"expected a multiple of {devices}, such as {-(-self.n_envs // devices) * devices}"
            )
        units = self.n_envs // devices
        what = "environments"
        if self.shuffle == "rows":
            units, what = units * self.horizon, "steps"
        if units % self.minibatches:
            raise ConfigError(
                f"minibatches: got {self.minibatches} with {units} {what} a device, expected a "
                f"divisor of {units}"
            )

    def chunk_units(self, devices: int) -> int:
        """Return how many environments (or rows, see `shuffle`) make a chunk.

        It is the largest divisor of a minibatch that is no larger than asked for, at least 1.
        """
        rows = 1 if self.shuffle == "rows" else self.horizon
        units = self.batch // rows // devices // self.minibatches
        wanted = max(1, self.chunk // rows) if self.chunk else units
        return max(size for size in range(1, min(wanted, units) + 1) if units % size == 0)


_LOCOMOTION: dict[str, Any] = {
    "steps": 3_000_000,
    "n_envs": 128,
    "epochs": 4,
    "minibatches": 8,
    "normalize_observations": True,
    "scale_rewards": True,
    "entropy_coef": 0.0,
    "lr": 1e-3,
    "anneal": True,
    "hidden": [64, 64],
    "activation": "tanh",
    "initial_std": 0.5,
    "calls": 16,
}
"""For bodies that run: numbers of many sizes, and torques instead of choices. Actions begin with
half the usual noise: with more a cheetah is on its back before it has learned to run, and goes on
to learn crawling there."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "half_cheetah": _LOCOMOTION,
    "hopper": {**_LOCOMOTION, "epochs": 8, "minibatches": 16, "lr": 3e-4},
    "walker2d": _LOCOMOTION,
    "pong": {
        "env_args": {"frame_skip": 8},
        "steps": 16_000_000,
        "gamma": 0.98,
        "gae_lambda": 0.9,
        "entropy_coef": 0.03,
    },
    "pokemon": {
        "env_args": {"opponent": "max_damage", "shaping": 1.0},
        "steps": 40_000_000,
        "n_envs": 512,
        "gamma": 0.998,
        "gae_lambda": 0.8,
        "normalize_observations": True,
        "lr": 1e-3,
        "anneal": True,
        "hidden": [128, 128],
        "activation": "relu",
    },
    "gameboy": {
        "env_args": {"frame_skip": 12},
        "steps": 2_000_000,
        "n_envs": 64,
        "horizon": 64,
        "epochs": 4,
        "minibatches": 4,
        "chunk": 512,
        "shuffle": "rows",
        "lr": 6e-4,
        "network": "cnn",
        "hidden": [256],
        "activation": "relu",
        "shrink": 4,
        "calls": 1,
    },
    "": {
        "steps": 500_000,
        "n_envs": 16,
        "horizon": 64,
        "epochs": 4,
        "minibatches": 4,
        "chunk": 0,
        "shuffle": "rows",
        "lr": 1e-3,
        "hidden": [64, 64],
        "activation": "tanh",
    },
}
"""What differs from the defaults of `Config`, by environment; ``""`` is for all others."""


def _optional(wanted: Any) -> bool:
    return type(None) in get_args(wanted)


def _fitted(value: Any, wanted: Any) -> Any:
    """Return the value as the wanted type, or `None` where it is of another."""
    if isinstance(wanted, types.UnionType):
        return _fitted(value, get_args(wanted)[0])
    if wanted is float:  # those of NumPy are real numbers, too
        return _float(value) if isinstance(value, Real) and not isinstance(value, bool) else None
    if wanted is int:
        fits = isinstance(value, Integral) and not isinstance(value, bool)
        return int(value) if fits else None
    if wanted in (str, bool):
        return value if isinstance(value, wanted) else None
    if wanted == dict[str, Any]:
        return value if isinstance(value, dict) else None
    parts = [_fitted(part, int) for part in value] if isinstance(value, list | tuple) else [None]
    return None if None in parts else tuple(parts)


def _float(value: Real) -> float | None:
    """Return a number as a float, or `None` where it is none or too large for one."""
    try:
        return None if math.isnan(number := float(value)) else number
    except OverflowError:
        return None


def _words(wanted: Any) -> str:
    if isinstance(wanted, types.UnionType):
        return f"{_words(get_args(wanted)[0])} or none"
    names = {float: "a number", int: "a whole number", str: "a text", bool: "true or false"}
    return names.get(wanted, "a table" if wanted == dict[str, Any] else "a list of whole numbers")
