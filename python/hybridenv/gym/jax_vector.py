"""`JaxVectorEnv`: any environment of `hybridenv.envs` behind Gymnasium's vector interface."""

import secrets
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from jax import Array
from numpy.typing import NDArray

from hybridenv.checks import SEEDS, seed_or_seeds, whole
from hybridenv.envs import ChanceEnvironment, Discrete, Environment, Space, TimeLimit, make
from hybridenv.envs._contract import with_chance
from hybridenv.envs._wrappers import choose
from hybridenv.errors import ActionError, ArgumentError, ClosedError, NotResetError
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

Lanes: TypeAlias = Any
"""The state of every game and its key, as one pytree with a leading axis of n."""

DEFAULT_FPS = 30.0
"""Pictures a second of a film, where the environment does not say."""


class JaxVectorEnv(VectorEnv[NDArray[Any], NDArray[Any], NDArray[Any]]):
    """n games of a JAX environment, stepped together by one compiled program.

    Each game owns a stream of chance, so what it does depends on its seed and its actions, and
    not on the number of games or on the autoreset mode.

    Args:
        env: Name of an environment, see `hybridenv.make`, or one of your own.
        num_envs: Number of games n, 1 to 16,777,216.
        params: Parameters; `None` takes the default ones.
        max_episode_steps: Truncate an episode after so many steps; `None` leaves that to the
            environment.
        autoreset_mode: `NEXT_STEP` (the default), `SAME_STEP` or `DISABLED`: a member, its name
            or its value, as for `GameBoyVectorEnv`.
        render_mode: `None` or `"rgb_array"`, for environments that have a picture.
        **options: Options of a named environment, such as `frame_skip`.

    Attributes:
        env: The environment of one game, without Gymnasium.
        params: Its parameters.
        metadata: This instance's own copy, with its `autoreset_mode` and `render_fps`.

    Raises:
        ArgumentError: An option is not one of the above; the message names it.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # Gymnasium's protocol; instances own a copy
        "render_modes": ["rgb_array"],
        "render_fps": DEFAULT_FPS,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        env: str | Environment[Any, Any] | ChanceEnvironment[Any, Any],
        num_envs: int = 1,
        *,
        params: Any = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self._mode = parse_mode(autoreset_mode)
        self.num_envs = whole("num_envs", num_envs, 1, 2**24)
        self.env = _environment(env, options)
        self.params = self.env.default_params if params is None else params
        self._playing = self.env
        if max_episode_steps is not None:
            self._playing = TimeLimit(self.env, max_episode_steps)
        self.render_mode = parse_render_mode(render_mode)
        self._picture = getattr(self.env.unwrapped, "render", None)
        if render_mode is not None and self._picture is None:
            raise ArgumentError(
                f"render_mode: got {render_mode!r}, expected None: {self.env.name} has no picture"
            )
        self.metadata = {
            **type(self).metadata,
            "render_fps": getattr(self.env.unwrapped, "render_fps", DEFAULT_FPS),
            "autoreset_mode": self._mode,
        }
        self._space = self.env.action_space(self.params)
        self.single_action_space = self._space.to_gymnasium()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.single_observation_space = self.env.observation_space(self.params).to_gymnasium()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

        first = secrets.randbits(63)
        self._keys = _keys([first + i for i in range(self.num_envs)])
        self._state: Any = None
        self._obs: Any = None
        self._fresh: Bools = np.ones(self.num_envs, np.bool_)  # games that have a new seed
        self._ended: Bools = np.zeros(self.num_envs, np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[Any], Info]:
        """Start new episodes.

        Args:
            seed: Game i is seeded with `seed + i`, or with `seed[i]`. `None`, for one game or for
                all, goes on with the game's own stream, which at first nobody can foresee.
            options: `None`, or `{"reset_mask": bool[n]}` to reset only the games where the mask is
                true; the others stay as they are. Never changed.

        Returns:
            The observations of all games (owned by the caller) and the info: `"action_mask"`
            (bool[n, actions], see `step`), where the environment says what is legal.

        Raises:
            ArgumentError: `seed` or `options` is something else.
            ClosedError: The environment is closed.
            NotResetError: A mask leaves games out that never had an episode.
        """
        self._check_open("reset")
        mask = parse_reset_mask(options, self.num_envs)
        seeds = seed_or_seeds(seed, self.num_envs)
        if mask is None:
            mask = np.ones(self.num_envs, np.bool_)
        elif self._state is None and not mask.all():
            raise NotResetError(
                "reset: got a reset_mask before the first episodes, expected a reset of all games"
            )
        self._seed(seeds, mask)
        if self._state is None:
            self._keys, self._state, self._obs = _start_all(self._playing, self._keys, self.params)
        else:
            self._keys, self._state, self._obs = self._start_again(mask)
        self._fresh = np.zeros(self.num_envs, np.bool_)
        self._ended = self._ended & ~mask
        return np.array(self._obs), self._legal()

    def step(self, actions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], Bools, Bools, Info]:
        """Play one step of every game.

        Args:
            actions: One action a game, see `action_space`. Never changed.

        Returns:
            Observation [n, ...], reward float32[n], terminated bool[n], truncated bool[n] and
            info, in which every key `k` has a mask `_k` (bool[n]) of the games that it holds for.
            Where the environment says what is legal, `info["action_mask"]` does for the next step.
            All arrays belong to the caller.

        Raises:
            ActionError: `actions` has another shape, kind of number or value.
            ClosedError: The environment is closed.
            NotResetError: There was no `reset`, or the mode is `DISABLED` and an episode that has
                ended was not reset.
        """
        self._check_open("step")
        if self._state is None:
            raise NotResetError("step: expected a reset first")
        starting = self._ended
        refuse_ended(self._mode, starting, "games")
        checked = check_actions(self._space, actions, self.num_envs)
        self._keys, self._state, self._obs, *flags, columns = _step(
            self._playing, self._keys, self._state, checked, starting, self.params
        )
        obs, reward, terminated, truncated = map(np.array, (self._obs, *flags))
        infos = {name: np.array(column) for name, column in columns.items()}
        ended = terminated | truncated
        if self._mode is not AutoresetMode.SAME_STEP:
            self._ended = ended
            return obs, reward, terminated, truncated, masked(infos, ~starting) | self._legal()
        info = masked(infos, np.ones_like(ended))
        if ended.any():
            info |= final_infos(obs, infos, ended)
            self._keys, self._state, self._obs = self._start_again(ended)
            obs = np.array(self._obs)
        return obs, reward, terminated, truncated, info | self._legal()

    @property
    def shows_legal_actions(self) -> bool:
        """Whether observations begin with the mask, see `ChanceEnvironment`."""
        return self.env.shows_legal_actions

    def score(self, reward: NDArray[Any]) -> NDArray[Any]:
        """Say how much of rewards [n] counts as score, see `ChanceEnvironment`."""
        return np.asarray(self.env.score(jnp.asarray(reward)))

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Show the games.

        Returns:
            One uint8[h, w, 3] a game, or `None` where `render_mode` is `None`.

        Raises:
            ClosedError: The environment is closed.
            NotResetError: There was no `reset`.
        """
        if self.render_mode is None or self._picture is None:
            return None
        self._check_open("render")
        if self._state is None:
            raise NotResetError("render: expected a reset first")
        state = getattr(self._state, "inner", self._state)
        games = jax.tree.map(np.asarray, state)
        return tuple(
            self._picture(jax.tree.map(lambda column, i=i: column[i], games), self.params)
            for i in range(self.num_envs)
        )

    def close_extras(self, **_: Any) -> None:
        """Let go of the games; `close` calls this once.

        Args:
            **_: Ignored; Gymnasium hands on what `close` was given.
        """
        self._state = self._obs = None

    def _check_open(self, call: str) -> None:
        if self.closed:
            raise ClosedError(f"{call}: the environment is closed")

    def _start_again(self, mask: Bools) -> Lanes:
        return _restart(
            self._playing, self._keys, self._state, self._obs, mask, self._fresh, self.params
        )

    def _legal(self) -> Info:
        """The actions that are legal now, as infos have it; nothing where all always are."""
        mask = _legal_actions(self._playing, self._state, self.params)
        present = np.ones(self.num_envs, np.bool_)
        return {} if mask is None else masked({"action_mask": np.array(mask)}, present)

    def _seed(self, seeds: int | list[int | None] | None, mask: Bools) -> None:
        """Give new streams to the games of the mask that have a seed."""
        if seeds is None:
            return
        if isinstance(seeds, int):
            seeds = [(seeds + i) % SEEDS for i in range(self.num_envs)]
        given = mask & np.array([one is not None for one in seeds])
        keys = _keys([one or 0 for one in seeds])
        self._keys = choose(jnp.asarray(given), keys, self._keys)
        self._fresh = self._fresh | given


def check_actions(space: Space, actions: object, n: int) -> NDArray[Any]:
    """Check the actions of n games.

    Args:
        space: The space of one action.
        actions: What a caller gave: anything that NumPy reads as an array of n elements.
        n: How many.

    Returns:
        The actions in the space's dtype, shape (n, ...).

    Raises:
        ActionError: The shape, the kind of number or a value is wrong.
    """
    try:
        array = np.asarray(actions)
    except ValueError as error:  # rows of different lengths
        raise ActionError(f"actions: expected one array, but {error}") from None
    shape = (n, *space.shape)
    if array.shape != shape:
        raise ActionError(f"actions: got shape {array.shape}, expected {shape}")
    if isinstance(space, Discrete) or space.dtype.kind in "iu":
        kinds, name = "iu", "integers"
    else:
        kinds, name = "iuf", "real numbers"
    if array.dtype.kind not in kinds:
        raise ActionError(f"actions: got dtype {array.dtype}, expected {name}")
    if isinstance(space, Discrete):
        wrong, expected = (array < 0) | (array >= space.n), f"0 to {space.n - 1}"
    else:
        wrong, expected = ~np.isfinite(array), "finite numbers"
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ActionError(f"actions{list(where)}: got {array[where]}, expected {expected}")
    return array.astype(space.dtype)


def _environment(env: Any, options: dict[str, Any]) -> ChanceEnvironment[Any, Any]:
    if isinstance(env, str):
        return make(env, **options)[0]
    if options:
        raise ArgumentError(
            f"options: got {sorted(options)} for an environment that is made already, expected none"
        )
    if not isinstance(env, Environment):
        raise ArgumentError(
            f"env: got {type(env).__name__}, expected the name of an environment or one with the "
            "methods of hybridenv.envs.Environment"
        )
    return with_chance(env)


def _keys(seeds: Sequence[int]) -> Array:
    """Typed keys, one for each whole number below 2**64; `jax.random.key` of it below 2**32."""
    numbers = np.array([seed % SEEDS for seed in seeds], np.uint64)
    halves = np.stack((numbers >> np.uint64(32), numbers & np.uint64(2**32 - 1)), axis=-1)
    words = jnp.asarray(halves.astype(np.uint32))
    keys: Array = jax.random.wrap_key_data(words, impl="threefry2x32")
    return keys


def _next(keys: Array) -> tuple[Array, Array]:
    """Go on with each stream: the streams, and a key of each for what happens now."""
    both = jax.vmap(jax.random.split)(keys)
    return both[:, 0], both[:, 1]


@partial(jax.jit, static_argnums=0)
def _start_all(env: ChanceEnvironment[Any, Any], keys: Array, params: Any) -> Lanes:
    keys, now = _next(keys)
    obs, state = jax.vmap(env.reset, (0, None))(now, params)
    return keys, state, obs


@partial(jax.jit, static_argnums=0)
def _legal_actions(env: ChanceEnvironment[Any, Any], state: Any, params: Any) -> Array | None:
    return jax.vmap(env.legal_actions, (0, None))(state, params)


@partial(jax.jit, static_argnums=0)
def _restart(
    env: ChanceEnvironment[Any, Any],
    keys: Array,
    state: Any,
    obs: Any,
    mask: Array,
    fresh: Array,
    params: Any,
) -> Lanes:
    """Start the next episodes of some games; those with a new seed start as at the beginning."""

    def one(key: Array, state: Any, fresh: Array) -> Any:
        draws = env.reset_draws(key, params)
        again = env.restart_with(draws, state, params)
        return choose(fresh, env.reset_with(draws, params), again)

    after, now = _next(keys)
    new_obs, new_state = jax.vmap(one)(now, state, fresh)
    return choose(mask, (after, new_state, new_obs), (keys, state, obs))


@partial(jax.jit, static_argnums=0)
def _step(
    env: ChanceEnvironment[Any, Any],
    keys: Array,
    state: Any,
    actions: Array,
    starting: Array,
    params: Any,
) -> Lanes:
    """Play a step of the games that are not starting over, and start those that are."""

    def one(key: Array, state: Any, action: Array, starting: Array) -> Any:
        again = env.restart_with(env.reset_draws(key, params), state, params)
        obs, after, reward, terminated, truncated, info = env.step(key, state, action, params)
        obs, after = choose(starting, again, (obs, after))
        nothing = jnp.zeros_like(terminated)
        end = choose(starting, (nothing, nothing), (terminated, truncated))
        return after, obs, jnp.where(starting, 0, reward).astype(jnp.float32), *end, info

    keys, now = _next(keys)
    return keys, *jax.vmap(one)(now, state, actions, starting)
