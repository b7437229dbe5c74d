"""Every kind of space: what lies outside is found, and actions can be drawn."""

import re
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from hybridenv.verify._actions import draw
from hybridenv.verify._record import Recorder
from hybridenv.verify._spaces import outside

BOX = spaces.Box(-1, 1, (2,), np.float32)
NESTED = spaces.Dict(
    {
        "a": BOX,
        "b": spaces.Tuple((spaces.Discrete(3), spaces.Text(4), spaces.MultiBinary(2))),
        "c": spaces.Sequence(spaces.Discrete(2)),
    }
)
GOOD: dict[str, Any] = {
    "a": np.zeros(2, np.float32),
    "b": (np.int64(2), "abc", np.array([0, 1], np.int8)),
    "c": (np.int64(1), np.int64(0)),
}


def judged(space: Any, *looks: Any) -> str | None:
    record = Recorder()
    record.reset(looks[0], {}, None)
    for look in looks[1:]:
        record.step((look, 0.0, False, False, {}), None)
    seen = record.trajectory()
    return outside(space, seen.columns, seen.taken)


def test_elements_lie_in_their_space() -> None:
    assert judged(BOX, np.zeros(2, np.float32), np.ones(2, np.float32)) is None
    assert judged(NESTED, GOOD, GOOD) is None
    assert judged(spaces.Discrete(3, start=1), 3, 1) is None


@pytest.mark.parametrize(
    ("space", "look", "words"),
    [
        (BOX, np.full(2, 2, np.float32), r"step 1, obs\[0\] is 2.0, outside of Box"),
        (BOX, np.full(2, np.nan, np.float32), "is nan"),
        (spaces.Discrete(3), 3, r"obs is .*3.*, outside of Discrete\(3\)"),
        (NESTED, {**GOOD, "a": np.full(2, -2, np.float32)}, r"obs\['a'\]\[0\] is -2.0"),
        (NESTED, {**GOOD, "b": (np.int64(3), *GOOD["b"][1:])}, r"obs\['b'\]\[0\]"),
        (NESTED, {**GOOD, "b": (np.int64(0), "far too long", GOOD["b"][2])}, "Text"),
        (NESTED, {**GOOD, "d": 3}, r"obs\['d'\]: got a value, expected none"),
    ],
)
def test_what_lies_outside_is_found(space: Any, look: Any, words: str) -> None:
    first = GOOD if space is NESTED else space.sample()
    found = judged(space, first, look)
    assert found is not None
    assert re.search(words, found), found


@pytest.mark.parametrize(
    ("look", "words"),
    [
        (np.zeros(2), r"got float64\[2\], expected float32\[2\]"),
        (np.zeros(3, np.float32), r"got float32\[3\]"),
    ],
)
def test_another_type_or_shape_is_found(look: Any, words: str) -> None:
    assert re.search(words, judged(BOX, look) or "")


def test_a_part_that_is_missing_is_found() -> None:
    assert judged(NESTED, {"a": GOOD["a"], "c": ()}) == (
        "obs['b'][0]: got nothing, expected an element of Discrete(3)"
    )


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(3, start=-1),
        BOX,
        spaces.Box(0, 255, (2, 2), np.uint8),
        spaces.Box(-np.inf, np.inf, (3,), np.float32),
        spaces.MultiDiscrete([2, 3]),
        spaces.MultiBinary(4),
        spaces.Text(5),
        NESTED,
    ],
)
def test_actions_are_drawn_from_the_space_and_repeat_under_a_seed(space: Any) -> None:
    first, again = (
        [draw(space, rng) for _ in range(20)] for rng in map(np.random.default_rng, (3, 3))
    )
    assert all(space.contains(one) for one in first)
    assert repr(first) == repr(again)
    assert len(set(map(repr, first))) > 1
