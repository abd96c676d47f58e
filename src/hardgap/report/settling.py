"""When a difference or an agreement is settled, and how many runs would settle what is not.

A count of runs tells little, so the same rule is asked twice: of what was measured, and of what more runs would give if
they came out as those so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np

from hardgap.report.statistics import Sample, rate_difference, same_mean_p, same_rate_p, shifted_mean_p, wilson

Settled = Literal["reproduced", "differs", "inconclusive"]
Count = tuple[int, int]
"""Successes and runs."""
LEVEL = 0.05
RATE_MARGIN = 0.25
"""The least round margin that ten runs against ten can keep: 10/10 against 10/10 leaves 21 points open."""
MEAN_MARGIN = 0.10
"""Of a mean accuracy, which has an error of its own and can be told more closely than a count of ten."""
POWER = 0.8
MANY = (6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 160, 200, 240, 320)
"""The numbers of runs that are tried for what would settle it."""
FEWEST_SEEDS = 3
"""Fewer have no spread to go by."""


@cache
def runs_to_settle(ours: Count, theirs: Count, level: float = LEVEL) -> int | None:
    """So many runs here, at the rate found so far, would settle it with 80 % chance; None if 320 would not."""
    return runs_to_tell(ours, lambda count: settled(count, theirs, level) != "inconclusive")


def runs_to_tell(ours: Count, tells: Callable[[Count], bool]) -> int | None:
    """The least number of runs with which, at the rate found so far, the outcome tells with 80 % chance."""
    from scipy import stats

    rate = rate_of(ours)
    if not tells((round(rate * 100_000), 100_000)):
        return None
    for many in (one for one in MANY if one > ours[1]):
        least, most = stats.binom.interval(0.999, many, rate)
        telling = [k for k in range(max(0, int(least)), int(most) + 1) if tells((k, many))]
        if np.sum(stats.binom.pmf(telling, many, rate)) >= POWER:
            return many
    return None


def is_majority(ours: Count) -> bool:
    """Whether a share is told apart from one half."""
    low, high = wilson(*ours)
    return not low <= 0.5 <= high


def seeds_to_settle(ours: Sample, theirs: Sample, level: float = LEVEL, both: bool = False) -> int | None:
    """So many seeds here, with the mean and the spread found so far, would settle it; None if 320 would not.

    If both samples are ours, so many of each.
    """

    def tells(many: int) -> bool:
        other = replace(theirs, n=many) if both else theirs
        return settled_mean(replace(ours, n=many), other, level) != "inconclusive"

    return next((many for many in MANY if many > ours.n and tells(many)), None)


def seeds_to_tell_apart(ours: Sample, others: Sample, level: float = LEVEL) -> int | None:
    """So many seeds of each, with means and spreads as found so far, would tell them apart; None if 320 would not."""
    larger = (many for many in MANY if many > min(ours.n, others.n))
    return next((n for n in larger if same_mean_p(replace(ours, n=n), replace(others, n=n)) < level), None)


@cache
def settled(ours: Count, theirs: Count, level: float = LEVEL) -> Settled:
    """What two counts show: a difference, agreement, or neither."""
    low, high = rate_difference(*ours, *theirs, confidence=1 - 2 * LEVEL)
    if low <= 0 <= high:
        return "reproduced" if max(-low, high) <= RATE_MARGIN else "inconclusive"
    return "differs" if same_rate_p(*ours, *theirs) < level else "inconclusive"


def settled_mean(ours: Sample, theirs: Sample, level: float = LEVEL) -> Settled:
    """What two means show; agreement by two one-sided tests against the margin."""
    p = same_mean_p(ours, theirs)
    if p >= 2 * LEVEL:
        outside = max(shifted_mean_p(ours, theirs, MEAN_MARGIN), shifted_mean_p(theirs, ours, MEAN_MARGIN))
        return "reproduced" if outside < LEVEL else "inconclusive"
    return "differs" if p < level else "inconclusive"


def rate_of(count: Count) -> float:
    return count[0] / count[1]
