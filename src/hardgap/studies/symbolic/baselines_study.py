"""The baselines of Experiment 2 as a study (paper, Table 10): what each method gets right of pairs that are held out.

All but the network's own column, which is `symbolic/coverage`. Printed shares are multiples of 1/500, so both sides are
counts of 500 test examples. That leaves out the chance of which examples a method learned from: a difference of a few
examples means little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean

from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.report.settling import Count
from hardgap.report.statistics import mean_interval, wilson
from hardgap.report.verdicts import NOT_RUN, Verdict, judge_count
from hardgap.studies.interpolation.study import Draws
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import interval, span
from hardgap.studies.published import ByOurReading, Certain, Found, Published, Share, Spread
from hardgap.studies.study import Arm, study
from hardgap.studies.symbolic.coverage import PAPERS_METHODS, baseline_runs
from hardgap.studies.symbolic.published import BASELINES, COVERAGE, PAPERS_KRR, TABLES_OF_CHAINS
from hardgap.worlds.chains.run import SymbolicRun

EXAMPLES = 500
CERTAIN = {
    "KNN": "certain: the held-out pair is no class",
    "MLP": "certain: the held-out pair is no class",
    "Oracle": "certain: only examples that fit one pair are kept",
}
READINGS = {
    PAPERS_KRR: "what KRR regresses and counts was inferred from these numbers",
    TABLES_OF_CHAINS: "tables learned from chains alone; from all that training shows none fails",
}
"""How the other two are read: the paper says neither what KRR counts as right nor on what tables are learned."""
METHODS = {"KNN": "KNN", "MLP": "MLP", PAPERS_KRR: "KRR", "Oracle": "Oracle", TABLES_OF_CHAINS: "Learned Tables"}
"""Those of the paper, and what it calls them."""
ALL = "all 49"


@dataclass(frozen=True)
class OfExamples(Share):
    """A share of so many test examples; the value is a count of ours."""

    n: int = EXAMPLES

    def told(self, found: Found) -> str:
        return "" if found.value is None else "{}/{}".format(*found.value)

    def compare(self, found: Found) -> Verdict:
        if found.value is None:
            return NOT_RUN
        verdict = judge_count(found.value, (round(self.value * self.n / 100), self.n))
        settle = "what the paper's method learned from would settle it"  # more runs are not what is missing
        return replace(verdict, why="", needed=None, settle=settle, basis=None)


def _read(method: str, paper: Published) -> Published:
    kind, reading = (Certain, CERTAIN[method]) if method in CERTAIN else (ByOurReading, READINGS[method])
    return kind(paper.where, paper, reading)


@study(
    "symbolic/baselines",
    tables="hardgap.studies.symbolic.baselines_study:baseline_tables",
    prepare="hardgap.studies.symbolic.coverage:measure_first",
    scaled=False,  # every scale but smoke has the paper's examples
)
def baselines(scale: Scale) -> Iterator[Arm]:
    """KNN and MLP never name a held-out pair, KRR rarely; who knows the operators finds it."""
    runs = {run.holdout: run for run in baseline_runs(scale)}
    for pair, printed in BASELINES.items():
        for method, name in METHODS.items():
            paper = _read(method, OfExamples("Table 10", printed[method]))
            yield Arm({"pair": pair, "method": name}, (), paper, partial(_count, runs[pair], method))
    every = tuple(runs.values())
    krr = _read(PAPERS_KRR, Draws("Table 10", COVERAGE["KRR mean"]))
    yield Arm({"pair": ALL, "method": "KRR, mean"}, (), krr, partial(_shares, every, PAPERS_KRR))
    for method in PAPERS_METHODS:
        paper = _read(method, Spread("Table 10", *COVERAGE[f"{METHODS[method]} range"]))
        yield Arm({"pair": ALL, "method": f"{METHODS[method]}, range"}, (), paper, partial(_ends, every, method))


def _count(run: SymbolicRun, method: str, kept: Path) -> Count | None:
    """How many of the held-out test examples are right, of how many."""
    from hardgap.studies.symbolic.baselines import kept_baselines

    found = kept_baselines(kept, run)
    return None if found is None else (round(found.methods[method]["holdout"] * run.test_examples), run.test_examples)


def _shares(runs: Sequence[SymbolicRun], method: str, kept: Path) -> list[float] | None:
    """In percent, of every pair; None as long as one is missing."""
    counts = [_count(run, method, kept) for run in runs]
    return None if None in counts else [100 * right / n for right, n in filter(None, counts)]


def _ends(runs: Sequence[SymbolicRun], method: str, kept: Path) -> list[float] | None:
    shares = _shares(runs, method, kept)
    return None if shares is None else [min(shares), max(shares)]


def baseline_tables(results: Sequence[StudyResult]) -> list[Table]:
    """Table 10 a row a number, then what is said of all pairs together."""
    (result,) = results
    alone = [arm for arm in result.arms if arm.labels["pair"] != ALL]
    together = [arm for arm in result.arms if arm.labels["pair"] == ALL]
    right = ["published %", "measured %", "of", "95 % interval"]
    columns = ["pair", "method", *right, "verdict", "why"]
    titles = ("Baselines on held-out pairs (Table 10)", "Baselines on all 49 pairs, held out in turn")
    return [
        Table(title, columns, [_row(arm) for arm in arms], right, detail=["why", "95 % interval", "of"])
        for title, arms in zip(titles, (alone, together), strict=True)
    ]


def _row(arm: Measured) -> list[object]:
    published = "" if arm.published is None else arm.published.said.removesuffix(" %")
    return [*arm.labels.values(), published, *_found(arm), arm.comparison.verdict, arm.comparison.note]


def _found(arm: Measured) -> tuple[str, str, str]:
    """What was measured, of how many, and its interval: of a count of examples, a mean over pairs, or a range."""
    if arm.value is None:
        return "", "", ""
    if arm.labels["pair"] != ALL:
        right, n = arm.value
        return f"{100 * right / n:.1f}", f"{n} examples", interval(wilson(right, n))
    if len(arm.value) == 2:
        return span(arm.value, ".1f"), ALL.removeprefix("all ") + " pairs", ""
    shares = [share / 100 for share in arm.value]
    return f"{fmean(arm.value):.1f}", f"{len(shares)} pairs", interval(mean_interval(shares))
