"""Every fault is found at the level that should find it, and no sound version is blamed."""

from pathlib import Path
from typing import Any

import pytest
from tests.verify.mutants import (
    CARTPOLE,
    COURIER,
    MOUNTAIN,
    MUTANTS,
    VECTOR,
    Mutant,
    Pairing,
    cart_property,
)

from hybridenv.verify import Report, Verdict, verify


def judged(pairing: Pairing, make: Any, properties: Any = (), level: int = 3) -> Report:
    return verify(
        pairing.reference,
        make,
        level=level,
        episodes=8,
        examples=25,
        max_steps=600,
        shrink=False,
        properties=properties,
        **pairing.options,
    )


@pytest.mark.parametrize("pairing", [CARTPOLE, MOUNTAIN, COURIER, VECTOR], ids=lambda p: p.name)
def test_what_is_sound_is_equal(pairing: Pairing) -> None:
    properties = (cart_property(pairing.sound),) if pairing is CARTPOLE else ()
    report = judged(pairing, pairing.sound, properties)
    assert report.verdict is Verdict.EQUAL, str(report)


def test_there_are_enough_mutants() -> None:
    assert len(MUTANTS) >= 24
    assert len({mutant.pairing.name for mutant in MUTANTS}) >= 3
    assert {mutant.level for mutant in MUTANTS} == {0, 1, 2, 3}


def test_the_documentation_has_every_mutant_and_no_other() -> None:
    page = (Path(__file__).parents[2] / "docs" / "verify.md").read_text(encoding="utf-8")
    rows = [
        line
        for line in page.splitlines()
        if line.endswith(("| L0 |", "| L1 |", "| L2 |", "| L3 |"))
    ]
    assert rows == [f"| {one.pairing.name} | {one.fault} | L{one.level} |" for one in MUTANTS]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.make.__name__)
def test_a_fault_is_found_at_its_level(mutant: Mutant) -> None:
    report = judged(mutant.pairing, mutant.make, mutant.properties, mutant.level)
    assert report.verdict is Verdict.DIFFERENT, str(report)
    assert report.found_by == mutant.level, str(report)
