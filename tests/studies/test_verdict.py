"""Measured beside published: what a reader is told, from runs put into a store."""

from pathlib import Path
from typing import Any

import pytest

from hardgap.core.run import Run
from hardgap.core.specs import Budget
from hardgap.runs.store import Store
from hardgap.studies.measure import Measured, measure
from hardgap.studies.published import Number, Published, Rate
from hardgap.studies.study import Arm, Study
from hardgap.worlds.automaton.run import AutomatonRun

RUNS: list[Run] = [AutomatonRun(rule="150", hide=(3,), width=5, budget=Budget(steps=10), seed=s) for s in range(10)]


def study(published: Published) -> Study:
    return Study("test/claim", "A claim.", lambda scale: [Arm({}, tuple(RUNS), published)], "")


STUDY = study(Rate("Table 2", 96.7, 94.1, 99.2, 10, 10))


def curve(holdout: float) -> list[dict[str, Any]]:
    return [{"step": 10, "loss": 0.1, "visible": 1.0, "holdout": holdout, "detail": {}}]


def measured(tmp_path: Path, holdouts: list[float]) -> Measured:
    store = Store(tmp_path)
    for run, holdout in zip(RUNS, holdouts, strict=False):
        store.put_all_done([(run, curve(holdout), "budget", {}, 1.0)])
    return measure(STUDY, "desk", store).arm


def test_success_is_seventy_percent_at_the_end(tmp_path: Path) -> None:
    result = measured(tmp_path, [0.69, 0.70, 1.0])
    assert (result.recovered, result.n, result.planned) == (2, 3, 10)
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
    assert measured(tmp_path, holdouts).comparison.verdict == verdict


def test_more_than_published_is_told_too(tmp_path: Path) -> None:
    rare = study(Rate("Table 2", 0.0, 0.0, 1.0, 0, 10))
    store = Store(tmp_path)
    for run in RUNS:
        store.put_all_done([(run, curve(1.0), "solved", {}, 1.0)])
    assert measure(rare, "smoke", store).as_dict()["arms"][0]["verdict"] == ""  # two training steps show nothing
    assert measure(rare, "desk", store).arm.comparison.verdict == "succeeds more often"


def test_without_a_published_count_there_is_no_verdict(tmp_path: Path) -> None:
    uncounted = study(Rate("§4.5", 100.0))
    store = Store(tmp_path)
    assert measure(uncounted, "desk", store).arm.comparison.verdict == "not measured"
    for run in RUNS:
        store.put_all_done([(run, curve(1.0), "solved", {}, 1.0)])
    found = measure(uncounted, "desk", store).arm.comparison
    assert (found.verdict, found.p) == ("no count is published", None)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(None, "not measured"), (1.0, "agrees"), (0.96, "agrees"), (1.1, "higher"), (0.9, "lower")],
)
def test_a_computed_number_is_held_to_its_tolerance(tmp_path: Path, value: float | None, verdict: str) -> None:
    arms = [Arm({"steps": 2}, (), Number("Appendix E", 1.0, 0.05), compute=lambda kept: value)]
    found = measure(Study("test/computed", "A claim.", lambda scale: arms, ""), "desk", Store(tmp_path))
    assert found.as_dict()["arms"][0] | {"published": None} == {
        "labels": {"steps": 2}, "planned": 0, "value": value, "published": None, "verdict": verdict, "p": None,
    }  # fmt: skip
