"""What players see: nothing that was not shown, all of it where they ask, always within bounds."""

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

from hybridenv.envs.pokemon import battles, engine, observe, teams
from hybridenv.envs.pokemon.state import ACTIVE, FIELD, MON, State, pack, unpack
from hybridenv.envs.pokemon.tables import SLP

N = 64


@pytest.fixture(scope="module")
def played() -> list[State]:
    """64 battles after 1, 11, 21, 31 and 41 steps of chance, in NumPy."""
    rng = np.random.default_rng(7)
    words = teams.random_battle().words
    bits = partial(rng.integers, 0, 2**32, dtype=np.uint32)
    state, seen = battles.begin(words, bits((battles.DRAWS, N))), []
    for step in range(42):
        state = engine.step(state, battles.random_actions(state, bits((2, N))))
        if step % 10 == 1:
            seen.append(state)
    return seen


def with_mon(state: State, side: int, place: int, **values: Any) -> State:
    """A state with some fields of a member changed."""
    mon = unpack(MON, state.party[side][place])
    for name, value in values.items():
        setattr(mon, name, value)
    team = [*state.party[side]]
    team[place] = pack(mon)
    party = [*state.party]
    party[side] = tuple(team)
    return replace(state, party=tuple(party))


def with_active(state: State, side: int, **values: Any) -> State:
    """A state with some fields of who is in battle changed."""
    fields = unpack(ACTIVE, state.active[side])
    for name, value in values.items():
        setattr(fields, name, value)
    active = [*state.active]
    active[side] = pack(fields)
    return replace(state, active=tuple(active))


def hidden(state: State, rng: np.random.Generator) -> State:
    """The same battle with other secrets of the second player, and other counters of both."""
    for place in range(6):
        mon = unpack(MON, state.party[1][place])

        def other(old: Any, most: int) -> Any:
            return rng.integers(0, most, old.shape).astype(np.int32)

        unseen, values = ~mon.seen, {}
        for name, most in (("species", 152), ("level", 101), ("status", 7), ("hp", 300)):
            old = getattr(mon, name)
            values[name] = np.where(unseen, other(old, most), old)
        for slot in range(4):
            used = (mon.seen_moves >> slot) & 1 == 1
            for name, most in ((f"move{slot}", 165), (f"pp{slot}", 64)):
                old = getattr(mon, name)
                values[name] = np.where(used & mon.seen, old, other(old, most))
        for name in ("atk", "dfn", "spc", "spe", "haste"):
            values[name] = other(mon.hp, 100)
        values["sleep"] = other(mon.hp, 8)
        values["slot"] = other(mon.hp, 6)
        state = with_mon(state, 1, place, **values)
    for side in (0, 1):
        old = unpack(ACTIVE, state.active[side])
        state = with_active(
            state,
            side,
            confusion=np.where(old.confusion > 0, rng.integers(1, 8), 0).astype(np.int32),
            disable=np.where(old.disable > 0, rng.integers(1, 16), 0).astype(np.int32),
            substitute=np.where(old.substitute > 0, rng.integers(1, 512), 0).astype(np.int32),
            thrash=rng.integers(0, 4, N).astype(np.int32),
            bide_damage=rng.integers(0, 2**20, N).astype(np.int32),
            toxic_count=rng.integers(0, 2**11, N).astype(np.int32),
            trap_left=rng.integers(0, 8, N).astype(np.int32),
            speed=rng.integers(0, 1000, N).astype(np.int32),
        )
    state = with_active(
        state,
        1,
        **{
            name: rng.integers(1, 1000, N).astype(np.int32) for name in ("atk", "dfn", "spc", "spe")
        },
        **{f"move{slot}": rng.integers(0, 165, N).astype(np.int32) for slot in range(4)},
        **{f"pp{slot}": rng.integers(0, 64, N).astype(np.int32) for slot in range(4)},
        selected=rng.integers(0, 165, N).astype(np.int32),
    )
    field = unpack(FIELD, state.field)
    field.legal1 = rng.integers(0, 2**10, N).astype(np.int32)
    field.last_damage = rng.integers(0, 2**16, N).astype(np.int32)
    high, low = (rng.integers(0, 2**32, N, dtype=np.uint32) for _ in range(2))
    return replace(state, field=pack(field), seed=(high, low))


def test_nothing_hidden_is_ever_seen(played: list[State]) -> None:
    rng = np.random.default_rng(1)
    assert len(played) == 5
    for state in played:
        other = hidden(state, rng)
        ours, theirs = observe.known(state, 0), observe.known(other, 0)
        for name in ours:
            assert np.array_equal(ours[name], theirs[name]), name
        assert np.array_equal(observe.vector(state, 0), observe.vector(other, 0))
        # The test could not fail if what is hidden had not changed, or nobody could see it.
        full = [np.asarray(observe.full_vector(one, 0)) for one in (state, other)]
        assert (full[0] != full[1]).any(axis=-1).all()
        everything = [observe.fields(one, 0) for one in (state, other)]
        assert (
            sum((everything[0][name] != everything[1][name]).any() for name in everything[0]) > 60
        )


def test_what_is_shown_is_seen(played: list[State]) -> None:
    state = played[2]
    before = observe.known(state, 0)
    for name, changed in {
        "foe_status": with_mon(state, 1, 0, status=np.full(N, SLP, np.int32)),
        "foe_stages": with_active(state, 1, boost_atk=np.full(N, 12, np.int32)),
        "foe_signs": with_active(state, 1, mist=np.ones(N, np.bool_)),
        "foe_seen": with_mon(state, 1, 5, seen=np.ones(N, np.bool_)),
        "own_pp": with_active(state, 0, pp0=np.full(N, 63, np.int32)),
        "own_stats": with_mon(state, 0, 3, spe=np.full(N, 777, np.int32)),
    }.items():
        assert not np.array_equal(before[name], observe.known(changed, 0)[name]), name


def test_hit_points_of_the_foe_are_shown_in_hundredths(played: list[State]) -> None:
    for hp, most, shown in (
        (1, 703, 1),
        (702, 703, 99),
        (703, 703, 100),
        (0, 703, 0),
        (50, 99, 51),
    ):
        state = with_mon(
            played[0], 1, 0, hp=np.full(N, hp, np.int32), max_hp=np.full(N, most, np.int32)
        )
        assert (observe.known(state, 0)["foe_hp"][:, 0] == shown).all()


def test_both_players_see_the_same_battle_from_their_side(played: list[State]) -> None:
    for state in played:
        swapped = replace(
            state,
            active=state.active[::-1],
            party=state.party[::-1],
            field=swapped_field(state),
        )
        for look in (observe.vector, observe.full_vector):
            assert np.array_equal(look(state, 1), look(swapped, 0))


def swapped_field(state: State) -> Any:
    """The words of the battle with both sides changed."""
    field = unpack(FIELD, state.field)
    field.request0, field.request1 = field.request1, field.request0
    field.legal0, field.legal1 = field.legal1, field.legal0
    field.winner = np.array([0, 2, 1, 3], np.int32)[field.winner]
    return pack(field)


@pytest.mark.parametrize("full", [False, True])
def test_vectors_are_laid_out_as_said(full: bool, played: list[State]) -> None:
    look = observe.full_vector if full else observe.vector
    parts = observe.layout(full)
    assert [part.start for part in parts[1:]] == [part.start + part.size for part in parts[:-1]]
    assert parts[0].name == "legal"
    for state in played:
        seen = np.asarray(look(state, 0))
        assert seen.shape == (N, observe.size(full))
        assert seen.dtype == np.float32
        assert np.abs(seen).max() <= 1
        mask = (np.maximum(engine.legal(state)[0], 1)[:, None] >> np.arange(10)) & 1
        assert np.array_equal(seen[:, :10], mask)
    assert observe.size(True) > 2 * observe.size(False)


def test_one_battle_looks_like_one_of_many(played: list[State]) -> None:
    state = played[1]
    many = np.asarray(observe.vector(state, 0))
    mapped = jax.vmap(partial(observe.vector, player=0))(state)
    assert np.array_equal(many, mapped)
    single = jax.tree.map(lambda leaf: leaf[5], state)
    assert np.array_equal(many[5], observe.vector(single, 0))
