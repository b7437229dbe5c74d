"""Where two trajectories differ, told with the place and both values."""

from typing import Any

import numpy as np
import pytest

from hybridenv.errors import ArgumentError
from hybridenv.verify._compare import Rules, first_difference
from hybridenv.verify._record import Recorder, Trajectory


def played(*infos: dict[str, Any], resets: tuple[int, ...] = (0,)) -> Trajectory:
    """A trajectory of one infos a row, of which some are resets."""
    record = Recorder()
    for row, info in enumerate(infos):
        if row in resets:
            record.reset(0, info, None)
        else:
            record.step((0, 0.0, False, False, info), None)
    return record.trajectory()


def test_a_number_within_an_array_that_not_every_row_has_is_named() -> None:
    far = np.zeros(5_000)
    far[4_321] = 0.5
    found = first_difference(played({}, {"x": np.zeros(5_000)}), played({}, {"x": far}), Rules())
    assert found is not None
    assert (found.step, found.column, found.index) == (1, "info['x']", (4_321,))
    assert (found.reference, found.candidate, found.error) == (0.0, 0.5, 0.5)


@pytest.mark.parametrize(
    ("ours", "theirs", "values"),
    [
        ({"x": np.zeros(3)}, {"x": np.zeros(4)}, "reference float64[3], candidate float64[4]"),
        ({"x": "left"}, {"x": "right"}, "reference left, candidate right"),
        ({"x": 1}, {}, "reference something, candidate nothing"),
        ({}, {"x": 1}, "reference nothing, candidate something"),
    ],
)
def test_other_values_are_told_in_words(
    ours: dict[str, Any], theirs: dict[str, Any], values: str
) -> None:
    found = first_difference(played({}, ours), played({}, theirs), Rules())
    assert found is not None
    assert found.values == f"info['x']: {values}"
    assert found.step == 1


def test_whole_numbers_may_have_any_type() -> None:
    assert first_difference(played({"x": np.int8(3)}), played({"x": 3}), Rules()) is None


def test_infos_of_resets_can_be_left_out_and_those_of_steps_are_still_compared() -> None:
    infos: list[dict[str, Any]] = [{"x": 1}, {"x": 2}, {"x": 3}, {"x": 4}]
    bare: list[dict[str, Any]] = [{}, {"x": 2}, {}, {"x": 4}]
    rules = Rules(ignore=("reset_info",))
    ours = played(*infos, resets=(0, 2))
    assert first_difference(ours, played(*bare, resets=(0, 2)), rules) is None
    assert first_difference(ours, played(*bare, resets=(0, 2)), Rules()) is not None
    wrong = [*bare[:3], {"x": 5}]
    found = first_difference(ours, played(*wrong, resets=(0, 2)), rules)
    assert found is not None
    assert (found.row, found.reference, found.candidate) == (3, 4, 5)


def test_an_info_that_only_resets_have_is_left_out_with_them() -> None:
    rules = Rules(ignore=("reset_info",))
    assert first_difference(played({"y": 1}, {}), played({}, {}), rules) is None
    found = first_difference(played({}, {"y": 1}), played({}, {}), rules)
    assert found is not None
    assert found.step == 1


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ArgumentError, match="reset_info or a column"):
        Rules(ignore=("resets",))
