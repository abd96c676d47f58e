"""Intervals and tests; SciPy does the work, and is loaded when there is some: that takes two seconds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a success rate."""
    from scipy import stats

    interval = stats.binomtest(successes, n).proportion_ci(confidence_level=0.95, method="wilson")
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


def same_mean_p(values: Sequence[float], others: Sequence[float]) -> float | None:
    """Welch's t-test: how surprising such a difference is if both means are the same; None below two values each."""
    from scipy import stats

    if min(len(values), len(others)) < 2:
        return None
    if np.ptp(values) == np.ptp(others) == 0:  # without any spread the test is undefined, and the answer plain
        return 1.0 if values[0] == others[0] else 0.0
    return float(stats.ttest_ind(values, others, equal_var=False).pvalue)


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
