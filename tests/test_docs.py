"""The examples in README and docs run as printed."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybridenv
from hybridenv.data import embedded_rom
from hybridenv.gym import GameBoyVectorEnv
from hybridenv.tasks import POLAR_POST

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    path.name: re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
SHORTER = {"range(1_000)": "range(3)"}
"""What is shortened so that the examples take seconds."""


def test_pages_and_examples_are_found() -> None:
    assert len(PAGES) >= 10
    assert sum(map(len, PAGES.values())) >= 10


@pytest.mark.parametrize("page", [name for name, blocks in PAGES.items() if blocks])
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("game.gb").write_bytes(embedded_rom())
    boys = hybridenv.GameBoyBatch(n=8)
    boys.reset()
    names: dict[str, Any] = {
        "np": np,
        "hybridenv": hybridenv,
        "boys": boys,
        "buttons": np.zeros(8, dtype=np.uint8),
        "ended": np.arange(8) == 3,
        "task": POLAR_POST,
        "MyVectorEnv": lambda n, autoreset_mode: GameBoyVectorEnv(
            n, max_episode_steps=6, autoreset_mode=autoreset_mode
        ),
    }
    for block in PAGES[page]:
        code = block
        for long, short in SHORTER.items():
            code = code.replace(long, short)
        exec(compile(code, page, "exec"), names)  # noqa: S102


def test_packed_observations_open_as_documented() -> None:
    text = (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
    recipe = "(packed[..., None] >> [6, 4, 2, 0] & 3).reshape(n, 144, 160)"
    assert recipe in text
    n = 3
    shades, packed = (hybridenv.GameBoyBatch(n=n, obs=obs) for obs in ("shades", "packed"))
    for batch in (shades, packed):
        batch.reset()
        for _ in range(3):
            batch.step(np.zeros(n, dtype=np.uint8))
    opened = eval(recipe, {"packed": packed.screen(), "n": n})  # noqa: S307
    assert np.array_equal(opened, shades.screen())
