"""From Gymnasium actions to button masks."""

import numpy as np
import pytest
from gymnasium import spaces

from hybridenv import ActionError, Button
from hybridenv.combinations import parse_buttons
from hybridenv.gym.actions import DEFAULT_ACTIONS, ActionTable


@pytest.mark.parametrize(
    ("text", "buttons"),
    [
        ("", Button(0)),
        ("  ", Button(0)),
        ("a", Button.A),
        ("Right+A", Button.RIGHT | Button.A),
        (" select + START ", Button.SELECT | Button.START),
        ("right+left+up+down+a+b+select+start", Button(255)),
    ],
)
def test_combinations(text: str, buttons: Button) -> None:
    assert parse_buttons(text) == buttons


@pytest.mark.parametrize("text", ["x", "a+", "+", "right a", "right++a"])
def test_wrong_combinations_name_the_word_and_the_choices(text: str) -> None:
    with pytest.raises(ActionError, match=r"buttons: got .* expected names joined by '\+': right"):
        parse_buttons(text)


def test_default_actions_are_distinct_and_never_pause() -> None:
    masks = [parse_buttons(text) for text in DEFAULT_ACTIONS]
    assert len(set(masks)) == len(masks) == 11
    assert not any(mask & (Button.START | Button.SELECT) for mask in masks)


def test_discrete_actions_choose_from_the_list() -> None:
    table = ActionTable(["", "a", "start+select"])
    assert table.space == spaces.Discrete(3)
    masks = table.to_buttons(np.array([2, 0, 1, 2]), 4)
    assert masks.dtype == np.uint8
    assert masks.tolist() == [0xC0, 0, 0x10, 0xC0]


def test_opposite_directions_are_passed_on_as_written() -> None:
    assert ActionTable(["left+right"]).to_buttons(np.array([0]), 1).tolist() == [0b11]


def test_buttons_are_bits_in_order() -> None:
    table = ActionTable("buttons")
    assert table.space == spaces.MultiBinary(8)
    assert table.to_buttons(np.eye(8, dtype=np.int8), 8).tolist() == [1, 2, 4, 8, 16, 32, 64, 128]
    assert table.to_buttons(np.ones((1, 8), dtype=np.bool_), 1).tolist() == [255]


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.zeros(3, dtype=np.int64), r"got shape \(3,\), expected \(4,\)"),
        (np.zeros((4, 1), dtype=np.int64), r"got shape \(4, 1\), expected \(4,\)"),
        (np.zeros(4), "got dtype float64, expected integers"),
        (np.array([0, 1, 2, 3]), r"actions\[3\]: got 3, expected 0 to 2"),
        (np.array([0, -1, 2, 0]), r"actions\[1\]: got -1, expected 0 to 2"),
        ([0, 1, "a", 2], "got dtype <U"),
        (np.ones(4, dtype=np.bool_), "got dtype bool, expected integers"),
        ([True] * 4, "got dtype bool, expected integers"),
        ([0, 1, True, 2], r"actions\[2\]: got True, expected an integer"),
        ([[0], [1, 2], 0, 0], "actions: expected one array"),
        (None, r"got shape \(\)"),
    ],
)
def test_wrong_discrete_actions(actions: object, message: str) -> None:
    with pytest.raises(ActionError, match=message):
        ActionTable(["", "a", "b"]).to_buttons(actions, 4)  # type: ignore[arg-type]


def test_wrong_button_actions() -> None:
    actions = np.zeros((2, 8), dtype=np.int8)
    actions[1, 3] = 2
    with pytest.raises(ActionError, match=r"actions\[1, 3\]: got 2, expected 0 to 1"):
        ActionTable("buttons").to_buttons(actions, 2)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ("button", 'expected "buttons" or a list'),
        ([], "empty list"),
        (["a", "c"], "got 'c'"),
        (None, 'actions: got None, expected "buttons" or a list'),
        (3, "actions: got 3, expected"),
        ([3], "buttons: got 3, expected text"),
    ],
)
def test_wrong_tables(actions: list[str], message: str) -> None:
    with pytest.raises(ActionError, match=message):
        ActionTable(actions)
