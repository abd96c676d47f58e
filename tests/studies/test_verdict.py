"""Measured beside published: what a reader is told, from runs put into a store."""

from pathlib import Path
from typing import Any

import pytest

from hardgap.core.run import Run
from hardgap.core.specs import Budget
from hardgap.runs.store import Store
from hardgap.studies.study import Published, Study
from hardgap.studies.verdict import Measured, measure
from hardgap.worlds.automaton.run import AutomatonRun

RUNS: list[Run] = [AutomatonRun(rule="150", hide=(3,), width=5, budget=Budget(steps=10), seed=s) for s in range(10)]
STUDY = Study("test/claim", "A claim.", Published("Table 2", 96.7, 94.1, 99.2, 10, 10), lambda scale: RUNS)


def curve(holdout: float) -> list[dict[str, Any]]:
    return [{"step": 10, "loss": 0.1, "visible": 1.0, "holdout": holdout, "detail": {}}]


def measured(tmp_path: Path, holdouts: list[float]) -> Measured:
    store = Store(tmp_path)
    for run, holdout in zip(RUNS, holdouts, strict=False):
        store.put_done(run, curve(holdout), "budget", {}, 1.0)
    return measure(STUDY, "desk", store)


def test_success_is_seventy_percent_at_the_end(tmp_path: Path) -> None:
    result = measured(tmp_path, [0.69, 0.70, 1.0])
    assert (result.successes, result.n, result.planned) == (2, 3, 10)
    assert result.mean == pytest.approx(0.7966666)


@pytest.mark.parametrize(
    ("holdouts", "verdict"),
    [
        ([], "not measured"),
        ([1.0] * 10, "not told apart"),
        ([1.0] * 9 + [0.0], "not told apart"),
        ([0.0] * 10, "succeeds less often"),
        ([1.0, 0.0], "too few runs"),
        ([1.0] * 5, "not told apart so far"),
        ([0.0] * 5, "succeeds less often so far"),
    ],
)
def test_the_verdict_follows_fishers_test(tmp_path: Path, holdouts: list[float], verdict: str) -> None:
    assert measured(tmp_path, holdouts).verdict == verdict


def test_more_than_published_is_told_too(tmp_path: Path) -> None:
    rare = Study("test/rare", "Rare.", Published("Table 2", 0.0, 0.0, 1.0, 0, 10), lambda scale: RUNS)
    store = Store(tmp_path)
    for run in RUNS:
        store.put_done(run, curve(1.0), "solved", {}, 1.0)
    assert measure(rare, "smoke", store).verdict == ""  # two training steps show nothing
    assert measure(rare, "desk", store).verdict == "succeeds more often"


def test_without_a_published_count_there_is_no_verdict(tmp_path: Path) -> None:
    uncounted = Study("test/uncounted", "No count.", Published("§4.5", 100.0), lambda scale: RUNS)
    store = Store(tmp_path)
    assert measure(uncounted, "desk", store).verdict == "not measured"
    for run in RUNS:
        store.put_done(run, curve(1.0), "solved", {}, 1.0)
    result = measure(uncounted, "desk", store)
    assert (result.verdict, result.p, result.published_n, result.published_interval) == (
        "no count is published",
        None,
        None,
        None,
    )
