"""Ours: which desk scale leaves a network of Experiment 2 as well trained as the paper's, condition by condition.

The paper's networks name 88 to 94 % of seen pairs. A scale is judged by that alone, never by held-out pairs, on the two
pairs that an earlier search had used up (`SEARCHED`) and on three seeds, since single seeds differ by ten points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import get_args

from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import spread
from hardgap.studies.study import Arm, study
from hardgap.studies.symbolic.accuracy import accuracies
from hardgap.studies.symbolic.published import COVERAGE, SEEDS
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import SEARCHED, symbolic_base
from hardgap.worlds.chains.tokens import Condition

BATCHES = (256, 128)
"""Examples a step, each for the desk scale's 6,000 steps; 128 is the scale that coverage was measured at."""


def trained_with(scale: Scale, holdout: str, condition: Condition, batch: int) -> SymbolicRun:
    """A run of the desk scale with larger or smaller batches."""
    run = symbolic_base(scale, holdout).but(condition=condition)
    return run if scale == "smoke" else run.but(optimiser=run.optimiser.model_copy(update={"batch": batch}))


@study("calibration", tables="hardgap.studies.symbolic.calibration:calibration_tables", ours=True)
def calibration(scale: Scale) -> Iterator[Arm]:
    """At some desk scale the networks of each condition know as many seen pairs as the paper's, 88 to 94 %."""
    for batch in BATCHES:
        for condition in get_args(Condition):
            runs = tuple(trained_with(scale, pair, condition, batch).but(seed=s) for s in SEEDS for pair in SEARCHED)
            yield Arm({"batch": batch, "condition": condition}, runs)


def calibration_tables(results: Sequence[StudyResult]) -> list[Table]:
    """One row a setting and condition: what is known of seen pairs, by which it is judged, and of the held-out."""
    columns = ["batch", "condition", "runs", "seen %", "held out %", "op1 %", "op2 %", "enough"]
    rows = [_row(arm) for one in results for arm in one.arms]
    title = (
        f"Experiment 2, networks at their end on the pairs {' and '.join(SEARCHED)}, mean ± standard deviation; enough "
        f"is what the paper has of seen pairs, {_LOW:g} to {_HIGH:g} %"
    )
    return [Table(title, columns, rows, columns[2:7])]


_LOW, _HIGH = COVERAGE["seen range"]


def _row(arm: Measured) -> list[object]:
    found = accuracies(arm.curves, "final")
    seen = found.get("seen", [])
    shown = [spread(found[name]) if found.get(name) else "–" for name in ("seen", "exact", "op1", "op2")]
    return [arm.labels["batch"], arm.labels["condition"], f"{arm.n}/{arm.planned}", *shown, _enough(seen)]


def _enough(seen: Sequence[float]) -> str:
    if not seen:
        return "not run"
    mean = 100 * fmean(seen)
    return "too little" if mean < _LOW else "yes" if mean <= _HIGH else "more than the paper's"
