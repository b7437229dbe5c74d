"""Equivalence tests of returns: TOST, its power, and the sample size that it needs.

"No significant difference" is not equivalence. Two one-sided tests (TOST) reject both that the
candidate is worse by the margin and that it is better by the margin; only then the difference is
shown to be within it.

Source: Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for
assessing the equivalence of average bioavailability", 1987.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

from hybridenv.errors import ArgumentError
from hybridenv.verify._results import Equivalence

MOST = 1_000_000
"""Sample size beyond which none is named."""
WANTED_POWER = 0.9

Floats = NDArray[np.float64]


def two_sample_p(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the p-value of a Kolmogorov-Smirnov test of two samples; NaN counts as infinity."""
    sides = (np.where(np.isnan(side), np.inf, side) for side in (ours, theirs))
    return float(stats.ks_2samp(*sides).pvalue)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Correct p-values for their number.

    Source: Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    corrected, worst = {}, 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        worst = max(worst, min(1.0, p_values[name] * (len(p_values) - rank)))
        corrected[name] = worst
    return {name: corrected[name] for name in p_values}


def tost(
    reference: Sequence[float] | Floats,
    candidate: Sequence[float] | Floats,
    margin: float,
    *,
    alpha: float = 0.05,
    paired: bool = True,
) -> Equivalence:
    """Test whether two samples of returns have the same mean, up to a margin.

    Args:
        reference: Returns of the reference, float64[n].
        candidate: Returns of the candidate; where `paired`, in the same order.
        margin: Largest difference that counts as none. Fix it before you look.
        alpha: Level of each one-sided test.
        paired: Test the differences of pairs; otherwise Welch's test of two samples.

    Returns:
        The test. It is `"IDENTICAL"` where every paired difference is exactly 0, `"EQUIVALENT"`
        where both one-sided tests reject, `"DIFFERENT"` where the test for a difference rejects
        and the difference exceeds the margin, otherwise `"NOT SHOWN"`.

    Raises:
        ArgumentError: The samples are too short, of different lengths where paired, or hold
            numbers that are not finite; or the margin or level makes no sense.
    """
    ours, theirs = (np.asarray(side, np.float64) for side in (reference, candidate))
    _check(ours, theirs, margin, alpha, paired)
    difference = float(theirs.mean() - ours.mean())
    if paired:
        error, freedom, deviation = _paired_error(ours, theirs)
        p_tost, method = _paired_p(ours, theirs, margin, error, freedom)
    else:
        error, freedom, deviation = _welch_error(ours, theirs)
        p_tost, method = _welch_p(ours, theirs, margin, difference, error, freedom)
    p_difference = _two_sided(difference, error, freedom)
    reach = float(stats.t.ppf(1 - alpha, freedom)) * error
    if paired and not np.any(theirs - ours):
        outcome = "IDENTICAL"
    elif p_tost < alpha:
        outcome = "EQUIVALENT"
    elif p_difference < alpha and abs(difference) > margin:
        outcome = "DIFFERENT"
    else:
        outcome = "NOT SHOWN"
    sides = 1 if paired else 2
    return Equivalence(
        outcome=outcome,
        paired=paired,
        margin=float(margin),
        alpha=float(alpha),
        n=min(len(ours), len(theirs)),
        mean_reference=float(ours.mean()),
        mean_candidate=float(theirs.mean()),
        difference=difference,
        deviation=deviation,
        low=difference - reach,
        high=difference + reach,
        p_tost=p_tost,
        p_difference=p_difference,
        power=tost_power(min(len(ours), len(theirs)), deviation, margin, alpha=alpha, sides=sides),
        n_for_power=tost_size(deviation, margin, alpha=alpha, sides=sides),
        method=method,
    )


def tost_power(
    n: int, deviation: float, margin: float, *, alpha: float = 0.05, sides: int = 1
) -> float:
    """Return the chance that TOST shows equivalence when the true difference is 0.

    Args:
        n: Pairs, or episodes of each side.
        deviation: Standard deviation of the differences of pairs, or of one episode.
        margin: The margin.
        alpha: Level of each one-sided test.
        sides: 1 for pairs, 2 for two independent samples of equal variance.

    Returns:
        0 to 1: the chance that |mean| < margin - t · error, integrated over the distribution of
        the estimated error.

    Source: Phillips, "Power of the two one-sided tests procedure in bioequivalence", 1990.
    """
    freedom = sides * (n - 1)
    if freedom < 1:
        return 0.0
    if deviation == 0:
        return 1.0
    error = deviation * math.sqrt(sides / n)
    critical = float(stats.t.ppf(1 - alpha, freedom))
    # The estimated error is the true one times sqrt(chi² / freedom); beyond `most` the interval is
    # wider than the margins and nothing can be shown.
    most = margin / (critical * error)

    def at(ratio: float) -> float:
        room = (margin - critical * error * ratio) / error
        density = stats.chi2.pdf(freedom * ratio**2, freedom) * 2 * freedom * ratio
        return float(density * (2 * stats.norm.cdf(room) - 1))

    spread = 8 / math.sqrt(2 * freedom)
    low, high = max(0.0, 1 - spread), min(most, 1 + spread)
    if high <= low:
        return 0.0
    return float(min(1.0, integrate.quad(at, low, high, limit=200)[0]))


def tost_size(
    deviation: float, margin: float, *, alpha: float = 0.05, power: float = WANTED_POWER,
    sides: int = 1,
) -> int | None:  # fmt: skip
    """Return the smallest n with which TOST has a power, when the true difference is 0.

    Args:
        deviation: As for `tost_power`.
        margin: As for `tost_power`.
        alpha: As for `tost_power`.
        power: The power.
        sides: As for `tost_power`.

    Returns:
        Pairs, or episodes of each side; `None` beyond a million.
    """
    low, high = 1, 2
    while tost_power(high, deviation, margin, alpha=alpha, sides=sides) < power:
        low, high = high, high * 2
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if tost_power(middle, deviation, margin, alpha=alpha, sides=sides) < power:
            low = middle
        else:
            high = middle
    return high


def one_sided_pair(differences: Floats, margin: float) -> float:
    """Return TOST's p-value of paired differences by two one-sided t-tests of SciPy.

    Args:
        differences: float64[n], not all equal.
        margin: The margin.
    """
    lower = stats.ttest_1samp(differences + margin, 0.0, alternative="greater").pvalue
    upper = stats.ttest_1samp(differences - margin, 0.0, alternative="less").pvalue
    return float(max(lower, upper))


def _check(ours: Floats, theirs: Floats, margin: float, alpha: float, paired: bool) -> None:
    for name, side in (("reference", ours), ("candidate", theirs)):
        if side.ndim != 1 or len(side) < 2:
            raise ArgumentError(f"{name}: got shape {side.shape}, expected (n,) with n at least 2")
        if not np.isfinite(side).all():
            raise ArgumentError(f"{name}: got returns that are not finite, expected numbers")
    if paired and len(ours) != len(theirs):
        raise ArgumentError(
            f"paired: got {len(ours)} and {len(theirs)} returns, expected as many of each side"
        )
    if not 0 < margin < np.inf:
        raise ArgumentError(f"margin: got {margin!r}, expected a number above 0")
    if not 0 < alpha < 0.5:
        raise ArgumentError(f"alpha: got {alpha!r}, expected a number between 0 and 0.5")


def _paired_error(ours: Floats, theirs: Floats) -> tuple[float, float, float]:
    """Standard error of the mean difference, its degrees of freedom, and the deviation."""
    n = len(ours)
    deviation = float(np.std(theirs - ours, ddof=1))
    return deviation / math.sqrt(n), n - 1, deviation


def _welch_error(ours: Floats, theirs: Floats) -> tuple[float, float, float]:
    parts = [float(np.var(side, ddof=1)) / len(side) for side in (ours, theirs)]
    total = sum(parts)
    below = sum(part**2 / (len(side) - 1) for part, side in zip(parts, (ours, theirs), strict=True))
    freedom = total**2 / below if below > 0 else len(ours) + len(theirs) - 2
    deviation = math.sqrt((np.var(ours, ddof=1) + np.var(theirs, ddof=1)) / 2)
    return math.sqrt(total), freedom, deviation


def _paired_p(
    ours: Floats, theirs: Floats, margin: float, error: float, freedom: float
) -> tuple[float, str]:
    differences = theirs - ours
    if error == 0:  # no t-test: all differences are the same number
        return _exact(float(differences[0]), margin), "all differences are equal"
    found: Any = _statsmodels()
    if found is None:
        return one_sided_pair(differences, margin), "scipy.stats.ttest_1samp, twice"
    del freedom
    return float(found.ttost_paired(theirs, ours, -margin, margin)[0]), "statsmodels ttost_paired"


def _welch_p(
    ours: Floats, theirs: Floats, margin: float, difference: float, error: float, freedom: float
) -> tuple[float, str]:
    if error == 0:
        return _exact(difference, margin), "neither side varies"
    found: Any = _statsmodels()
    if found is not None:
        p = found.ttost_ind(theirs, ours, -margin, margin, usevar="unequal")[0]
        return float(p), "statsmodels ttost_ind, unequal variances"
    lower = stats.t.sf((difference + margin) / error, freedom)
    upper = stats.t.cdf((difference - margin) / error, freedom)
    return float(max(lower, upper)), "two one-sided Welch tests with scipy.stats.t"


def _exact(difference: float, margin: float) -> float:
    return 0.0 if abs(difference) < margin else 1.0


def _two_sided(difference: float, error: float, freedom: float) -> float:
    if error == 0:
        return 1.0 if difference == 0 else 0.0
    return float(2 * stats.t.sf(abs(difference) / error, freedom))


def _statsmodels() -> Any:
    """`statsmodels.stats.weightstats`, or `None` where it is not installed."""
    try:
        from statsmodels.stats import weightstats
    except ImportError:
        return None
    return weightstats
