"""Vector environments of Gymnasium: plays run as lanes, in all three autoreset modes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array

from hybridenv.errors import TargetError
from hybridenv.trees import rows
from hybridenv.verify._record import Play, Recorder, Trajectory
from hybridenv.verify._target import Identity, Seen, Target

FINAL = ("final_obs", "final_info")


class VectorTarget(Target):
    """A vector environment whose every lane is compared with a plain one.

    A play that goes on after the end of an episode does so by the environment's own restarts, so
    that a restart of the wrong lane shows.

    Args:
        env: The vector environment.
        identity: Who it is.
    """

    vector = True

    def __init__(self, env: VectorEnv[Any, Any, Any], identity: Identity) -> None:
        self.identity = identity
        self.env = env
        self.observation_space = env.single_observation_space
        self.action_space = env.single_action_space
        self.batch = env.num_envs
        self._mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)

    def reset(self, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every lane; the answer is that of the first."""
        obs, info = self.env.reset() if seed is None else self.seeded([seed] * self.batch)
        return rows(obs, 0), _lane(info, 0)

    def seeded(self, seeds: list[int]) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every lane, each with a seed of its own.

        Raises:
            TargetError: The environment does not take a list of seeds.
        """
        try:
            obs, info = self.env.reset(seed=seeds)  # type: ignore[arg-type]  # its stub knows one seed only
        except Exception as error:
            raise TargetError(
                f"{self.identity.name}: reset does not take one seed for each lane ({error}), "
                "which a comparison of lanes needs"
            ) from error
        return obs, info

    def step(self, action: Any) -> Seen:
        """Play one step, the same in every lane; the answer is that of the first."""
        obs, reward, terminated, truncated, info = self.env.step(self._batched([action]))
        final = self._final(info, 0) if terminated[0] | truncated[0] else None
        obs = rows(obs, 0) if final is None else final[0]
        info = _lane(info, 0) if final is None else final[1]
        return obs, reward[0], terminated[0], truncated[0], info

    def rollouts(self, plays: Sequence[Play]) -> list[Trajectory]:
        """Play as many at once as there are lanes."""
        seen: list[Trajectory] = []
        for at in range(0, len(plays), self.batch):
            seen += _Lanes(self, plays[at : at + self.batch]).play()
        return seen

    def rollout(self, play: Play) -> Trajectory:
        """Play one play in the first lane."""
        return self.rollouts([play])[0]

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def _batched(self, actions: Sequence[Any]) -> Any:
        """One action for each lane; the last one stands for those without."""
        filled = [*actions, *[actions[-1]] * (self.batch - len(actions))]
        out: Any = create_empty_array(self.action_space, self.batch)
        return concatenate(self.action_space, filled, out)

    def _final(self, info: dict[str, Any], lane: int) -> tuple[Any, dict[str, Any]] | None:
        """The last observation and info of an episode that the same step restarted."""
        if self._mode is not AutoresetMode.SAME_STEP or "final_obs" not in info:
            return None
        last = info["final_obs"]
        obs = last[lane] if getattr(last, "dtype", None) == np.object_ else rows(last, lane)
        return obs, _lane(info.get("final_info", {}), lane)


class _Lanes:
    """Plays in progress, one a lane."""

    def __init__(self, target: VectorTarget, plays: Sequence[Play]) -> None:
        self.target, self.plays = target, plays
        self.records = [Recorder() for _ in plays]
        self.left = [play.restarts for play in plays]
        self.next = [0] * len(plays)
        self.done = [False] * len(plays)
        self.error: str | None = None

    def play(self) -> list[Trajectory]:
        """Play until every lane is done."""
        target, n = self.target, self.target.batch
        try:
            seeds = [play.seed for play in self.plays]
            obs, info = target.seeded([*seeds, *[seeds[-1]] * (n - len(seeds))])
            for lane in range(len(self.plays)):
                self.records[lane].reset(rows(obs, lane), _lane(info, lane), None)
                self._look(lane)
            while not all(self.done):
                self._step()
        except TargetError:
            raise
        except Exception as failure:  # whatever an environment raises is compared
            self.error = f"{type(failure).__name__}: {failure}"
        return [
            record.trajectory(error=None if done else self.error)
            for record, done in zip(self.records, self.done, strict=True)
        ]

    def _step(self) -> None:
        target, mode = self.target, self.target._mode
        resting = [record.ended for record in self.records]
        actions = [
            play.actions[min(at, len(play.actions) - 1)] if play.actions else self._idle()
            for play, at in zip(self.plays, self.next, strict=True)
        ]
        obs, reward, terminated, truncated, info = target.env.step(target._batched(actions))
        ended = np.asarray(terminated) | np.asarray(truncated)
        fresh = None
        if mode is AutoresetMode.DISABLED and ended.any():
            fresh = target.env.reset(options={"reset_mask": ended.copy()})
        for lane, record in enumerate(self.records):
            if self.done[lane]:
                continue
            if mode is AutoresetMode.NEXT_STEP and resting[lane]:
                record.reset(rows(obs, lane), _lane(info, lane), None)
                self.left[lane] -= 1
                self._look(lane)
                continue
            final = target._final(info, lane) if ended[lane] else None
            shown = (rows(obs, lane), _lane(info, lane)) if final is None else final
            self.next[lane] += 1
            record.step((shown[0], reward[lane], terminated[lane], truncated[lane], shown[1]), None)
            over = ended[lane] and self.left[lane] > 0
            if over and self.next[lane] < len(self.plays[lane].actions):
                again = fresh if fresh is not None else (obs, info)
                if mode is not AutoresetMode.NEXT_STEP:
                    record.reset(rows(again[0], lane), _lane(again[1], lane), None)
                    self.left[lane] -= 1
            self._look(lane)

    def _look(self, lane: int) -> None:
        """Note whether a lane is done."""
        exhausted = self.next[lane] >= len(self.plays[lane].actions)
        self.done[lane] = exhausted or (self.records[lane].ended and self.left[lane] == 0)

    def _idle(self) -> Any:
        return self.target.action_space.sample()


def _lane(info: dict[str, Any], lane: int) -> dict[str, Any]:
    """The info of one lane: what its mask says it has."""
    found = {}
    for key, values in info.items():
        if key.startswith("_") or key in FINAL:
            continue
        mask = info.get(f"_{key}")
        if mask is not None and not mask[lane]:
            continue
        found[key] = _lane(values, lane) if isinstance(values, dict) else values[lane]
    return found
