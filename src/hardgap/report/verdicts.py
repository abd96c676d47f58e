"""Verdicts: one vocabulary and one set of rules for what a measurement says about what a paper printed.

*Reproduced* is a claim of its own, not the absence of a difference: the 90 % interval of the difference has to contain
zero and lie within a margin (equivalence, 5 % on either side). What shows neither a difference nor agreement is
*inconclusive*, with the n that would settle it, or what else would. `docs/verdicts.md` states the rules in plain
sentences, those too that single studies add.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hardgap.core.wording import listed, numbered
from hardgap.report.settling import (
    FEWEST_SEEDS,
    LEVEL,
    MANY,
    Count,
    is_majority,
    rate_of,
    runs_to_settle,
    runs_to_tell,
    seeds_to_settle,
    settled,
    settled_mean,
)
from hardgap.report.statistics import Sample, holm, same_mean_p, same_parts_p, same_rate_p, sample_of

Word = Literal[
    "", "reproduced", "differs", "inconclusive", "does not hold as written", "holds", "no test", "paper is silent",
    "not run",
]  # fmt: skip
WORDS: tuple[Word, ...] = (
    "does not hold as written", "differs", "inconclusive", "reproduced", "holds", "not run", "no test",
    "paper is silent",
)  # fmt: skip
"""What stands first is what a claim is called of which some parts are that."""
WIDER = "more of ours only widen our range"
"""Why a range is settled by no number of runs."""
UNTOLD = "more of the same would settle it; how many is not computed for such a test"
"""Where a test has no plan of its own."""

Basis = tuple[Count, Count] | tuple[Sample, Sample]


@dataclass(frozen=True)
class Verdict:
    """A word, which way it differs or how far it holds, and what it rests on.

    p        how surprising such a difference is if there is none; None where nothing was tested
    needed   runs here that would settle what is inconclusive; None if 320 would not, or runs are not what is missing
    of       what is counted there, if not simply runs
    settle   in a few words, what would settle it where no number does
    why      in a few words: a counterexample, the patterns that differ, what is missing
    scale    the scale of what was measured, where it has one: part of the word
    so_far   whether runs are still to come
    basis    the two counts, or the two samples, that were compared
    both     whether both of them are ours, so that more runs are more of both
    """

    word: Word
    way: str = ""
    p: float | None = None
    needed: int | None = None
    why: str = ""
    scale: str = ""
    so_far: bool = False
    of: str = "runs"
    settle: str = ""
    basis: Basis | None = field(default=None, repr=False)
    both: bool = field(default=False, repr=False)

    @property
    def verdict(self) -> str:
        """As it is printed.

        >>> Verdict("differs", "lower", scale="desk").verdict
        'differs (lower) at desk scale'
        """
        if self.word in ("", "not run", "no test", "paper is silent"):
            return self.word
        parts = [self.word, f"({self.way})" * bool(self.way), "so far" * self.so_far]
        return " ".join([*filter(None, parts), *([f"at {self.scale} scale"] if self.scale else [])])

    @property
    def note(self) -> str:
        """What is to be said beside it: why, and what would settle it."""
        return "; ".join(filter(None, [self.why, self.settles]))

    @property
    def settles(self) -> str:
        """What would settle it; nothing where it is settled.

        >>> Verdict("inconclusive", needed=10).settles
        'about 10 runs would settle it'
        """
        if self.word != "inconclusive":
            return ""
        return self.settle or (f"about {self.needed} {self.of} would settle it" if self.needed else "")

    def as_dict(self) -> dict[str, Any]:
        told = ("word", "way", "p", "needed", "why", "settles")
        return {"verdict": self.verdict} | {name: getattr(self, name) for name in told}


SILENT = Verdict("paper is silent")
NOT_RUN = Verdict("not run")
UNJUDGED = Verdict("")
"""At smoke scale, where a few training steps show nothing."""


def judge_count(ours: Count, theirs: Count) -> Verdict:
    """Fisher's exact test for a difference; for agreement, the interval of the difference of the two rates."""
    if not ours[1]:
        return NOT_RUN
    word, p, basis = settled(ours, theirs), same_rate_p(*ours, *theirs), (ours, theirs)
    if word == "inconclusive":
        return _inconclusive(p, basis)
    return Verdict(word, _way(rate_of(ours), rate_of(theirs)) if word == "differs" else "", p, basis=basis)


def judge_parts(ours: Mapping[int, Count], theirs: Mapping[int, Count], name: str = "pattern") -> Verdict:
    """A total whose parts are published too: it is not reproduced if single parts differ, whatever their sum.

    Two tests are made, of the total and of the parts together, so each p counts double. Where only some parts are
    measured yet, the total is theirs alone, on both sides.
    """
    both = [part for part in theirs if ours.get(part, (0, 0))[1]]
    total = judge_count(_sum(ours[part] for part in both), _sum(theirs[part] for part in both))
    if total.word == "not run":
        return total
    if len(both) < len(theirs):
        published = _share(_sum(theirs[part] for part in both))
        total = replace(total, why=f"of {numbered(name, both)} alone, where the paper has {published}")
    p_parts = same_parts_p([ours[part] for part in both], [theirs[part] for part in both])
    p = min(1.0, 2 * min(p_parts, total.p if total.p is not None else 1.0))
    if total.word == "differs" and p >= LEVEL:
        assert total.basis is not None
        return replace(_inconclusive(p, total.basis, level=LEVEL / 2), why=total.why)
    if total.word == "differs" or p >= LEVEL:
        return replace(total, p=p)
    apart = {part: same_rate_p(*ours[part], *theirs[part]) for part in both}
    shown = [part for part in both if apart[part] < LEVEL] or [min(both, key=lambda part: apart[part])]
    ways = {_way(rate_of(ours[part]), rate_of(theirs[part])) for part in shown}
    told = [f"{name} {part}: {_share(ours[part])} against {_share(theirs[part])}" for part in shown]
    together = f"{listed(told)} (all {name}s tested at once, so none by itself has to pass Holm's correction)"
    why = "; ".join(filter(None, [total.why, together]))
    return Verdict("differs", ways.pop() if len(ways) == 1 else "both ways", p, why=why)


def judge_mean(values: Sequence[float], theirs: Sample, *, both: bool = False, of: str = "runs") -> Verdict:
    """Welch's test for a difference; for agreement, that the means are less than a margin apart.

    A published mean without spread is taken as exact: `theirs.n` is 0. `both` if theirs is a sample of ours, too.
    """
    if not values:
        return NOT_RUN
    if (few := min(len(values), theirs.n if both else len(values))) < FEWEST_SEEDS:
        return too_few(few, of)
    ours = sample_of(values)
    word, p, basis = settled_mean(ours, theirs), same_mean_p(ours, theirs), (ours, theirs)
    if word == "inconclusive":
        return _inconclusive(p, basis, both=both, of=of)
    return Verdict(word, _way(ours.mean, theirs.mean) if word == "differs" else "", p, basis=basis, both=both, of=of)


def too_few(number: int, of: str) -> Verdict:
    """Nothing can be said yet. How many would settle it, their spread will tell."""
    return Verdict(
        "inconclusive", of=of, why=f"{number} so far", settle=f"at least {FEWEST_SEEDS} {of} are needed to judge it"
    )


def judge_number(value: float | None, published: float, tolerance: float) -> Verdict:
    """A computed number has no chance in it but what its tolerance allows."""
    if value is None:
        return NOT_RUN
    difference = value - published
    return Verdict("reproduced") if abs(difference) <= tolerance else Verdict("differs", _way(difference, 0))


def judge_range(found: tuple[float, float] | None, published: tuple[float, float], margin: float) -> Verdict:
    """The least and the most of several runs: the same to a margin at both ends, apart, or neither."""
    if found is None:
        return NOT_RUN
    if all(abs(ours - theirs) <= margin for ours, theirs in zip(found, published, strict=True)):
        return Verdict("reproduced")
    if found[0] > published[1] + margin or found[1] < published[0] - margin:
        return Verdict("differs", _way(found[0], published[0]))
    why = f"neither the same nor apart by more than {margin:g} points"
    return Verdict("inconclusive", why=why, settle=f"the values behind the published range would settle it; {WIDER}")


def judge_pairs(p: float | None, way: str, pairs: int, published_way: str) -> Verdict:
    """Wilcoxon's test of paired seeds: reproduced if it is significant the same way as published."""
    if not pairs:
        return NOT_RUN
    if p is None or p >= LEVEL:
        least = 6  # pairs that all go one way: p = 2 / 2⁶
        needed = least if pairs < least else None
        return Verdict("inconclusive", p=p, needed=needed, of="pairs of seeds", settle="" if needed else UNTOLD)
    return Verdict("reproduced", p=p) if way == published_way else Verdict("differs", way, p)


def judge_statement(holds: bool, detail: str = "", as_far_as: str = "") -> Verdict:
    """A sentence that was checked: it holds, in all cases or as far as they were gone through, or there is a case."""
    if not holds:
        return Verdict("does not hold as written", why=detail)
    return Verdict("holds", f"as far as {as_far_as}" if as_far_as else "")


def judge_majority(ours: Count, most: bool, told: str) -> Verdict:
    """That most runs are so, or that most are not: the Wilson interval of their share has to leave out one half."""
    if not ours[1]:
        return NOT_RUN
    if not is_majority(ours):
        needed = runs_to_tell(ours, is_majority)
        return Verdict("inconclusive", needed=needed, why=told, settle="" if needed else _not_by(MANY[-1], "runs here"))
    return judge_statement((2 * ours[0] > ours[1]) == most, told)


def judge_within(interval: tuple[float, float], value: float, bounds: tuple[float, float], n: int, of: str) -> Verdict:
    """That a number lies within bounds: its interval has to lie inside them, or outside.

    What would settle it is told as if the interval shrank with the root of n around the same value.
    """
    if (found := _side(interval, bounds)) != "":
        return judge_statement(holds=True) if found == "inside" else Verdict("differs", found)

    def shrunk(many: int) -> tuple[float, float]:
        low, high = (value + (end - value) * (n / many) ** 0.5 for end in interval)
        return low, high

    needed = next((many for many in MANY if many > n and _side(shrunk(many), bounds)), None)
    return Verdict("inconclusive", needed=needed, of=of, settle="" if needed else _not_by(MANY[-1], of))


def _side(interval: tuple[float, float], bounds: tuple[float, float]) -> str:
    if bounds[0] <= interval[0] and interval[1] <= bounds[1]:
        return "inside"
    return "lower" if interval[1] < bounds[0] else "higher" if interval[0] > bounds[1] else ""


def corrected(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of one table's rows with Holm's correction: what differs by chance in one of many is not told."""
    ps = [one.p for one in verdicts if one.p is not None]
    together = iter(holm(ps))
    return [one if one.p is None else _among(one, next(together), len(ps)) for one in verdicts]


def _among(one: Verdict, p: float, rows: int) -> Verdict:
    if one.word == "differs" and p >= LEVEL:
        told = f"p = {one.p:.2g} alone, {p:.2g} among {rows} rows"
        why = "; ".join(filter(None, [told, one.why]))
        if one.basis is None:
            return replace(one, word="inconclusive", way="", p=p, why=why, settle=one.settle or UNTOLD)
        found = _inconclusive(p, one.basis, level=LEVEL / rows, both=one.both, of=one.of)
        return replace(found, why=why, scale=one.scale, so_far=one.so_far)
    return replace(one, p=p)


def summed_up(verdicts: Iterable[Verdict]) -> Verdict:
    """One word for a claim of several parts: the first of `WORDS` that some part has; `why` counts them all."""
    listed_parts = list(verdicts)
    parts = [one for one in listed_parts if one.word not in ("", "no test", "paper is silent")]
    if not parts:
        return next((one for one in listed_parts if one.word == "no test"), SILENT)
    if len(parts) == 1:
        return parts[0]
    words = Counter(one.word for one in parts)
    if set(words) == {"not run"}:
        return NOT_RUN
    word = next(one for one in WORDS if one in words)
    ways = {one.way if one.word == "differs" else "" for one in parts if one.word == word}
    way = ways.pop() if len(ways) == 1 else "both ways"
    share = "" if len(words) == 1 else f"{words[word]} of {len(parts)}"
    told = ", ".join(f"{one} {words[one]}" for one in WORDS if words[one])
    why = "" if len(words) == 1 else f"of {len(parts)}: {told}"
    needed, settle = _together([one for one in parts if one.word == "inconclusive"] if word == "inconclusive" else [])
    return Verdict(
        word,
        ", ".join(filter(None, [way, share])),
        needed=needed,
        why=why,
        of=_unit([one for one in parts if one.word == word]),
        settle=settle,
        scale=next((one.scale for one in parts if one.scale), ""),
        so_far=any(one.so_far for one in parts),
    )


def _together(parts: Sequence[Verdict]) -> tuple[int | None, str]:
    """What would settle all open parts: the largest number if each has one; else of how many, and the others' words."""
    needed = [one.needed for one in parts if one.needed]
    others = Counter(one.settles for one in parts if not one.needed)
    if not others:
        return max(needed, default=None), ""
    some = [f"about {max(needed)} {_unit(parts)} of each would settle {len(needed)} of {len(parts)}"] if needed else []
    if len(others) == 1 and not some:
        return None, next(iter(others))
    return None, "; ".join([*some, *(f"{n} of {len(parts)}: {said}" for said, n in others.items())])


def _unit(parts: Sequence[Verdict]) -> str:
    """What is counted in all of them."""
    units = {one.of for one in parts}
    return units.pop() if len(units) == 1 else "runs"


def _inconclusive(p: float, basis: Basis, *, level: float = LEVEL, both: bool = False, of: str = "runs") -> Verdict:
    needed, theirs = _to_settle(basis, level, both), basis[1]
    few = theirs.n if isinstance(theirs, Sample) else theirs[1]
    settle = _not_by(MANY[-1], of if both else f"{of} here")
    settle = "" if needed else settle if both or not few else f"the paper has {few}: {settle}"
    return Verdict("inconclusive", p=p, needed=needed, of=of, settle=settle, basis=basis, both=both)


def _not_by(many: int, of: str) -> str:
    return f"{many} {of} would not settle it"


def _to_settle(basis: Basis, level: float, both: bool) -> int | None:
    ours, theirs = basis
    if isinstance(ours, Sample) and isinstance(theirs, Sample):
        return seeds_to_settle(ours, theirs, level, both)
    assert isinstance(ours, tuple)
    assert isinstance(theirs, tuple)
    return runs_to_settle(ours, theirs, level)


def _way(ours: float, theirs: float) -> str:
    return "higher" if ours > theirs else "lower"


def _sum(counts: Iterable[Count]) -> Count:
    listed_counts = list(counts)
    return sum(k for k, _ in listed_counts), sum(n for _, n in listed_counts)


def _share(count: Count) -> str:
    return "{}/{}".format(*count)
