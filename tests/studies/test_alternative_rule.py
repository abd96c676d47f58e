"""Whether failed runs have learned a consistent alternative rule: on made-up ends, and on the committed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hardgap.core.run import only
from hardgap.runs.store import Store
from hardgap.studies.alternative_rule import alternative_rule, alternative_tables, is_flipped
from hardgap.studies.measure import measure, taken_in
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.scales import base

RESULTS = Path(__file__).parents[2] / "results"


def end(run: AutomatonRun, *, wrong: float = 0.0, visible: float = 1.0) -> dict[str, Any]:
    """A network that has its hidden pattern wrong, and of a free run so much of what is visible right."""
    patterns = [wrong if pattern in run.hide else 1.0 for pattern in range(8)]
    detail = {"patterns": patterns, "rollout_visible": [1.0, visible, visible, visible], "rollout_holdout": [wrong] * 4}
    return {"step": 600, "visible": 1.0, "holdout": wrong, "loss": None, "detail": detail}


@pytest.mark.parametrize(
    ("agreeing", "words"),
    [((), ["holds", "does not hold as written"]), ((0,), ["holds", "does not hold as written"]),
     ((0, 7), ["holds", "holds"])],
)  # fmt: skip
def test_two_patterns_need_a_failed_run_that_agrees_with_what_is_visible(
    tmp_path: Path, agreeing: tuple[int, ...], words: list[str]
) -> None:
    store = Store(tmp_path)
    for run in only(AutomatonRun, alternative_rule.runs("desk")):
        solved, consistent = run.hide == (2,), run.hide[0] in agreeing and not run.seed
        point = end(run, wrong=1.0 if solved else 0.0, visible=1.0 if solved or consistent else 0.6)
        store.put_all_done([(run, [point], "steps", {}, 1.0)])
    result = measure(alternative_rule, "desk", store)
    assert [arm.comparison.word for arm in result.arms] == words * 2
    (table,) = alternative_tables([result])
    assert [row[2] for row in table.rows] == ["70/80"] * 2 + ["60/60"] * 2
    assert [row[3] for row in table.rows] == [70, len(agreeing), 60, len(agreeing)]


def test_a_network_that_is_wrong_elsewhere_too_computes_no_such_rule() -> None:
    run = base("desk", "150", (3,))
    detail = end(run)["detail"]
    assert is_flipped(run, detail)
    assert not is_flipped(run, detail | {"patterns": [0.9, *detail["patterns"][1:]]})
    assert not is_flipped(run, end(run, wrong=0.2)["detail"])


def test_nothing_run_says_nothing(tmp_path: Path) -> None:
    assert {arm.comparison.word for arm in measure(alternative_rule, "desk", Store(tmp_path)).arms} == {"not run"}


def test_no_committed_failed_run_agrees_with_what_is_visible() -> None:
    with taken_in(RESULTS / "main") as store:
        result = measure(alternative_rule, "desk", store)
    (table,) = alternative_tables([result])
    assert [row[3] for row in table.rows] == [57, 0, 41, 0]
    assert [row[2] for row in table.rows] == ["62/80", "62/80", "46/60", "46/60"]
