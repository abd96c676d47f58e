"""What the studies of the tempered recipe say, from curves that are written down here: rates, tables, figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.core.errors import BadInput
from hardgap.core.parts import part
from hardgap.core.run import Run, only
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.report.document import markdown
from hardgap.report.statistics import rank_correlation
from hardgap.runs.store import Store
from hardgap.studies.measure import StudyResult, measure, measured, pooled, progress
from hardgap.studies.study import STUDIES, Study, choose, limited
from hardgap.studies.tempered.document import on_page
from hardgap.studies.tempered.figures import CONTROL, TEMPERED
from hardgap.studies.tempered.search import search_table
from hardgap.worlds.automaton.regime import Temperature, Unrolling
from hardgap.worlds.automaton.run import AutomatonRun

ROOT = Path(__file__).parents[3]
TEMPERED_STUDIES = {one.name.partition("/")[2]: one for one in choose(["tempered"])}
TARGET, CONTROL_STUDY = TEMPERED_STUDIES["target"], TEMPERED_STUDIES["control"]
NAMES = ("logit", "gradient", "pull")
LOGGED = {f"{name}_{kind}": 0.5 for name in NAMES for kind in ("hidden", "visible")}


def finish(store: Store, run: Run, holdout: float, solved_at: int) -> None:
    """A run as if trained: nothing until `solved_at`, then this holdout accuracy."""
    store.add([run])
    store.claim([run.id], "me")
    curve = [
        {"step": step, "loss": 0.1, "visible": 1.0, "holdout": reached, "detail": {"saturation": LOGGED}}
        for step, reached in ((0, 0.0), (solved_at, holdout), (solved_at + 50, holdout))
    ]
    store.finish(run.id, "me", curve, "budget", {}, 0.0)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Of every arm the first run is done; all but the first arm of a study recovered, each a step later."""
    opened, seen = Store(tmp_path_factory.mktemp("trials")), set()
    for study in TEMPERED_STUDIES.values():
        for index, arm in enumerate(study.arms("desk")):
            run = arm.runs[0]
            if run.id not in seen:
                seen.add(run.id)
                finish(opened, run, 1.0 if index else 0.2, 100 + index)
    return opened


def test_a_rate_counts_what_is_done(store: Store) -> None:
    first, second, *_ = arms = measured(TARGET.arms("desk"), store)
    assert (first.n, first.planned, first.recovered, first.solved, first.median_steps) == (1, 10, 0, 0, None)
    assert (second.n, second.recovered, second.steps, second.median_steps) == (1, 1, [101], 101.0)
    whole = pooled(arms, {"rules": "all"})
    assert (whole.n, whole.planned, whole.recovered) == (24, 240, 23)
    assert whole.published is not None
    assert whole.published.count == (104, 240)
    assert whole.median_steps == pytest.approx(112.5)  # the unsolved run counts as slower than any
    assert progress(TARGET, "desk", store) == (24, 240)


def test_a_solution_that_is_lost_again_does_not_count(tmp_path: Path) -> None:
    store, arm = Store(tmp_path), TARGET.arms("desk")[0]
    (run, again, *_), both = arm.runs, {0: 0.0, 50: 1.0, 100: 0.2, 150: 1.0}
    for one, course in ((run, both | {200: 1.0}), (again, both | {200: 0.8})):
        store.add([one])
        store.claim([one.id], "me")
        curve = [{"step": s, "loss": 0.1, "visible": 1.0, "holdout": h, "detail": {}} for s, h in course.items()]
        store.finish(one.id, "me", curve, "budget", {}, 0.0)
    (found,) = measured([arm], store)
    assert (found.recovered, found.solved, found.steps) == (2, 1, [150])


def table_of(result: StudyResult) -> Table:
    (table,) = part(result.study.tables)([result])
    assert isinstance(table, Table)
    return table


def draw(result: StudyResult) -> Figure:
    figure = part(str(result.study.figure))([result])
    assert isinstance(figure, Figure)
    return figure


@pytest.mark.parametrize("study", TEMPERED_STUDIES.values(), ids=lambda study: study.name)
def test_every_study_has_a_table_and_most_a_figure(study: Study, store: Store) -> None:
    result = measure(study, "desk", store)
    table = table_of(result)
    assert table.rows
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert markdown([table]).count("\n|") == len(table.rows) + 2
    json.dumps(result.as_dict(), allow_nan=False)
    assert study.figure is None or draw(result).axes


@pytest.mark.parametrize("scale", ["smoke", "desk", pytest.param("paper", marks=pytest.mark.slow)])
@pytest.mark.parametrize("study", TEMPERED_STUDIES.values(), ids=lambda study: study.name)
def test_every_study_can_be_looked_at_before_it_is_run(study: Study, scale: Scale, tmp_path: Path) -> None:
    result = measure(study, scale, Store(tmp_path))
    assert not any(arm.n for arm in result.arms)
    assert table_of(result).rows


@pytest.fixture
def target_store(tmp_path: Path) -> Store:
    """Two seeds of Rule 150's patterns 0 and 2: tempered, seed 0 recovers; at T = 1, seed 1 does, and one of seed 2."""
    store = Store(tmp_path)
    for study, recovering, solved_at in ((TARGET, 0, 100), (CONTROL_STUDY, 1, 200)):
        arms = study.arms("desk")
        for run in (*arms[0].runs[:2], *arms[2].runs[:2]):
            finish(store, run, 1.0 if run.seed == recovering else 0.2, solved_at)
    finish(store, CONTROL_STUDY.arms("desk")[0].runs[2], 1.0, 200)
    return store


def test_the_control_beside_the_target_is_of_the_same_seeds(target_store: Store) -> None:
    first = measure(TARGET, "desk", target_store).more["beside"][0]
    assert (first["arm"].n, first["control"].n, first["control"].planned) == (2, 3, 10)
    rows = measure(limited(TARGET, 1), "desk", target_store).more["beside"]
    sides = [rows[i][side] for side in ("arm", "control") for i in (0, 2)]
    assert [(arm.recovered, arm.n, arm.planned) for arm in sides] == [(1, 1, 1), (1, 1, 1), (0, 1, 1), (0, 1, 1)]
    assert [row["control"].n for row in rows[-4:]] == [2, 0, 0, 2]


def test_the_test_against_the_control_takes_seeds_that_both_have(target_store: Store) -> None:
    """Seed 2 was run at T = 1 alone: 2 of 4 against 2 of 4 is left, and no difference."""
    wholes = measure(TARGET, "desk", target_store).more["beside"][-4:]
    assert [row["control_steps"] for row in wholes] == [[2640], [1570], [1570], [1570, 2640]]
    assert [row["p"] for row in wholes] == [1.0, None, None, 1.0]
    apart = measure(limited(TARGET, 1), "desk", target_store)
    assert apart.more["beside"][-4]["p"] == pytest.approx(1 / 3)  # 2 of 2 against 0 of 2
    row = next(row for row in table_of(apart).rows if row[:2] == ["Rule 150", "all"])
    assert row[2:8] == ["8/80", "0/2 of 8", "2,640", "2/2 of 8", "34 to 100", "0.3"]


def test_the_control_says_which_budgets_stand_side_by_side(target_store: Store) -> None:
    """The paper's counts are of 50 epochs; Rule 150's own runs have 220 (2,640 steps), the other rules' 1,570."""
    finish(target_store, CONTROL_STUDY.arms("desk")[8].runs[0], 1.0, 100)
    table = table_of(measure(CONTROL_STUDY, "desk", target_store))
    assert table.columns[2:4] == ["paper, 50 epochs", "its steps, at most"]
    assert [row[:4] for row in table.rows] == [
        ["Rule 150", "pattern 0", "0/10", "2,640"],
        ["Rule 150", "pattern 2", "4/10", "2,640"],
        ["Rule 30", "pattern 0", "1/10", "1,570"],
    ]


def test_the_figure_of_the_target_draws_each_side_in_its_place_and_colour(target_store: Store) -> None:
    """Tempered recovers one of two and the control two of three of pattern 0: no bar may stand for the other."""
    axes = draw(measure(TARGET, "desk", target_store)).axes
    bars = [bar for bar in axes[0].patches if isinstance(bar, Rectangle)]
    drawn = {
        (round(bar.get_x() + bar.get_width() / 2, 2), to_hex(bar.get_facecolor())): bar.get_height() for bar in bars
    }
    assert (drawn[0.0, CONTROL], drawn[0.27, TEMPERED]) == (pytest.approx(200 / 3), 50.0)
    assert (drawn[2.0, CONTROL], drawn[2.27, TEMPERED]) == (50.0, 50.0)
    assert drawn[1.73, to_hex("#777777")] == 40.0  # the paper's 4 of 10
    (steps,) = [line for line in axes[3].lines if 0 in [round(x) for x in line.get_xdata()] and len(line.get_ydata())]
    assert list(steps.get_ydata()) == [100]  # of the tempered run that was solved


def test_a_page_shows_what_other_arms_depart_from_once(store: Store) -> None:
    """Eleven arms of the dial are the same runs; of the search at width 101 a page has the words alone."""
    whole = measure(TEMPERED_STUDIES["dial"], "desk", store)
    shown = on_page(whole)
    assert len(whole.arms) - len(shown.arms) == 10
    assert shown.arms[4].labels == {"factor": "constant temperature", "value": "8"}
    assert [arm.labels["way"] for arm in on_page(measure(TEMPERED_STUDIES["rounded"], "desk", store)).arms] == [
        "T = 8, 3 of 10 rounded, restart"
    ] * 4
    first = on_page(measure(TEMPERED_STUDIES["first-attempt"], "desk", store)).arms
    assert [arm.labels for arm in first] == [
        {"rule": "150", "pattern": 0},  # the one that was missed
        {"rule": "30", "pattern": 4, "T": 2.0},
        {"rule": "30", "pattern": 4, "T": 4.0},
    ]
    assert on_page(measure(TARGET, "desk", store)).arms == measure(TARGET, "desk", store).arms


def test_a_column_that_is_empty_in_every_row_is_left_out(store: Store) -> None:
    table = table_of(measure(TEMPERED_STUDIES["dial"], "desk", store))
    assert table.columns == ["factor", "value", "recovered", "Wilson, %", "solved", "median steps"]
    assert [*table.right, *table.detail] == [*table.columns[2:], "Wilson, %", "median steps", "solved"]


def test_what_was_not_measured_is_not_drawn(tmp_path: Path) -> None:
    result = measure(TEMPERED_STUDIES["dial"], "desk", Store(tmp_path))
    with pytest.raises(BadInput, match="nothing of tempered/dial has been measured yet at desk scale"):
        draw(result)


def test_the_cliff_shows_what_is_determined(store: Store, tmp_path: Path) -> None:
    cliff = STUDIES["tempered/cliff"]
    more = measure(cliff, "desk", store).more
    assert set(more["determined"]) == {1.0}, "of the first set of each size, the only one that was run"
    assert set(measure(cliff, "desk", Store(tmp_path)).more["determined"]) == {None}
    shares = dict(more["information"]["D"])
    assert shares[14] == shares[24] == 1.0
    assert shares[31] < shares[29] < 1.0


def test_the_search_is_told_by_setting(tmp_path: Path) -> None:
    store, start = Store(tmp_path), only(AutomatonRun, TARGET.arms("desk")[0].runs)[0]
    falling = start.but(unrolling=Unrolling(temperature=Temperature(start=6.0, over=1046)))
    rounded = start.but(unrolling=Unrolling(feedback="hard", backward="identity"), rule="30", hide=(4,))
    for run, holdout in ((falling, 1.0), (falling.but(hide=(7,)), 0.0), (rounded, 0.0)):
        finish(store, run, holdout, 100)
    assert search_table(store).rows == [
        ["soft×4, T=6→1 over 1046", "150: 0, 7", "1,570", "1/2"],
        ["hard×4, gradient identity", "30: 4", "1,570", "0/1"],
        ["all of them", "", "", "1/3"],
    ]


def test_rank_correlation_against_orders_that_are_known() -> None:
    rising = rank_correlation([1, 2, 3, 4, 5, 6], [1, 4, 9, 16, 25, 36])
    assert rising["rho"] == pytest.approx(1.0)
    falling = rank_correlation([1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 1, 2])
    assert falling["rho"] == pytest.approx(-33 / 35)
    assert falling["low"] is not None
    assert falling["high"] is not None
    assert -1 <= falling["low"] < -33 / 35 < falling["high"] < 0
    assert rank_correlation([1, 1, 1, 1, 1], [1, 2, 3, 4, 5])["rho"] is None
