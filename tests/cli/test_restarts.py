"""A network that was started again: every curve, table, figure and live view of it says so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hardgap.cli import main
from hardgap.core.parts import part
from hardgap.report.figures import curves_figure
from hardgap.runs.store import Store
from hardgap.studies.circuits.figure import timeline_figure
from hardgap.studies.measure import measure
from hardgap.studies.tempered.target import unharmed
from hardgap.studies.tempered.wide import wide
from hardgap.worlds.automaton.circuits.tables import timeline_table

TRAIN = [
    "train",
    "150",
    "--hide",
    "3",
    "--recipe",
    "tempered",
    "--scale",
    "smoke",
    "--steps",
    "8",
    "--until-solved",
    "0",
]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HARDGAP_STORE", raising=False)


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert not ended.value.code
    said = capsys.readouterr()
    return said.out, said.err


def test_training_and_its_curve_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = call(capsys, *TRAIN, "--restart-at", "4")
    assert "started again before step 6" in out
    lines = [line for line in err.splitlines() if line.startswith("step")]
    assert next(line for line in lines if "started again" in line).startswith("step 6/8")  # at once, not 2 s later
    (row,) = Store(Path("hardgap-runs")).rows()
    out, _ = call(capsys, "runs", "show", row.id)
    curve = out.partition("Curve")[2]
    assert re.findall(r"│ +(\d+) │.*started again", curve) == ["6"]


def test_a_run_without_a_restart_says_nothing_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = call(capsys, *TRAIN, "--restart-at", "0")
    (row,) = Store(Path("hardgap-runs")).rows()
    assert "started again" not in out + err + call(capsys, "runs", "show", row.id)[0]


def curve(*attempts: int) -> list[dict[str, Any]]:
    """An evaluation every 50 steps, of the attempt that is named."""
    return [
        {"step": 50 * place, "loss": 0.1, "visible": 1.0, "holdout": 1.0, "detail": {"attempt": attempt}}
        for place, attempt in enumerate(attempts)
    ]


def words(figure: Any) -> list[list[str]]:
    return [[text.get_text().strip() for text in axes.texts] for axes in figure.axes]


def test_a_figure_breaks_the_line_and_marks_the_place() -> None:
    figure = curves_figure([("again", [curve(0, 0, 0, 1, 1)]), ("straight", [curve(0, 0, 0, 0)])])
    again, straight = figure.axes
    assert words(figure) == [["started again"], []]
    assert [list(line.get_xdata()) for line in again.lines] == [[0, 50, 100], [150, 200]] * 2 + [[125, 125]]
    assert len(straight.lines) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["visible patterns", "hidden patterns"]


def test_signals_over_time_are_marked_in_table_and_figure() -> None:
    moments = [{"step": step, "signals": {"visible": 1.0, "holdout": 1.0, "probe": 0.5}} for step in (0, 100, 200)]
    data = {"appears": {"holdout": 0, "probe": None}, "moments": moments, "restarts": [150]}
    assert timeline_table(data).title.endswith("; started again, another network from step 150 on")
    figure = timeline_figure(data, "heading", curve(0, 0, 0, 1, 1))
    assert words(figure) == [["started again"], ["started again"]]
    assert [list(line.get_xdata()) for line in figure.axes[1].lines][:2] == [[0, 100], [200]]


@pytest.mark.parametrize("study", [unharmed, wide], ids=lambda study: study.name)
def test_a_study_counts_networks_that_were_started_again(study: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    arms = study.arms("desk")
    again = next((arm for arm in arms if "restart" in str(arm.labels.get("way"))), arms[-1])
    for arm, attempts in ((again, (0, 0, 1)), (arms[0], (0, 0, 0))):
        store.put_all_done([(arm.runs[0], curve(*attempts), "solved", {}, 1.0)])
    result = measure(study, "desk", store)
    (table,) = part(study.tables)([result])
    column = [row[table.columns.index("restarted")] for row in table.rows]
    assert sorted(map(str, column)) == [*[""] * (len(column) - 1), "1"]
    if study is wide:
        assert ["started again"] in words(part(str(study.figure))([result]))
