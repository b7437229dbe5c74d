"""JAX programs that play many games for many steps, ours and those of peers, to be timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import jax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from hybridenv.envs import compiler_options

#: A program: carries something on, and hands out what happened in each step.
Program = Callable[[Any], tuple[Any, Any]]


@dataclass(frozen=True)
class Work:
    """What a side plays in one call of its program.

    Attributes:
        games: Games side by side, on all devices together.
        steps: Steps of each.
        frame_skip: Sub-steps a step, of Pong or of physics.
        devices: Devices that share the games; 0 takes all there are.
    """

    games: int
    steps: int
    frame_skip: int = 4
    devices: int = 1


class JaxSide:
    """A compiled program and what it carries on from call to call.

    Args:
        start: Takes a key and makes what is carried, for the games of one device.
        program: Plays the steps for the games of one device.
        work: The work.
        seed: Seed of all chance.

    Attributes:
        compile_seconds: Time that tracing and compiling the program took.
    """

    def __init__(
        self, start: Callable[[Any, int], Any], program: Program, work: Work, seed: int
    ) -> None:
        devices = jax.devices()[: work.devices or None]
        if work.games % len(devices):
            raise ValueError(f"games: got {work.games}, expected a multiple of {len(devices)}")
        share = work.games // len(devices)
        mesh = Mesh(devices, ("device",), axis_types=(AxisType.Auto,))
        split = PartitionSpec("device")  # type: ignore[no-untyped-call]
        keys = jax.random.split(jax.random.key(seed), len(devices))
        keys = jax.device_put(keys, NamedSharding(mesh, split))

        def one(function: Callable[[Any], Any]) -> Any:
            # Each device has a leading axis of one, so that games need no axis of their own.
            def shard(carried: Any) -> Any:
                mine = function(jax.tree.map(lambda leaf: leaf[0], carried))
                return jax.tree.map(lambda leaf: leaf[None], mine)

            # Unchecked, as loops of peers begin with constants, which are the same on all devices.
            return jax.shard_map(shard, mesh=mesh, in_specs=split, out_specs=split, check_vma=False)

        self._carried = jax.jit(one(lambda key: start(key, share)))(keys)
        jax.block_until_ready(self._carried)  # type: ignore[no-untyped-call]
        begin = time.perf_counter()
        jitted = jax.jit(one(program), donate_argnums=0, compiler_options=compiler_options(devices))
        self._program = jitted.lower(self._carried).compile()
        self.compile_seconds = time.perf_counter() - begin
        self.play()

    def play(self) -> None:
        """Play the steps, and wait until all that they handed out is there."""
        self._carried, out = self._program(self._carried)
        jax.block_until_ready(out)  # type: ignore[no-untyped-call]


def digest(obs: Any) -> Any:
    """Look at all of each game's observation without keeping it, which for pictures takes GiB."""
    return obs.reshape(obs.shape[0], -1).astype("float32").sum(axis=1)


def environment(work: Work, name: str, *, random: bool = False, seed: int = 0) -> JaxSide:
    """One of ours: actions given and observations handed out, or both kept inside of the program.

    Args:
        work: The work.
        name: Of the environment.
        random: Whether actions are drawn inside.
        seed: Seed of all chance.
    """
    from hybridenv.envs import AutoReset, Batch, make

    env, params = make(name, frame_skip=work.frame_skip)
    count = work.games // (work.devices or len(jax.devices()))
    games = Batch(AutoReset(env), count)
    space = games.action_space(params)

    def start(key: Any, share: int) -> Any:
        for_reset, for_actions, rest = jax.random.split(key, 3)
        _, state = games.reset(for_reset, params)
        actions = None if random else space.sample(for_actions, (work.steps, share))
        return rest, state, actions

    def program(carried: Any) -> Any:
        key, state, actions = carried
        key, for_steps, for_actions = jax.random.split(key, 3)
        draws = games.step_draws(for_steps, params, (work.steps,))
        given = space.sample(for_actions, (work.steps, count)) if actions is None else actions

        def step(state: Any, now: Any) -> Any:
            draw, action = now
            obs, state, reward, terminated, _, _ = games.step_with(draw, state, action, params)
            return state, (digest(obs) if random else obs, reward, terminated)

        state, out = jax.lax.scan(step, state, (draws, given))
        return (key, state, actions), out

    return JaxSide(start, program, work, seed)


def gymnax(work: Work, *, name: str, seed: int = 0) -> JaxSide:
    """An environment of gymnax, the way its documentation plays it: random actions inside."""
    import gymnax as peer

    env, params = peer.make(name)

    def start(key: Any, share: int) -> Any:
        keys = jax.random.split(key, share)
        _, state = jax.vmap(env.reset, (0, None))(keys, params)
        return key, state

    def program(carried: Any) -> Any:
        key, state = carried
        share = jax.tree.leaves(state)[0].shape[0]

        def step(carried: Any, _: None) -> Any:
            key, state = carried
            key, for_actions, for_steps = jax.random.split(key, 3)
            actions = jax.random.randint(for_actions, (share,), 0, env.num_actions)
            keys = jax.random.split(for_steps, share)
            obs, state, *rest = jax.vmap(env.step, (0, 0, 0, None))(keys, state, actions, params)
            return (key, state), (digest(obs), *rest[:-1])

        return jax.lax.scan(step, (key, state), None, length=work.steps)

    return JaxSide(start, program, work, seed)


class Timed(Protocol):
    """What is timed."""

    compile_seconds: float

    def play(self) -> None:
        """Do the work once, and wait for all that comes out."""


def ppo(work: Work, name: str) -> Timed:
    """PPO on Pong, see `bench.ppo_sides`."""
    from bench.ppo_sides import Fused, Torch

    if name in ("mlp", "lstm"):
        return Fused(name, work)
    return Torch(work, ours=name == "torch-ours")


SIDES: dict[str, Callable[[Work], Timed]] = {
    "pong": lambda work: environment(work, "pong"),
    "pong-random": lambda work: environment(work, "pong", random=True),
    "gymnax-CartPole-v1": lambda work: gymnax(work, name="CartPole-v1"),
    "gymnax-Pong-misc": lambda work: gymnax(work, name="Pong-misc"),
    "gymnax-Breakout-MinAtar": lambda work: gymnax(work, name="Breakout-MinAtar"),
    "ppo-mlp": lambda work: ppo(work, "mlp"),
    "ppo-lstm": lambda work: ppo(work, "lstm"),
    "torch-ppo": lambda work: ppo(work, "torch"),
    "torch-ppo-ours": lambda work: ppo(work, "torch-ours"),
}
