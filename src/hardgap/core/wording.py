"""What sentences to a user have in common."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What to put behind a name that is not known, if one that is looks like it.

    >>> did_you_mean("mian", ["main", "ceiling"]), did_you_mean("x", ["main"])
    (' (did you mean main?)', '')
    """
    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def plural(count: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "run"), plural(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float | None, missing: str = "") -> str:
    """A share as percent with one digit.

    >>> percent(0.9754), percent(None, "–")
    ('97.5', '–')
    """
    return missing if share is None else f"{100 * share:.1f}"


def listed(names: Iterable[object], last: str = "and") -> str:
    """Names as a sentence has them.

    >>> listed([1, 4, 6]), listed([0, 3], "or"), listed(["one"])
    ('1, 4 and 6', '0 or 3', 'one')
    """
    *first, end = [str(name) for name in names] or [""]
    return f"{', '.join(first)} {last} {end}" if first else end


def duration(seconds: float) -> str:
    """A time that a person can read.

    >>> duration(42), duration(90), duration(5400)
    ('42 s', '1 min 30 s', '1 h 30 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
