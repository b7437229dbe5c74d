"""`import hybridenv` is light and complete."""

import json
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

import hybridenv
import hybridenv.errors

HEAVY = {"gymnasium", "PIL", "typer", "rich", "jax", "torch", "pyboy", "matplotlib", "scipy"}


def modules_after(statement: str) -> set[str]:
    """Names of the top-level modules in a fresh interpreter after a statement."""
    code = f"{statement}; import json, sys; print(json.dumps(sorted(sys.modules)))"
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    return {name.partition(".")[0] for name in json.loads(output)}


def test_import_is_light() -> None:
    loaded = modules_after("import hybridenv")
    assert {"hybridenv", "numpy"} <= loaded
    assert not loaded & HEAVY


def test_a_game_needs_only_numpy() -> None:
    loaded = modules_after(
        "import hybridenv, hybridenv.tasks as tasks\n"
        "with hybridenv.GameBoyBatch(n=2, task=tasks.POLAR_POST) as batch: batch.reset()\n"
        "pass"
    )
    assert not loaded & HEAVY


def test_gym_loads_neither_pictures_nor_the_command_line() -> None:
    loaded = modules_after("import hybridenv.gym")
    assert "gymnasium" in loaded
    assert not loaded & (HEAVY - {"gymnasium"})


def test_jax_loads_when_it_is_first_asked_for() -> None:
    flags = "import hybridenv, os; hybridenv.cpu_flags(); assert 'XLA_FLAGS' not in os.environ"
    assert not modules_after(flags) & HEAVY
    loaded = modules_after("import hybridenv; hybridenv.make('pong')")
    assert "jax" in loaded
    assert not loaded & (HEAVY - {"jax", "scipy"})


def test_ready_tasks_need_no_import_of_their_own() -> None:
    code = "import hybridenv; print(hybridenv.tasks.POLAR_POST.max_steps)"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert int(result.stdout) > 0


def test_every_public_name_exists_and_is_documented() -> None:
    assert len(hybridenv.__all__) >= 30
    for name in hybridenv.__all__:
        assert getattr(hybridenv, name).__doc__, name


def test_a_star_needs_only_numpy() -> None:
    assert not modules_after("from hybridenv import *") & HEAVY
    assert {"envs", "make"} <= set(dir(hybridenv))


def test_every_error_is_at_hand() -> None:
    found = {name for name, kind in vars(hybridenv.errors).items() if isinstance(kind, type)}
    assert len(found) >= 20
    assert found <= set(hybridenv.__all__)


def test_every_module_imports_and_says_what_it_is() -> None:
    names = [module.name for module in walk_packages(hybridenv.__path__, "hybridenv.")]
    assert len(names) >= 20
    for name in names:
        if name in ("hybridenv.__main__", "hybridenv._native"):
            continue  # the first runs the command line, the second is private
        assert import_module(name).__doc__, name


def test_only_batch_imports_the_native_module() -> None:
    users = []
    for module in walk_packages(hybridenv.__path__, "hybridenv."):
        if module.name in ("hybridenv.__main__", "hybridenv._native"):
            continue
        if hasattr(import_module(module.name), "_native"):
            users.append(module.name)
    assert users == ["hybridenv.batch"]


def test_version_is_that_of_the_native_module() -> None:
    assert hybridenv.__version__ == hybridenv.build_info()["version"]
    assert hybridenv.__version__.count(".") == 2


@pytest.mark.parametrize(
    ("missing", "statement", "extra"),
    [
        ("gymnasium", "import hybridenv.gym", "gym"),
        ("jax", "import hybridenv.envs", "jax"),
        ("gymnasium", "from hybridenv.verify import verify", "verify"),
        ("scipy", "from hybridenv.verify import tost", "verify"),
        ("jax", "import hybridenv; hybridenv.make('pong')", "jax"),
        ("gymnasium", "import hybridenv.envs as e; e.Discrete(3).to_gymnasium()", "gym"),
    ],
)
def test_a_part_says_what_it_lacks(missing: str, statement: str, extra: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; {statement}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert f"pip install 'hybridenv[{extra}]'" in result.stderr
    assert "hybridenv.errors.MissingDependencyError" in result.stderr
