"""Results as files: out, in again, the same; and a damaged one changes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.runs.owner import me
from hardgap.runs.results import RUN_FILE, export_runs, import_runs, read_result
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
RESULTS = Path(__file__).parents[2] / "results"


def curve(seed: int) -> list[dict[str, Any]]:
    detail = {"patterns": [1.0, None, 0.1 + 0.2, 0.0] * 2, "rollout_visible": [1.0] * 4, "rollout_holdout": [None] * 4}
    return [
        {
            "step": step,
            "loss": None if step == 0 else 1 / (step + seed),
            "visible": 0.5,
            "holdout": 0.25,
            "detail": detail,
        }
        for step in (0, 3, 7)
    ]


@pytest.fixture
def store(tmp_path: Path, tiny: Tiny) -> Store:
    """Three finished runs, and one that is not."""
    store = Store(tmp_path / "store")
    runs = [tiny(seed=seed) for seed in range(4)]
    store.add(runs)
    for run in runs[:3]:
        store.claim([run.id], me())
        store.finish(run.id, me(), curve(run.seed), "budget", {"torch": "2.13", "threads": 1}, 12.34)
    return store


@pytest.fixture
def folder(store: Store, tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    assert len(export_runs(store, store.rows(), folder)) == 3
    return folder


def contents(store: Store) -> list[Any]:
    return [(row.config, row.status, row.stopped, row.versions, row.step, store.curve(row.id)) for row in store.rows()]


def test_runs_come_back_as_they_were(store: Store, folder: Path, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    assert import_runs(other, folder) == (3, 0)
    assert import_runs(other, folder) == (0, 3)
    by_id = {row.id: row for row in other.rows()}
    for row in store.rows():
        if row.status == "done":
            assert by_id[row.id].config == row.config
            assert by_id[row.id].versions == row.versions
            assert by_id[row.id].seconds == pytest.approx(row.seconds, abs=0.05)
            assert other.curve(row.id) == store.curve(row.id)
    assert export_runs(other, other.rows(), folder) == []
    again = tmp_path / "again"
    export_runs(other, other.rows(), again)
    assert {p.name: p.read_bytes() for p in again.iterdir()} == {p.name: p.read_bytes() for p in folder.iterdir()}


def test_a_file_is_small_and_has_one_line_an_evaluation(folder: Path) -> None:
    for path in folder.iterdir():
        lines = path.read_text().splitlines()
        assert sum('"step"' in line for line in lines) == 3
        assert json.loads(path.read_text())["about"].startswith("Rule 30, pattern 011 hidden, soft×3")
        assert '"device"' not in path.read_text()


def test_exporting_again_writes_only_what_changed(store: Store, folder: Path) -> None:
    changed = sorted(folder.iterdir())[1]
    changed.write_bytes(b"\xff\xfe damaged")
    assert export_runs(store, store.rows(), folder) == [changed]


def test_an_import_finishes_what_was_only_queued_and_leaves_what_is_being_trained(
    folder: Path, tmp_path: Path, tiny: Tiny
) -> None:
    other = Store(tmp_path / "other")
    other.add([tiny(seed=0), tiny(seed=1)])
    other.claim([tiny(seed=1).id], me())
    assert import_runs(other, folder) == (2, 1)
    assert {row.config.seed: row.status for row in other.rows()} == {0: "done", 1: "running", 2: "done"}


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_text(""),
    "cut": lambda path: path.write_text(path.read_text()[:-20]),
    "binary": lambda path: path.write_bytes(b"\xff\x00\xfe"),
    "a list": lambda path: path.write_text("[]"),
    "a number": lambda path: path.write_text("7"),
    "nested": lambda path: path.write_text("[" * 100_000),
    "no config": lambda path: changed(path, lambda d: d.pop("config")),
    "config is a list": lambda path: changed(path, lambda d: d.update(config=[])),
    "another seed": lambda path: changed(path, lambda d: d["config"].update(seed=99)),
    "unknown field": lambda path: changed(path, lambda d: d["config"].update(colour="red")),
    "another format": lambda path: changed(path, lambda d: d.update(format=2)),
    "another run": lambda path: changed(path, lambda d: d.update(run="0" * 12)),
    "no curve": lambda path: changed(path, lambda d: d.update(curve=[])),
    "curve is a number": lambda path: changed(path, lambda d: d.update(curve=3)),
    "point is a number": lambda path: changed(path, lambda d: d["curve"].append(3)),
    "point without loss": lambda path: changed(path, lambda d: d["curve"][0].pop("loss")),
    "step is a fraction": lambda path: changed(path, lambda d: d["curve"][1].update(step=1.5)),
    "step is huge": lambda path: changed(path, lambda d: d["curve"][-1].update(step=10**30)),
    "step is text": lambda path: changed(path, lambda d: d["curve"][1].update(step="3")),
    "steps out of order": lambda path: changed(path, lambda d: d["curve"].reverse()),
    "steps twice": lambda path: changed(path, lambda d: d["curve"].append(d["curve"][-1])),
    "accuracy above 1": lambda path: changed(path, lambda d: d["curve"][1].update(holdout=25)),
    "nan": lambda path: path.write_text(path.read_text().replace("0.25", "NaN")),
    "infinite": lambda path: path.write_text(path.read_text().replace("[1.0,", "[1e999,")),
    "endless": lambda path: path.write_text(path.read_text().replace("0.25", "9" * 400)),
    "seconds are text": lambda path: changed(path, lambda d: d.update(seconds="nan")),
    "stopped is a list": lambda path: changed(path, lambda d: d.update(stopped=["budget"])),
    "versions are text": lambda path: changed(path, lambda d: d.update(versions="2.13")),
    "detail emptied": lambda path: changed(path, lambda d: d["curve"][1].update(detail={})),
    "detail of the other experiment": lambda path: changed(
        path, lambda d: d["curve"][1].update(detail={"eval": {"seen": 1.0, "holdout": 1.0}})
    ),
    "detail with more": lambda path: changed(path, lambda d: d["curve"][1]["detail"].update(colour="red")),
    "detail with text": lambda path: changed(path, lambda d: d["curve"][1]["detail"].update(patterns="11111111")),
    "too few patterns": lambda path: changed(path, lambda d: d["curve"][1]["detail"]["patterns"].pop()),
    "too few steps": lambda path: changed(path, lambda d: d["curve"][1]["detail"]["rollout_holdout"].pop()),
    "pattern above 1": lambda path: changed(path, lambda d: d["curve"][1]["detail"]["patterns"].__setitem__(0, 1.5)),
    "half a saturation": lambda path: changed(
        path, lambda d: d["curve"][1]["detail"].update(saturation={"logit_hidden": 1.0})
    ),
    "attempt is text": lambda path: changed(path, lambda d: d["curve"][1]["detail"].update(attempt="1")),
    "step past the budget": lambda path: changed(path, lambda d: d["curve"][-1].update(step=10**15)),
    "one step past the budget": lambda path: changed(path, lambda d: d["curve"][-1].update(step=8)),
    "stopped is unknown": lambda path: changed(path, lambda d: d.update(stopped="tired")),
    "lone surrogate": lambda path: changed(path, lambda d: d["versions"].update(torch="2\ud800")),
    "surrogate as a name": lambda path: changed(path, lambda d: d["versions"].update({"\udfff": "2"})),
    "terminal escape": lambda path: changed(path, lambda d: d.update(about="\x1b]0;mine\x07")),
    "terminal escape inside": lambda path: changed(path, lambda d: d["versions"].update(machine="\x9b31m")),
    "text turned round": lambda path: changed(path, lambda d: d.update(about="Rule \u202e051")),
    "versions are deep": lambda path: changed(path, lambda d: d["versions"].update(torch={"a": 1})),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_by_name_and_the_store_stays(folder: Path, tmp_path: Path, damage: str) -> None:
    other = Store(tmp_path / "other")
    last = sorted(folder.iterdir())[-1]
    DAMAGES[damage](last)
    before = contents(other)
    with pytest.raises(BadInput, match=str(last)) as refused:
        import_runs(other, folder)
    assert contents(other) == before == []
    assert len(str(refused.value)) < 500


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_changed_byte_is_refused_or_read_as_a_result(store: Store, tmp_path: Path, data: st.DataObject) -> None:
    folder = tmp_path / "fuzzed"
    for path in folder.glob("*"):
        path.unlink()
    export_runs(store, store.rows()[:1], folder)
    (path,) = folder.iterdir()
    text = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(text))
    other = Store(tmp_path / "other")
    before = contents(other)
    try:
        import_runs(other, folder)
    except BadInput:
        assert contents(other) == before
    json.dumps(contents(other)[0][-1] if contents(other) else None, allow_nan=False)
    for row in other.rows():
        other.remove(row.id)


def test_all_files_are_taken_in_at_once_or_none(folder: Path, tmp_path: Path) -> None:
    """Whatever goes wrong between two runs leaves the store as it was."""
    other = Store(tmp_path / "other")
    other._db.execute(
        "CREATE TRIGGER full BEFORE INSERT ON runs WHEN (SELECT count(*) FROM runs) = 2 "
        "BEGIN SELECT RAISE(ABORT, 'no room'); END"
    )
    with pytest.raises(BadInput, match="no room"):
        import_runs(other, folder)
    assert other.rows() == []


def test_every_committed_result_is_what_its_experiment_can_have() -> None:
    """All of them, read as an import reads them."""
    paths = [path for path in RESULTS.rglob("*.json") if RUN_FILE.fullmatch(path.name)]
    assert len(paths) > 1000
    for path in paths:
        read_result(path)


def test_the_about_of_a_file_is_for_people_and_not_compared(store: Store, folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        changed(path, lambda data: data.update(about="as an earlier version said it"))
    other = Store(tmp_path / "other")
    assert import_runs(other, folder) == (3, 0)
    assert [run.about for run in other.listed()] == [row.config.describe() for row in other.rows()]


def test_a_missing_folder_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no folder"):
        import_runs(store, tmp_path / "nowhere")


def test_a_run_whose_curve_is_damaged_is_named_and_not_written(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = store.rows()
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE points SET point = replace(point, '0.25', '0.75') WHERE run = ?", [rows[0].id])
    written = export_runs(store, rows, tmp_path / "results")
    assert {path.stem for path in written} == {row.id for row in rows[1:] if row.status == "done"}
    assert f"run {rows[0].id}" in capsys.readouterr().err


def test_an_unwritable_folder_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot write"):
        export_runs(store, store.rows(), tmp_path / "file" / "results")
