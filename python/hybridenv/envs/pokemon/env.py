"""Battles as an environment: one player against an opponent that is part of it."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cache, partial
from typing import Any, Literal, Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.custom_batching import custom_vmap

from hybridenv.checks import choice, real
from hybridenv.envs._contract import ChanceEnvironment, Info
from hybridenv.envs._fusion import once
from hybridenv.envs._spaces import Box, Discrete
from hybridenv.envs.pokemon import engine, observe
from hybridenv.envs.pokemon.battles import DRAWS
from hybridenv.envs.pokemon.choice import ACTIONS
from hybridenv.envs.pokemon.lanes import flag, most
from hybridenv.envs.pokemon.policies import POLICIES, Policy
from hybridenv.envs.pokemon.prng import scale
from hybridenv.envs.pokemon.state import FIELD, MON, TEAM, State, Winner, unpack
from hybridenv.envs.pokemon.teams import Pool, party, random_battle
from hybridenv.errors import ArgumentError

Observation = Literal["known", "full"]
Function = TypeVar("Function", bound=Callable[..., Any])

AGENT, OPPONENT = 0, 1
MOST_TEAMS = 2**16
WEIGHTS = 256
"""In how many parts `PokemonEnv.shaping` is divided."""
WHOLE = 2**13
"""In how many parts the hit points of a team of six are."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class PokemonParams:
    """The teams that battles are fought with; each battle draws one of each.

    Attributes:
        ours: int32[30, teams], see `teams.Pool.words`: of the agent.
        theirs: int32[30, teams]: of the opponent.
    """

    ours: Array
    theirs: Array

    @classmethod
    def of(cls, ours: Pool, theirs: Pool | None = None) -> Self:
        """Take teams of pools.

        Args:
            ours: Of the agent, at most 65,536 teams.
            theirs: Of the opponent; the same where it is `None`.

        Raises:
            ArgumentError: There are more or none, or one is no pool.
        """
        pools = (ours, ours if theirs is None else theirs)
        for name, pool in zip(("ours", "theirs"), pools, strict=True):
            if not isinstance(pool, Pool):
                raise ArgumentError(
                    f"{name}: got {type(pool).__name__}, expected a Pool, as teams.pool makes it"
                )
            if not 1 <= len(pool) <= MOST_TEAMS:
                raise ArgumentError(f"{name}: got {len(pool)} teams, expected 1 to {MOST_TEAMS}")
        with jax.ensure_compile_time_eval():
            words = [jnp.asarray(pool.words) for pool in pools]
        return cls(*words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PokemonParams) and all(
            np.array_equal(a, b) for a, b in ((self.ours, other.ours), (self.theirs, other.theirs))
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash


@dataclass(frozen=True)
class PokemonEnv(ChanceEnvironment[State, PokemonParams]):
    """Generation 1 battles as Pokémon Showdown plays them, against an opponent.

    A step is a decision of both players. Actions 0 to 3 are moves, 4 to 9 switches to a position
    of the team (4, the one in battle, is never legal). Where only the opponent has to replace a
    Pokémon, the agent's only legal action is 0, which then says nothing. An action that is not
    legal counts as the first one that is.

    The reward is 1 for a victory, -1 for a defeat and 0 for a tie, at the end, and `shaping` times
    what the agent's share of hit points gained on the opponent's.

    Args:
        opponent: A name of `policies.POLICIES`, or a function like these; it must be hashable.
        observation: `"known"`, what the agent's player would know, or `"full"`, see `observe`.
        shaping: Weight of hit points in the reward, 0 to 1, in steps of 1/256. It adds up to at
            most that over a battle, so that winning always counts most.

    Raises:
        ArgumentError: An option is not one of these.
    """

    opponent: str | Policy = "max_damage"
    _: KW_ONLY
    observation: Observation = "known"
    shaping: float = 0.0

    def __post_init__(self) -> None:
        named = isinstance(self.opponent, str) and self.opponent in POLICIES
        if not callable(self.opponent) and not named:
            names = ", ".join(map(repr, POLICIES))
            raise ArgumentError(
                f"opponent: got {self.opponent!r}, expected one of {names}, or a function"
            )
        choice("observation", self.observation, Observation)
        if not 0 <= real("shaping", self.shaping) <= 1:
            raise ArgumentError(f"shaping: got {self.shaping}, expected 0 to 1")

    @property
    def name(self) -> str:
        """`"pokemon"`."""
        return "pokemon"

    @property
    def shows_legal_actions(self) -> bool:
        """True: the first ten entries, see `observe.vector`."""
        return True

    def score(self, reward: Array) -> Array:
        """Count battles won less battles lost, without what hit points pay.

        Exact without `shaping`. With it, a step in which small teams lose more than half of all
        their hit points counts, too.
        """
        return jnp.round(reward)

    @property
    def default_params(self) -> PokemonParams:
        """Teams of Showdown's random battles for both."""
        return _random_battles()

    def observation_space(self, params: PokemonParams) -> Box:
        """float32[n], -1 to 1, see `observe.vector` and `observe.full_vector`."""
        del params
        return Box(-1, 1, (observe.size(self.observation == "full"),))

    def action_space(self, params: PokemonParams) -> Discrete:
        """Ten actions."""
        del params
        return Discrete(ACTIONS)

    def reset_draws(self, key: Array, params: PokemonParams, shape: tuple[int, ...] = ()) -> Array:
        """Draw the teams and the generators' seeds, uint32[*shape, 4]."""
        del params
        return jax.random.bits(key, (*shape, DRAWS), jnp.uint32)

    def step_draws(self, key: Array, params: PokemonParams, shape: tuple[int, ...] = ()) -> Array:
        """Draw what opponents choose by, uint32[*shape]."""
        del params
        return jax.random.bits(key, shape, jnp.uint32)

    def reset_with(self, draws: Array, params: PokemonParams) -> tuple[Array, State]:
        """Begin a battle: a team for each, and the two halves of Showdown's seed."""
        teams = []
        for words, bits in ((params.ours, draws[0]), (params.theirs, draws[1])):
            teams.append(party(words[:, scale(bits, words.shape[1])]))
        state = begin((draws[2], draws[3]), tuple(teams))
        return self.observe(state, params), state

    def step_with(
        self, draws: Array, state: State, action: Array, params: PokemonParams
    ) -> tuple[Array, State, Array, Array, Array, Info]:
        """Play a decision of both players.

        `info["winner"]` (int32[]) is 0 while the battle goes on, then 1 for the agent, 2 for the
        opponent, 3 for neither; `info["turn"]` (int32[]) counts turns from 1.
        """
        policy = POLICIES[self.opponent] if isinstance(self.opponent, str) else self.opponent
        after = against(policy)(state, action, draws)
        field = unpack(FIELD, after.field)
        done = field.winner != Winner.NONE
        live = unpack(FIELD, state.field).winner == Winner.NONE
        won = flag(field.winner == Winner.FIRST) - flag(field.winner == Winner.SECOND)
        points = won * flag(live) * WEIGHTS * WHOLE
        if weight := round(self.shaping * WEIGHTS):
            points = points + weight * (_lead(after) - _lead(state))
        # One exact division: what is added in floats comes out differently where it is merged.
        reward = points.astype(jnp.float32) / (WEIGHTS * WHOLE)
        info: Info = {"winner": field.winner, "turn": field.turn}
        nothing = jnp.zeros_like(done)
        return self.observe(after, params), after, reward, done, nothing, info

    def observe(self, state: State, params: PokemonParams) -> Array:
        """Look at a battle as the agent's player does."""
        del params
        look = observe.full_vector if self.observation == "full" else observe.vector
        seen: Array = once(partial(look, player=AGENT), state)
        return seen

    def legal_actions(self, state: State, params: PokemonParams) -> Array:
        """Say which actions Showdown would take; only action 0 where it asks for none."""
        del params
        return legal(state, AGENT)


def legal(state: State, player: int) -> Array:
    """Say what a player may do.

    Args:
        state: Battles.
        player: 0 or 1.

    Returns:
        bool[..., 10]; only action 0, which then says nothing, for who waits and after the end.
    """
    mask = jnp.asarray(engine.legal(state)[player])
    mask = jnp.where(mask == 0, 1, mask)
    allowed: Array = (mask[..., None] >> jnp.arange(ACTIONS)) & 1 != 0
    return allowed


def lanewise(function: Function) -> Function:
    """Let `jax.vmap` add lanes to a function of lanes.

    The rules take arrays of any shape, and what they skip where no battle needs it they skip for
    whole arrays. Mapped by `jax.vmap` they would compute it always; so the axis is handed over.

    Args:
        function: Takes and returns pytrees of lanes, all of one shape.

    Returns:
        The same function, compiled, and traced once for all programs that have it inside.
    """
    mapped: Any = custom_vmap(jax.jit(function))

    def rule(size: int, batched: Any, *operands: Any) -> Any:
        def spread(leaf: Array, has: bool) -> Array:
            return leaf if has else jnp.broadcast_to(leaf, (size, *jnp.shape(leaf)))

        result = mapped(*jax.tree.map(spread, operands, tuple(batched)))
        return result, jax.tree.map(lambda _: True, result)

    mapped.def_vmap(rule)
    same: Function = mapped
    return same


begin = lanewise(engine.start)
"""`engine.start`, to be mapped."""

step = lanewise(engine.step)
"""`engine.step`, to be mapped."""


@cache
def against(policy: Policy) -> Callable[[State, Array, Array], State]:
    """Return a step of the agent against a policy: of states, actions and random bits."""

    def play(state: State, action: Array, bits: Array) -> State:
        return engine.step(state, (action, policy(state, OPPONENT, bits)))

    return lanewise(play)


def _lead(state: State) -> Array:
    """The agent's share of hit points, of six Pokémon, less the opponent's, of `WHOLE`."""
    shares = []
    for team in state.party:
        mons = [unpack(MON[:1], words[:1]) for words in team]
        shares.append(sum(WHOLE // TEAM * mon.hp // most(mon.max_hp, 1) for mon in mons))
    lead: Array = shares[0] - shares[1]
    return lead


@cache
def _random_battles() -> PokemonParams:
    return PokemonParams.of(random_battle())
