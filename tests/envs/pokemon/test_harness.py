"""The comparison finds every kind of difference and names the first one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.envs.pokemon.harness import Result, compare, different_draws
from tests.envs.pokemon.replayed import Replayed
from tests.envs.pokemon.schema import load_schema
from tests.envs.pokemon.traces import Trace


def test_an_engine_that_is_equal_is_exact(random_battles: list[Trace]) -> None:
    result = compare(random_battles, Replayed(random_battles))
    assert (result.exact, result.battles) == (40, 40)
    assert result.steps == sum(trace.steps for trace in random_battles) > 2_000
    assert set(result.compared) == {"generator", *load_schema().columns}
    assert result.missing == ()


@pytest.mark.parametrize("column", load_schema().columns)
def test_a_wrong_column_is_named(column: str, random_battles: list[Trace]) -> None:
    traces = random_battles[:3]
    result = compare(traces, Replayed(traces, wrong=(column, 1, 9)))
    assert result.exact == 2
    text = str(result.differences[0])
    assert text.startswith(f"{traces[1].name}, step 9: {column}")
    assert "expected" in text


def test_the_draw_is_named(random_battles: list[Trace]) -> None:
    traces = [trace for trace in random_battles if trace.draws.counts[5]][:3]
    assert len(traces) == 3
    own = traces[2].draws.of(5)
    last = load_schema().sites[traces[2].draws.sites[own][-1]]
    count = own.stop - own.start
    result = compare(traces, Replayed(traces, wrong=("hp", 2, 5), site="tie: insert"))
    expected = f"step 5: draw {count}: expected {last} draw, got tie: insert draw; hp[0, 0]"
    assert expected in str(result.differences[0])


def test_draws_are_told_apart_by_site_value_and_number() -> None:
    one = [("accuracy", 7), ("critical", 9)]
    assert different_draws(one, one) == ""
    assert different_draws(one, [("accuracy", 7), ("damage", 9)]) == (
        "draw 2: expected critical draw, got damage draw"
    )
    assert different_draws(one, [("accuracy", 8)]) == "draw 1, accuracy: expected 7, got 8"
    assert different_draws(one, one[:1]) == "draw 2: expected critical draw, got none"
    assert different_draws(one[:1], one) == "draw 2: expected none, got critical draw"


def test_what_an_engine_lacks_is_said(random_battles: list[Trace]) -> None:
    traces = random_battles[:2]
    result = compare(traces, Replayed(traces, forgotten=("hp", "rage")))
    assert result.missing == ("hp", "rage")
    assert "not compared: hp, rage" in str(result)
    ignored = compare(traces, Replayed(traces, wrong=("hp", 0, 3)), ignored=("hp",))
    assert ignored.exact == 2
    assert "hp" not in ignored.compared


def test_results_add_up(random_battles: list[Trace]) -> None:
    traces = random_battles[:4]
    total = Result()
    for part in (traces[:1], traces[1:]):
        total += compare(part, Replayed(part))
    assert (total.exact, total.battles) == (4, 4)
    with pytest.raises(ValueError, match="different engines"):
        total + compare(traces, Replayed(traces, forgotten=("hp",)))


def test_a_generator_that_is_elsewhere_is_named(random_battles: list[Trace]) -> None:
    states = random_battles[0].states.copy()
    states[4] += np.uint64(1)
    result = compare([replace(random_battles[0], states=states)], Replayed(random_battles[:1]))
    assert "step 4: generator: expected 0x" in str(result.differences[0])
    with pytest.raises(ValueError, match="generation 5"):
        compare([replace(random_battles[0], seed=None)], Replayed(random_battles[:1]))
