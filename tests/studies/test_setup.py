"""The setup as a study: what a wrong answer does to visible cells, and its figure."""

from pathlib import Path

from hardgap.runs.store import Store
from hardgap.studies.setup import drawn_setup, setup, setup_tables


def test_a_wrong_answer_is_contradicted_from_the_second_step_on(tmp_path: Path) -> None:
    result = setup.measure(Store(tmp_path))
    assert result.verdict == "holds"
    (table,) = setup_tables([result])
    # Wrong at t + 1 are the hidden cells alone. Of visible cells at t + 2, windows of five cells: 9 of 28 for 001.
    assert [row[1:3] for row in table.rows[:3]] == [["0.0", "17.9"], ["0.0", "32.1"], ["0.0", "25.0"]]
    assert len(drawn_setup([result]).axes[0].lines) == 1
