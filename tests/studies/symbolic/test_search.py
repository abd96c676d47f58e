"""The search for the desk scale of Experiment 2, as it is committed: results/symbolic/search, docs/fidelity.md."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import fmean

import pytest

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.core.run import only
from hardgap.studies.measure import StudyResult, measure, taken_in
from hardgap.studies.study import STUDIES
from hardgap.studies.symbolic.accuracy import accuracies
from hardgap.studies.symbolic.published import CASES, COVERAGE, SEEDS
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import DESK_BATCH, SEARCHED, symbolic_base
from hardgap.worlds.chains.tokens import Condition

RESULTS = Path(__file__).parents[3] / "results"
FOLDER = RESULTS / "symbolic" / "search"


@pytest.fixture(scope="module")
def runs() -> list[SymbolicRun]:
    with taken_in(FOLDER) as store:
        return only(SymbolicRun, [row.config for row in store.rows()])


def test_no_pair_of_the_table_was_looked_at(runs: list[SymbolicRun]) -> None:
    assert {run.holdout for run in runs} == set(SEARCHED)
    assert not set(SEARCHED) & set(CASES)


def test_the_desk_scale_is_what_it_found(runs: list[SymbolicRun]) -> None:
    assert {symbolic_base("desk", pair).id for pair in SEARCHED} < {run.id for run in runs}


@pytest.mark.parametrize("condition", DESK_BATCH)
def test_at_the_desk_scale_as_many_seen_pairs_are_known_as_in_the_paper(condition: Condition) -> None:
    (arm,) = (
        one for one in calibrated().arms if one.labels == {"condition": condition, "batch": DESK_BATCH[condition]}
    )
    seen = accuracies(arm.curves, "final")["seen"]
    low, high = COVERAGE["seen range"]
    assert len(seen) == arm.planned == len(SEARCHED) * len(SEEDS)
    assert low <= 100 * fmean(seen) <= high
    assert symbolic_base("desk", SEARCHED[0], condition).id in {run.but(seed=0).id for run in arm.runs}


@cache
def calibrated() -> StudyResult:
    with taken_in(RESULTS / "calibration", RESULTS / "symbolic") as store:
        return measure(STUDIES["calibration"], "desk", store)
