"""The bounds of Experiment 2: what is committed is what is computed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.core.progress import silent
from hardgap.runs.store import Store
from hardgap.studies.ledger import read_claims
from hardgap.studies.measure import measure
from hardgap.studies.study import STUDIES
from hardgap.studies.symbolic import bounds
from hardgap.worlds.chains.bounds import best_pair, every_result
from hardgap.worlds.chains.chains import Arithmetic

KEPT = Path(__file__).parents[3] / "results" / "symbolic" / "baselines"


def test_only_examples_that_fit_one_pair_allow_what_the_paper_measures(tmp_path: Path) -> None:
    tables = bounds.bound_tables([measure(STUDIES["bounds"], "desk", Store(tmp_path), KEPT)])
    best = [float(str(row[2])) for row in tables[0].rows[:-1]]
    assert best == sorted(best)
    assert best[-2] < 88 < best[-1] == 100
    assert {row[0]: row[1] for row in tables[1].rows}["any pair that fits, |& never named"] == "92.8"


def test_what_is_committed_is_found_by_the_report() -> None:
    (claim,) = read_claims(KEPT.parents[1], [STUDIES["bounds"]])
    assert len(bounds.bound_tables([claim])) == 2


def test_nothing_is_shown_before_it_was_computed_and_then_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, kept = Store(tmp_path), tmp_path / "kept"
    monkeypatch.setattr(bounds, "Arithmetic", lambda: Arithmetic.of("^|&LR", bits=2))
    assert bounds.bound_tables([measure(STUDIES["bounds"], "desk", store, kept)]) == []
    bounds.compute_first("desk", store, kept, silent, lambda: True)
    assert not kept.exists()  # it was late
    bounds.compute_first("desk", store, kept, silent, lambda: False)
    found = (kept / bounds.FILE).read_text()
    assert 0 < json.loads(found)["f"] < 1
    bounds.compute_first("desk", store, kept, lambda *_: pytest.fail("computed again"), lambda: False)
    (kept / bounds.FILE).write_text(found[:100])  # damaged: as if it were not there
    assert bounds.bound_tables([measure(STUDIES["bounds"], "desk", store, kept)]) == []
    bounds.compute_first("desk", store, kept, silent, lambda: False)
    assert (kept / bounds.FILE).read_text() == found


@pytest.mark.slow
def test_the_committed_file_is_what_is_computed() -> None:
    committed = json.loads((KEPT / bounds.FILE).read_text())
    assert bounds.computed(Arithmetic(), silent) == {k: v for k, v in committed.items() if k not in ("kind", "about")}


def test_the_committed_bound_without_a_filter_is_what_is_computed() -> None:
    committed = json.loads((KEPT / bounds.FILE).read_text())["filters"]["always"]
    d = every_result(Arithmetic())
    assert best_pair(d, np.ones(d.shape, dtype=bool)) == pytest.approx(committed["pair"], abs=1e-6)
