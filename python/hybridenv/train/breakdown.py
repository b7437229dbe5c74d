"""Where the time of training goes: environment, forward, backward and transfer, measured.

Inside a compiled program nothing can be timed piece by piece, so an iteration is recorded and each
part of it runs again as a program of its own: the environments with the recorded actions, the
policy with the recorded observations, the learner with the recorded data. Around environments of
the host every phase is timed by itself, without overlap. In both cases a whole iteration is timed
too, and what the parts leave of it is handed out as the rest.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array
from jax.sharding import PartitionSpec

from hybridenv.checks import whole, written
from hybridenv.envs import AutoReset, Batch, Environment, host_devices, make, names
from hybridenv.errors import ConfigError
from hybridenv.train.config import Config
from hybridenv.train.games import chosen_devices, clipped, specs
from hybridenv.train.host import HostLoop, MakeEnv, make_vector_env
from hybridenv.train.learner import Batch as Data
from hybridenv.train.networks import Params, build, count, emptied
from hybridenv.train.plot import figure
from hybridenv.train.ppo import AXIS, Program, TrainState
from hybridenv.train.references import REFERENCES, make_reference

PARTS = ("environment", "forward", "backward", "transfer", "rest")
"""What an iteration consists of, see `Breakdown`."""

SAMPLES = 512
"""Steps that an update learns from, unless others are asked for."""

_N_ENVS = 64

_LARGE = 50_000_000
"""Parameters from which one device has to do: each one more keeps five copies of them."""

_UPDATES = 16
_WORK = 5e10
"""Most updates of an iteration, and the parameters times samples from which there are fewer, so
that an iteration of any network takes seconds."""

_ROUNDS = 16
"""How often the environments play in a program of their own. To start one takes about as long as
some environments take for an iteration, and inside of a training program nothing is started."""

_RATE = 1e-9
"""Step size of what is only timed: the same data is learned from again and again, and a network
that diverged would play another game."""


@dataclass(frozen=True)
class Breakdown:
    """How an iteration of training divides.

    Attributes:
        env: Name of the environment.
        params: Parameters of the network.
        n_envs: Environments.
        horizon: Steps of each in an iteration.
        updates: Updates of an iteration, which share its steps; each step is learned from once.
        repeats: Seconds of an iteration in each repeat, by part: ``environment``; ``forward``, the
            policy choosing actions; ``backward``, learning from the data; ``transfer``, moving
            observations and actions between the environment's memory and the device's; ``rest``,
            what remains of an iteration in one piece, such as estimating advantages and keeping
            records. Where the other parts were slower apart than together it is less than 0.
        iterations: Seconds of an iteration in each repeat as training runs it. Around the host,
            environments and policy work at the same time then, so that it may take less than the
            parts.
    """

    env: str
    params: int
    n_envs: int
    horizon: int
    updates: int
    repeats: dict[str, list[float]]
    iterations: list[float]

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of each part, medians over the repeats."""
        return {part: median(times) for part, times in self.repeats.items()}

    @property
    def shares(self) -> dict[str, float]:
        """The parts' shares of the time; they sum to 1."""
        total = sum(self.seconds.values())
        return {part: spent / total for part, spent in self.seconds.items()}

    @property
    def steps_per_second(self) -> float:
        """Environment steps a second of training."""
        return self.n_envs * self.horizon / median(self.iterations)

    def share_in_repeats(self, part: str) -> list[float]:
        """Return a part's share of the time in each repeat."""
        turns = zip(*self.repeats.values(), strict=True)
        return [spent / sum(turn) for spent, turn in zip(self.repeats[part], turns, strict=True)]


def measure(
    env: str,
    params: int,
    *,
    n_envs: int | None = None,
    samples: int = SAMPLES,
    repeats: int = 5,
    seed: int = 0,
) -> Breakdown:
    """Measure how an iteration divides, with a network of about a given size.

    The share of the environment depends on how much is learned from a step. It is the same for all
    networks and environments: an update for so many samples, each of which is used once. Large
    networks have fewer updates an iteration, so that it takes seconds.

    Args:
        env: As `Config.env`, or one of `hybridenv.train.references.REFERENCES`.
        params: Wanted number of parameters.
        n_envs: Environments; `None` takes 64.
        samples: Steps that an update learns from; more where there are more environments.
        repeats: How often everything is measured.
        seed: Seed of everything.

    Returns:
        The measured parts.

    Raises:
        ArgumentError: `samples` or `repeats` is no such number.
        ConfigError: There is no such environment, the devices cannot divide the environments, or
            the smallest network has more parameters.
        MissingDependencyError: It needs a package that is not installed.
    """
    samples = whole("samples", samples, 1, 2**31 - 1)
    repeats = whole("repeats", repeats, 1, 2**31 - 1)
    host_devices()
    reference = REFERENCES.get(env)
    config = replace(
        Config.of(reference.of if reference else env),
        env=env,
        seed=seed,
        n_envs=n_envs or _N_ENVS,
        epochs=1,
        minibatches=1,
        shuffle="envs",
        chunk=0,
        calls=1,
        devices=1 if params >= _LARGE else 0,
        activation="relu",
        lr=_RATE,
        anneal=False,
        overlap=False,
    )
    config = _divided(config, params, samples)
    if env in names():
        game, game_params = make(env, **config.env_args)
        sized = _sized(
            config, game.observation_space(game_params), game.action_space(game_params), params
        )
        return _fused(sized, game, game_params, repeats)
    make_env: MakeEnv = partial(make_reference if reference else make_vector_env, config)
    probe = make_env(1)
    spaces = probe.single_observation_space, probe.single_action_space
    probe.close()
    return _hosted(_sized(config, *spaces, params), make_env, repeats)


def write(found: Sequence[Breakdown], folder: Path) -> list[Path]:
    """Write ``breakdown.json`` and the picture ``breakdown.png``.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        OSError: A file cannot be written; `filename` says which.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = [asdict(one) | {"seconds": one.seconds, "shares": one.shares} for one in found]
    text = json.dumps(rows, indent=1) + "\n"
    with written(folder / "breakdown.json"):
        (folder / "breakdown.json").write_text(text, encoding="utf-8")
    return [folder / "breakdown.json", draw(found, folder / "breakdown.png")]


def draw(found: Sequence[Breakdown], path: Path) -> Path:
    """Draw how iterations divide: a bar for each, and a colour for each part.

    Args:
        found: The iterations, from the top.
        path: The file to write.

    Returns:
        The path.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        OSError: The file cannot be written; `filename` says which.
    """
    picture, axes = figure(7, 1.2 + 0.3 * len(found))
    labels = [f"{one.env}, {one.params / 1e6:.3g} M" for one in found]
    left = np.zeros(len(found))
    for part in PARTS:
        share = np.asarray([100 * max(0.0, one.shares[part]) for one in found])
        axes.barh(labels, share, left=left, label=part)
        left += share
    axes.invert_yaxis()
    axes.set_xlabel("share of an iteration, %")
    axes.legend(
        frameon=False, ncols=len(PARTS), loc="lower center", bbox_to_anchor=(0.4, 1), fontsize=9
    )
    with written(path):
        picture.savefig(path, dpi=120)
    return path


def _divided(config: Config, params: int, samples: int) -> Config:
    """Return the run with an update for so many samples, and so many of them as take seconds."""
    devices = len(chosen_devices(config))
    config.check_division(devices)
    n, steps = config.n_envs, max(1, samples // config.n_envs)
    most = int(min(_UPDATES, max(1, _WORK / (params * n * steps))))
    updates = max(k for k in range(1, most + 1) if n // devices % k == 0)
    return replace(config, horizon=steps * updates, minibatches=updates)


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
    """Let the first matrices be independent numbers of the usual size.

    What is measured does not depend on them, and orthogonal matrices, which training starts from,
    take a time that grows with the cube of their width: minutes from 20 million parameters on.
    They are made all the same, but XLA drops what nobody uses.
    """
    make_params = loop.make_params

    def draw(key: Array) -> Params:
        leaves, structure = jax.tree_util.tree_flatten_with_path(make_params(key))
        keys = jax.random.split(key, len(leaves))
        drawn = [
            leaf
            if leaf.ndim < 2 or "normalizer" in jax.tree_util.keystr(path)
            else jax.random.normal(own, leaf.shape, leaf.dtype) / max(leaf.shape) ** 0.5
            for own, (path, leaf) in zip(keys, leaves, strict=True)
        ]
        return jax.tree.unflatten(structure, drawn)

    loop.make_params = draw


# -- one compiled program ----------------------------------------------------------------------


class _Recorded(NamedTuple):
    """An iteration that was played: how it began, and what there is to learn from it."""

    env_state: Any
    key: Array
    data: Data


class _Parts:
    """The parts of a program's iteration as programs of their own.

    Args:
        program: The program.
        env: Its environment.
        env_params: Parameters of that.

    Attributes:
        record: From a `TrainState` to what it plays next, a `_Recorded`.
        environment: From that to the environments' states after several rounds of it, and what
            each step came to: observations, rewards, and how episodes ended. All of it is handed
            out, so that XLA cannot leave out any. The first round is the recorded one; then the
            environments play on, by the same actions and new chance.
        forward: From parameters and what was recorded to actions, their log-probabilities, and
            values.
        backward: From a `TrainState` and what was recorded, which are used up, to both after the
            iteration's updates.
    """

    def __init__(self, program: Program, env: Environment[Any, Any], env_params: Any) -> None:
        self._program = program
        self._env = Batch(AutoReset(env), program.config.n_envs // len(program.devices))
        self._env_params = env_params
        common: Any = PartitionSpec()
        rows, steps = PartitionSpec(AXIS), PartitionSpec(None, AXIS)
        places: dict[str, Any] = {f.name: steps for f in fields(Data)}
        data: Any = Data(**places | {"carry": rows, "weight": None})
        recorded: Any = _Recorded(rows, common, data)
        state = program.specs
        self.record = program.mapped(self._record, state, recorded)
        rounds = PartitionSpec(None, None, AXIS)
        self.environment = program.mapped(self._environment, recorded, (rows, rounds))
        self.forward = program.mapped(self._forward, (common, recorded), steps)
        self.backward = program.mapped(
            self._backward, (state, recorded), (state, recorded), donate_argnums=0
        )

    @staticmethod
    def _keys(key: Array) -> Array:
        """Return the keys by which a rollout draws: for actions, and for environments."""
        return jax.random.split(jax.random.fold_in(key, jax.lax.axis_index(AXIS)))

    def _record(self, state: TrainState) -> _Recorded:
        own = jax.random.fold_in(state.key, jax.lax.axis_index(AXIS))
        _, data, _ = self._program.rollout(state, own)
        return _Recorded(state.env_state, state.key, data)

    def _environment(self, recorded: _Recorded) -> tuple[Any, tuple[Array, ...]]:
        action, params = self._program.policy.action, self._env_params
        _, key = self._keys(recorded.key)

        def step(env_state: Any, now: tuple[Any, Array]) -> tuple[Any, tuple[Array, ...]]:
            draws, chosen = now
            obs, env_state, *outcome, _ = self._env.step_with(
                draws, env_state, clipped(chosen, action), params
            )
            return env_state, (obs, *outcome)

        def play(now: tuple[Any, Array], _: None) -> tuple[tuple[Any, Array], tuple[Array, ...]]:
            env_state, key = now
            draws = self._env.step_draws(key, params, (self._program.config.horizon,))
            env_state, seen = jax.lax.scan(step, env_state, (draws, recorded.data.action))
            return (env_state, jax.random.fold_in(key, 1)), seen

        (env_state, _), seen = jax.lax.scan(play, (recorded.env_state, key), length=_ROUNDS)
        return env_state, seen

    def _forward(self, argument: tuple[Params, _Recorded]) -> tuple[Array, Array, Array]:
        params, recorded = argument
        policy, data = self._program.policy, recorded.data
        key, _ = self._keys(recorded.key)

        def step(carry: Any, seen: tuple[Array, ...]) -> tuple[Any, tuple[Array, Array, Array]]:
            obs, restart, noise = seen
            distribution, value, carry = policy.step(params, obs, emptied(carry, restart))
            action = distribution.sample(noise)
            return carry, (action, distribution.log_prob(action), value)

        noise = policy.action.noise(key, data.value.shape)
        return jax.lax.scan(step, data.carry, (data.obs, data.restart, noise))[1]

    def _backward(self, argument: tuple[TrainState, _Recorded]) -> tuple[TrainState, _Recorded]:
        state, recorded = argument
        own, _ = self._keys(recorded.key)
        params, opt_state, _ = self._program.learner.update(
            state.params, state.opt_state, recorded.data, own
        )
        return replace(state, params=params, opt_state=opt_state), recorded


def _fused(config: Config, env: Environment[Any, Any], env_params: Any, repeats: int) -> Breakdown:
    program = Program(env, env_params, config)
    _draw_plainly(program)
    parts = _Parts(program, env, env_params)
    state, metrics = program.run(program.init())
    recorded = parts.record(state)

    def learn() -> Any:
        nonlocal state, recorded
        state, recorded = parts.backward((state, recorded))
        return state

    def iterate() -> Any:
        nonlocal state, metrics
        state, metrics = program.run(state)
        return state, metrics

    timed: dict[str, Callable[[], Any]] = {
        "environment": lambda: parts.environment(recorded),
        "forward": lambda: parts.forward((state.params, recorded)),
        "backward": learn,
        "transfer": lambda: jax.device_put(jax.device_get(metrics)),
        "iteration": iterate,
    }
    spent: dict[str, list[float]] = {part: [] for part in timed}
    for turn in range(repeats + 1):  # the first one compiles
        for part, function in timed.items():
            begin = time.perf_counter()
            jax.block_until_ready(function())
            if turn:
                spent[part].append(time.perf_counter() - begin)
    spent["environment"] = [seconds / _ROUNDS for seconds in spent["environment"]]
    iterations = spent.pop("iteration")
    turns = zip(*spent.values(), strict=True)
    spent["rest"] = [all_ - sum(turn) for all_, turn in zip(iterations, turns, strict=True)]
    size = count(state.params)
    return Breakdown(
        config.env, size, config.n_envs, config.horizon, config.minibatches, spent, iterations
    )


# -- environments of the host ------------------------------------------------------------------


def _hosted(config: Config, make_env: MakeEnv, repeats: int) -> Breakdown:
    loop = HostLoop(config, make_env)
    _draw_plainly(loop)
    spent: dict[str, list[float]] = {part: [] for part in PARTS}
    iterations = []
    try:
        state = loop.init()
        for turn in range(repeats + 1):  # the first one compiles
            state, seconds = loop.timed(state)
            begin = time.perf_counter()
            state, _ = jax.block_until_ready(loop.run(state))
            if turn:
                iterations.append(time.perf_counter() - begin)
                for part in PARTS:
                    spent[part].append(seconds[part])
        size = count(state.params)
    finally:
        loop.close()
    return Breakdown(
        config.env, size, config.n_envs, config.horizon, config.minibatches, spent, iterations
    )
