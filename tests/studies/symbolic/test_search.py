"""The search as declared: no pair of the paper's table, one thing at a time, and what became of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardgap.runs.store import Store
from hardgap.studies.symbolic import search as search
from hardgap.studies.symbolic.published import CASES
from hardgap.worlds.chains.scales import symbolic_base

pytestmark = pytest.mark.usefixtures("one_thread")


def test_no_pair_of_the_table_is_looked_at() -> None:
    assert not set(search.PAIRS) & set(CASES)


def test_the_desk_scale_is_what_it_found() -> None:
    assert symbolic_base("desk", "^r").id == search.LONGER[-1].run("^r").id


def test_every_setting_differs_in_one_thing_and_sees_as_many_examples() -> None:
    for setting in search.SETTINGS:
        assert sum(one != base for one, base in zip(setting, search.BASE, strict=True)) <= 1
    runs = [setting.run("^r") for setting in search.SETTINGS]
    assert len({run.id for run in runs}) == len(search.SETTINGS)
    assert len({run.budget.steps * run.optimiser.batch for run in runs}) == 1
    assert all(run.budget.steps % run.budget.evaluate_every == 0 for run in runs)


@pytest.mark.slow
def test_it_runs_and_says_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = search.Setting(batch=8, examples=160)
    monkeypatch.setattr(search, "SETTINGS", (small,))
    monkeypatch.setattr(search, "BASE", small)
    monkeypatch.setattr(search, "LONGER", [small._replace(rate=0.5)])
    whole = search.symbolic_base("paper", "^r").but(train_examples=96, eval_examples=1, test_examples=1)
    monkeypatch.setattr(search, "symbolic_base", lambda scale, pair: whole.but(holdout=pair))
    search.main(tmp_path)
    assert Store(tmp_path).curve(small.run("L&").id)[-1]["step"] == 20
    said = capsys.readouterr().out
    assert said.count("label-only") == len(search.PAIRS)
    assert said.count("'learning_rate': 0.5") == len(search.PAIRS)
    assert all(words in said for words in ("'pair': '^r'", "'batch': 8", "'peak': {'seen': ", "'seconds': "))
