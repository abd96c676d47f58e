"""What the paper says across the cells of its symbolic table (§4.6, Appendix F).

The order of the four pairs; that opaque letters do no harm; that labels alone halve the accuracy. So few seeds can
tell little apart: an order is contradicted only by two pairs that Welch's test tells apart the other way, and a ratio
is about half, or is not, only if its interval says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from statistics import fmean

from hardgap.core.run import only
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.report.settling import FEWEST_SEEDS, LEVEL, MANY, seeds_to_tell_apart
from hardgap.report.statistics import holm, ratio_interval, same_mean_p, sample_of
from hardgap.report.verdicts import NOT_RUN, Verdict, judge_mean, judge_statement, judge_within, too_few
from hardgap.studies.measure import Measured, StudyResult, each
from hardgap.studies.numbers import interval
from hardgap.studies.published import Found, Published
from hardgap.studies.study import Arm, study
from hardgap.studies.symbolic.published import BY_SEED, CASES
from hardgap.studies.symbolic.table import cell_runs, study_name
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.tokens import Condition

HALF = (1 / 3, 2 / 3)
"""What is still called about half. The paper's own four pairs have 22 to 61 %, their mean 39 %."""
EACH_CELL = "seeds of each pair and condition"


def groups(arm: Measured) -> dict[tuple[str, str], list[float]]:
    """The accuracies of an arm's seeds, by pair and condition."""
    found: dict[tuple[str, str], list[float]] = {}
    for run, accuracy in zip(only(SymbolicRun, arm.runs), arm.accuracies(), strict=True):
        found.setdefault((run.holdout, run.condition), []).append(accuracy)
    return found


@dataclass(frozen=True)
class Order(Published):
    """Pairs from the best understood to the least."""

    pairs: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        return ", ".join(self.pairs)

    def told(self, found: Found) -> str:
        return ", ".join(f"{pair} ({100 * share:.0f} %)" for pair, share in order(found).items())

    def compare(self, found: Found) -> Verdict:
        assert isinstance(found, Measured)
        seeds = {pair: values for (pair, _), values in groups(found).items()}
        if min((len(values) for values in seeds.values()), default=0) < 2 or len(seeds) < len(self.pairs):
            return NOT_RUN
        ps = {
            (better, worse): same_mean_p(sample_of(seeds[better]), sample_of(seeds[worse]))
            for better, worse in combinations(self.pairs, 2)
            if fmean(seeds[better]) < fmean(seeds[worse])
        }
        if not ps:
            return judge_statement(holds=True)
        together = dict(zip(ps, holm(list(ps.values())), strict=True))
        (better, worse), p = min(together.items(), key=lambda item: item[1])
        swapped, of = f"{worse} above {better}", "seeds of each pair"
        if p < LEVEL:
            return Verdict("does not hold as written", p=p, why=swapped)
        needed = seeds_to_tell_apart(sample_of(seeds[better]), sample_of(seeds[worse]), LEVEL / len(ps))
        settle = "" if needed else f"{MANY[-1]} {of} would not settle it"
        return Verdict("inconclusive", p=p, needed=needed, of=of, why=swapped, settle=settle)


@dataclass(frozen=True)
class Alike(Published):
    """That two conditions do not differ."""

    def compare(self, found: Found) -> Verdict:
        first, second = two(found)
        return judge_mean(second, sample_of(first), both=True, of="runs of each condition") if first else NOT_RUN


@dataclass(frozen=True)
class Halved(Published):
    """That the second condition has about half of the first's accuracy; the ratio is the paper's own."""

    ratio: float

    @property
    def said(self) -> str:
        return f"about half ({100 * self.ratio:.0f} %) is left"

    def told(self, found: Found) -> str:
        left = ratio(found)
        return "" if left is None else f"{in_words(left)} is left"

    def compare(self, found: Found) -> Verdict:
        left, cells = ratio(found), [*chain(*sides(found))]
        if left is None:
            return NOT_RUN
        if (fewest := min(map(len, cells))) < FEWEST_SEEDS:
            return too_few(fewest, EACH_CELL)
        low, high = (f"{100 * end:.0f}" for end in HALF)
        why = f"{in_words(left)}, 95 % interval; about half is {low} to {high} % here"
        return replace(judge_within(left.interval, left.value, HALF, fewest, EACH_CELL), why=why)


@dataclass(frozen=True)
class Ratio(Published):
    """What is left of one pair's accuracy, of which nothing is said but of all pairs together."""

    ratio: float
    pair: str

    def compare(self, found: Found) -> Verdict:
        judged = study_name(self.pair, "label-only")
        return Verdict("no test", why=f"said of all pairs together; {judged} judges its seeds") if found.n else NOT_RUN


@dataclass(frozen=True)
class Left:
    """What is left of an accuracy under another condition: a share, and its 95 % interval."""

    value: float
    interval: tuple[float, float]


def ratio(found: Found) -> Left | None:
    """Of the means over all seeds of both conditions; seeds are drawn anew within each pair and condition.

    None until every pair that is asked for has two seeds of both.
    """
    assert isinstance(found, Measured)
    familiar, other = sides(found)
    pairs = len(CASES) if found.labels["pair"] == "all" else 1
    if not len(familiar) == len(other) == pairs or not any(map(any, familiar)):
        return None
    if min(map(len, (*familiar, *other))) < 2:
        return None
    return Left(fmean(chain(*other)) / fmean(chain(*familiar)), ratio_interval(familiar, other))


def in_words(left: Left) -> str:
    return f"{100 * left.value:.0f} % ({interval(left.interval, 0)})"


def order(found: Found) -> dict[str, float]:
    """The pairs' means, highest first."""
    assert isinstance(found, Measured)
    means = {pair: fmean(values) for (pair, _), values in groups(found).items()}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def two(found: Found) -> tuple[list[float], list[float]]:
    """The accuracies under the familiar condition, and under the other one."""
    familiar, other = sides(found)
    return [*chain(*familiar)], [*chain(*other)]


def sides(found: Found) -> tuple[list[list[float]], list[list[float]]]:
    """The same, pair by pair."""
    assert isinstance(found, Measured)
    both: tuple[list[list[float]], list[list[float]]] = ([], [])
    for (_, condition), values in groups(found).items():
        both[condition != "familiar"].append(values)
    return both


@study("chains/order", tables=f"{__name__}:order_tables")
def pair_order(scale: Scale) -> Iterator[Arm]:
    """Of the four pairs XOR→OR is understood best, then AND→LSHIFT, NAND→OR and RSHIFT→XOR."""
    runs = tuple(run for pair in CASES for run in cell_runs(scale, pair, "familiar"))
    yield Arm({}, runs, Order("Shortcut gradient", ("^|", "&L", "d|", "R^")))


def _against(scale: Scale, other: Condition, paper: Callable[[Sequence[str]], Published]) -> Iterator[Arm]:
    """The pairs one by one, then together, each with what was published of it."""
    for pairs in (*((pair,) for pair in CASES), CASES):
        runs = (run for pair in pairs for side in ("familiar", other) for run in cell_runs(scale, pair, _c(side)))
        yield Arm({"pair": pairs[0] if len(pairs) == 1 else "all", "other": other}, tuple(runs), paper(pairs))


def _published_ratio(pairs: Sequence[str], other: str) -> float:
    first, second = (fmean(fmean(BY_SEED[pair][_c(side)]) for pair in pairs) for side in ("familiar", other))
    return second / first


def _c(name: str) -> Condition:
    assert name in ("familiar", "opaque", "label-only")
    return name  # type: ignore[return-value]


@study("chains/opaque", tables=f"{__name__}:against_tables")
def opaque(scale: Scale) -> Iterator[Arm]:
    """Arbitrary letters for the operators leave accuracy comparable."""
    return _against(scale, "opaque", lambda pairs: Alike("§4.6 (ii)"))


@study("chains/label-only", tables=f"{__name__}:against_tables")
def label_only(scale: Scale) -> Iterator[Arm]:
    """Without the intermediate steps about half of the accuracy is left."""

    def paper(pairs: Sequence[str]) -> Published:
        left = _published_ratio(pairs, "label-only")
        return Halved("§4.6 (iii)", left) if pairs is CASES else Ratio("Table 3", left, pairs[0])

    return _against(scale, "label-only", paper)


def order_tables(results: Sequence[StudyResult]) -> list[Table]:
    """Both orders, pair by pair."""
    (result,) = results
    arm = result.arm
    theirs, ours = arm.published, list(order(arm).items())
    assert isinstance(theirs, Order)
    rows = [
        [place + 1, f"{pair} ({fmean(BY_SEED[pair]['familiar']):.1f} %)",
         f"{ours[place][0]} ({100 * ours[place][1]:.1f} %)" if place < len(ours) else ""]
        for place, pair in enumerate(theirs.pairs)
    ]  # fmt: skip
    title = f"The order of the four pairs, {result.scale} scale: {result.verdict}"
    return [Table(title, ["place", "published", "measured"], rows, right=["place"])]


@each
def against_tables(one: StudyResult) -> Table:
    """A row a pair: what is left of the accuracy, in the paper and here."""
    other = str(one.arms[0].labels["other"])
    rows = [_against_row(arm, other) for arm in one.arms]
    right = ["familiar %", f"{other} %", "ratio", "its 95 % interval", "published ratio"]
    columns = ["pair", *right, "verdict", "why"]
    return Table(f"{one.name}, {one.scale} scale: {one.study.claim}", columns, rows, right, ["why", right[3]])


def _against_row(arm: Measured, other: str) -> list[object]:
    first, second = two(arm)
    pairs = CASES if arm.labels["pair"] == "all" else (str(arm.labels["pair"]),)
    means = [f"{100 * fmean(values):.1f}" if values else "" for values in (first, second)]
    left = ratio(arm)
    ours = ["", ""] if left is None else [f"{left.value:.2f}", "{:.2f} to {:.2f}".format(*left.interval)]
    found = arm.comparison
    return [arm.labels["pair"], *means, *ours, f"{_published_ratio(pairs, other):.2f}", found.verdict, found.note]
