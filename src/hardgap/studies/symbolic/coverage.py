"""Every pair held out in turn (paper, Figure 5): is each understood better than any baseline explains?

One seed of every pair comes before a second of any, and the pairs of which the paper prints a number come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from hardgap.core.progress import Progress
from hardgap.core.run import only
from hardgap.core.specs import Scale
from hardgap.core.wording import listed
from hardgap.report.statistics import Sample
from hardgap.report.verdicts import FEWEST_SEEDS, NOT_RUN, Verdict, corrected, judge_mean, judge_statement
from hardgap.runs.store import Store
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.published import Found, Mean, Published, Seeds
from hardgap.studies.study import Arm, study
from hardgap.studies.symbolic.accuracy import accuracies
from hardgap.studies.symbolic.published import BASELINES, BY_SEED, COVERAGE, NETWORK, PAPERS_KRR, SEEDS
from hardgap.worlds.chains.chains import Arithmetic
from hardgap.worlds.chains.operators import PAPER_OPERATORS, Operator
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import SEARCHED, symbolic_base
from hardgap.worlds.chains.selection import PAPERS_CHOICE, SELECTIONS, Selection


def all_pairs(operators: Sequence[Operator] = PAPER_OPERATORS) -> list[str]:
    """The paper's 49 pairs, or those of other operators, by their symbols; those with a published number first."""
    arithmetic = Arithmetic(tuple(operators))
    texts = [arithmetic.chain_text(ops) for ops in arithmetic.ops_of(np.arange(arithmetic.chains))]
    return sorted(texts, key=lambda text: text not in NETWORK)


def _arm(scale: Scale, pair: str) -> Arm:
    run = symbolic_base(scale, pair)
    return Arm({"holdout": pair}, tuple(run.but(seed=seed) for seed in SEEDS), _printed(pair))


def _printed(pair: str) -> Published | None:
    """By seed where the paper has them: a mean alone is taken as exact."""
    if pair in BY_SEED:
        return Seeds("Table 9", dict(zip(SEEDS, BY_SEED[pair]["familiar"], strict=True)))
    return Mean("Table 10", NETWORK[pair]) if pair in NETWORK else None


ALL = "all"
"""The arm of all pairs together, beside those of one pair each."""


@dataclass(frozen=True)
class Above(Published):
    """That every pair is above the paper's own baselines; the computed value is the best of them, by pair."""

    def compare(self, found: Found) -> Verdict:
        seeds: dict[str, list[float]] = {}
        for run, accuracy in zip(only(SymbolicRun, found.runs), found.accuracies(), strict=True):
            seeds.setdefault(run.holdout, []).append(accuracy)
        best = {pair: share for pair, share in found.value.items() if pair in seeds}
        if not best:
            return NOT_RUN
        told = corrected([judge_mean(seeds[pair], Sample(share)) for pair, share in best.items()])
        if below := [pair for pair, one in zip(best, told, strict=True) if one.way == "lower"]:
            return judge_statement(holds=False, detail=f"{listed(below)} below")
        level = [f"{pair} ({len(seeds[pair])})" for pair, share in best.items() if fmean(seeds[pair]) <= share]
        few = sum(len(seeds.get(pair, ())) < FEWEST_SEEDS or pair not in best for pair in all_pairs())
        if not level and not few:
            return judge_statement(holds=True)
        not_above = f"not above (seeds): {listed(level)}" if level else ""
        missing = f"{few} of {len(all_pairs())} pairs have fewer than {FEWEST_SEEDS} seeds" if few else ""
        return Verdict("inconclusive", why="; ".join(filter(None, [not_above, missing])))


@study(
    "symbolic/coverage",
    tables="hardgap.studies.symbolic.coverage_tables:coverage_tables",
    figure="hardgap.studies.symbolic.coverage_figure:coverage_figure",
    more="hardgap.studies.symbolic.coverage:coverage_report",
    prepare="hardgap.studies.symbolic.coverage:measure_first",
)
def coverage(scale: Scale) -> list[Arm]:
    """Whichever of the 49 pairs is held out, it is understood better than any baseline explains."""
    arms = [_arm(scale, pair) for pair in all_pairs()]
    together = tuple(run for arm in arms for run in arm.runs)
    return [*arms, Arm({"holdout": ALL}, together, Above("Figure 5"), partial(_best_of_papers, scale))]


def _best_of_papers(scale: Scale, kept: Path) -> dict[str, float]:
    """By pair, where the baselines have been measured."""
    from hardgap.studies.symbolic.baselines import kept_baselines

    found = {run.holdout: kept_baselines(kept, run) for run in baseline_runs(scale)}
    return {pair: one.best(PAPERS_METHODS)[1] for pair, one in found.items() if one is not None}


def measure_first(scale: Scale, store: Store, kept: Path, on_progress: Progress, is_late: Callable[[], bool]) -> None:
    """The baselines of every pair that are not kept yet, until it is late."""
    from hardgap.studies.symbolic.baselines import measure_baselines

    runs = baseline_runs(scale)
    for done, run in enumerate(runs):
        if is_late():
            return
        on_progress(f"baselines of {run.holdout}", done, len(runs))
        measure_baselines(kept, run)


def baseline_runs(scale: Scale) -> list[SymbolicRun]:
    """One run a pair, whose data the baselines are measured on."""
    return [symbolic_base(scale, pair).but(seed=SEEDS[0]) for pair in all_pairs()]


PAPERS_METHODS = ("KNN", "MLP", PAPERS_KRR)
"""The interpolation methods of the paper; the others that interpolate are ours."""


def _pair(arm: Measured, scale: Scale, folder: Path) -> dict[str, Any]:
    """One held-out pair: its seeds at each choice of checkpoint, and what similarity makes of it. Shares."""
    from hardgap.studies.symbolic.baselines import kept_baselines

    run = symbolic_base(scale, str(arm.labels["holdout"])).but(seed=SEEDS[0])
    kept = kept_baselines(folder, run)
    return {
        "holdout": run.holdout,
        "about": run.gap.describe(),
        "runs": {one.seed: one.id for one in arm.runs},
        "accuracy": {by: accuracies(arm.curves, by) for by in SELECTIONS},  # one value a seed
        "baselines": {name: found["holdout"] for name, found in kept.methods.items()} if kept else {},
        "best_baseline": kept.best() if kept else None,  # over every interpolation method, ours included
        "best_of_papers": kept.best(PAPERS_METHODS) if kept else None,
    }


def mean_of(pair: dict[str, Any], by: Selection, measure: str = "exact") -> float | None:
    """Over the seeds of a pair."""
    values = pair["accuracy"][by].get(measure)
    return fmean(values) if values else None


def coverage_report(result: StudyResult, store: Store, kept: Path) -> dict[str, Any]:
    """Every pair beside its baselines, which are files under `kept`, and all of them together. Shares."""
    pairs = [_pair(arm, result.scale, kept) for arm in result.arms if arm.labels["holdout"] != ALL]
    return {
        "selection": PAPERS_CHOICE,
        "summary": {one: _summary(pairs, one) for one in SELECTIONS},
        "published": {"summary": COVERAGE, "network": NETWORK, "baselines": BASELINES},
        "pairs": pairs,
    }


def _summary(pairs: Sequence[dict[str, Any]], by: Selection) -> dict[str, Any]:
    means = {one["holdout"]: mean for one in pairs if (mean := mean_of(one, by)) is not None}
    clean = [mean for pair, mean in means.items() if pair not in SEARCHED]
    seen = [value for one in pairs for value in one["accuracy"][by].get("seen", ())]
    compared = [one for one in pairs if one["holdout"] in means and one["best_baseline"] is not None]
    found: dict[str, Any] = {
        "pairs": len(means),
        "runs": sum(len(one["runs"]) for one in pairs),
        "mean": fmean(means.values()) if means else None,
        "mean without the search's": fmean(clean) if clean else None,
        "range": _range(list(means.values())),
        "seen range": _range(seen),
        "compared": len(compared),
        "above": sum(means[one["holdout"]] > one["best_baseline"][1] for one in compared),
        "above the paper's": sum(means[one["holdout"]] > one["best_of_papers"][1] for one in compared),
    }
    for name in dict.fromkeys(name for one in pairs for name in one["baselines"]):
        values = [one["baselines"][name] for one in pairs if name in one["baselines"]]
        found |= {f"{name} mean": fmean(values), f"{name} range": _range(values)}
    return found


def _range(values: Sequence[float]) -> tuple[float, float] | None:
    return (min(values), max(values)) if values else None
