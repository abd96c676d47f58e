"""Every pair held out in turn (paper, Figure 5): is each understood better than any baseline explains?

One seed of every pair comes before a second of any, and the pairs of which the paper prints a number come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from hardgap.core.errors import BadInput
from hardgap.core.specs import Scale
from hardgap.runs.selection import SELECTIONS, Selection, select_point
from hardgap.runs.store import Store
from hardgap.studies.symbolic.baselines import PAPERS_METHODS, kept_baselines
from hardgap.studies.symbolic.published import BASELINES, COVERAGE, NETWORK, SEEDS
from hardgap.worlds.chains.chains import World
from hardgap.worlds.chains.operators import PAPER_OPERATORS, Operator
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import SEARCHED, symbolic_base

MOST_SEEDS = 100


def coverage_seeds(count: int) -> tuple[int, ...]:
    """The paper's three, then 0, 1, 2, …

    >>> coverage_seeds(5)
    (42, 123, 456, 0, 1)
    """
    if not 1 <= count <= MOST_SEEDS:
        raise BadInput(f"--seeds {count}: 1 to {MOST_SEEDS} are possible")
    return (*SEEDS, *(seed for seed in range(MOST_SEEDS + len(SEEDS)) if seed not in SEEDS))[:count]


def all_pairs(operators: Sequence[Operator] = PAPER_OPERATORS) -> list[str]:
    """The paper's 49 pairs, or those of other operators, by their symbols; those with a published number first."""
    world = World(tuple(operators))
    texts = [world.chain_text(ops) for ops in world.ops_of(np.arange(world.chains))]
    return sorted(texts, key=lambda text: text not in NETWORK)


def coverage_runs(scale: Scale, seeds: Sequence[int]) -> list[SymbolicRun]:
    """Every pair with every seed, most informative first."""
    return [symbolic_base(scale, pair).but(seed=seed) for seed in seeds for pair in all_pairs()]


def baseline_runs(scale: Scale) -> list[SymbolicRun]:
    """One run a pair, whose data the baselines are measured on."""
    return coverage_runs(scale, SEEDS[:1])


@dataclass(frozen=True)
class PairResult:
    """One held-out pair: its seeds at each choice of checkpoint, and what similarity makes of it. Shares."""

    holdout: str
    about: str
    runs: dict[int, str]  # seed: run
    accuracy: dict[Selection, dict[str, list[float]]]  # exact, pair, f and seen, one value a seed
    baselines: dict[str, float]  # held-out accuracy of every method; empty if not measured
    best_baseline: tuple[str, float] | None  # over every interpolation method, ours included
    best_of_papers: tuple[str, float] | None  # over those that the paper has

    def mean(self, by: Selection, measure: str = "exact") -> float | None:
        values = self.accuracy[by].get(measure)
        return fmean(values) if values else None


MEASURES = ("exact", "pair", "f")


def accuracies(curves: Sequence[list[dict[str, Any]]], by: Selection) -> dict[str, list[float]]:
    """Of the chosen evaluation of each curve: every measure on held-out chains, and exact match on seen ones.

    Under label-only there is no f, and so no entry.
    """
    details = [select_point(curve, by)["detail"] for curve in curves]
    found = {name: [d["holdout"][name] for d in details if name in d["holdout"]] for name in MEASURES}
    found["seen"] = [d["seen"]["exact"] for d in details]
    return {name: values for name, values in found.items() if values}


def pair_results(store: Store, folder: Path, scale: Scale, seeds: Sequence[int]) -> list[PairResult]:
    """What is there of every pair, in the order of `all_pairs`; pairs without a finished run included."""
    runs = coverage_runs(scale, seeds)
    return [_pair_result(store, folder, [run for run in runs if run.holdout == pair]) for pair in all_pairs()]


def _pair_result(store: Store, folder: Path, runs: list[SymbolicRun]) -> PairResult:
    found = store.curves(run.id for run in runs)
    finished = {run.seed: run.id for run in runs if run.id in found}
    curves = list(found.values())
    kept = kept_baselines(folder, runs[0].but(seed=SEEDS[0]))
    return PairResult(
        holdout=runs[0].holdout,
        about=runs[0].gap.describe(),
        runs=finished,
        accuracy={by: accuracies(curves, by) for by in SELECTIONS},
        baselines={name: found["holdout"] for name, found in kept.methods.items()} if kept else {},
        best_baseline=kept.best() if kept else None,
        best_of_papers=kept.best(PAPERS_METHODS) if kept else None,
    )


def coverage_report(results: Sequence[PairResult], scale: Scale, by: Selection) -> dict[str, Any]:
    """Everything that was measured, as plain data: what `--json` prints and the figure is drawn from. Shares."""
    return {
        "kind": "symbolic-coverage",
        "scale": scale,
        "selection": by,
        "summary": {one: _summary(results, one) for one in SELECTIONS},
        "published": {"summary": COVERAGE, "network": NETWORK, "baselines": BASELINES},
        "pairs": [asdict(one) for one in results],
    }


def _summary(results: Sequence[PairResult], by: Selection) -> dict[str, Any]:
    means = {one.holdout: mean for one in results if (mean := one.mean(by)) is not None}
    clean = [mean for pair, mean in means.items() if pair not in SEARCHED]
    seen = [value for one in results for value in one.accuracy[by].get("seen", ())]
    compared = [one for one in results if one.holdout in means and one.best_baseline is not None]
    found: dict[str, Any] = {
        "pairs": len(means),
        "runs": sum(len(one.runs) for one in results),
        "mean": fmean(means.values()) if means else None,
        "mean without the search's": fmean(clean) if clean else None,
        "range": _range(list(means.values())),
        "seen range": _range(seen),
        "compared": len(compared),
        "above": sum(means[o.holdout] > o.best_baseline[1] for o in compared if o.best_baseline),
        "above the paper's": sum(means[o.holdout] > o.best_of_papers[1] for o in compared if o.best_of_papers),
    }
    for name in (*PAPERS_METHODS, "KRR of f"):
        values = [one.baselines[name] for one in results if name in one.baselines]
        found[f"{name} mean"], found[f"{name} range"] = (fmean(values) if values else None), _range(values)
    return found


def _range(values: Sequence[float]) -> tuple[float, float] | None:
    return (min(values), max(values)) if values else None
