"""TOST against statsmodels, SciPy and its own promises, by simulation."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats import weightstats

from hybridenv.errors import ArgumentError
from hybridenv.verify import tost, tost_power, tost_size
from hybridenv.verify._statistics import holm, one_sided_pair

TRIALS = 4_000


def paired_outcomes(difference: float, deviation: float, n: int, margin: float) -> list[bool]:
    """Whether TOST shows equivalence, over many samples; the same test as `tost`, vectorised."""
    rng = np.random.default_rng(1)
    samples = rng.normal(difference, deviation, (TRIALS, n))
    mean, error = samples.mean(axis=1), samples.std(axis=1, ddof=1) / math.sqrt(n)
    reach = stats.t.ppf(0.95, n - 1) * error
    shown = (mean - reach > -margin) & (mean + reach < margin)
    for i in range(0, TRIALS, 400):  # the vectorised test is the package's
        found = tost(np.zeros(n), samples[i], margin)
        assert (found.outcome == "EQUIVALENT") == shown[i]
    return [bool(one) for one in shown]


@pytest.mark.parametrize("n", [10, 40, 200])
def test_at_the_margin_equivalence_is_claimed_in_at_most_one_of_twenty(n: int) -> None:
    shown = paired_outcomes(difference=0.5, deviation=1.0, n=n, margin=0.5)
    # Three standard errors of a simulated rate of 5 % with so many trials.
    assert np.mean(shown) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / TRIALS)


@pytest.mark.parametrize(("deviation", "margin"), [(1.0, 0.5), (1.0, 0.2), (600.0, 100.0)])
def test_the_printed_n_has_a_power_of_ninety_percent(deviation: float, margin: float) -> None:
    n = tost_size(deviation, margin)
    assert n is not None
    assert tost_power(n, deviation, margin) >= 0.9
    assert tost_power(n - 1, deviation, margin) < 0.9
    shown = paired_outcomes(difference=0.0, deviation=deviation, n=n, margin=margin)
    assert np.mean(shown) >= 0.9 - 3 * math.sqrt(0.9 * 0.1 / TRIALS)


@pytest.mark.parametrize(
    ("deviation", "margin", "sides", "expected"),
    [
        (0.5, 0.05, 2, 2165),  # a win rate near one half
        (0.5, 0.02, 2, 13528),
        (600.0, 100.0, 2, 780),  # HalfCheetah
        (0.3, 1.0, 2, 2),  # Pong
    ],
)
def test_sizes_are_those_of_the_normal_approximation_or_just_above(
    deviation: float, margin: float, sides: int, expected: int
) -> None:
    n = tost_size(deviation, margin, sides=sides)
    assert n is not None
    assert expected <= n <= expected + 3


def test_paired_is_what_statsmodels_and_scipy_say() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        ours = rng.normal(10, 3, 30)
        theirs = ours + rng.normal(0.1, 0.5, 30)
        found = tost(ours, theirs, 0.4)
        expected = weightstats.ttost_paired(theirs, ours, -0.4, 0.4)[0]
        assert found.p_tost == pytest.approx(expected, rel=1e-9)
        assert one_sided_pair(theirs - ours, 0.4) == pytest.approx(expected, rel=1e-9)


def test_unpaired_is_what_statsmodels_says() -> None:
    rng = np.random.default_rng(4)
    ours, theirs = rng.normal(0, 1, 50), rng.normal(0.1, 3, 80)
    found = tost(ours, theirs, 1.0, paired=False)
    expected = weightstats.ttost_ind(theirs, ours, -1.0, 1.0, usevar="unequal")[0]
    assert found.p_tost == pytest.approx(expected, rel=1e-9)
    interval = stats.ttest_ind(theirs, ours, equal_var=False).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("paired", [True, False])
def test_without_statsmodels_the_numbers_are_the_same(
    paired: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    ours, theirs = rng.normal(0, 1, 40), rng.normal(0, 1, 40)
    with_it = tost(ours, theirs, 0.5, paired=paired)
    monkeypatch.setattr("hybridenv.verify._statistics._statsmodels", lambda: None)
    without = tost(ours, theirs, 0.5, paired=paired)
    assert without.p_tost == pytest.approx(with_it.p_tost, rel=1e-9)
    assert "scipy" in without.method
    assert "statsmodels" in with_it.method


def test_the_three_verdicts_and_identity() -> None:
    rng = np.random.default_rng(6)
    ours = rng.normal(0, 1, 400)
    assert tost(ours, ours, 0.5).outcome == "IDENTICAL"
    assert tost(ours, ours + rng.normal(0, 0.1, 400), 0.5).outcome == "EQUIVALENT"
    assert tost(ours, ours + 1 + rng.normal(0, 0.1, 400), 0.5).outcome == "DIFFERENT"
    assert tost(ours[:8], rng.normal(0, 1, 8), 0.1).outcome == "NOT SHOWN"


def test_a_difference_within_the_margin_is_not_called_one() -> None:
    ours = np.random.default_rng(7).normal(0, 1, 500)
    found = tost(ours, ours + 0.1 + np.random.default_rng(8).normal(0, 0.05, 500), 0.5)
    assert found.p_difference < 1e-6
    assert found.outcome == "EQUIVALENT"


def test_a_constant_difference_needs_no_variance() -> None:
    ours = np.arange(10.0)
    assert tost(ours, ours + 0.25, 0.5).outcome == "EQUIVALENT"
    assert tost(ours, ours + 0.75, 0.5).outcome == "DIFFERENT"


def test_holm_is_at_least_the_plain_value_and_keeps_the_order() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06}
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reference": [1.0]}, "n at least 2"),
        ({"reference": [1.0, 2.0]}, "as many of each side"),
        ({"candidate": [1.0, math.nan, 2.0]}, "not finite"),
        ({"margin": 0.0}, "margin: got 0.0"),
        ({"alpha": 0.7}, "alpha: got 0.7"),
    ],
)
def test_bad_input_is_refused(change: dict[str, object], words: str) -> None:
    given = {"reference": [1.0, 2.0, 3.0], "candidate": [1.0, 2.0, 3.0], "margin": 1.0}
    with pytest.raises(ArgumentError, match=words):
        tost(**{**given, **change})
