"""The demo as it is told: one row a step, what was there before is told again, and restarts are said."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from hardgap.cli import demo as module
from hardgap.cli import main
from hardgap.cli.demo import _Narrator, _Watch
from hardgap.runs.driver import SweepProgress
from hardgap.runs.store import Store
from hardgap.studies.demo import make_demo

NOW = SweepProgress(done=0, failed=0, running=2, total=2, steps_left=1, steps_per_second=1.0)
TOLD = make_demo("tempered")
SOFT, CONTROL = TOLD.soft.id, TOLD.control.id


def point(step: int, holdout: float = 0.0, attempt: int = 0) -> dict[str, Any]:
    patterns = [1.0] * 3 + [holdout] + [1.0] * 4
    detail = {"patterns": patterns} | ({"attempt": attempt} if attempt else {})
    return {"step": step, "loss": 0.5, "visible": 1.0, "holdout": holdout, "detail": detail}


STARTED_AGAIN = [point(550, 1.0), point(600, 1.0), point(650, 0.2, 1), point(700, 1.0, 1)]


def steps(text: str) -> list[int]:
    """The steps of the rows, in the order they were printed."""
    return [int(step) for step in re.findall(r"^ +(\d+)  .*\d\.\d", text, re.MULTILINE)]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HARDGAP_STORE", raising=False)
    return Store(tmp_path / "hardgap-runs")


@dataclass
class Training:
    """Two runs on their way, as a store shows them."""

    status: dict[str, str]
    curves: dict[str, list[int]]

    def progress(self, ids: tuple[str, ...]) -> dict[str, tuple[str, int]]:
        return {run_id: (self.status[run_id], 0) for run_id in ids}

    def curve(self, run_id: str) -> list[dict[str, Any]]:
        return [point(step) for step in self.curves[run_id]]


def test_a_step_is_told_once_when_both_have_come_that_far(capsys: pytest.CaptureFixture[str]) -> None:
    now = Training({SOFT: "queued", CONTROL: "queued"}, {SOFT: [], CONTROL: []})
    watch = _Watch(_Narrator(silent=False), cast(Store, now), TOLD)

    def look(soft: list[int], control: list[int]) -> list[int]:
        now.curves[SOFT] += soft
        now.curves[CONTROL] += control
        watch(NOW)
        watch(NOW)
        return steps(capsys.readouterr().out)

    assert look([], []) == []
    now.status = {SOFT: "running", CONTROL: "running"}
    assert look([0], []) == []
    assert look([50], [0]) == [0]
    assert look([], [50, 100, 150]) == [50]
    assert look([100], [200]) == [100]
    now.status[SOFT] = "done"
    assert look([], []) == [150, 200]  # no row waits for a run that has ended


def done(store: Store) -> None:
    store.put_all_done([(TOLD.soft, [point(0), *STARTED_AGAIN], "solved", {}, 1.0)])
    store.put_all_done([(TOLD.control, [point(step) for step in (0, 550, 600, 650, 700, 750)], "budget", {}, 1.0)])


def test_the_second_start_tells_the_whole_story_with_its_restart(
    store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    done(store)
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--recipe", "tempered"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert steps(told) == [0, 550, 600, 650, 700, 750]
    before, _, after = told.partition("started again before step 650: visible cells contradicted the network")
    assert (max(steps(before)), min(steps(after))) == (600, 650)
    page = (tmp_path / "hardgap-demo.html").read_text()
    assert "before step 650 visible cells of the training rows contradicted" in page
    assert page.count(">started again</text>") == 1


def test_json_names_the_restart(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    done(store)
    with pytest.raises(SystemExit):
        main(["demo", "--recipe", "tempered", "--json"])
    assert json.loads(capsys.readouterr().out)["restarts"] == {"soft": [650], "control": []}


def test_no_line_of_the_story_is_wider_than_the_terminal(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    monkeypatch.setattr(module, "out", lambda: Console(width=80))
    done(store)
    with pytest.raises(SystemExit):
        main(["demo", "--recipe", "tempered"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_an_entry_that_was_found_and_lost_is_told(
    store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    store.put_all_done([(TOLD.soft, [point(0), point(300, 1.0), point(350), point(600)], "budget", {}, 1.0)])
    store.put_all_done([(TOLD.control, [point(0), point(600)], "budget", {}, 1.0)])
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--recipe", "tempered"])
    assert ended.value.code == 1
    assert "It was right at step 300, and was lost again" in capsys.readouterr().out
    assert "It was at step 300, and was lost again." in (tmp_path / "hardgap-demo.html").read_text()
