"""Button combinations written as text, such as `"right+a"`."""

from hybridenv.buttons import Button
from hybridenv.errors import ActionError


def parse_buttons(text: str) -> Button:
    """Read a combination of buttons.

    Args:
        text: Names of buttons joined by `+`, in any order and case: right, left, up, down, a, b,
            select, start. The empty text presses nothing.

    Returns:
        The buttons.

    Raises:
        ActionError: `text` is no text, or a name is not one of these.
    """
    if not isinstance(text, str):
        raise ActionError(f"buttons: got {text!r}, expected text such as 'right+a'")
    buttons = Button(0)
    for name in text.split("+") if text.strip() else []:
        try:
            buttons |= Button[name.strip().upper()]
        except KeyError:
            known = ", ".join(str(button.name).lower() for button in Button)
            raise ActionError(
                f"buttons: got {name.strip()!r} in {text!r}, expected names joined by '+': {known}"
            ) from None
    return buttons
