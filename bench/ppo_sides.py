"""PPO on Pong as sides to be timed: our compiled program, and a loop in PyTorch.

All sides train the same network with as many environments, steps and updates an iteration: 1,024
games at frame skip 8, 64 steps, one epoch of two minibatches, one hidden layer of 128.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # it imports JAX, which whoever reads `HORIZON` alone does without
    from bench.jax_sides import Work

EPOCHS, MINIBATCHES, HIDDEN = 1, 2, 128
LEARNING_RATE, GAMMA, LAMBDA, CLIP = 3e-3, 0.98, 0.9, 0.2

#: Rows whose gradient a CPU's cache holds; a GPU takes whole minibatches.
CHUNKS = {"mlp": 512, "lstm": 4_096}

#: Steps of each game in an iteration.
HORIZON = 64


class Fused:
    """A run of `hybridenv.train` as one compiled program.

    Args:
        network: ``"mlp"`` or ``"lstm"``.
        work: The work; `Work.steps` is a multiple of `HORIZON`.

    Attributes:
        compile_seconds: Time that tracing and compiling took.
    """

    def __init__(self, network: str, work: Work) -> None:
        import jax

        from hybridenv.envs import make
        from hybridenv.train.config import Config
        from hybridenv.train.ppo import Program

        config = Config(
            env="pong",
            n_envs=work.games,
            horizon=HORIZON,
            epochs=EPOCHS,
            minibatches=MINIBATCHES,
            chunk=CHUNKS[network] if jax.default_backend() == "cpu" else 0,
            network=network,
            hidden=(HIDDEN,),
            lr=LEARNING_RATE,
            gamma=GAMMA,
            gae_lambda=LAMBDA,
            clip=CLIP,
            calls=work.steps // HORIZON,
            devices=work.devices,
        )
        program = Program(*make("pong", frame_skip=work.frame_skip), config)
        self._state = program.init()
        begin = time.perf_counter()
        self._run = program.run.lower(self._state).compile()
        self.compile_seconds = time.perf_counter() - begin

    def play(self) -> None:
        """Do the iterations and wait for their figures."""
        self._state, metrics = self._run(self._state)
        if not np.isfinite(np.asarray(metrics["loss"])).all():
            raise FloatingPointError("ppo: the loss is not finite")


class Torch:
    """PPO in PyTorch around Gymnasium's vector interface, in the manner of CleanRL.

    Own code; the order of things follows CleanRL's ``ppo.py``.

    Args:
        work: The work.
        ours: The games are our own behind that interface, the fastest there are, so that the
            difference is that of the training loops. Otherwise they are Python objects in a
            `SyncVectorEnv`, as CleanRL has them.

    Attributes:
        compile_seconds: 0; nothing is compiled.
    """

    def __init__(self, work: Work, *, ours: bool) -> None:
        import torch
        from torch import nn

        self.compile_seconds = 0.0
        self._torch = torch
        self._calls = work.steps // HORIZON
        self._envs = fast_games(work) if ours else slow_games(work)
        self._body = nn.Sequential(nn.Linear(8, HIDDEN), nn.GELU())
        self._actor, self._critic = nn.Linear(HIDDEN, 3), nn.Linear(HIDDEN, 1)
        modules = nn.ModuleList([self._body, self._actor, self._critic])
        self._parameters = list(modules.parameters())
        self._optimizer = torch.optim.Adam(self._parameters, lr=LEARNING_RATE, eps=1e-5)
        obs, _ = self._envs.reset(seed=0)
        self._obs = torch.as_tensor(np.asarray(obs))

    def play(self) -> None:
        """Do the iterations."""
        for _ in range(self._calls):
            self._learn(*self._collect())

    def _look(self, obs: Any) -> tuple[Any, Any]:
        hidden = self._body(obs)
        logits = self._actor(hidden)
        distribution = self._torch.distributions.Categorical(logits=logits)
        return distribution, self._critic(hidden)[..., 0]

    def _collect(self) -> tuple[Any, ...]:
        torch = self._torch
        rows: list[tuple[Any, ...]] = []
        for _ in range(HORIZON):
            with torch.no_grad():
                distribution, value = self._look(self._obs)
                action = distribution.sample()
                log_prob = distribution.log_prob(action)
            obs, reward, terminated, truncated, _ = self._envs.step(action.numpy())
            ended = torch.as_tensor(np.asarray(terminated | truncated), dtype=torch.float32)
            reward = torch.as_tensor(np.asarray(reward), dtype=torch.float32)
            rows.append((self._obs, action, log_prob, value, reward, ended))
            self._obs = torch.as_tensor(np.asarray(obs))
        with torch.no_grad():
            _, following = self._look(self._obs)
        seen, actions, log_probs, values, rewards, ends = map(torch.stack, zip(*rows, strict=True))
        advantages = torch.zeros_like(rewards)
        advantage = torch.zeros_like(following)
        for t in reversed(range(HORIZON)):
            going = 1 - ends[t]
            error = rewards[t] + GAMMA * following * going - values[t]
            advantage = error + GAMMA * LAMBDA * going * advantage
            advantages[t], following = advantage, values[t]
        return seen, actions, log_probs, values, advantages

    def _learn(self, *data: Any) -> None:
        torch = self._torch
        obs, actions, log_probs, values, advantages = (x.flatten(0, 1) for x in data)
        returns = advantages + values
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(obs)).chunk(MINIBATCHES):
                distribution, value = self._look(obs[rows])
                ratio = (distribution.log_prob(actions[rows]) - log_probs[rows]).exp()
                a = advantages[rows]
                a = (a - a.mean()) / (a.std() + 1e-8)
                policy = -torch.min(ratio * a, ratio.clamp(1 - CLIP, 1 + CLIP) * a).mean()
                error = 0.5 * (value - returns[rows]).square().mean()
                loss = policy + 0.5 * error - 0.01 * distribution.entropy().mean()
                self._optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self._parameters, 0.5)
                self._optimizer.step()


def fast_games(work: Work) -> Any:
    """Our Pong behind Gymnasium's vector interface."""
    import gymnasium

    import hybridenv.gym

    _ = hybridenv.gym.ENV_ID  # the import registers the environments
    return gymnasium.make_vec(
        "hybridenv/Pong-v0",
        num_envs=work.games,
        frame_skip=work.frame_skip,
        autoreset_mode="SameStep",
    )


def slow_games(work: Work) -> Any:
    """Pong as one would write it in Python, a game an object, in Gymnasium's `SyncVectorEnv`."""
    from hybridenv.gym.pong_reference import pong_references

    return pong_references(work.games, work.frame_skip)
