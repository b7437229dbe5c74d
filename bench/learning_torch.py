"""PPO in PyTorch around Gymnasium, in the manner of CleanRL; `bench.learning` starts it.

Own code; the order of things follows CleanRL's ``ppo_continuous_action.py``: observations and
rewards are normalised by what the run has seen, actor and critic are networks of their own, and the
step size falls to zero. Unlike there, an episode that is cut off counts the value of where it would
have gone on.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.worker import serve

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """A run; the names and their meanings are those of `hybridenv.train.Config`."""

    seed: int
    steps: int
    n_envs: int
    horizon: int
    epochs: int
    minibatches: int
    gamma: float
    gae_lambda: float
    clip: float
    value_coef: float
    lr: float
    max_grad_norm: float
    hidden: tuple[int, ...]
    initial_std: float

    @property
    def iterations(self) -> int:
        """Iterations of the run."""
        return -(-self.steps // (self.n_envs * self.horizon))


class Moments:
    """Mean and variance of all rows so far, updated by those of a batch."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean: Any = np.zeros(shape)
        self.variance: Any = np.ones(shape)
        self.count = 1e-4

    def see(self, rows: Floats) -> None:
        """Take in float64[n, ...]."""
        count = self.count + len(rows)
        step = rows.mean(0) - self.mean
        share = len(rows) / count
        spread = rows.var(0) - self.variance
        self.variance = self.variance + share * spread + share * (1 - share) * step**2
        self.mean = self.mean + share * step
        self.count = count


class Run:
    """A training run in progress.

    Args:
        env: Id of Gymnasium's environment.
        settings: The run.
    """

    def __init__(self, env: str, settings: Settings) -> None:
        import gymnasium
        import torch
        from gymnasium.vector import AutoresetMode

        torch.manual_seed(settings.seed)
        torch.set_num_threads(1)
        self._torch, self._s = torch, settings
        self._envs = gymnasium.make_vec(
            env,
            num_envs=settings.n_envs,
            vectorization_mode="sync",
            vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        )
        space, action = self._envs.single_observation_space, self._envs.single_action_space
        inputs, self._outputs = int(np.prod(space.shape or ())), int(np.prod(action.shape or ()))
        self._actor = self._network(inputs, self._outputs, 0.01)
        self._critic = self._network(inputs, 1, 1.0)
        self._log_std = torch.nn.Parameter(
            torch.full((self._outputs,), float(np.log(settings.initial_std)))
        )
        self._parameters = [*self._actor.parameters(), self._log_std, *self._critic.parameters()]
        self._optimizer = torch.optim.Adam(self._parameters, lr=settings.lr, eps=1e-5)
        self._seen, self._paid = Moments((inputs,)), Moments(())
        self._sums = np.zeros(settings.n_envs)
        self._totals = np.zeros(settings.n_envs)
        self._done, self._seconds = 0, 0.0
        self._raw = self._envs.reset(seed=settings.seed)[0]
        self._seen.see(self._raw)

    def _network(self, inputs: int, outputs: int, scale: float) -> Any:
        nn = self._torch.nn
        layers: list[Any] = []
        for size in self._s.hidden:
            layers += [self._linear(inputs, size, 2**0.5), nn.Tanh()]
            inputs = size
        return nn.Sequential(*layers, self._linear(inputs, outputs, scale))

    def _linear(self, inputs: int, outputs: int, scale: float) -> Any:
        layer = self._torch.nn.Linear(inputs, outputs)
        self._torch.nn.init.orthogonal_(layer.weight, scale)
        self._torch.nn.init.zeros_(layer.bias)
        return layer

    def _normal(self, raw: Floats) -> Any:
        scaled = (raw - self._seen.mean) / np.sqrt(self._seen.variance + 1e-8)
        return self._torch.as_tensor(np.clip(scaled, -10, 10), dtype=self._torch.float32)

    def _policy(self, obs: Any) -> Any:
        return self._torch.distributions.Normal(self._actor(obs), self._log_std.exp())

    def train(self, iterations: int) -> list[dict[str, float | None]]:
        """Go on for so many iterations, at most to the end of the run.

        Returns:
            For each the steps and seconds so far, and the mean return of the episodes that ended
            in it, or `None`.
        """
        s = self._s
        rows: list[dict[str, float | None]] = []
        for _ in range(min(iterations, s.iterations - self._done)):
            begin = time.perf_counter()
            self._optimizer.param_groups[0]["lr"] = s.lr * (1 - self._done / s.iterations)
            data, ended = self._collect()
            self._learn(*data)
            self._done += 1
            self._seconds += time.perf_counter() - begin
            rows.append(
                {
                    "steps": self._done * s.n_envs * s.horizon,
                    "return": float(np.mean(ended)) if ended else None,
                    "seconds": self._seconds,
                }
            )
        return rows

    def evaluate(self, episodes: int, seed: int) -> list[float]:
        """Return the returns of the likeliest actions, in as many whole episodes."""
        envs = self._envs
        totals: list[float] = []
        while len(totals) < episodes:
            raw, _ = envs.reset(seed=seed + len(totals))
            total, alive = np.zeros(self._s.n_envs), np.ones(self._s.n_envs, bool)
            while alive.any():
                with self._torch.no_grad():
                    action = self._actor(self._normal(raw)).clamp(-1, 1).numpy()
                raw, reward, terminated, truncated, _ = envs.step(action)
                total += np.where(alive, reward, 0)
                alive &= ~(terminated | truncated)
            totals += total.tolist()
        return totals[:episodes]

    def _collect(self) -> tuple[tuple[Any, ...], list[float]]:
        torch, s = self._torch, self._s
        rows: list[tuple[Any, ...]] = []
        ended: list[float] = []
        obs = self._normal(self._raw)
        for _ in range(s.horizon):
            with torch.no_grad():
                policy = self._policy(obs)
                action = policy.sample()
                log_prob, value = policy.log_prob(action).sum(1), self._critic(obs)[:, 0]
            raw, reward, terminated, truncated, info = self._envs.step(action.clamp(-1, 1).numpy())
            over = terminated | truncated
            self._totals += reward
            self._sums = s.gamma * self._sums + reward
            self._paid.see(self._sums)
            scaled = np.clip(reward / np.sqrt(self._paid.variance + 1e-8), -10, 10)
            final = raw
            if over.any():
                ended += self._totals[over].tolist()
                self._totals[over] = self._sums[over] = 0
                final = raw.copy()
                final[over] = np.stack(info["final_obs"][over])
            self._seen.see(raw)
            with torch.no_grad():
                following = self._critic(self._normal(final))[:, 0]
            flags = [torch.as_tensor(x, dtype=torch.float32) for x in (scaled, terminated, over)]
            rows.append((obs, action, log_prob, value, following, *flags))
            self._raw, obs = raw, self._normal(raw)
        seen, actions, log_probs, values, next_values, rewards, ends, cuts = map(
            torch.stack, zip(*rows, strict=True)
        )
        advantages = torch.zeros_like(rewards)
        advantage = torch.zeros(s.n_envs)
        for t in reversed(range(s.horizon)):
            error = rewards[t] + s.gamma * next_values[t] * (1 - ends[t]) - values[t]
            advantage = error + s.gamma * s.gae_lambda * (1 - cuts[t]) * advantage
            advantages[t] = advantage
        return (seen, actions, log_probs, values, advantages), ended

    def _learn(self, *data: Any) -> None:
        torch, s = self._torch, self._s
        obs, actions, log_probs, values, advantages = (x.flatten(0, 1) for x in data)
        returns = advantages + values
        for _ in range(s.epochs):
            for rows in torch.randperm(len(obs)).chunk(s.minibatches):
                log_prob = self._policy(obs[rows]).log_prob(actions[rows]).sum(1)
                ratio = (log_prob - log_probs[rows]).exp()
                a = advantages[rows]
                a = (a - a.mean()) / (a.std() + 1e-8)
                policy = -torch.min(ratio * a, ratio.clamp(1 - s.clip, 1 + s.clip) * a).mean()
                error = (self._critic(obs[rows])[:, 0] - returns[rows]).square().mean()
                loss = policy + s.value_coef * 0.5 * error
                self._optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self._parameters, s.max_grad_norm)
                self._optimizer.step()

    def close(self) -> None:
        """Close the environments."""
        self._envs.close()


class Session:
    """What the worker holds between commands."""

    def __init__(self) -> None:
        self._run: Run | None = None

    def open(self, env: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Begin a run, and say with which versions of what."""
        from importlib.metadata import version

        self._run = Run(env, Settings(**settings | {"hidden": tuple(settings["hidden"])}))
        return {"versions": {name: version(name) for name in ("torch", "gymnasium", "mujoco")}}

    def train(self, iterations: int) -> dict[str, Any]:
        """Go on for so many iterations; no rows are left at the end of the run."""
        return {"rows": self._opened().train(iterations)}

    def evaluate(self, episodes: int, seed: int) -> dict[str, Any]:
        """Return the returns of whole episodes."""
        return {"returns": self._opened().evaluate(episodes, seed)}

    def _opened(self) -> Run:
        if self._run is None:
            raise RuntimeError("no run is open")
        return self._run

    def close(self) -> None:
        """Close the run."""
        if self._run is not None:
            self._run.close()


if __name__ == "__main__":
    serve(Session(), sys.argv[1:])
