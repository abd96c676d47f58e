"""What the paper says across the cells of its symbolic table (§4.6, Appendix F).

The order of the four pairs; that opaque letters do no harm; that labels alone halve the accuracy. So few seeds can
tell little apart: an order is contradicted only by two pairs that Welch's test tells apart the other way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from hardgap.core.run import only
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.report.statistics import same_mean_p, sample_of
from hardgap.report.verdicts import LEVEL, NOT_RUN, Verdict, judge_mean, judge_statement
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.published import Found, Published
from hardgap.studies.study import Arm, study
from hardgap.studies.symbolic.published import BY_SEED, CASES
from hardgap.studies.symbolic.table import cell_runs
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.tokens import Condition

HERE = "hardgap.studies.symbolic.relations"
HALF = (1 / 3, 2 / 3)
"""What is still called about half. The paper's own four pairs have 22 to 61 %, their mean 39 %."""


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
        (better, worse), p = min(ps.items(), key=lambda item: item[1])
        swapped = f"{worse} above {better}"
        return Verdict("does not hold as written" if p < LEVEL else "inconclusive", p=p, why=swapped)


@dataclass(frozen=True)
class Alike(Published):
    """That two conditions do not differ."""

    def compare(self, found: Found) -> Verdict:
        first, second = two(found)
        return judge_mean(second, sample_of(first)) if first else NOT_RUN


@dataclass(frozen=True)
class Halved(Published):
    """That the second condition has about half of the first's accuracy; the paper's own is 39 %."""

    def compare(self, found: Found) -> Verdict:
        first, second = two(found)
        if not first or not second or not fmean(first):
            return NOT_RUN
        left = fmean(second) / fmean(first)
        if HALF[0] <= left <= HALF[1]:
            return judge_statement(holds=True)
        way = "lower" if left < HALF[0] else "higher"
        return Verdict("differs", way, why=f"{100 * left:.0f} % is left, published 39 %")


def order(found: Found) -> dict[str, float]:
    """The pairs' means, highest first."""
    assert isinstance(found, Measured)
    means = {pair: fmean(values) for (pair, _), values in groups(found).items()}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def two(found: Found) -> tuple[list[float], list[float]]:
    """The accuracies under the familiar condition, and under the other one."""
    assert isinstance(found, Measured)
    sides: tuple[list[float], list[float]] = ([], [])
    for (_, condition), values in groups(found).items():
        sides[condition != "familiar"].extend(values)
    return sides


@study("chains/order", tables=f"{HERE}:order_tables")
def pair_order(scale: Scale) -> Iterator[Arm]:
    """Of the four pairs XOR→OR is understood best, then AND→LSHIFT, NAND→OR and RSHIFT→XOR."""
    runs = tuple(run for pair in CASES for run in cell_runs(scale, pair, "familiar"))
    yield Arm({}, runs, Order("Shortcut gradient", ("^|", "&L", "d|", "R^")))


def _against(scale: Scale, other: Condition, paper: Published, *, each: bool) -> Iterator[Arm]:
    """The pairs one by one, then together; `each` if what was published is said of every single one."""
    for pairs in (*((pair,) for pair in CASES), CASES):
        runs = (run for pair in pairs for side in ("familiar", other) for run in cell_runs(scale, pair, _c(side)))
        yield Arm(
            {"pair": pairs[0] if len(pairs) == 1 else "all", "other": other},
            tuple(runs),
            paper if each or pairs is CASES else None,
        )


def _c(name: str) -> Condition:
    assert name in ("familiar", "opaque", "label-only")
    return name  # type: ignore[return-value]


@study("chains/opaque", tables=f"{HERE}:against_tables")
def opaque(scale: Scale) -> Iterator[Arm]:
    """Arbitrary letters for the operators leave accuracy comparable."""
    return _against(scale, "opaque", Alike("§4.6 (ii)"), each=True)


@study("chains/label-only", tables=f"{HERE}:against_tables")
def label_only(scale: Scale) -> Iterator[Arm]:
    """Without the intermediate steps about half of the accuracy is left."""
    return _against(scale, "label-only", Halved("§4.6 (iii)"), each=False)


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
    title = f"The order of the four pairs, {result.scale} scale: {arm.comparison.verdict}"
    return [Table(title, ["place", "published", "measured"], rows, right=["place"])]


def against_tables(results: Sequence[StudyResult]) -> list[Table]:
    """A row a pair: what is left of the accuracy, in the paper and here."""
    return [_against_table(one) for one in results]


def _against_table(one: StudyResult) -> Table:
    other = str(one.arms[0].labels["other"])
    rows = [_against_row(arm, other) for arm in one.arms]
    right = ["familiar %", f"{other} %", "ratio", "published ratio"]
    columns = ["pair", *right, "verdict"]
    return Table(f"{one.name}, {one.scale} scale: {one.study.claim}", columns, rows, right)


def _against_row(arm: Measured, other: str) -> list[object]:
    first, second = two(arm)
    pairs = CASES if arm.labels["pair"] == "all" else (str(arm.labels["pair"]),)
    theirs = [fmean(fmean(BY_SEED[pair][_c(side)]) for pair in pairs) for side in ("familiar", other)]
    means = [f"{100 * fmean(values):.1f}" if values else "" for values in (first, second)]
    ratio = f"{fmean(second) / fmean(first):.2f}" if first and second and fmean(first) else ""
    verdict = arm.comparison.verdict
    return [arm.labels["pair"], *means, ratio, f"{theirs[1] / theirs[0]:.2f}", verdict]
