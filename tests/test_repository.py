"""The files around the code say what is true."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import hybridenv

ROOT = Path(__file__).resolve().parents[1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def make_help() -> str:
    return subprocess.run(
        ["make", "--no-print-directory", "help"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_make_explains_every_target() -> None:
    explained = set(re.findall(r"^  ([a-z][a-z-]*) +\S", make_help(), re.M))
    phony = set(re.findall(r"^\.PHONY: (.+)$", text("Makefile"), re.M))
    assert explained == phony
    assert {"demo", "test", "lint", "bench", "wheel", "docs", "rebuild-game"} <= explained


def test_every_make_command_that_is_mentioned_exists() -> None:
    targets = set(re.findall(r"^  ([a-z][a-z-]*) +\S", make_help(), re.M))
    pages = [
        "README.md",
        "CONTRIBUTING.md",
        ".ci/run",
        "docs/benchmarks.md",
        "docs/verification.md",
    ]
    mentioned = {
        name
        for page in pages
        for name in re.findall(r"(?:^|`|step )make ([a-z][a-z-]*)", text(page), re.M)
    }
    assert len(mentioned) >= 8
    assert mentioned <= targets


def test_ci_is_executable_and_strict() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "set -euo pipefail" in text(".ci/run")


def test_the_version_is_named_once() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert "version" not in project
    assert "version" in project["dynamic"]
    workspace = tomllib.loads(text("Cargo.toml"))["workspace"]["package"]
    assert workspace["version"] == hybridenv.__version__
    assert f"## {hybridenv.__version__}" in text("CHANGELOG.md")


def test_every_dependency_has_its_licence_listed() -> None:
    page = text("THIRD_PARTY.md").lower()
    project = tomllib.loads(text("pyproject.toml"))["project"]
    wanted = list(project["dependencies"])
    for extra in project["optional-dependencies"].values():
        wanted += extra
    names = {re.split(r"[\[<>=~! ]", requirement)[0] for requirement in wanted} - {"hybridenv"}
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        crate = tomllib.loads(manifest.read_text(encoding="utf-8"))
        names |= {*crate["dependencies"], *crate.get("dev-dependencies", {})} - {"gb-core"}
    assert len(names) >= 20
    assert [name for name in sorted(names) if name.lower() not in page] == []


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("games/*/*.md")]
    links = [
        (page, link.partition("#")[0])
        for page in pages
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in link and not link.startswith("#")
    ]
    assert len(links) >= 20
    assert [f"{page}: {link}" for page, link in links if not (page.parent / link).exists()] == []


def test_the_readme_has_its_figures() -> None:
    _, begin, rest = text("README.md").partition("<!-- bench:begin -->")
    figures, end, _ = rest.partition("<!-- bench:end -->")
    assert begin
    assert end
    results = ROOT / "bench" / "results" / "gameboy.json"
    if not results.is_file():
        pytest.skip(f"{results} is missing: `make bench` writes it and the README's tables")
    rows = [line for line in figures.splitlines() if line.startswith("|")]
    assert len(rows) >= 10
    assert sum("×" in row for row in rows) >= 5, "no ratios in the table"


def test_lint_demands_the_figures() -> None:
    recipe = text("Makefile").partition("\nlint:")[2].partition("\n\n")[0]
    assert re.search(r"^\t\$\(BIN\)/python -m bench\.readme_table --check$", recipe, re.M)
