"""The rollout benchmark: equal output is enforced, and what is not installed is named."""

import numpy as np
import pytest

from hardgap.bench import rollout
from hardgap.worlds.automaton.rollout import rollout as table_rollout


@pytest.fixture
def nothing_else_installed(monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(rollout, "import_module", refuse)


def test_ours_is_timed_and_the_missing_are_named(nothing_else_installed):
    table = rollout.measure(rows=70, width=9, steps=4, repeats=2)
    ours, others = table[:3], table[3:]
    assert {row["name"] for row in ours} == {"hardgap bit-sliced", "hardgap NumPy"}
    assert all(row["seconds"] > 0 and row["cells_per_second"] > 0 for row in ours)
    assert ours[0]["times_ours"] == 1
    assert {row["name"] for row in others} == {"CAX", "CellPyLib", "CellPyLib, memoized"}
    assert all(row["seconds"] is None and "pip install 'hardgap[bench]'" in row["note"] for row in others)


def contender(run, rowwise=False):
    return rollout.Contender("other", "hardgap", "whole trajectory", lambda: run, rowwise=rowwise)


def test_a_contender_that_answers_otherwise_is_caught(monkeypatch):
    def mirrored(rows, steps):
        return table_rollout(rollout.RULE.reflected(), rows, steps)

    monkeypatch.setattr(rollout, "contenders", lambda: [contender(mirrored)])
    with pytest.raises(AssertionError, match=r"other \(whole trajectory\) disagrees"):
        rollout.measure(rows=5, width=9, steps=3, repeats=1)


def test_a_slow_row_by_row_contender_is_timed_on_fewer_rows_and_says_so(monkeypatch):
    seen = []

    def slow(rows, steps):
        seen.append(len(rows))
        return table_rollout(rollout.RULE, np.asarray(rows), steps)

    monkeypatch.setattr(rollout, "contenders", lambda: [contender(slow, rowwise=True)])
    monkeypatch.setattr(rollout, "_timed", lambda run, rows, steps: (run(rows, steps), (0.25 * len(rows),) * 2)[1])
    (row,) = rollout.measure(rows=1000, width=9, steps=3, repeats=2)
    assert set(seen[1:]) == {4}
    assert row["seconds"] == 250
    assert row["note"] == "timed on 4 rows, scaled to 1000"
