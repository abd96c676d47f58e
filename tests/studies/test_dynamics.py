"""Whether holdout accuracy waits for visible accuracy, on curves of which the answer is known."""

from pathlib import Path
from typing import Any

import pytest

from hardgap.core.run import Run
from hardgap.runs.store import Store
from hardgap.studies.dynamics import bimodality, bimodality_tables, crossing, threshold, threshold_tables
from hardgap.studies.dynamics_figure import dynamics_figure
from hardgap.studies.symbolic.published import CASES
from hardgap.studies.symbolic.table import cell_runs


def curve(*points: tuple[float, float], **detail: Any) -> list[dict[str, Any]]:
    """From (visible, holdout), an evaluation every 50 steps."""
    return [
        {"step": 50 * place, "visible": visible, "holdout": holdout, "loss": None, "detail": detail}
        for place, (visible, holdout) in enumerate(points)
    ]


WAITING = curve((0.5, 0.9), (0.8, 0.0), (0.95, 0.6), (1.0, 1.0))
EARLY = curve((0.5, 0.5), (0.6, 0.7), (1.0, 1.0))
NEVER = curve((0.5, 0.5), (1.0, 0.0))


def test_a_crossing_is_looked_for_after_the_first_step() -> None:
    found = crossing(WAITING)
    assert found is not None
    assert (found["step"], found["visible"]) == (100, 0.95)
    assert crossing(NEVER) is None


def test_a_chain_crosses_at_half_its_best_if_that_is_a_rise() -> None:
    found = crossing(curve((0.0, 0.0), (0.4, 0.1), (0.5, 0.2), (0.9, 0.4), eval={}))
    assert found is not None
    assert found["visible"] == 0.5
    assert crossing(curve((0.0, 0.0), (0.9, 0.05), eval={})) is None
    assert crossing(curve((0.0, 0.0), (0.5, 0.1), (0.9, 0.15), eval={})) is None


def test_a_chain_that_rises_early_differs_since_the_level_is_ours(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, threshold.arms("desk")[3].runs, [curve((0.0, 0.0), (0.3, 0.2), (0.9, 0.4), eval={})])
    found = threshold.measure(store).arms[3].comparison
    assert found.verdict == "differs (lower) so far at desk scale"
    assert found.why.startswith("reaches half of its best, a level of ours, where 30 % of what is visible is right")


@pytest.mark.parametrize(
    ("curves", "verdict"),
    [((WAITING, NEVER), "holds"), ((WAITING, EARLY), "does not hold as written"), ((NEVER,), "inconclusive")],
)
def test_pure_xor_has_to_wait_in_every_run(tmp_path: Path, curves: Any, verdict: str) -> None:
    store = Store(tmp_path)
    put(store, threshold.arms("desk")[2].runs, curves)
    result = threshold.measure(store)
    assert result.arms[2].comparison.word == verdict
    (table,) = threshold_tables([result])
    assert table.rows[2][-2] == f"{verdict} so far at desk scale"
    assert str(table.rows[2][-1]).endswith("is not known" if verdict == "inconclusive" else "about 85 % is 85 ± 5 here")
    assert dynamics_figure([result]).axes


def test_rule_d_may_have_early_runs_but_not_most(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = threshold.arms("desk")[0].runs
    put(store, runs, (WAITING, WAITING, EARLY))
    found = threshold.measure(store).arms[0].comparison
    told = "the median run crosses where 95 % of what is visible is right; about 85 % is 85 ± 5 here"
    assert (found.word, found.why) == ("holds", told)  # the tolerance stands beside it
    put(store, runs[3:], (EARLY, EARLY))
    assert threshold.measure(store).arms[0].comparison.word == "does not hold as written"


def test_all_or_nothing_and_between_are_told_apart(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), bimodality.arms("desk")[0].runs
    put(store, runs, (WAITING, NEVER))
    few = bimodality.measure(store).arms[0].comparison
    assert (few.word, few.note) == ("inconclusive", "0 of 2 end between; about 6 runs would settle it")
    put(store, runs[2:], (WAITING, NEVER))
    assert bimodality.measure(store).arms[0].comparison.word == "holds"
    put(store, runs[4:], [curve((0.5, 0.5), (1.0, 0.5))] * 16)
    (table,) = bimodality_tables([result := bimodality.measure(store)])
    assert result.arms[0].comparison.word == "does not hold as written"
    assert table.rows[0][:5] == ["150, any", "extremes", 2, "16/20", 2]


def test_every_seed_of_the_tables_pairs_counts() -> None:
    for study, place in ((threshold, 3), (bimodality, 1)):
        assert {run.id for run in study.arms("desk")[place].runs} == {
            run.id for pair in CASES for run in cell_runs("desk", pair, "familiar")
        }
    four, every = ({run.id for run in arm.runs} for arm in bimodality.arms("desk")[1:])
    assert four < every


def put(store: Store, runs: tuple[Run, ...], curves: Any) -> None:
    for run, points in zip(runs, curves, strict=False):
        store.put_all_done([(run, points, "steps", {}, 1.0)])
