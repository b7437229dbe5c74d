"""The wheel does everything in an environment that has nothing but its declared dependencies."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import hybridenv

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).resolve().parents[2]

FOREIGN = {"pyboy", "jax", "torch", "maturin", "hypothesis", "pytest"}


@pytest.fixture(scope="session")
def wheel() -> Path:
    folder = Path(os.environ.get("HYBRIDENV_WHEELS", "dist"))
    wheels = list(folder.glob("hybridenv-*.whl"))
    if not wheels:
        pytest.skip(f"no wheel in {folder}: run `make test-wheel`")
    assert len(wheels) == 1, f"{folder} holds {len(wheels)} wheels, expected one"
    return wheels[0]


class Empty:
    """A virtual environment, and a shell in which nothing else is found."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        kept = {
            key: value
            for key, value in os.environ.items()
            if key.startswith("PIP_") or key in ("HOME", "SSL_CERT_FILE", "SYSTEMROOT")
        }
        return subprocess.run(
            [str(self.bin / program), *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=kept | {"PATH": str(self.bin), "PYTHONWARNINGS": "error", "COLUMNS": "100"},
            timeout=300,
        )

    def succeed(self, program: str, *arguments: str) -> str:
        result = self.run(program, *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def install(self, requirement: str) -> None:
        subprocess.run(
            [str(self.bin / "python"), "-m", "pip", "install", "--quiet", requirement],
            check=True,
        )


@pytest.fixture(scope="session")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Empty:
    """The wheel without extras."""
    empty = Empty(tmp_path_factory.mktemp("bare"))
    empty.install(str(wheel))
    return empty


@pytest.fixture(scope="session")
def full(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Empty:
    """The wheel with all of its extras for users."""
    empty = Empty(tmp_path_factory.mktemp("full"))
    empty.install(f"{wheel}[all]")
    return empty


def test_one_wheel_for_every_python_from_3_11(wheel: Path) -> None:
    name, version, python, abi, platform = wheel.stem.split("-")
    assert (name, version) == ("hybridenv", hybridenv.__version__)
    assert (python, abi) == ("cp311", "abi3")
    assert platform != "any"


def test_wheel_holds_what_it_should_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA")))
    assert len(names) >= 20
    tops = {name.partition("/")[0] for name in names}
    info = f"hybridenv-{hybridenv.__version__}.dist-info"
    assert tops <= {"hybridenv", info, "hybridenv.libs"}
    for wanted in ("py.typed", "_native.pyi", "data/polar_post.gb", "gym/__init__.py"):
        assert f"hybridenv/{wanted}" in names
    assert sum(name.startswith("hybridenv/_native.") for name in names) == 2
    for licence in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD_PARTY.md"):
        assert any(name.startswith(info) and name.endswith(licence) for name in names)
    assert not any("__pycache__" in name or name.endswith((".rs", ".c")) for name in names)
    text = metadata.decode()
    assert "License-Expression: MIT OR Apache-2.0" in text
    required = [line for line in text.splitlines() if line.startswith("Requires-Dist: ")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: numpy>=1.26"]


def test_wheel_tells_nothing_of_the_machine_that_built_it(wheel: Path) -> None:
    telling = re.compile(
        rb"file:///|[/\\]\.cargo[/\\]|[/\\]\.rustup[/\\]|registry/src|\bindex\.[a-z0-9-]+\.[a-z]+"
    )
    places = [str(ROOT).encode(), os.fsencode(Path.home()) + b"/"]
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    native = [content for name, content in contents.items() if "/_native." in name]
    assert max(map(len, native)) > 100_000
    for name, content in contents.items():
        found = telling.search(content)
        assert found is None, f"{name}: {found}"
        assert not any(place in content for place in places), name
    assert not any("/sboms/" in name for name in contents)


def test_empty_environments_are_empty(bare: Empty, full: Empty) -> None:
    for empty in (bare, full):
        installed = empty.succeed(
            "python", "-Wignore", "-m", "pip", "list", "--format=freeze"
        ).lower()
        names = {line.partition("==")[0] for line in installed.splitlines()}
        assert "hybridenv" in names
        needed = {"jax", "hypothesis"} if empty is full else set()  # by the extras of `all`
        assert not names & (FOREIGN - needed)
        assert empty.succeed(
            "python", "-c", "import shutil; print(shutil.which('cargo'), shutil.which('rustc'))"
        ).split() == ["None", "None"]


def test_batch_plays_with_numpy_alone(bare: Empty) -> None:
    code = """if True:
        import numpy as np, hybridenv
        from hybridenv.tasks import POLAR_POST
        with hybridenv.GameBoyBatch(n=8, task=POLAR_POST, seed=1) as batch:
            batch.reset()
            for _ in range(40):
                result = batch.step(np.full(8, hybridenv.Button.A, dtype=np.uint8))
            print(result.obs.shape, result.obs.max(), result.info["lives"].max())
        assert hybridenv.build_info()["profile"] == "release"
    """
    assert bare.succeed("python", "-c", code) == "(8, 144, 160) 3 3\n"


def test_without_extras_the_messages_say_what_to_install(bare: Empty) -> None:
    command = bare.run("hybridenv", "info")
    assert command.returncode == 2
    assert "pip install 'hybridenv[cli]'" in command.stderr
    gym = bare.run("python", "-c", "import hybridenv.gym")
    assert gym.returncode == 1
    assert "pip install 'hybridenv[gym]'" in gym.stderr
    picture = bare.run("python", "-c", "import hybridenv; hybridenv.GameBoyBatch(n=1).screenshot()")
    assert picture.returncode == 1
    assert "pip install 'hybridenv[image]'" in picture.stderr


def test_the_comparison_says_that_pyboy_is_missing(full: Empty) -> None:
    command = full.run("hybridenv", "diverge-gameboy", "--frames", "2")
    assert (command.returncode, command.stdout) == (2, "")
    assert "pip install 'hybridenv[pyboy]'" in command.stderr


def test_gymnasium_environments_work(full: Empty) -> None:
    code = """if True:
        import gymnasium, hybridenv.gym
        from gymnasium.utils.env_checker import check_env
        check_env(gymnasium.make("hybridenv/GameBoy-v0").unwrapped)
        report = hybridenv.gym.check_vector_env(
            lambda: gymnasium.make_vec("hybridenv/GameBoy-v0", num_envs=3, max_episode_steps=9)
        )
        print(report.episodes)
    """
    assert int(full.succeed("python", "-c", code)) >= 3


def test_command_line_works(full: Empty) -> None:
    assert "POLAR POST" in full.succeed("hybridenv", "info")
    assert "frames/s" in full.succeed("hybridenv", "bench", "--n", "4", "--seconds", "0.1")
    full.succeed("hybridenv", "play", "--frames", "30", "--png", "last.png", "--gif", "film.gif")
    demo = full.run("hybridenv", "demo", "--n", "4", "--seconds", "0.2")
    assert demo.returncode == 0, demo.stderr
    assert "PyBoy is not installed" in demo.stderr
    for made in ("last.png", "film.gif", "demo/contact-sheet.png", "demo/film.gif"):
        assert (full.folder / made).stat().st_size > 500
