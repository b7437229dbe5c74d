"""A pytest module that fails as long as two sides differ at a certain place."""

import re
from collections.abc import Sequence
from pprint import pformat
from typing import Any

from hybridenv.verify._plan import Pair


def write_test(pair: Pair, seed: int, actions: Sequence[Any], words: str) -> str | None:
    """Write the module.

    Args:
        pair: Both sides.
        seed: Seed of the episode.
        actions: Actions that lead to the difference, as plain data.
        words: What differs.

    Returns:
        The source, or `None` where a side was handed over as an object, which a text cannot name.
    """
    reference, candidate = pair.names
    if ":" not in reference or ":" not in candidate:
        return None
    rules = pair.settings.rules
    name = re.sub(r"\W+", "_", candidate).strip("_").lower()
    extra = "".join(
        f"    {key}={value!r},\n"
        for key, value in (
            ("chance", pair.settings.chance),
            ("tol", dict(rules.tol)),
            ("ignore", rules.ignore),
            ("anchor", pair.settings.anchor),
        )
        if value and value != "shared"
    ).replace("    ", "        ")
    steps = pformat(list(actions), width=88, compact=True).replace("\n", "\n    ")
    odd = sorted(set(re.findall(r"\b(?:inf|nan)\b", steps)))
    numbers = f"from math import {', '.join(odd)}\n\n" if odd else ""
    return (
        f'"""{_quoted(words)}.\n\n'
        "`python -m pytest` runs it, from a folder in which both sides are found.\n"
        f'"""\n\n{numbers}'
        "from hybridenv.verify import replay\n\n\n"
        f"def test_{name}_{seed}() -> None:\n"
        f"    actions = {steps}\n"
        f"    replay(\n        {reference!r},\n        {candidate!r},\n"
        f"        seed={seed},\n        actions=actions,\n{extra}    )\n"
    )


def _quoted(words: str) -> str:
    """Words that can stand in a docstring."""
    text = words.replace("\\", "/").replace('"', "'")
    text = "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)
    return text[0].upper() + text[1:] if text else "Both sides differ"
