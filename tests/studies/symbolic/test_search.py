"""The search for the desk scale of Experiment 2, as it is committed: results/symbolic/search, docs/fidelity.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardgap.core.run import only
from hardgap.studies.measure import taken_in
from hardgap.studies.symbolic.published import CASES
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import SEARCHED, symbolic_base

FOLDER = Path(__file__).parents[3] / "results" / "symbolic" / "search"


@pytest.fixture(scope="module")
def runs() -> list[SymbolicRun]:
    with taken_in(FOLDER) as store:
        return only(SymbolicRun, [row.config for row in store.rows()])


def test_no_pair_of_the_table_was_looked_at(runs: list[SymbolicRun]) -> None:
    assert {run.holdout for run in runs} == set(SEARCHED)
    assert not set(SEARCHED) & set(CASES)


def test_the_desk_scale_is_what_it_found(runs: list[SymbolicRun]) -> None:
    assert {symbolic_base("desk", pair).id for pair in SEARCHED} < {run.id for run in runs}
