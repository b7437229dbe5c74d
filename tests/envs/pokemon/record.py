"""Record the battles that the tests replay: ``python -m tests.envs.pokemon.record [PART ...]``.

Parts are ``random`` and ``scenarios``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.envs.pokemon.oracle import Oracle, OracleFailedError, running, trace_of
from tests.envs.pokemon.scenarios import Scenario, load_scenarios
from tests.envs.pokemon.traces import Trace, write

DATA = Path(__file__).with_name("data")

#: Random battles that are kept, by where their teams come from.
KEPT = {"gen1randombattle": 200, "movesets": 100, "mirrors": 40}

FILES = {**{source: DATA / f"{source}.npz" for source in KEPT}, "scenarios": DATA / "scenarios.npz"}


def find(oracle: Oracle, scenario: Scenario) -> Trace:
    """Find a seed with which a written battle shows its rule, and record it.

    Raises:
        OracleFailedError: There is none among thousands.
    """
    answer = oracle.ask(
        "seek",
        name=scenario.name,
        teams=scenario.teams,
        choices=scenario.choices,
        says=scenario.says,
        never=scenario.never,
    )
    return trace_of(scenario.name, answer)


def main(parts: list[str]) -> int:
    """Record, print what was recorded, and return the exit status."""
    failed = 0
    with running() as oracle:
        if "random" in parts:
            for source, count in KEPT.items():
                traces = [
                    oracle.play(f"{source} {number}", teams=source, number=number)
                    for number in range(count)
                ]
                keep(FILES[source], traces)
        if "scenarios" in parts:
            traces = []
            for scenario in load_scenarios():
                try:
                    traces.append(find(oracle, scenario))
                except OracleFailedError as error:
                    failed += 1
                    sys.stderr.write(f"{error}\n")
            keep(FILES["scenarios"], traces)
    return min(failed, 1)


def keep(path: Path, traces: list[Trace]) -> None:
    """Write a file of traces and say what it holds."""
    write(path, traces)
    steps = sum(trace.steps for trace in traces)
    size = path.stat().st_size
    sys.stdout.write(f"{path.name}: {len(traces)} battles, {steps} steps, {size} bytes\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["random", "scenarios"]))
