"""Measured beside published: what a reader is told, from runs put into a store."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hardgap.studies  # noqa: F401  (declares them, and their rules)
from hardgap.core.run import Run, only
from hardgap.core.specs import Budget
from hardgap.runs.store import Store
from hardgap.studies.measure import Measured, judged, measure
from hardgap.studies.published import Number, Paired, Published, Rate
from hardgap.studies.study import Arm, Study
from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.run import AutomatonRun

RUNS: list[Run] = [AutomatonRun(rule="150", hide=(3,), width=5, budget=Budget(steps=10), seed=s) for s in range(10)]


def kinds(of: type[Published]) -> Iterator[type[Published]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_every_rule_that_a_study_adds_is_stated() -> None:
    page = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text(encoding="utf-8")
    added = [kind for kind in kinds(Published) if "compare" in vars(kind) and kind.__module__.startswith("hardgap.")]
    added = [kind for kind in added if kind.__module__ != Published.__module__]
    assert len(added) > 5
    assert [kind.__name__ for kind in added if f"`{kind.__name__}`" not in page] == []


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
        ([], "not run"),
        ([1.0] * 10, "reproduced at desk scale"),
        ([1.0] * 9 + [0.0], "inconclusive at desk scale"),
        ([0.0] * 10, "differs (lower) at desk scale"),
        ([1.0, 0.0], "inconclusive so far at desk scale"),
        ([1.0] * 5, "inconclusive so far at desk scale"),
        ([0.0] * 5, "differs (lower) so far at desk scale"),
    ],
)
def test_the_verdict_names_its_scale_and_what_is_to_come(tmp_path: Path, holdouts: list[float], verdict: str) -> None:
    assert measured(tmp_path, holdouts).comparison.verdict == verdict


def test_more_than_published_is_told_too(tmp_path: Path) -> None:
    rare = study(Rate("Table 2", 0.0, 0.0, 1.0, 0, 10))
    store = Store(tmp_path)
    for run in RUNS:
        store.put_all_done([(run, curve(1.0), "solved", {}, 1.0)])
    assert measure(rare, "smoke", store).as_dict()["arms"][0]["verdict"] == ""  # two training steps show nothing
    assert measure(rare, "desk", store).arm.comparison.verdict == "differs (higher) at desk scale"


def test_without_a_published_count_the_mean_is_compared(tmp_path: Path) -> None:
    uncounted = study(Rate("§4.5", 100.0))
    store = Store(tmp_path)
    assert measure(uncounted, "desk", store).arm.comparison.verdict == "not run"
    for run in RUNS:
        store.put_all_done([(run, curve(1.0), "solved", {}, 1.0)])
    found = measure(uncounted, "desk", store).arm.comparison
    assert found.verdict == "reproduced at desk scale"


def test_paired_seeds_are_compared_by_wilcoxons_test(tmp_path: Path) -> None:
    """Soft feedback against hard: as the paper's, all ten pairs one way; a seed that only one side has is left out."""
    hard = [run.but(unrolling=Unrolling(feedback="hard")) for run in only(AutomatonRun, RUNS)]
    both = Study("test/pairs", "A claim.", lambda scale: [Arm({}, (*RUNS, *hard), Paired("§4.2", 0.002))], "")
    store = Store(tmp_path)
    for seed, run in enumerate(RUNS):
        store.put_all_done([(run, curve(0.9 + seed / 100), "solved", {}, 1.0)])
    for run in hard[:9]:
        store.put_all_done([(run, curve(0.5), "budget", {}, 1.0)])
    nine = measure(both, "desk", store).arm.comparison
    assert (nine.verdict, nine.p) == ("reproduced so far at desk scale", pytest.approx(2 / 2**9))
    store.put_all_done([(hard[9], curve(0.5), "budget", {}, 1.0)])
    assert measure(both, "desk", store).arm.comparison.p == pytest.approx(0.002, abs=1e-4)


def test_a_row_is_judged_among_the_rows_of_its_table(tmp_path: Path) -> None:
    """Three of ten against none differ from nothing; five do, alone, and not among twenty rows."""
    store, runs = Store(tmp_path), [RUNS[0].but(seed=seed) for seed in range(30)]
    for run in runs:
        store.put_all_done([(run, curve(1.0 if run.seed < 5 else 0.0), "budget", {}, 1.0)])

    def row(place: int) -> Study:
        mine = tuple(runs[:10] if not place else runs[10:20])
        return Study(f"test/{place}", "A claim.", lambda scale: [Arm({}, mine, Rate("", successes=0, n=10))], "same")

    alone, *others = (measure(row(place), "desk", store) for place in range(20))
    assert alone.verdict == "differs (higher) at desk scale"
    assert judged([alone])[0].verdict == alone.verdict
    among, *_ = judged([alone, *others])
    assert among.arm.comparison.word == "inconclusive"
    assert "among 20 rows" in among.verdict


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(None, "not run"), (1.0, "reproduced at desk scale"), (1.1, "differs (higher) at desk scale")],
)
def test_a_computed_number_is_held_to_its_tolerance(tmp_path: Path, value: float | None, verdict: str) -> None:
    arms = [Arm({"steps": 2}, (), Number("Appendix E", 1.0, 0.05), compute=lambda kept: value)]
    found = measure(Study("test/computed", "A claim.", lambda scale: arms, ""), "desk", Store(tmp_path))
    (arm,) = found.as_dict()["arms"]
    assert (arm["labels"], arm["planned"], arm["value"], arm["verdict"]) == ({"steps": 2}, 0, value, verdict)
