"""Where the time of training goes: environment, forward, backward and transfer, measured.

Inside a compiled program nothing can be timed piece by piece, so an iteration is recorded and each
part of it runs again as a program of its own: the environments with the recorded actions, the
policy with the recorded observations, the learner with the recorded data. Around environments of
the host every phase is timed by itself, without overlap.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import median
from typing import Any

import jax
import numpy as np
from jax import Array
from jax.sharding import PartitionSpec

from hybridenv.checks import written
from hybridenv.envs import AutoReset, Batch, ChanceEnvironment, host_devices, make, names
from hybridenv.errors import ConfigError
from hybridenv.train.config import Config
from hybridenv.train.games import specs
from hybridenv.train.host import HostLoop, MakeEnv, make_vector_env
from hybridenv.train.learner import Batch as Data
from hybridenv.train.networks import build, count
from hybridenv.train.plot import figure
from hybridenv.train.ppo import AXIS, Program, TrainState

PYBOY = "gameboy-pyboy"
"""Name of the embedded game in PyBoy, to compare with ``"gameboy"``."""

_LARGE = 50_000_000
"""Parameters from which one device has to do: each one more keeps five copies of them."""

_REPEATS = 5


@dataclass(frozen=True)
class Breakdown:
    """How an iteration of training divides.

    Attributes:
        env: Name of the environment.
        params: Parameters of the network.
        n_envs: Environments.
        horizon: Steps of each in an iteration.
        seconds: Of an iteration, by part: ``environment``; ``forward``, the policy choosing
            actions; ``backward``, one pass of learning over the data; ``transfer``, moving
            observations and actions between the environment's memory and the device's.
    """

    env: str
    params: int
    n_envs: int
    horizon: int
    seconds: dict[str, float]

    @property
    def steps_per_second(self) -> float:
        """Environment steps a second of training."""
        return self.n_envs * self.horizon / sum(self.seconds.values())

    @property
    def shares(self) -> dict[str, float]:
        """The parts' shares of the time; they sum to 1."""
        total = sum(self.seconds.values())
        return {part: spent / total for part, spent in self.seconds.items()}


def measure(
    env: str, params: int, *, n_envs: int | None = None, seed: int = 0, max_steps: int = 65_536
) -> Breakdown:
    """Measure how an iteration divides, with a network of about a given size.

    Iterations have one epoch, and fewer steps for larger networks, so that they take seconds.

    Args:
        env: As `Config.env`, or ``"gameboy-pyboy"``.
        params: Wanted number of parameters.
        n_envs: Environments; `None` takes 128, or the environment's default where that is less.
        seed: Seed of everything.
        max_steps: Most steps of an iteration.

    Returns:
        The measured parts; each is the median of five.

    Raises:
        ConfigError: There is no such environment.
        MissingDependencyError: It needs a package that is not installed.
    """
    host_devices()
    base = Config.of("gameboy" if env == PYBOY else env)
    n = n_envs or min(128, base.n_envs)
    steps = min(max_steps, max(n, 10**11 // (2 * params)))
    config = replace(
        base,
        env=env,
        seed=seed,
        n_envs=n,
        horizon=max(1, min(base.horizon, steps // n)),
        epochs=1,
        minibatches=1,
        calls=1,
        devices=1 if params >= _LARGE else 0,
        activation="relu",
    )
    if env in names():
        game, game_params = make(env, **config.env_args)
        observations, actions = game.observation_space(game_params), game.action_space(game_params)
        config = _sized(config, observations, actions, params)
        return _fused(config, game, game_params)
    make_env: MakeEnv = pyboy_env if env == PYBOY else lambda size: make_vector_env(config, size)
    probe = make_env(1)
    sizes = probe.single_observation_space, probe.single_action_space
    probe.close()
    return _hosted(_sized(config, *sizes, params), make_env)


def write(found: Sequence[Breakdown], folder: Path) -> list[Path]:
    """Write ``breakdown.json`` and the picture ``breakdown.png``.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        OSError: A file cannot be written; `filename` says which.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = [asdict(one) | {"shares": one.shares} for one in found]
    text = json.dumps(rows, indent=1) + "\n"
    with written(folder / "breakdown.json"):
        (folder / "breakdown.json").write_text(text, encoding="utf-8")
    picture, axes = figure(7, 1.2 + 0.5 * len(found))
    labels = [f"{one.env}, {one.params / 1e6:.3g} M" for one in found]
    left = np.zeros(len(found))
    for part in found[0].seconds:
        share = np.asarray([100 * one.shares[part] for one in found])
        axes.barh(labels, share, left=left, label=part)
        left += share
    axes.invert_yaxis()
    axes.set_xlabel("share of an iteration, %")
    axes.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    with written(folder / "breakdown.png"):
        picture.savefig(folder / "breakdown.png", dpi=120)
    return [folder / "breakdown.json", folder / "breakdown.png"]


def _sized(config: Config, observations: Any, actions: Any, params: int) -> Config:
    """Return the run with two dense layers so wide that the network has about so many parameters.

    Raises:
        ConfigError: The smallest network has more.
    """
    obs, action = specs(observations, actions, config.env)

    def size(width: int) -> int:
        wide = replace(config, hidden=(width, width))
        return count(jax.eval_shape(build(obs, action, wide)[1], jax.random.key(0)))

    if size(1) > params:
        raise ConfigError(f"params: got {params}, expected at least {size(1)} for {config.env}")
    low, high = 1, 2
    while size(high) < params:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) <= params else (low, middle)
    return replace(config, hidden=(low, low))


def _draw_plainly(loop: Program | HostLoop) -> None:
    """Let the first parameters be independent numbers of the usual size.

    What is measured does not depend on them, and orthogonal matrices, which training starts from,
    take a time that grows with the cube of their width: minutes from 20 million parameters on.
    """
    shapes = jax.eval_shape(loop.make_params, jax.random.key(0))
    leaves, structure = jax.tree.flatten(shapes)

    def draw(key: Array) -> Any:
        keys = jax.random.split(key, len(leaves))
        drawn = [
            jax.random.normal(one, leaf.shape, leaf.dtype) / max(leaf.shape) ** 0.5
            for one, leaf in zip(keys, leaves, strict=True)
        ]
        return jax.tree.unflatten(structure, drawn)

    loop.make_params = draw


# -- one compiled program ----------------------------------------------------------------------


def _fused(config: Config, env: ChanceEnvironment[Any, Any], params: Any) -> Breakdown:
    program = Program(env, params, config)
    _draw_plainly(program)
    games = Batch(AutoReset(env), config.n_envs // len(program.devices))
    whole, steps = PartitionSpec(), PartitionSpec(None, AXIS)
    specs_ = program.specs
    places: dict[str, Any] = {f.name: steps for f in fields(Data)}
    data_specs: Any = Data(**places | {"carry": PartitionSpec(AXIS), "weight": None})

    def key_of(state: TrainState) -> Array:
        return jax.random.fold_in(state.key, jax.lax.axis_index(AXIS))

    def collect(state: TrainState) -> tuple[TrainState, Data]:
        after, data, _ = program.rollout(state, key_of(state))
        return after, data

    def environment(argument: tuple[TrainState, Array]) -> tuple[Any, Array]:
        state, actions = argument

        def step(env_state: Any, chance: tuple[Any, Array]) -> tuple[Any, tuple[Array, Array]]:
            draw, action = chance
            obs, env_state, reward, *_ = games.step_with(draw, env_state, action, params)
            return env_state, (obs, reward)

        draws = games.step_draws(key_of(state), params, (config.horizon,))
        _, played = jax.lax.scan(step, state.env_state, (draws, actions))
        return played

    def forward(argument: tuple[TrainState, Data]) -> tuple[Array, Array, Array]:
        state, data = argument

        def step(carry: Any, seen: tuple[Array, Array]) -> tuple[Any, tuple[Array, Array, Array]]:
            obs, noise = seen
            distribution, value, carry = program.policy.step(state.params, obs, carry)
            action = distribution.sample(noise)
            return carry, (action, distribution.log_prob(action), value)

        noise = program.policy.action.noise(key_of(state), data.value.shape)
        return jax.lax.scan(step, data.carry, (data.obs, noise))[1]

    def backward(argument: tuple[TrainState, Data]) -> Any:
        state, data = argument
        return program.learner.update(state.params, state.opt_state, data, key_of(state))

    state, data = program.mapped(collect, specs_, (specs_, data_specs))(program.init())
    both = (specs_, data_specs)
    play = program.mapped(environment, (specs_, steps), (steps, steps))
    choose = program.mapped(forward, both, (steps, steps, steps))
    learn = program.mapped(backward, both, whole)
    metrics = jax.device_get(learn((state, data))[-1])
    seconds = _seconds(
        {
            "environment": lambda: play((state, data.action)),
            "forward": lambda: choose((state, data)),
            "backward": lambda: learn((state, data)),
            "transfer": lambda: jax.device_get(jax.device_put(metrics)),
        }
    )
    return Breakdown(config.env, count(state.params), config.n_envs, config.horizon, seconds)


def _seconds(parts: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Median seconds of each part, run in turns after a first run that is not counted."""
    spent: dict[str, list[float]] = {part: [] for part in parts}
    for turn in range(_REPEATS + 1):
        for part, function in parts.items():
            begin = time.perf_counter()
            jax.block_until_ready(function())
            if turn:
                spent[part].append(time.perf_counter() - begin)
    return {part: median(times) for part, times in spent.items()}


# -- environments of the host ------------------------------------------------------------------


def _hosted(config: Config, make_env: MakeEnv) -> Breakdown:
    loop = HostLoop(config, make_env)
    _draw_plainly(loop)
    try:
        state = loop.init()
        turns = []
        for turn in range(_REPEATS + 1):
            state, parts = loop.timed(state)
            if turn:
                turns.append(parts)
        size = count(state.params)
    finally:
        loop.close()
    seconds = {part: median(one[part] for one in turns) for part in turns[0]}
    return Breakdown(config.env, size, config.n_envs, config.horizon, seconds)


def pyboy_env(n: int) -> Any:
    """Make n PyBoys that play the embedded game, without rewards: what a step of them costs.

    Args:
        n: How many.

    Returns:
        A vector environment with the actions and frame skip of ``"gameboy"``.

    Raises:
        MissingDependencyError: PyBoy is not installed.
    """
    from hybridenv.train._pyboy import PyBoyVectorEnv

    return PyBoyVectorEnv(n, frame_skip=int(Config.of("gameboy").env_args["frame_skip"]))
