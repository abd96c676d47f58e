"""The k-sweep's figure shows what the visible cells determine of the very sets that were run, and of no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardgap.report.figures import as_svg
from hardgap.runs.store import Store
from hardgap.studies.identifiability import determined_share
from hardgap.studies.k_sweep import rule_d
from hardgap.studies.k_sweep_figure import determined, k_figure
from hardgap.studies.measure import measure
from hardgap.worlds.automaton.gap import Gap, draw_hidden
from hardgap.worlds.automaton.rule import Rule, parse_rule

D: Rule = parse_rule("D")


def test_what_is_determined_is_asked_of_the_sets_that_were_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    point = {"step": 600, "visible": 1.0, "holdout": 0.5, "loss": None, "detail": {}}
    sizes = {arm.labels["k"]: arm for arm in rule_d.arms("desk") if arm.labels["way"] == "T = 1"}
    for run in (*sizes[16].runs, *sizes[28].runs[:3]):  # the first three are the three sets, one seed each
        store.put_all_done([(run, [point], "steps", {}, 1.0)])
    result = measure(rule_d, "desk", store)
    lost = Gap(D, draw_hidden(D, 28, seed=2))  # a single entry of 28 is left
    assert determined(result) == {16: [1.0] * 3, 28: [1.0, 1.0, 1 / 28]}
    assert determined_share(lost, 101) == pytest.approx(1 / 28)  # and rows of the paper's width show no more
    assert "determined by what is visible" in as_svg(k_figure([result]))


def test_narrow_rows_determine_less_than_wide_ones() -> None:
    """So the limit is that of the rows that were shown: hiding 28 patterns of Rule G, 3 or 4 of them are left."""
    rule = parse_rule("G")
    gap = Gap(rule, draw_hidden(rule, 28, seed=1))
    assert [round(28 * determined_share(gap, width)) for width in (11, 101)] == [3, 4]
