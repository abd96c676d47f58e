"""The search as declared: no pair of the paper's table, the same number of examples for every setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardgap.runs.store import Store
from hardgap.studies import symbolic_search as search

PAPERS = {"^|", "&L", "R^", "d|"}
pytestmark = pytest.mark.usefixtures("one_thread")


def test_no_pair_of_the_table_is_looked_at() -> None:
    best = search.settings()[0]
    assert not {run.holdout for run in [*search.settings(), *search.conditions(best)]} & PAPERS
    assert {run.condition for run in search.conditions(best)} == {"familiar", "label-only"}
    assert best in search.conditions(best)


def test_every_setting_sees_as_many_examples_and_is_its_own_run() -> None:
    runs = search.settings()
    assert len({run.id for run in runs}) == len(search.SETTINGS)
    assert {run.budget.steps * run.optimiser.batch for run in runs} == {search.EXAMPLES}
    assert all(run.budget.steps % run.budget.evaluate_every == 0 for run in runs)


def test_it_runs_and_says_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search, "EXAMPLES", 96)
    small = search.setting(8, 1e-3, 0.1, 0.1).but(train_examples=96, eval_examples=1, test_examples=1)
    monkeypatch.setattr(search, "settings", lambda: [small])
    search.main(tmp_path)
    assert Store(tmp_path).curve(small.id)[-1]["step"] == 12
    said = capsys.readouterr().out
    assert said.count("label-only") == len(search.PAIRS)
    assert all(words in said for words in ("'pair': '^r'", "'batch': 8", "'seen': ", "'holdout': ", "'seconds': "))
