"""Every pair held out in turn (paper, Figure 5): is each understood better than any baseline explains?

One seed of every pair comes before a second of any, and the pairs of which the paper prints a number come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from hardgap.core.progress import Progress
from hardgap.core.specs import Scale
from hardgap.runs.store import Store
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.published import Mean
from hardgap.studies.study import Arm, study
from hardgap.studies.symbolic.accuracy import accuracies
from hardgap.studies.symbolic.published import BASELINES, COVERAGE, NETWORK, SEEDS
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
    published = Mean("Table 10", NETWORK[pair]) if pair in NETWORK else None
    return Arm({"holdout": pair}, tuple(run.but(seed=seed) for seed in SEEDS), published)


@study(
    "symbolic/coverage",
    tables="hardgap.studies.symbolic.coverage_tables:coverage_tables",
    figure="hardgap.studies.symbolic.coverage_figure:coverage_figure",
    more="hardgap.studies.symbolic.coverage:coverage_report",
    prepare="hardgap.studies.symbolic.coverage:measure_first",
)
def coverage(scale: Scale) -> list[Arm]:
    """Whichever of the 49 pairs is held out, it is understood better than any baseline explains."""
    return [_arm(scale, pair) for pair in all_pairs()]


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


PAPERS_METHODS = ("KNN", "MLP", "KRR")
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
    pairs = [_pair(arm, result.scale, kept) for arm in result.arms]
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
    for name in (*PAPERS_METHODS, "KRR of f"):
        values = [one["baselines"][name] for one in pairs if name in one["baselines"]]
        found[f"{name} mean"], found[f"{name} range"] = (fmean(values) if values else None), _range(values)
    return found


def _range(values: Sequence[float]) -> tuple[float, float] | None:
    return (min(values), max(values)) if values else None
