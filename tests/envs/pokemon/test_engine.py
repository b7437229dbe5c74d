"""The engine apart from Showdown: how it compiles, what bad input does, that NumPy plays the same.

What it plays is judged in `test_scenarios` and `test_parity`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest

from hybridenv.envs.pokemon import choice, engine, lanes, play, prng, state, tables, teams
from hybridenv.envs.pokemon.state import ACTIVE, FIELD, MON, Request, State, Winner, unpack

BATTLES = 96
STEPS = 60
MOST_LINES = 40_000
MOST_COMPILE_SECONDS = 15
MOST_BYTES = 400

Actions = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]


def begin(battles: int = BATTLES) -> State:
    """Battles of the pool's first teams, with different seeds."""
    words = teams.random_battle().words
    numbers = np.arange(battles)
    ours, theirs = words[:, 2 * numbers], words[:, 2 * numbers + 1]
    seed = (numbers.astype(np.uint32) * np.uint32(2654435761), numbers.astype(np.uint32))
    return engine.start(seed, (teams.party(ours), teams.party(theirs)))


def random_actions(battle: State, rng: np.random.Generator) -> Actions:
    """A legal action of each player, or -1."""
    both = []
    for mask in engine.legal(battle):
        bits = (np.asarray(mask)[:, None] >> np.arange(choice.ACTIONS)) & 1
        chosen = (rng.random(bits.shape) * bits).argmax(1)
        both.append(np.where(bits.any(1), chosen, -1).astype(np.int32))
    return both[0], both[1]


def same(left: Any, right: Any) -> bool:
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def test_a_step_compiles_within_its_budget() -> None:
    battle = jax.tree.map(jnp.asarray, begin())
    actions = (jnp.zeros(BATTLES, jnp.int32),) * 2
    lowered = jax.jit(lambda *given: engine.step(*given)).lower(battle, actions)
    began = time.process_time()
    text = lowered.compile().as_text() or ""
    assert time.process_time() - began < MOST_COMPILE_SECONDS
    assert 5_000 < text.count("\n") < MOST_LINES


def test_a_battle_is_small() -> None:
    sizes = [leaf.nbytes for leaf in jax.tree.leaves(begin())]
    assert sum(sizes) <= MOST_BYTES * BATTLES
    assert len(sizes) == 2 + len(FIELD) + 2 * (len(ACTIVE) + 6 * len(MON))


def test_numpy_and_xla_play_the_same() -> None:
    step = jax.jit(engine.step)
    rng = np.random.default_rng(1)
    plain = begin()
    compiled = jax.tree.map(jnp.asarray, plain)
    ended = 0
    for _ in range(STEPS):
        actions = random_actions(plain, rng)
        plain, compiled = engine.step(plain, actions), step(compiled, actions)
        assert same(plain, compiled)
        ended = int((unpack(FIELD, plain.field).winner != 0).sum())
    assert ended > BATTLES // 4


def test_battles_may_lie_in_any_shape() -> None:
    rng = np.random.default_rng(2)
    line = begin()
    grid = jax.tree.map(lambda leaf: leaf.reshape(4, -1), line)
    for _ in range(20):
        ours, theirs = random_actions(line, rng)
        line = engine.step(line, (ours, theirs))
        grid = engine.step(grid, (ours.reshape(4, -1), theirs.reshape(4, -1)))
    assert same(jax.tree.map(lambda leaf: leaf.reshape(4, -1), line), grid)


def test_an_illegal_action_is_the_first_legal_one() -> None:
    rng = np.random.default_rng(3)
    battle = begin()
    seen = 0
    for _ in range(STEPS // 2):
        masks = engine.legal(battle)
        first = tuple(
            np.where(mask == 0, -1, np.log2(np.maximum(mask & -mask, 1))).astype(np.int32)
            for mask in masks
        )
        expected = engine.step(battle, (first[0], first[1]))
        # 4 would be a switch to the one in battle.
        for strange in ((4, 4), (99, -7)):
            actions = np.full_like(first[0], strange[0]), np.full_like(first[1], strange[1])
            assert same(engine.step(battle, actions), expected)
        seen += sum(int((mask != 0).sum()) for mask in masks)
        battle = engine.step(battle, random_actions(battle, rng))
    assert seen > BATTLES * 40


def test_who_waits_may_say_anything_and_what_is_over_stays() -> None:
    rng = np.random.default_rng(4)
    battle = begin()
    waits = ends = 0
    for _ in range(200):
        actions = random_actions(battle, rng)
        field = unpack(FIELD, battle.field)
        others = tuple(
            np.where(action < 0, rng.integers(0, 10, BATTLES), action).astype(np.int32)
            for action in actions
        )
        then = engine.step(battle, actions)
        assert same(then, engine.step(battle, others))
        over = (field.request0 == Request.NONE) & (field.request1 == Request.NONE)
        pairs = zip(jax.tree.leaves(battle), jax.tree.leaves(then), strict=True)
        assert all(np.array_equal(a[over], b[over]) for a, b in pairs)
        waits += int(((field.request0 == Request.WAIT) | (field.request1 == Request.WAIT)).sum())
        ends = int(over.sum())
        battle = then
    assert waits > BATTLES
    assert ends > BATTLES * 0.9


def test_a_battle_is_a_tie_after_turn_1000() -> None:
    battle = begin()
    field = unpack(FIELD, battle.field)
    field.turn = np.where(np.arange(BATTLES) % 2 == 0, 999, 1000).astype(np.int32)
    battle = replace(battle, field=state.pack(field))
    after = unpack(
        FIELD, engine.step(battle, random_actions(battle, np.random.default_rng(7))).field
    )
    goes_on = after.request0 + after.request1 > 0
    whole_turn = after.turn > field.turn
    assert whole_turn.sum() > BATTLES // 2
    assert np.array_equal(goes_on[whole_turn], (field.turn == 999)[whole_turn])
    assert (after.winner[~goes_on] == Winner.TIE).all()
    assert goes_on[~whole_turn].all()


def test_the_generator_is_showdowns() -> None:
    value = 0x0123456789ABCDEF
    high, low = np.array([value >> 32], np.uint32), np.array([value & 0xFFFFFFFF], np.uint32)
    for _ in range(1000):
        value = (value * 0x5D588B656C078965 + 0x269EC3) % 2**64
        high, low = prng.advance(high, low)
        assert (int(high[0]) << 32 | int(low[0])) == value
        for n in (2, 39, 217, 256, 65535):
            assert int(prng.scale(high, n)[0]) == (value >> 32) * n >> 32


def test_division_of_floats_is_division_of_integers() -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2**23, 200_000).astype(np.int32)
    b = rng.integers(1, 1024, 200_000).astype(np.int32)
    a[: 1023 * 4] = np.repeat(np.arange(1, 1024) * 8191, 4) + np.tile([-1, 0, 0, 1], 1023)
    b[: 1023 * 4] = np.repeat(np.arange(1, 1024), 4)
    assert np.array_equal(np.asarray(jax.jit(lanes.ratio)(a, b)), a // b)


def test_stages_change_stats_as_showdown_does() -> None:
    fractions = [25, 28, 33, 40, 50, 66, 100, 150, 200, 250, 300, 350, 400]
    assert play.per_cent(np.arange(13, dtype=np.int32)).tolist() == fractions
    for part in fractions:  # so that whole numbers do what doubles do there
        assert all(int(value * (part / 100)) == value * part // 100 for value in range(1024))


def test_a_stat_that_is_lowered_may_exceed_999() -> None:
    zero = np.zeros(1, np.int32)
    active = unpack(ACTIVE, (zero,) * len(ACTIVE))
    active.base_dfn, active.dfn, active.boost_dfn = zero + 458, zero + 999, zero + 12
    assert play.boost(active, zero == 0, "dfn", -1).all()
    kept = unpack(ACTIVE, state.pack(active))
    assert (int(kept.dfn[0]), int(kept.boost_dfn[0])) == (1603, 11)


def layouts() -> Iterator[state.Layout]:
    yield from (ACTIVE, MON, FIELD, tables.MOVE, tables.SPECIES)


@pytest.mark.parametrize("layout", list(layouts()), ids=["active", "mon", "field", "move", "kind"])
def test_words_are_taken_apart_and_put_together(layout: state.Layout) -> None:
    rng = np.random.default_rng(6)
    words = tuple(rng.integers(-(2**31), 2**31, 64).astype(np.int32) for _ in layout)
    fields = unpack(layout, words)
    for row in layout:
        for name, _ in row:
            setattr(fields, name, getattr(fields, name).copy())
    used = [sum(width for _, width in row) for row in layout]
    for before, after, bits in zip(words, state.pack(fields), used, strict=True):
        assert np.array_equal(before, after)
        assert 0 < bits <= 32


def test_the_tables_know_every_move_and_species() -> None:
    data = tables.read()
    assert data["source"]["version"] == "0.11.11"
    assert [len(data[part]) for part in ("moves", "species", "types")] == [165, 151, 15]
    rows = tables.move_fields(tables.moves())
    assert int((rows.effect != 0).sum()) == 17
    assert int(rows.chance[tables.HYPER_BEAM]) == 0
    assert bool(rows.tires[tables.HYPER_BEAM])
    assert tables.urgencies() == {98: 1, tables.COUNTER: -1}
    assert set(data["chart"][0]) == {0, 5, 10}


def test_the_pool_is_of_random_battles() -> None:
    pool = teams.random_battle()
    assert len(pool) == 4096
    assert (pool.species > 0).all()
    assert (pool.moves[..., 0] > 0).all()
    assert all(len(set(team)) == 6 for team in pool.species[:500].tolist())
    assert pool.words.shape == (6 * len(MON), 4096)
