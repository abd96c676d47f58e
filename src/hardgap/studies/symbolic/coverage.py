"""Every pair held out in turn (paper, Figure 5): is each understood better than any baseline explains?

One seed of every pair comes before a second of any, and the pairs of which the paper prints a number come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from hardgap.core.progress import Progress
from hardgap.core.run import only
from hardgap.core.specs import Scale
from hardgap.core.wording import listed
from hardgap.report.settling import FEWEST_SEEDS, LEVEL, MANY, seeds_to_settle
from hardgap.report.statistics import Sample, mean_interval, sample_of
from hardgap.report.verdicts import NOT_RUN, UNTOLD, Verdict, corrected, judge_mean, judge_statement
from hardgap.runs.store import Store
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import interval, span
from hardgap.studies.published import Found, Mean, Published, Seeds, Spread, read_as
from hardgap.studies.study import Arm, Labels, study
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


def _by_pair(found: Found) -> dict[str, list[float]]:
    """The accuracy of each seed, by the pair that it held out."""
    seeds: dict[str, list[float]] = {}
    for run, accuracy in zip(only(SymbolicRun, found.runs), found.accuracies(), strict=True):
        seeds.setdefault(run.holdout, []).append(accuracy)
    return seeds


def pair_means(found: Found) -> list[float]:
    """Over the seeds of each pair that has some."""
    return [fmean(seeds) for seeds in _by_pair(found).values()]


@dataclass(frozen=True)
class MeanOfPairs(Mean):
    """The mean over pairs. How pairs differ counts as chance, though both sides have the same 49: a weak test."""

    def told(self, found: Found) -> str:
        means = pair_means(found)
        spread = interval(mean_interval(means))
        return f"mean {100 * fmean(means):.1f} % ({spread}), {len(means)} pairs" if means else ""

    def compare(self, found: Found) -> Verdict:
        verdict = judge_mean(pair_means(found), Sample(self.mean / 100))
        settle = UNTOLD if verdict.word == "inconclusive" else ""  # seeds, not pairs: there are no more of these
        return replace(verdict, needed=None, settle=settle, basis=None)


@dataclass(frozen=True)
class EndsOfPairs(Spread):
    """The least and the most of the pairs' means."""

    def values(self, found: Found) -> list[float]:
        return pair_means(found)

    def told(self, found: Found) -> str:
        values = self.values(found)
        return "" if not values else span([100 * value for value in values], ".1f") + " %"

    def compare(self, found: Found) -> Verdict:
        values = self.values(found)
        return self.judge([100 * min(values), 100 * max(values)] if values else None)


@dataclass(frozen=True)
class EndsOfSeen(EndsOfPairs):
    """The least and the most that a run knows of seen pairs, at a choice of checkpoint."""

    by: Selection = PAPERS_CHOICE

    def values(self, found: Found) -> list[float]:
        assert isinstance(found, Measured)
        return accuracies(found.curves, self.by).get("seen", []) if found.curves else []


@dataclass(frozen=True)
class Above(Published):
    """That every pair is above the paper's own baselines; the computed value is the best of them, by pair."""

    @property
    def said(self) -> str:
        return f"{len(all_pairs())} of {len(all_pairs())}"

    def told(self, found: Found) -> str:
        seeds = _by_pair(found)
        best = {pair: share for pair, share in found.value.items() if pair in seeds}
        return f"{sum(fmean(seeds[pair]) > share for pair, share in best.items())} of {len(best)}" if best else ""

    def compare(self, found: Found) -> Verdict:
        seeds = _by_pair(found)
        best = {pair: share for pair, share in found.value.items() if pair in seeds}
        if not best:
            return NOT_RUN
        told = corrected([judge_mean(seeds[pair], Sample(share)) for pair, share in best.items()])
        if below := [pair for pair, one in zip(best, told, strict=True) if one.way == "lower"]:
            return judge_statement(holds=False, detail=f"{listed(below)} below")
        not_yet = [pair for pair, share in best.items() if fmean(seeds[pair]) <= share]
        level = [f"{pair} ({len(seeds[pair])})" for pair in not_yet]
        enough = [pair for pair in not_yet if len(seeds[pair]) >= FEWEST_SEEDS]
        few = sum(len(seeds.get(pair, ())) < FEWEST_SEEDS or pair not in best for pair in all_pairs())
        if not level and not few:
            return judge_statement(holds=True)
        not_above = f"not above (seeds): {listed(level)}" if level else ""
        missing = f"{few} of {len(all_pairs())} pairs have fewer than {FEWEST_SEEDS} seeds" if few else ""
        rates = [seeds_to_settle(sample_of(seeds[pair]), Sample(best[pair]), LEVEL / len(best)) for pair in enough]
        return Verdict("inconclusive", why="; ".join(filter(None, [not_above, missing])), settle=_settle(enough, rates))


def _settle(level: Sequence[str], needed: Sequence[int | None]) -> str:
    """Seeds enough of every pair; and of those that have them and are not above, as many as tell them apart."""
    told = [
        f"about {n} of {pair}" if n else f"more than {MANY[-1]} of {pair}"
        for pair, n in zip(level, needed, strict=True)
    ]
    return f"{listed([f'at least {FEWEST_SEEDS} seeds of every pair', *told])} would settle it"


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
    summed = [Arm({"holdout": ALL, "of": of}, together, paper) for of, paper in _of_all().items()]
    labels: Labels = {"holdout": ALL, "of": "above the paper's baselines"}
    above = Arm(labels, together, Above("Figure 5"), partial(_best_of_papers, scale))
    return [*arms, *summed, above]


def _of_all() -> dict[str, Published]:
    """What is printed of all 49 pairs together. Paper is silent: at which checkpoint seen pairs are known so well."""
    where, (low, high) = "Shortcut gradient", COVERAGE["seen range"]
    return {
        "mean over pairs": MeanOfPairs(where, COVERAGE["mean"]),
        "pairs from … to": EndsOfPairs(where, *COVERAGE["range"]),
        "seen pairs, chosen checkpoint": read_as("chosen by held-out examples", EndsOfSeen(where, low, high)),
        "seen pairs, at the end": read_as("not the chosen checkpoint", EndsOfSeen(where, low, high, by="final")),
    }


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
