"""How fast HalfCheetah is learned, also beside PyTorch on Gymnasium: ``python -m bench.learning``.

Two questions: how long the default settings take to reach returns of 2,000 and 4,000, and whether
a run here learns as much from as many steps as the same algorithm with the same settings in PyTorch
around Gymnasium's environment. Writes ``bench/results/learning.json`` and a picture for the
documentation, from which `bench.readme_table` makes the tables of ``docs/locomotion.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import report, tables
from bench.cases import PEERS, ROOT
from bench.measure import SideFailedError, Worker

#: The file that the tables are generated from, and the picture.
RESULTS = ROOT / "bench" / "results" / "learning.json"
PICTURE = ROOT / "docs" / "images" / "half-cheetah-learning.png"
SCHEMA = 1

NAMES = ("half_cheetah", "hopper", "walker2d")
TITLES = {"half_cheetah": "HalfCheetah", "hopper": "Hopper", "walker2d": "Walker2d"}

#: Returns whose time is measured.
LEVELS = {"half_cheetah": (2_000, 4_000), "hopper": (1_000, 2_000), "walker2d": (1_000, 2_000)}
SEEDS, PEER_SEEDS, LOUD_SEEDS = 5, 3, 3
EPISODES = 64

#: The usual deviation of first actions, by which cheetahs are thrown onto their backs.
LOUD = {"initial_std": 1.0}

#: What both sides of the comparison with PyTorch run with: as many steps an iteration as CleanRL
#: takes, but from 64 environments, and fewer and larger updates, for PyTorch's sake.
EQUAL: dict[str, Any] = {
    "steps": 500_000,
    "n_envs": 64,
    "horizon": 32,
    "epochs": 5,
    "minibatches": 8,
    "gamma": 0.99,
    "gae_lambda": 0.95,
    "clip": 0.2,
    "value_coef": 0.5,
    "lr": 1e-3,
    "max_grad_norm": 0.5,
    "hidden": [64, 64],
    "initial_std": 0.5,
}

#: What `hybridenv.train` calls the rest of what the other side does.
OURS: dict[str, Any] = {
    "shuffle": "rows",
    "chunk": 0,
    "value_clip": None,
    "entropy_coef": 0.0,
    "anneal": True,
    "normalize_observations": True,
    "scale_rewards": True,
    "separate_value": True,
    "activation": "tanh",
    "devices": 1,
    "calls": 8,
}


def by_default(name: str, seed: int, **changes: Any) -> report.Record:
    """Train with the default settings and judge the result.

    Args:
        name: Of the environment.
        seed: Seed of the run.
        **changes: Other settings than the default ones.

    Returns:
        The rows, the time of each level, seconds of training and of compiling, what whole
        episodes earned by the likeliest actions (``greedy``) and by drawn ones (``drawn``), and of
        half cheetahs the share of episodes spent on the back (``on_back``).
    """
    from hybridenv.envs import make
    from hybridenv.train import Config, evaluate, train

    result = train(Config.of(name, {**changes, "seed": seed}))
    found: report.Record = {
        "seed": seed,
        "rows": rows(result.rows, result.compile_seconds),
        "seconds": result.seconds,
        "compile_seconds": result.compile_seconds,
    }
    for level in LEVELS[name]:
        found[f"to {level}"] = reached(found["rows"], level)
    for kind in ("greedy", "drawn"):
        games = evaluate(
            *make(name), result.policy, result.params, episodes=EPISODES, greedy=kind == "greedy"
        )
        found[kind] = games.returns.tolist()
    if name == "half_cheetah":
        found["on_back"] = on_back(result.policy, result.params)
    return found


def on_back(policy: Any, params: Any) -> float:
    """Return the share of 64 episodes in which a half cheetah is mostly upside down.

    Args:
        policy: A network of `hybridenv.train`, which takes its likeliest actions.
        params: Its parameters.
    """
    import jax
    import jax.numpy as jnp

    from hybridenv.envs import Batch, make
    from hybridenv.train.games import clipped

    env, env_params = make("half_cheetah")
    games = Batch(env, EPISODES)

    @jax.jit
    def play(key: Any) -> Any:
        def step(now: Any, key: Any) -> Any:
            obs, state = now
            action = clipped(policy.step(params, obs, ())[0].mode(), policy.action)
            obs, state, *_ = games.step(key, state, action, env_params)
            return (obs, state), jnp.cos(obs[:, 1]) < 0  # the angle of the torso

        _, turned = jax.lax.scan(step, games.reset(key, env_params), jax.random.split(key, 1_000))
        return jnp.mean(jnp.mean(turned, 0) > 0.5)

    return float(play(jax.random.key(0)))


def rows(found: Sequence[dict[str, Any]], compiling: float) -> list[dict[str, float]]:
    """Return what is kept of a run's rows: those in which episodes ended.

    Args:
        found: Rows of `hybridenv.train`.
        compiling: Seconds to take off.
    """
    return [
        {
            "steps": row["steps"],
            "return": row["return"],
            "seconds": max(0.0, row["seconds"] - compiling),
        }
        for row in found
        if np.isfinite(row["return"])
    ]


def reached(found: Sequence[dict[str, float]], level: float) -> dict[str, float] | None:
    """Return the steps and seconds at which a return was first reached, or `None`."""
    for row in found:
        if row["return"] >= level:
            return {"steps": row["steps"], "seconds": row["seconds"]}
    return None


def ours(seed: int) -> report.Record:
    """Train at the settings that both sides share, in JAX; as `theirs`."""
    from hybridenv.envs import make
    from hybridenv.train import Config, evaluate, train

    result = train(Config.of("half_cheetah", {**EQUAL, **OURS, "seed": seed}))
    games = evaluate(*make("half_cheetah"), result.policy, result.params, episodes=EPISODES)
    return {
        "seed": seed,
        "rows": rows(result.rows, result.compile_seconds),
        "seconds": result.seconds,
        "greedy": games.returns.tolist(),
    }


def theirs(seed: int, python: Path) -> report.Record:
    """Train at the settings that both sides share, in PyTorch around Gymnasium.

    Args:
        seed: Seed of the run.
        python: Interpreter with PyTorch, Gymnasium and MuJoCo.

    Returns:
        The rows in which episodes ended, seconds of training, returns of whole episodes by the
        likeliest actions, and versions.

    Raises:
        SideFailedError: The side does not start, raises or goes silent.
    """
    worker = Worker(python, "bench.learning_torch")

    def ask(do: str, **arguments: Any) -> dict[str, Any]:
        worker.send(do, **arguments)
        return worker.answer()

    try:
        versions = ask("open", env="HalfCheetah-v5", settings={**EQUAL, "seed": seed})["versions"]
        found: list[dict[str, Any]] = []
        while some := ask("train", iterations=8)["rows"]:
            found += some
            print(".", end="", flush=True)
        returns = ask("evaluate", episodes=EPISODES, seed=10_000)["returns"]
    finally:
        worker.close()
    return {
        "seed": seed,
        "rows": [row for row in found if row["return"] is not None],
        "seconds": found[-1]["seconds"],
        "greedy": returns,
        "versions": versions,
    }


def record(
    defaults: dict[str, list[report.Record]],
    loud: list[report.Record],
    equal: dict[str, list[report.Record]],
    absent: str | None,
) -> report.Record:
    """Return everything that a run found, with where and how it was found."""
    cheetahs = defaults.get("half_cheetah", [])
    goals = []
    for level in LEVELS["half_cheetah"]:
        times = [run[f"to {level}"] for run in cheetahs]
        slowest = None
        if times:
            slowest = max(np.inf if time is None else time["seconds"] for time in times)
        goals.append(
            report.judged(f"seconds to a return of {level:,}, slowest seed, at most", 120, slowest)
        )
    return {
        **report.origin(SCHEMA),
        "load_average": os.getloadavg()[0],
        "settings": {"equal": EQUAL, "loud": LOUD, "episodes": EPISODES},
        "defaults": defaults,
        "loud": loud,
        "equal": equal,
        "absent": absent,
        "goals": goals,
    }


def block(result: report.Record) -> str:
    """Return the generated text of the documentation for a record."""
    parts: list[str] = []
    if result["defaults"]:
        parts += [
            (
                "With the default settings, each seed by itself. Seconds are of training, without "
                "compiling; a level is reached where the mean return of the episodes that end in "
                "an iteration, with drawn actions, first exceeds it. At the end "
                f"{result['settings']['episodes']} whole episodes are played:"
            ),
            _default_table(result["defaults"]),
        ]
    equal = result["equal"]
    if all(equal.values()):
        steps = result["settings"]["equal"]["steps"]
        head = [f"HalfCheetah after {steps / 1e6:.3g} M steps, equal settings", "seeds"]
        head += ["mean return of each seed", "their mean"]
        body = []
        for side, title in (
            ("ours", "hybridenv"),
            ("theirs", "PyTorch in CleanRL's manner, Gymnasium's HalfCheetah-v5"),
        ):
            means = [float(np.mean(run["greedy"])) for run in equal[side]]
            each = ", ".join(f"{mean:,.0f}" for mean in means)
            body.append([title, str(len(means)), each, f"{np.mean(means):,.0f}"])
        parts += [
            (
                "The same algorithm with the same settings, written twice, on the two environments "
                f"({_settings(result['settings']['equal'])}):"
            ),
            tables.table(head, body),
        ]
    if loud := result["loud"]:
        parts.append(_loudness(result["defaults"].get("half_cheetah", []), loud))
    parts.append(tables.source(result, "learning", "bench-learning"))
    return "\n\n".join(parts)


def _settings(equal: dict[str, Any]) -> str:
    return ", ".join(f"`{name}` {value}" for name, value in equal.items() if name != "steps")


def _loudness(quiet: list[report.Record], loud: list[report.Record]) -> str:
    """Say what the noise of the first actions decides."""

    def told(runs: list[report.Record]) -> str:
        turned = sum(run["on_back"] > 0.5 for run in runs)
        means = sorted(float(np.mean(run["greedy"])) for run in runs)
        return f"{turned} of {len(runs)} ({means[0]:,.0f} to {means[-1]:,.0f})"

    return (
        "What decides is the noise of the first actions, `initial_std`. With CleanRL's 1.0, a "
        "third of all actions lies beyond what motors can do, and the body is thrown onto its back "
        "within the first episodes. Seeds that crawl on their backs at the end, and returns: with "
        f"1.0 {told(loud)}, with the default of 0.5 {told(quiet)}."
    )


def _default_table(defaults: dict[str, list[report.Record]]) -> str:
    body = []
    for name, runs in defaults.items():
        row = [TITLES[name], f"{runs[0]['rows'][-1]['steps'] / 1e6:.0f} M", str(len(runs))]
        for level in LEVELS[name]:
            times = [run[f"to {level}"] for run in runs]
            row.append(f"{level:,}: {_range(times)}")
        for kind in ("greedy", "drawn"):
            means = sorted(float(np.mean(run[kind])) for run in runs)
            row.append(f"{np.mean(means):,.0f} ({means[0]:,.0f} to {means[-1]:,.0f})")
        body.append(row)
    head = ["", "steps", "seeds", "first level", "second level"]
    return tables.table([*head, "likeliest actions", "drawn actions"], body)


def _range(times: Sequence[dict[str, float] | None]) -> str:
    got = sorted(time["seconds"] for time in times if time is not None)
    steps = sorted(time["steps"] for time in times if time is not None)
    if not got:
        return "never"
    text = f"{got[0]:.0f} to {got[-1]:.0f} s, {steps[0] / 1e6:.2f} to {steps[-1] / 1e6:.2f} M steps"
    return text if len(got) == len(times) else f"{text} ({len(got)} of {len(times)} seeds)"


def draw(result: report.Record, path: Path) -> None:
    """Draw the curves of HalfCheetah: by default, and both sides at equal settings."""
    from hybridenv.train.plot import figure

    picture, axes = figure(7, 4)
    curves = {
        "default settings": result["defaults"].get("half_cheetah", []),
        "equal settings": result["equal"]["ours"],
        "equal settings, PyTorch and Gymnasium": result["equal"]["theirs"],
    }
    most = result["settings"]["equal"]["steps"]
    grid = np.linspace(0, most, 60)
    for title, runs in curves.items():
        if not runs:
            continue
        each = np.asarray([_sampled(run["rows"], grid) for run in runs])
        (line,) = axes.plot(grid, each.mean(0), label=f"{title}, {len(runs)} seeds")
        axes.fill_between(grid, each.min(0), each.max(0), alpha=0.2, color=line.get_color())
    axes.set_xlabel("environment steps")
    axes.set_ylabel("return of the episodes that end, drawn actions")
    axes.legend(frameon=False)
    picture.savefig(path, dpi=120)


def _sampled(found: Sequence[dict[str, float]], grid: Any) -> Any:
    """A curve at given steps, by lines between the means of neighbouring rows."""
    steps = [row["steps"] for row in found]
    return np.interp(grid, steps, [row["return"] for row in found], left=np.nan, right=np.nan)


def main(arguments: list[str] | None = None) -> int:
    """Train, print the tables, and write the JSON file and the picture; the exit status."""
    from hybridenv.envs import host_devices

    host_devices()
    parser = argparse.ArgumentParser(prog="python -m bench.learning", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="runs of the default settings")
    parser.add_argument("--peer-seeds", type=int, default=PEER_SEEDS, help="runs at equal settings")
    parser.add_argument("--only", choices=("defaults", "equal"), help="keep the other half's runs")
    parser.add_argument("--names", nargs="*", default=NAMES, help="environments to learn")
    parser.add_argument("--peer-python", type=Path, default=PEERS, help="interpreter with PyTorch")
    parser.add_argument("--output", type=Path, default=RESULTS, help="result file")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="picture file")
    options = parser.parse_args(arguments)
    defaults: dict[str, list[report.Record]] = {}
    equal: dict[str, list[report.Record]] = {"ours": [], "theirs": []}
    absent = None
    loud: list[report.Record] = []
    if options.only and options.output.is_file():
        old = json.loads(options.output.read_text(encoding="utf-8"))
        defaults, loud = old["defaults"], old["loud"]
        equal, absent = old["equal"], old["absent"]
    if options.only != "equal":
        for name in options.names:
            print(name, end=" ", flush=True)
            defaults[name] = [by_default(name, seed) for seed in range(options.seeds)]
        loud = [by_default("half_cheetah", seed, **LOUD) for seed in range(LOUD_SEEDS)]
    if options.only != "defaults":
        seeds = range(options.peer_seeds)
        equal["ours"] = [ours(seed) for seed in seeds]
        try:
            equal["theirs"] = []
            for seed in seeds:
                equal["theirs"].append(theirs(seed, options.peer_python))
        except SideFailedError as error:
            absent = str(error)
    result = record(defaults, loud, equal, absent)
    report.write(result, options.output)
    draw(result, options.picture)
    print(f"\n\n{block(result)}\n\nwritten to {options.output} and {options.picture}")
    if absent:
        print(f"not measured: {absent}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
