"""`GameBoyVectorEnv`: n Game Boys behind Gymnasium's vector interface."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hybridenv.batch import GameBoyBatch, RomSource
from hybridenv.clock import FRAMES_PER_SECOND
from hybridenv.errors import ArgumentError
from hybridenv.gym._episodes import (
    Bools,
    Info,
    final_infos,
    masked,
    parse_mode,
    parse_render_mode,
    parse_reset_mask,
    refuse_ended,
)
from hybridenv.gym._fields import FieldReader
from hybridenv.gym.actions import DEFAULT_ACTIONS, Actions, ActionTable
from hybridenv.gym.rewards import RewardFunction, RewardHook
from hybridenv.task import Task
from hybridenv.tasks import POLAR_POST

Pixels: TypeAlias = NDArray[np.uint8]

OBS_HIGH = {"shades": 3, "rgb": 255, "packed": 255}
"""Largest value in an observation, by kind."""


class GameBoyVectorEnv(VectorEnv[Pixels, NDArray[np.integer[Any]], NDArray[Any]]):
    """n Game Boys that run one ROM (or one each), stepped together without a Python loop.

    Args:
        num_envs: Number of machines n, at least 1.
        rom: As in `hybridenv.GameBoyBatch`; `None` plays the embedded game.
        task: Reward, ends and start scripts, evaluated in Rust. `None` means the embedded game's
            own task where `rom` is `None`; otherwise no reward and no end.
        actions: The button combinations that a `Discrete` action chooses from, each written
            like `"right+a"` (`""` presses nothing), or `"buttons"` for `MultiBinary(8)`: Right,
            Left, Up, Down, A, B, Select, Start.
        reward_fn: Escape hatch for what a `Task` cannot say, see `RewardFunction`. Its rewards
            are added to the task's, its flags are or-ed with them.
        ram_addresses: The m addresses whose bytes `reward_fn` receives, each 0 to 0xFFFF; only
            together with it.
        max_episode_steps: Truncate an episode after so many steps; `None` leaves that to the
            task.
        autoreset_mode: What happens after the end of an episode. `NEXT_STEP` (the default)
            resets in the next `step`, which ignores that machine's action; `SAME_STEP` resets at
            once and hands the last observation over in `info["final_obs"]`; `DISABLED` leaves it
            to `reset(options={"reset_mask": mask})`. A member, its name or its value.
        render_mode: `None` or `"rgb_array"`.
        frame_skip: Frames a step, at least 1.
        press_frames: For how many of them the buttons are held, see `hybridenv.GameBoyBatch`.
        obs: `"shades"` (uint8[n, 144, 160], 0 to 3), `"rgb"` (uint8[n, 144, 160, 3]) or
            `"packed"` (uint8[n, 144, 40], four pixels a byte).
        palette: Four RGB colours, lightest first, for `obs="rgb"` and for `render`.
        num_threads: Worker threads; `None` takes one a core. Results never depend on it.
        profile: `"hardware"` or `"pyboy"`.
        model: `"auto"`, `"dmg"` or `"cgb"`, see `hybridenv.GameBoyBatch`.
        noop_max: Largest number of frames without input before an episode, drawn from the seed.

    Attributes:
        batch: The `hybridenv.GameBoyBatch` underneath: memory, registers, states, screens.
        metadata: This instance's own copy, with its `autoreset_mode` and `render_fps`.

    Raises:
        HybridEnvError: An option is not one of the above; the message names it.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # Gymnasium's protocol; instances own a copy
        "render_modes": ["rgb_array"],
        "render_fps": FRAMES_PER_SECOND / 24,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        rom: RomSource | Sequence[RomSource] | None = None,
        task: Task | None = None,
        actions: Actions = DEFAULT_ACTIONS,
        reward_fn: RewardFunction | None = None,
        ram_addresses: Sequence[int] = (),
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        frame_skip: int = 24,
        press_frames: int | None = None,
        obs: Literal["shades", "rgb", "packed"] = "shades",
        palette: Sequence[Sequence[int]] | None = None,
        num_threads: int | None = None,
        profile: Literal["hardware", "pyboy"] = "hardware",
        model: Literal["auto", "dmg", "cgb"] = "auto",
        noop_max: int = 0,
    ) -> None:
        self._mode = parse_mode(autoreset_mode)
        self._table = ActionTable(actions)
        self._hook = None if reward_fn is None else RewardHook(reward_fn, ram_addresses)
        if reward_fn is None and np.size(ram_addresses):
            raise ArgumentError(
                f"ram_addresses: got {ram_addresses!r} without a reward_fn, expected none"
            )
        if task is not None and not isinstance(task, Task):
            raise ArgumentError(f"task: got {type(task).__name__}, expected a Task or None")
        if task is None and rom is None:
            task = POLAR_POST
        if max_episode_steps is not None:
            task = replace(task or Task(fields={}), max_steps=max_episode_steps)
        self.batch = GameBoyBatch(
            rom,
            num_envs,
            frame_skip=frame_skip,
            press_frames=press_frames,
            obs=obs,
            palette=palette,
            num_threads=num_threads,
            profile=profile,
            model=model,
            seed=secrets.randbits(63),
            task=task,
            noop_max=noop_max,
        )
        self.num_envs = num_envs
        self.render_mode = parse_render_mode(render_mode)
        self.metadata = {
            **type(self).metadata,
            "render_fps": FRAMES_PER_SECOND / frame_skip,
            "autoreset_mode": self._mode,
        }
        self.single_action_space = self._table.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.single_observation_space = spaces.Box(
            0, OBS_HIGH[obs], self.batch.obs_shape[1:], np.uint8
        )
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._reader = FieldReader(task)
        self._ended = np.zeros(num_envs, dtype=np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Pixels, Info]:
        """Start new episodes.

        Args:
            seed: Machine i is seeded with `seed + i`, or with `seed[i]`. `None`, for one machine or
                for all, goes on with the machine's own stream, which at first nobody can foresee.
            options: `None`, or `{"reset_mask": bool[n]}` to reset only the machines where the
                mask is true; the others stay as they are. Never changed.

        Returns:
            The observation of all machines (uint8[n, ...], owned by the caller) and the info,
            which has the same keys and masks as that of `step` and holds for all machines.

        Raises:
            ArgumentError: `options` is no dict or has another key, or the mask another shape or
                dtype.
            HybridEnvError: As `hybridenv.GameBoyBatch.reset`.
        """
        mask = parse_reset_mask(options, self.num_envs)
        obs = self.batch.reset(seed=seed, mask=mask)
        self._ended[slice(None) if mask is None else mask] = False
        if self._hook is not None:
            self._hook.start(self.batch)
        return obs, masked(self._reader.read(self.batch), np.ones_like(self._ended))

    def step(
        self, actions: NDArray[np.integer[Any]]
    ) -> tuple[Pixels, NDArray[np.float32], Bools, Bools, Info]:
        """Run one step of every machine.

        Args:
            actions: One action a machine, see `action_space`. Never changed.

        Returns:
            Observation uint8[n, ...], reward float32[n], terminated bool[n], truncated bool[n]
            and info, in which every key `k` has a mask `_k` (bool[n]) of the machines that it
            holds for. Like the observation, it is that of the new episode for a machine that has
            started over. All arrays belong to the caller.

        Raises:
            ActionError: `actions` has another shape, kind of number or value.
            NotResetError: The mode is `DISABLED` and an episode that has ended was not reset.
            HybridEnvError: As `hybridenv.GameBoyBatch.step`.
        """
        buttons = self._table.to_buttons(actions, self.num_envs)
        starting = self._ended
        refuse_ended(self._mode, starting, "machines")
        obs, reward, terminated, truncated, columns = self.batch.step(buttons, restart=starting)
        self._ended = terminated | truncated  # holds even where the hook raises
        if self._hook is not None:
            more, end, cut = self._hook.judge(self.batch)
            running = ~starting
            reward = reward + np.where(running, more, np.float32(0))
            terminated = terminated | end & running
            truncated = truncated | cut & running

        ended = terminated | truncated
        if self._mode is AutoresetMode.SAME_STEP and ended.any():
            self._ended = np.zeros_like(ended)
            final = final_infos(obs, columns, ended)
            obs = self.batch.reset(mask=ended)
            if self._hook is not None:
                self._hook.start(self.batch)
            info = final | masked(self._reader.read(self.batch), np.ones_like(ended))
        else:
            self._ended = ended
            info = masked(columns, np.ones_like(ended))
        return obs, reward, terminated, truncated, info

    def render(self) -> tuple[Pixels, ...] | None:
        """Show what the machines show.

        Returns:
            One uint8[144, 160, 3] a machine, or `None` where `render_mode` is `None`.
        """
        if self.render_mode is None:
            return None
        return tuple(self.batch.screen("rgb"))

    def close_extras(self, **_: Any) -> None:
        """Free the machines; `close` calls this once.

        Args:
            **_: Ignored; Gymnasium hands on what `close` was given.
        """
        if hasattr(self, "batch"):  # absent where the constructor refused its arguments
            self.batch.close()
