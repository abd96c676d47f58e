"""Intervals and tests; SciPy does the work, and is loaded when there is some: that takes two seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np


@cache
def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson interval of a success rate."""
    from scipy import stats

    interval = stats.binomtest(successes, n).proportion_ci(confidence_level=confidence, method="wilson")
    return float(interval.low), float(interval.high)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % t-interval of a mean share, cut to [0, 1]; the paper prints intervals of this kind.

    Runs are bimodal (a seed solves the gap or does not), so the success rate is the number to trust. One
    value has no spread and so no interval.
    """
    from scipy import stats

    if len(values) < 2:
        return None
    mean, error = float(np.mean(values)), float(stats.sem(values))
    half = float(stats.t.ppf(0.975, len(values) - 1)) * error if error else 0.0
    return max(0.0, mean - half), min(1.0, mean + half)


def same_rate_p(successes: int, n: int, other_successes: int, other_n: int) -> float:
    """Fisher's exact test: how surprising such a difference is if both rates are the same."""
    from scipy import stats

    table = np.array([[successes, n - successes], [other_successes, other_n - other_successes]])
    return float(stats.fisher_exact(table)[1])


def paired_p(better: int, worse: int) -> float:
    """McNemar's exact test: how surprising it is that, of pairs that differ, so many differ this way, by chance."""
    from scipy import stats

    return float(stats.binomtest(better, better + worse).pvalue) if better + worse else 1.0


def more_often_p(successes: int, n: int, rate: float) -> float:
    """How surprising so many of n are, or more, if each has this chance."""
    from scipy import stats

    return float(stats.binomtest(successes, n, rate, alternative="greater").pvalue) if n else 1.0


def rate_difference(
    successes: int, n: int, other_successes: int, other_n: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Newcombe's interval of the difference of two rates: both Wilson intervals together."""
    rate, other = successes / n, other_successes / other_n
    (low, high), (other_low, other_high) = (
        wilson(successes, n, confidence),
        wilson(other_successes, other_n, confidence),
    )
    difference = rate - other
    return (
        difference - float(np.hypot(rate - low, other_high - other)),
        difference + float(np.hypot(high - rate, other - other_low)),
    )


def same_parts_p(counts: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> float:
    """How surprising the differences are, part by part, if both sides have the same rate in each part.

    The sum of squared deviations, each in its own spread, beside what it is if each part's successes fall on the two
    sides by chance: 20,000 draws, always the same.
    """
    from scipy import stats

    (ours, n), (theirs, m) = np.array(counts).T, np.array(others).T
    both, successes = n + m, ours + theirs
    varies = (successes > 0) & (successes < both)
    if not varies.any():
        return 1.0
    chance = stats.hypergeom(both[varies], successes[varies], n[varies])
    draws = chance.rvs((20_000, int(varies.sum())), random_state=np.random.default_rng(0))
    apart = (np.vstack([ours[varies], draws]) - chance.mean()) ** 2 / chance.var()
    total = apart.sum(axis=1)
    return float(np.mean(total >= total[0] * (1 - 1e-9)))


ROUNDED = 0.0005 + 1e-12
"""Shares are published as percent with one digit: by so much one may be off."""


@dataclass(frozen=True)
class Sample:
    """A mean, the standard deviation behind it, and of how many; n = 0 is a number that is taken as exact."""

    mean: float
    sd: float = 0.0
    n: int = 0


def sample_of(values: Sequence[float]) -> Sample:
    return Sample(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values))


def same_mean_p(ours: Sample, theirs: Sample) -> float:
    """Welch's t-test: how surprising such a difference is if both means are the same."""
    return _welch(ours, theirs, "two-sided")


def shifted_mean_p(ours: Sample, theirs: Sample, margin: float) -> float:
    """How surprising it is that our mean is so high, if it is by a margin or more below theirs."""
    return _welch(replace(ours, mean=ours.mean + margin), theirs, "greater")


def _welch(ours: Sample, theirs: Sample, alternative: Literal["two-sided", "greater"]) -> float:
    from scipy import stats

    difference = ours.mean - theirs.mean
    if ours.sd == theirs.sd == 0:  # without any spread the test is undefined, and the answer plain
        return 1.0 if abs(difference) <= ROUNDED or (alternative == "greater" and difference < 0) else 0.0
    if min(ours.n, theirs.n) == 0:  # one sample against a number
        known, sample = (theirs, ours) if theirs.n == 0 else (ours, theirs)
        t, df = (sample.mean - known.mean) / (sample.sd / sample.n**0.5), sample.n - 1
        t = t if sample is ours else -t
        return float(stats.t.sf(t, df) if alternative == "greater" else 2 * stats.t.sf(abs(t), df))
    sides = (ours.mean, ours.sd, ours.n, theirs.mean, theirs.sd, theirs.n)
    return float(stats.ttest_ind_from_stats(*sides, equal_var=False, alternative=alternative).pvalue)


def wilcoxon_p(values: Sequence[float], others: Sequence[float]) -> float | None:
    """Wilcoxon's signed-rank test of pairs: how surprising such differences are if none is to be expected."""
    from scipy import stats

    if not any(one != other for one, other in zip(values, others, strict=True)):
        return None  # no pair differs
    return float(stats.wilcoxon(values, others).pvalue)


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % bootstrap interval of a mean (BCa, percentiles where that is undefined); None below five values."""
    from scipy import stats

    if len(values) < 5 or np.ptp(values) == 0:
        return None
    found = stats.bootstrap((values,), np.mean, n_resamples=5_000, rng=np.random.default_rng(0)).confidence_interval
    return float(found.low), float(found.high)


def ratio_interval(groups: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean of all `others` as a share of the mean of all `groups`.

    Values are drawn within their group, so each group keeps its weight; 5,000 draws, always the same (BCa).
    """
    from scipy import stats

    samples = [np.asarray(values, dtype=float) for values in (*groups, *others)]

    def ratio(*drawn: np.ndarray, axis: int = -1) -> np.ndarray:
        below, above = (np.concatenate(part, axis).mean(axis) for part in (drawn[: len(groups)], drawn[len(groups) :]))
        return np.asarray(above / below)

    if all(np.ptp(values) == 0 for values in samples):  # without any spread there is nothing to draw
        return float(ratio(*samples)), float(ratio(*samples))
    made = stats.bootstrap(samples, ratio, n_resamples=5_000, vectorized=True, rng=np.random.default_rng(0))
    return float(made.confidence_interval.low), float(made.confidence_interval.high)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's correction of several tests' p-values: each as it stands among all of them."""
    order = np.argsort(ps, kind="stable")
    corrected = np.empty(len(ps))
    corrected[order] = np.maximum.accumulate(np.asarray(ps)[order] * np.arange(len(ps), 0, -1))
    return [float(p) for p in np.minimum(corrected, 1.0)]


def rank_correlation(values: Sequence[float], others: Sequence[float]) -> dict[str, float | None]:
    """Spearman's rho with its p-value and 95 % interval (Bonett and Wright's); None where ranks say nothing."""
    from scipy import stats

    n = len(values)
    if n < 5 or np.ptp(values) == 0 or np.ptp(others) == 0:
        return {"rho": None, "p": None, "low": None, "high": None}
    found = stats.spearmanr(values, others)
    rho = float(found.statistic)
    half = float(stats.norm.ppf(0.975)) * np.sqrt((1 + rho**2 / 2) / (n - 3))
    centre = np.arctanh(np.clip(rho, -1 + 1e-12, 1 - 1e-12))
    return {
        "rho": rho,
        "p": float(found.pvalue),
        "low": float(np.tanh(centre - half)),
        "high": float(np.tanh(centre + half)),
    }
