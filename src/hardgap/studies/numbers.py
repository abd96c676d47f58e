"""How the numbers of a study are printed, in tables and in sentences; shares as percent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from hardgap.core.wording import percent

if TYPE_CHECKING:
    from hardgap.studies.measure import Measured


def recovered(arm: Measured) -> str:
    """Recovered of finished runs, and of how many planned ones where some are missing."""
    return f"{arm.recovered}/{arm.n}" + (f" of {arm.planned}" if arm.n < arm.planned else "")


def published_count(arm: Measured) -> str:
    return "" if arm.published is None or arm.published.count is None else "{}/{}".format(*arm.published.count)


def mean(shares: Iterable[float] | None, missing: str = "") -> str:
    values = list(shares or ())
    return percent(fmean(values) if values else None, missing)


def spread(shares: Sequence[float]) -> str:
    """Mean and standard deviation; the mean alone of a single value."""
    return mean(shares, "–") + (f" ± {percent(pstdev(shares))}" if len(shares) > 1 else "")


def interval(ends: tuple[float, float] | None, digits: int = 1) -> str:
    return "" if ends is None else "{:.{d}f} to {:.{d}f}".format(*(100 * end for end in ends), d=digits)


def span(values: Iterable[float], form: str = ".0f") -> str:
    """The least and the most, or one number where they read the same; as they are.

    >>> span([86.2, 94.9]), span([2.0, 2.1]), span([2640, 1570], ",")
    ('86 to 95', '2', '1,570 to 2,640')
    """
    ordered = sorted(values)
    return " to ".join(dict.fromkeys(format(end, form) for end in (ordered[0], ordered[-1])))


def p_value(p: float | None, missing: str = "", digits: int = 2) -> str:
    """As short as a p-value is read."""
    return missing if p is None else f"{p:.{digits}g}"


def beside(share: float | None, published: float | None) -> str:
    """A share, and the published percentage in brackets, if there is one."""
    return percent(share, "–") + ("" if published is None else f" [{published:.1f}]")
