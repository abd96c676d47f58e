"""What trials say, from curves that are written down here: rates, tables, figures."""

from __future__ import annotations

from pathlib import Path

import pytest

import hardgap.studies  # noqa: F401  (declares the trials)
from hardgap.errors import BadInput
from hardgap.report.document import fill, markdown
from hardgap.report.rates import pooled, rates
from hardgap.report.statistics import rank_correlation
from hardgap.report.tempered import measure_trial, progress
from hardgap.report.tempered_document import RESULTS, measured, sections
from hardgap.report.tempered_figures import FIGURES, tempered_figure
from hardgap.report.tempered_tables import tempered_table
from hardgap.runs.config import AutomatonRun
from hardgap.runs.store import Store
from hardgap.studies.trial import TRIALS

ROOT = Path(__file__).parents[2]
NAMES = ("logit", "gradient", "pull")
LOGGED = {f"{name}_{kind}": 0.5 for name in NAMES for kind in ("hidden", "visible")}


def finish(store: Store, run: AutomatonRun, holdout: float, solved_at: int) -> None:
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
    """Of every arm the first run is done; all but the first arm of a trial recovered, each a step later."""
    opened, seen = Store(tmp_path_factory.mktemp("trials")), set()
    for trial in TRIALS.values():
        for index, arm in enumerate(trial.arms("desk")):
            run = arm.runs[0]
            if run.id not in seen:
                seen.add(run.id)
                finish(opened, run, 1.0 if index else 0.2, 100 + index)
    return opened


def test_a_rate_counts_what_is_done(store: Store) -> None:
    first, second, *_ = measured = rates(TRIALS["target"].arms("desk"), store)
    assert (first.n, first.planned, first.recovered, first.solved, first.median_steps) == (1, 10, 0, 0, None)
    assert (second.n, second.recovered, second.steps, second.median_steps) == (1, 1, (101,), 101.0)
    whole = pooled(measured, "all")
    assert (whole.n, whole.planned, whole.recovered, whole.paper) == (24, 240, 23, (104, 240))
    assert whole.median_steps == pytest.approx(112.5)  # the unsolved run counts as slower than any
    assert progress(TRIALS["target"], "desk", store) == (24, 240)


def test_a_solution_that_is_lost_again_does_not_count(tmp_path: Path) -> None:
    store, arm = Store(tmp_path), TRIALS["target"].arms("desk")[0]
    (run, again, *_), both = arm.runs, {0: 0.0, 50: 1.0, 100: 0.2, 150: 1.0}
    for one, course in ((run, both | {200: 1.0}), (again, both | {200: 0.8})):
        store.add([one])
        store.claim([one.id], "me")
        curve = [{"step": s, "loss": 0.1, "visible": 1.0, "holdout": h, "detail": {}} for s, h in course.items()]
        store.finish(one.id, "me", curve, "budget", {}, 0.0)
    found = rates([arm], store)[0]
    assert (found.recovered, found.solved, found.steps) == (2, 1, (150,))


@pytest.mark.parametrize("name", TRIALS)
def test_every_trial_has_a_table_and_most_a_figure(name: str, store: Store) -> None:
    data = measure_trial(TRIALS[name], "desk", store)
    table = tempered_table(data)
    assert table.rows
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert markdown([table]).count("\n|") == len(table.rows) + 2
    if name in FIGURES:
        assert tempered_figure(data).axes
    else:
        with pytest.raises(BadInput, match=f"no figure of {name}; there is one of target"):
            tempered_figure(data)


def test_what_was_not_measured_is_not_drawn(tmp_path: Path) -> None:
    data = measure_trial(TRIALS["dial"], "desk", Store(tmp_path))
    with pytest.raises(BadInput, match="nothing of dial has been measured yet at desk scale"):
        tempered_figure(data)


def test_the_cliff_shows_what_is_determined(store: Store, tmp_path: Path) -> None:
    data = measure_trial(TRIALS["cliff"], "desk", store)
    assert set(data["determined"]) == {1.0}, "of the first set of each size, the only one that was run"
    assert set(measure_trial(TRIALS["cliff"], "desk", Store(tmp_path))["determined"]) == {None}
    shares = dict(data["information"]["D"])
    assert shares[14] == shares[24] == 1.0
    assert shares[31] < shares[29] < 1.0


def test_the_page_is_what_the_results_say() -> None:
    text = (ROOT / "docs" / "tempered.md").read_text()
    found = sections(measured(ROOT / folder for folder in RESULTS))
    assert fill(text, found) == text
    assert "@" not in text  # nothing is left to be said


def test_rank_correlation_against_orders_that_are_known() -> None:
    rising = rank_correlation([1, 2, 3, 4, 5, 6], [1, 4, 9, 16, 25, 36])
    assert rising["rho"] == pytest.approx(1.0)
    falling = rank_correlation([1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 1, 2])
    assert falling["rho"] == pytest.approx(-33 / 35)
    assert falling["low"] is not None
    assert falling["high"] is not None
    assert -1 <= falling["low"] < -33 / 35 < falling["high"] < 0
    assert rank_correlation([1, 1, 1, 1, 1], [1, 2, 3, 4, 5])["rho"] is None
