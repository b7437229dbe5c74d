"""What the comparison itself costs."""

import time

from tests.verify.sides import Counter, Counting

from hybridenv.verify import verify

WANTED = 20_000
"""Steps of both sides a second of processor time."""


def rate() -> float:
    begin = time.process_time()
    report = verify(Counter, Counting, levels=[3], episodes=10)
    assert report.ok
    return report.levels[3].counts["steps"] / (time.process_time() - begin)


def test_a_trivial_pair_runs_at_twenty_thousand_steps_a_second() -> None:
    assert max(rate() for _ in range(5)) >= WANTED
