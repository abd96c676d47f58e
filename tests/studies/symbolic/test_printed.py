"""What the paper prints of all pairs and of their baselines: its verdict, where the right one is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hardgap.core.run import only
from hardgap.runs.store import Store
from hardgap.studies.measure import Measured, judged, measure
from hardgap.studies.study import STUDIES
from hardgap.studies.symbolic.baselines_study import OfExamples, baseline_tables
from hardgap.studies.symbolic.cells import measures_table
from hardgap.studies.symbolic.coverage import ALL
from hardgap.studies.symbolic.coverage_tables import coverage_tables
from hardgap.worlds.chains.run import SymbolicRun

KEPT = Path(__file__).parents[3] / "results" / "symbolic" / "baselines"
BASELINES, COVERAGE = STUDIES["symbolic/baselines"], STUDIES["symbolic/coverage"]


def curve(held_out: float, seen_then: float, seen_last: float, **more: Any) -> list[dict[str, Any]]:
    """Two evaluations; held-out examples choose the first, at which less is known of what is seen."""

    def point(step: int, share: float, seen: float) -> dict[str, Any]:
        right, known = {"exact": share, "pair": share, "f": share, **more}, {"exact": seen}
        detail = {"holdout": right, "seen": known, "eval": {"holdout": share, "seen": seen}}
        return {"step": step, "visible": seen, "holdout": share, "loss": None, "detail": detail}

    return [point(1, held_out, seen_then), point(2, held_out / 2, seen_last)]


def test_every_printed_baseline_has_a_verdict_and_what_is_certain_is_no_test(tmp_path: Path) -> None:
    (result,) = judged([measure(BASELINES, "desk", Store(tmp_path), KEPT)])
    found = {tuple(arm.labels.values()): arm for arm in result.arms}
    assert len(found) == 7 * 5 + 4
    words = {method: {found[pair, m].comparison.word for pair, m in found if m == method} for _, method in found}
    assert {method for method, said in words.items() if said == {"no test"}} == {
        "KNN", "MLP", "Oracle", "KNN, range", "MLP, range",
    }  # fmt: skip
    assert words["KRR"] == words["KRR, mean"] == words["KRR, range"] == {"reproduced"}
    assert "inferred" in found["^|", "KRR"].comparison.why
    assert found["|r", "Learned Tables"].value == (487, 500)
    assert found["|r", "Learned Tables"].comparison.why.startswith("p = 0.047 alone")
    table, together = baseline_tables([result])
    assert table.rows[2][:6] == ["^|", "KRR", "13.8", "13.2", "500 examples", "10.5 to 16.4"]
    assert [row[2] for row in together.rows] == ["4.3", "0", "0", "0 to 18.2"]


def test_a_baseline_that_is_not_as_certain_as_it_should_be_is_told() -> None:
    def verdict(right: int, published: float) -> str:
        return Measured({}, 0, published=OfExamples("Table 10", published), value=(right, 500)).comparison.verdict

    assert verdict(60, 13.8) == "reproduced"
    assert verdict(20, 13.8) == "differs (lower)"
    (certain,) = [arm.published for arm in BASELINES.arms("desk") if arm.labels == {"pair": "^|", "method": "KNN"}]
    assert certain is not None
    assert Measured({}, 0, published=certain, value=(30, 500)).comparison.verdict == "differs (higher)"


def test_baselines_that_nobody_measured_are_not_run(tmp_path: Path) -> None:
    result = measure(BASELINES, "desk", Store(tmp_path))
    assert {arm.comparison.word for arm in result.arms} == {"not run"}
    assert baseline_tables([result])[0].rows[0][3:6] == ["", "", ""]


@pytest.mark.parametrize(
    ("held_out", "words"),
    [(0.418, ["reproduced", "inconclusive", "inconclusive", "reproduced"]),
     (0.9, ["differs", "differs", "inconclusive", "reproduced"])],
)  # fmt: skip
def test_what_is_said_of_all_pairs_together_is_judged(tmp_path: Path, held_out: float, words: list[str]) -> None:
    """All pairs are alike here, so none reaches the published ends; seen pairs are known to 90 % at the end alone."""
    store = Store(tmp_path)
    for run in only(SymbolicRun, COVERAGE.runs("desk")):
        shift = {42: -0.002, 123: 0.0, 456: 0.002}[run.seed]
        store.put_all_done([(run, curve(held_out + shift, 0.5 if run.holdout == "dd" else 0.9, 0.9), "", {}, 1.0)])
    result = measure(COVERAGE, "desk", store)
    together = [arm for arm in result.arms if arm.labels["holdout"] == ALL]
    assert [arm.comparison.word for arm in together[:4]] == words
    rows = coverage_tables([result])[-1].rows
    assert rows[0][2] == f"mean {100 * held_out:.1f} % ({100 * held_out:.1f} to {100 * held_out:.1f}), 49 pairs"
    assert [row[2] for row in rows[2:4]] == ["50.0 to 90.0 %", "90.0 %"]
    assert rows[3][4] == "not the chosen checkpoint"


def test_a_mean_over_fewer_seeds_than_its_row_says_so(tmp_path: Path) -> None:
    study, store = STUDIES["symbolic/xor-or/familiar"], Store(tmp_path)
    for place, run in enumerate(study.runs("desk")):
        told: dict[str, Any] = {"ops": [0.25, 0.5]} if place < 2 else {}
        store.put_all_done([(run, curve(0.4, 0.9, 0.9, **told), "", {}, 1.0)])
    table = measures_table([measure(study, "desk", store)])
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert (cells["operators: eval-holdout"], cells["first operator: eval-holdout"]) == ("40.0", "25.0 (2)")
    assert "means over 6 seeds" in table.title
