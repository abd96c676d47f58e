"""The per-pattern table and Rule 30 under hard feedback, as declared; and that a cut curve is the shorter run's."""

from pathlib import Path

from hardgap.core.run import Run
from hardgap.core.specs import Budget
from hardgap.runs.store import Store
from hardgap.studies.k_sweep import k_tables
from hardgap.studies.measure import measured
from hardgap.studies.per_pattern import pattern_tables
from hardgap.studies.published import Rate
from hardgap.studies.rule_30_hard import hard_tables, rule_30_hard
from hardgap.studies.study import STUDIES, Arm, choose
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.scales import base

TOTALS = {"rule-150": (8, 80), "rule-30": (41, 80), "rule-106": (55, 80), "rule-150-long": (47, 60)}


def point(step: int, holdout: float) -> dict[str, object]:
    return {"step": step, "visible": 1.0, "holdout": holdout, "loss": None, "detail": {}}


def put(store: Store, run: Run, *points: dict[str, object]) -> None:
    store.put_all_done([(run, list(points), "steps", {}, 1.0)])


def test_the_columns_add_up_to_the_papers_totals() -> None:
    for name, total in TOTALS.items():
        published = [arm.published for arm in STUDIES[f"per-pattern/{name}"].arms("desk")]
        counts = [paper.count for paper in published if paper is not None and paper.count is not None]
        assert (sum(s for s, _ in counts), sum(n for _, n in counts)) == total
    counts = [arm.published.count for arm in rule_30_hard.arms("desk") if arm.published and arm.published.count]
    assert sum(s for s, _ in counts) == 16


def test_a_cut_run_is_of_the_family_of_the_run_that_the_column_is_about() -> None:
    for name in ("rule-150", "rule-30", "rule-106"):
        for scale in ("smoke", "desk", "paper"):
            for arm in STUDIES[f"per-pattern/{name}"].arms(scale):
                run = arm.runs[0]
                assert isinstance(run, AutomatonRun)
                short = base(scale, run.rule, run.hide)
                assert run.family == short.family
                assert (arm.until or run.budget.steps) == short.budget.steps
                assert not short.budget.steps % short.budget.evaluate_every


def test_a_curve_is_read_as_far_as_its_arm_asks(tmp_path: Path) -> None:
    long = base("desk", "30", (0,)).but(budget=Budget(steps=1000))
    store = Store(tmp_path)
    put(store, long, point(0, 0.5), point(600, 0.0), point(1000, 1.0))
    early = long.but(seed=1)  # solved and stopped before the cut
    put(store, early, point(0, 0.5), point(150, 1.0))
    whole, cut = measured([Arm({}, (long, early)), Arm({}, (long, early), until=600)], store)
    assert (whole.recovered, cut.recovered) == (2, 1)
    assert [curve[-1]["step"] for curve in cut.curves] == [600, 150]


def test_tables_say_what_is_missing_and_total_what_is_there(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed, holdout in enumerate((0.0, 0.9)):
        put(store, rule_30_hard.arms("desk")[0].runs[seed], point(600, holdout))
    (table,) = hard_tables([rule_30_hard.measure(store)])
    assert table.rows[0][:6] == [0, "wrong", "0/10", "1/2 of 10", 0.0, "90.0"]
    assert table.rows[8][:4] == ["wrong vote", "", "10/60", "1/2 of 60"]
    assert table.rows[9][:4] == ["all", "", "16/80", "1/2 of 80"]
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["success rate, Wilson %"] == "9 to 91"
    assert "runs" in str(row["why"])
    assert "would settle it" in str(row["why"])
    (sweep,) = k_tables([one.measure(store) for one in choose(["k-sweep"])])
    assert {"Wilson %", "tempered Wilson %", "why"} <= set(sweep.columns)
    together, *columns = pattern_tables([one.measure(store) for one in choose(["per-pattern"])])
    assert len(columns) == 4
    assert {column.rows[-1][0] for column in columns} == {"overall, alone"}  # not corrected with the rows above it
    assert together.rows[2] == [2, "4/10 → 0/0 of 10", "6/10 → 0/0 of 10", "0/10 → 0/0 of 10", "– → 0/0 of 10"]


def test_the_paper_has_no_count_for_patterns_2_and_5_of_the_long_column() -> None:
    silent = [arm.labels["pattern"] for arm in STUDIES["per-pattern/rule-150-long"].arms("desk") if not arm.published]
    assert silent == [2, 5]
    assert all(isinstance(arm.published, Rate) for arm in STUDIES["per-pattern/rule-30"].arms("desk"))
