"""What a GPU makes of the JAX environments: ``python -m bench.gpu [CASE ...]``, in a few minutes.

Prints one JSON object; ``--output`` also writes it. Needs this package, built, and a JAX that sees
the GPU.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

#: Seconds that one measurement takes at least.
MEASURE = 0.3
REPEATS = 5


def pong(deadline: float) -> list[dict[str, Any]]:
    """Pong's steps a second at every frame skip, more and more games, until time is up."""
    from bench.jax_sides import SIDES, Work

    found: list[dict[str, Any]] = []
    for games in (4_096, 32_768, 262_144, 1_048_576):
        for skip in (1, 4, 8):
            for side in ("pong", "pong-random"):
                if time.monotonic() > deadline:
                    return found
                work = Work(games=games, steps=32, frame_skip=skip)
                found.append({"side": side, **asdict(work), **measure(SIDES[side](work), work)})
                print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    return found


def ppo(deadline: float) -> list[dict[str, Any]]:
    """Steps a second of PPO on Pong, end to end, with more and more games, until time is up."""
    from bench.jax_sides import SIDES, Work
    from bench.ppo_sides import HORIZON

    found: list[dict[str, Any]] = []
    for games in (1_024, 8_192, 65_536):
        for side in ("ppo-mlp", "ppo-lstm"):
            if time.monotonic() > deadline:
                return found
            work = Work(games=games, steps=4 * HORIZON, frame_skip=8)
            found.append({"side": side, **asdict(work), **measure(SIDES[side](work), work)})
            print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    return found


def half_cheetah(deadline: float) -> list[dict[str, Any]]:
    """Steps a second of the half cheetah's physics, beside MJX where that is installed."""
    from bench.jax_sides import Work
    from bench.locomotion_sides import SIDES

    found: list[dict[str, Any]] = []
    for side, members, steps in (
        ("planar-half_cheetah", 32_768, 32),
        ("mjx-4-8", 32_768, 4),
        ("env-half_cheetah", 32_768, 32),
        ("planar-half_cheetah", 4_096, 32),
        ("planar-half_cheetah", 262_144, 8),
    ):
        if time.monotonic() > deadline:
            return found
        work = Work(games=members, steps=steps, frame_skip=5)
        try:
            figures = measure(SIDES[side](work), work)
        except Exception as error:  # whatever a side raises is why it is absent
            figures = {"absent": f"{type(error).__name__}: {error}"}
        found.append({"side": side, **asdict(work), **figures})
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    return found


def pokemon(deadline: float) -> list[dict[str, Any]]:
    """Steps a second of Pokémon battles played by chance, more and more battles."""
    from bench.jax_sides import Work
    from bench.pokemon_sides import SIDES

    found: list[dict[str, Any]] = []
    for games in (4_096, 16_384, 65_536):
        if time.monotonic() > deadline:
            return found
        work = Work(games=games, steps=32)
        found.append({"side": "pokemon", **asdict(work), **measure(SIDES["pokemon"](work), work)})
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    return found


#: Cases by name. Each takes the moment (of `time.monotonic`) at which it must stop.
CASES: dict[str, Callable[[float], list[dict[str, Any]]]] = {
    "pong": pong,
    "ppo": ppo,
    "half_cheetah": half_cheetah,
    "pokemon": pokemon,
}


def measure(side: Any, work: Any) -> dict[str, Any]:
    """Time a side of `bench.jax_sides`: the median and extremes of its steps a second."""
    begin = time.perf_counter()
    side.play()
    calls = max(1, round(MEASURE / (time.perf_counter() - begin)))
    rates = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        for _ in range(calls):
            side.play()
        rates.append(calls * work.games * work.steps / (time.perf_counter() - begin))
    return {
        "steps_per_second": statistics.median(rates),
        "min": min(rates),
        "max": max(rates),
        "compile_seconds": side.compile_seconds,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the cases, print what they found; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--seconds", type=float, default=240, help="time for all cases")
    parser.add_argument("--any-device", action="store_true", help="measure without a GPU too")
    parser.add_argument("--output", type=Path, help="result file")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.cases if name not in CASES]
    if unknown:
        parser.error(f"got case {unknown[0]!r}, expected one of {', '.join(CASES)}")
    import jax

    device = jax.devices()[0]
    if device.platform == "cpu" and not options.any_device:
        print("JAX sees no GPU; --any-device measures what there is", file=sys.stderr)
        return 1
    deadline = time.monotonic() + options.seconds
    result = {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "device": device.device_kind,
        "jax": jax.__version__,
        "cases": {name: CASES[name](deadline) for name in options.cases or CASES},
    }
    text = json.dumps(result, indent=1)
    print(text)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    if not __package__:  # started as a file: what lies beside it is a package of the checkout
        sys.path[0] = str(Path(__file__).resolve().parents[1])
    sys.exit(main())
