"""What the rules say, worked out by hand, beside the recorded battles.

These numbers come from the rules and not from a program, so that they judge the recordings, too.
Source: the damage formula and chances of generation 1 as Pokémon Showdown 0.11.11 plays them,
`data/mods/gen1`.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.envs.pokemon.record import FILES
from tests.envs.pokemon.schema import load_schema
from tests.envs.pokemon.traces import Trace, read

#: Scenario, site, its threshold or smallest value, how many values are possible, and why.
DRAWS = [
    ("toxic-counts", "accuracy", 216, 256, "85 % of 255 is 216.75"),
    ("screens-roll-over", "accuracy", 242, 256, "95 % of 255 is 242.25"),
    ("wrap-without-pp", "accuracy", 191, 256, "75 % of 255 is 191.25"),
    ("counter-normal", "accuracy", 255, 256, "100 % of 255: one miss in 256"),
    ("substitute-breaks", "critical", 55, 256, "Tauros' base speed of 110, halved"),
    ("high-critical", "critical", 255, 256, "Persian's 115: 57, 114, times 4, capped"),
    ("focus-energy", "critical", 12, 256, "Mew's 100: 50, 25, halved"),
    ("focus-energy", "critical", 100, 256, "the same with Slash: 25 times 4"),
    ("focus-energy-slowest", "critical", 1, 256, "Slowpoke's 15: 7, 3, halved"),
    ("transform-critical", "critical", 192, 256, "Ditto's 48, not Persian's: 24, 48, times 4"),
    ("substitute-breaks", "damage", 217, 39, "217 to 255"),
    ("multi-hit", "hits", 0, 8, "one of 2, 2, 2, 3, 3, 3, 4, 5"),
    ("substitute-breaks", "secondary", 77, 256, "30 % of 256 is 76.8, rounded up"),
    ("counter-normal", "secondary", 26, 256, "10 % of 256 is 25.6, rounded up"),
    ("substitute-confusion-through", "substitute confusion", 25, 256, "one less for confusion"),
    ("substitute-breaks", "full paralysis", 63, 256, "63 in 256"),
    ("confusion-hurts", "confusion self-hit", 128, 256, "one half"),
    ("confusion-hurts", "confusion turns", 2, 4, "2 to 5"),
    ("sleep-seven-turns", "sleep turns", 1, 7, "1 to 7"),
    ("thrash-confuses", "thrash turns", 2, 2, "2 or 3 after the first"),
    ("wrap-without-pp", "trap turns", 0, 8, "one of 2, 2, 2, 3, 3, 3, 4, 5"),
    ("bide-two-turns", "bide turns", 2, 2, "2 or 3"),
    ("disable", "disable slot", 0, 2, "two moves with PP"),
    ("disable", "disable turns", 1, 8, "1 to 8"),
    ("metronome", "metronome", 0, 163, "all of 165 but Metronome and Struggle"),
    ("mimic-copies", "mimic", 0, 4, "four moves of the foe"),
    ("psywave", "psywave", 1, 75, "1 to 75, as 1.5 times 51 is 76.5"),
    ("toxic-counts", "tie: SetStatus", 0, 2, "sleep clause and freeze clause"),
    ("speed-tie", "tie: BeforeTurn", 0, 2, "two Pokémon of one speed"),
]

#: Scenario, column, index in it, its values from row to row, and why.
SERIES: list[tuple[str, str, tuple[int, ...], list[int], str]] = [
    (
        "toxic-counts",
        "hp",
        (1, 0),
        [703, 660, 574, 445, 273, 58],
        "703 // 16 is 43: minus 1, 2, 3, 4, 5 times 43",
    ),
    (
        "toxic-leech-seed",
        "hp",
        (1, 0),
        [703, 660, 445, 58, 0],
        "minus 1; 2 and 3; 4 and 5 times 43; what is left",
    ),
    (
        "leech-seed-more-than-left",
        "hp",
        (0, 0),
        [333, 233, 133, 33, 58, 83, 108, 133, 158],
        "403 // 16 is 25: it comes back in full, though the foe had 3 left",
    ),
    ("substitute-breaks", "substitute", (0,), [0, 101, 3, 0, 0], "403 // 4 + 1, then minus 98"),
    ("substitute-breaks", "hp", (0, 0), [403, 210, 210, 210, 108], "minus 93 and 403 // 4; 102"),
    ("stat-at-999", "stats", (0, 3), [406, 812, 999, 999, 999], "capped"),
    ("stat-at-999", "boosts", (0, 3), [0, 2, 4, 5, 5], "one stage back at 999"),
    ("burn-reapplied", "stats", (1, 0), [318, 159, 104, 52], "halved; 66 % of 318, halved; halved"),
    (
        "paralysis-reapplied",
        "stats",
        (1, 2),
        [338, 84, 21, 676, 169],
        "quartered twice, set anew by Agility, quartered",
    ),
    ("bide-two-turns", "hp", (1, 0), [703, 703, 703, 303], "twice 200"),
    ("counter-normal", "hp", (1, 0), [333, 235, 179, 179], "twice 49; a quarter of 25, twice 25"),
]

#: Scenario, row, and the move there: power, attack, defence, whether its user is of its type.
DAMAGE = [
    ("substitute-breaks", 1, (85, 298, 298, True)),
    ("substitute-breaks", 2, (85, 298, 298, True)),
    ("one-in-256", 2, (60, 228, 108, False)),
    ("screens-roll-over", 4, (35, 228, 2 * 916, False)),
    ("focus-energy", 2, (40, 298, 108, False)),
]


@pytest.fixture(scope="module")
def recorded() -> dict[str, Trace]:
    return {trace.name: trace for trace in read(FILES["scenarios"])}


@pytest.mark.parametrize(("name", "site", "argument", "values", "why"), DRAWS)
def test_chance(
    name: str, site: str, argument: int, values: int, why: str, recorded: dict[str, Trace]
) -> None:
    draws = recorded[name].draws
    own = draws.sites == load_schema().sites.index(site)
    seen = set(zip(draws.arguments[own].tolist(), draws.ranges[own].tolist(), strict=True))
    assert (argument, values) in seen, why


@pytest.mark.parametrize(("name", "column", "index", "values", "why"), SERIES)
def test_series(
    name: str,
    column: str,
    index: tuple[int, ...],
    values: list[int],
    why: str,
    recorded: dict[str, Trace],
) -> None:
    found = recorded[name].column(column)[(slice(None), *index)]
    assert found.tolist() == values, why


def damage(power: int, attack: int, defence: int, own_type: bool, roll: int) -> int:
    """The damage of a level 100 Pokémon, without a critical hit, against indifferent types."""
    if attack > 255 or defence > 255:
        attack, defence = max(attack // 4 % 256, 1), max(defence // 4 % 256, 1)
    result = min((2 * 100 // 5 + 2) * power * attack // defence // 50, 997) + 2
    if own_type:
        result += result // 2
    return result * roll // 255


@pytest.mark.parametrize(("name", "row", "move"), DAMAGE)
def test_damage(
    name: str, row: int, move: tuple[int, int, int, bool], recorded: dict[str, Trace]
) -> None:
    trace = recorded[name]
    own = trace.draws.of(row)
    site = load_schema().sites.index("damage")
    [roll] = trace.draws.values[own][trace.draws.sites[own] == site].tolist()
    assert trace.column("last_damage")[row] == damage(*move, roll=roll)


def test_every_site_and_many_scenarios_are_worked_out() -> None:
    assert len({name for name, *_ in [*DRAWS, *SERIES, *DAMAGE]}) >= 24
    sites = {site for _, site, *_ in DRAWS}
    ties = {"tie: actions", "tie: insert", "tie: Update", "tie: Residual", "tie: DisableMove"}
    assert sites | ties == set(load_schema().sites)
    assert np.all([values > 0 for *_, values, _ in DRAWS])
