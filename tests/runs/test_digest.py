"""What a store says is what was written into it: flipped bits, stores of the first version, damage removed."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hardgap.cli import main
from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.runs.schema import APPLICATION_ID, MIGRATIONS
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
DETAIL = {
    "patterns": [1.0, None, 0.5, 0.25] * 2,
    "rollout_visible": [1.0] * 4,
    "rollout_holdout": [0.5, None, 0.5, 0.5],
}
VERSIONS = {"torch": "2.13", "threads": 1}


def curve(seed: int) -> list[dict[str, Any]]:
    return [
        {"step": step, "loss": 1 / (1 + step + seed), "visible": 0.9, "holdout": step / 10, "detail": DETAIL}
        for step in (0, 3, 6, 7)
    ]


def finished(folder: Path, runs: list[AutomatonRun]) -> Store:
    store = Store(folder)
    for run in runs:
        store.put_all_done([(run, curve(run.seed), "budget", VERSIONS, 12.5)])
    return store


def results(store: Store, ids: list[str]) -> dict[str, Any]:
    """Everything that a result consists of, read as studies read it."""
    curves = store.curves(ids)
    rows = [row for row in store.rows() if row.id in curves]
    return {row.id: (row.config, row.stopped, row.versions, row.step, row.seconds, curves[row.id]) for row in rows}


def test_importing_a_run_again_repairs_one_that_is_damaged(tmp_path: Path, tiny: Tiny) -> None:
    run, other = tiny(seed=0), tiny(seed=1)
    store = finished(tmp_path, [run, other])
    again = [(one, curve(one.seed), "budget", VERSIONS, 12.5) for one in (run, other)]
    for damage in (
        "UPDATE points SET point = replace(point, '0.9', '0.8') WHERE run = ? AND step = 3",
        "UPDATE runs SET seconds = 1 WHERE id = ?",
    ):
        with closing(sqlite3.connect(store.path)) as db, db:
            db.execute(damage, [run.id])
        assert run.id not in results(store, [run.id, other.id])
        assert store.put_all_done(again) == [True, False]
        assert results(store, [run.id, other.id]).keys() == {run.id, other.id}
    assert store.put_all_done(again) == [False, False]


def flips(folder: Path, tiny: Tiny, number: int) -> None:
    """Flip one bit of the file at a time. Whatever is still read is the truth; whatever is not is named or refused."""
    runs = [tiny(seed=seed) for seed in range(4)]
    ids = [run.id for run in runs]
    store = finished(folder / "whole", runs)
    truth, listed = results(store, ids), {run.id: run for run in store.listed()}
    store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    content, chance, fewer = store.path.read_bytes(), random.Random(14), 0
    for n in range(number):
        bit = chance.randrange(8 * len(content))
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        (folder / str(n)).mkdir()
        (folder / str(n) / "runs.sqlite").write_bytes(damaged)
        try:
            opened = Store(folder / str(n))
            read = results(opened, ids)
            assert read.items() <= truth.items(), bit
            assert all(listed[run.id] == run for run in opened.listed()), bit
            fewer += len(read) < len(truth)
            opened.close()
        except (BadInput, sqlite3.OperationalError):
            fewer += 1
    assert fewer > number / 10  # many bits did matter


def test_a_flipped_bit_never_changes_a_result(tmp_path: Path, tiny: Tiny) -> None:
    flips(tmp_path, tiny, 60)


@pytest.mark.slow
def test_none_of_many_flipped_bits_changes_a_result(tmp_path: Path, tiny: Tiny) -> None:
    flips(tmp_path, tiny, 3_000)


DAMAGES = {
    "config": "UPDATE runs SET config = replace(config, '\"width\":7', '\"width\":8') WHERE id = ?",
    "stopped": "UPDATE runs SET stopped = 'solved' WHERE id = ?",
    "seconds": "UPDATE runs SET seconds = 1.5 WHERE id = ?",
    "versions": "UPDATE runs SET versions = '{}' WHERE id = ?",
    "summary": "UPDATE runs SET summary = replace(summary, '0.7', '0.8') WHERE id = ?",
    "status": "UPDATE runs SET status = 'queued' WHERE id = ?",
    "an error": "UPDATE runs SET error = '' WHERE id = ?",
    "a point": "UPDATE points SET point = replace(point, '0.7', '0.8') WHERE run = ?",
    "a point less": "DELETE FROM points WHERE step = 3 AND run = ?",
    "a point more": "INSERT INTO points SELECT run, 5, point FROM points WHERE step = 3 AND run = ?",
    "no digest": "UPDATE runs SET digest = NULL WHERE id = ?",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_changed_result_is_named_left_out_refused_and_removed(
    tmp_path: Path, tiny: Tiny, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [tiny(seed=seed) for seed in range(2)]
    store, ids = finished(tmp_path / "store", runs), [run.id for run in runs]
    store._db.execute(DAMAGES[damage], [ids[0]])
    assert list(results(store, ids)) == ids[1:]
    assert f"run {ids[0]} " in capsys.readouterr().err
    with pytest.raises(BadInput, match=f"run {ids[0]} .*; `hardgap runs rm {ids[0]}` removes it"):
        assert (store.get(ids[0]), store.curve(ids[0])) == "neither is given"
    with pytest.raises(SystemExit) as ended:
        main(["runs", "rm", ids[0], "--store", str(store.folder)])
    assert not ended.value.code
    capsys.readouterr()
    assert list(results(store, ids)) == ids[1:]
    assert capsys.readouterr().err == ""
    assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_run_whose_name_is_unreadable_is_removed_too(tmp_path: Path, tiny: Tiny) -> None:
    runs = [tiny(seed=seed) for seed in range(2)]
    store, ids = finished(tmp_path / "store", runs), [run.id for run in runs]
    store._db.execute("PRAGMA foreign_keys = OFF")
    store._db.execute("UPDATE runs SET id = CAST(x'1b5b33316dff' AS TEXT) WHERE id = ?", [ids[0]])
    assert store.remove_damaged() == [r"'\x1b[31m\ufffd'"]
    assert list(results(store, ids)) == ids[1:]
    assert store.remove_damaged() == []
    assert store._db.execute("SELECT count(*) FROM points").fetchone() == (4,)


# Stores of the first version


def first_version(folder: Path, runs: list[Run], curves: list[list[dict[str, Any]]]) -> None:
    """A store as the first version wrote it: the runs that have a curve are done, the others queued."""
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "runs.sqlite")) as db, db:
        db.executescript(MIGRATIONS[0])
        db.execute("PRAGMA user_version = 1")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for run, points in zip(runs, curves, strict=True):
            step, status = (points[-1]["step"], "done") if points else (0, "queued")
            db.execute(
                "INSERT INTO runs (id, family, config, status, step, created, seconds, stopped, versions) "
                "VALUES (?, ?, ?, ?, ?, 1.0, 12.5, 'budget', ?)",
                [run.id, run.family, run.model_dump_json(), status, step, json.dumps(VERSIONS)],
            )
            db.executemany("INSERT INTO points VALUES (?, ?, ?)", [(run.id, p["step"], json.dumps(p)) for p in points])


def test_a_store_of_the_first_version_is_brought_forward(tmp_path: Path, tiny: Tiny) -> None:
    runs: list[Run] = [tiny(seed=seed) for seed in range(3)]
    first_version(tmp_path / "old", runs, [curve(0), curve(1), []])
    old, new = Store(tmp_path / "old"), finished(tmp_path / "new", [tiny(seed=0), tiny(seed=1)])
    ids = [run.id for run in runs]
    assert results(old, ids) == results(new, ids)
    assert [run.summary for run in old.listed()][:2] == [run.summary for run in new.listed()]
    assert [run.about for run in old.listed()] == [run.describe() for run in runs]
    assert [run.status for run in old.listed()] == ["done", "done", "queued"]
    assert old.claim(ids, "me:1:1") == ids[2]
    old.close()
    assert results(Store(tmp_path / "old"), ids) == results(new, ids)


def test_what_the_first_version_took_in_unchecked_is_named_and_not_read(
    tmp_path: Path, tiny: Tiny, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[Run] = [tiny(seed=seed) for seed in range(2)]
    emptied = [point | {"detail": {}} for point in curve(0)]
    first_version(tmp_path / "old", runs, [emptied, curve(1)])
    store = Store(tmp_path / "old")
    assert list(results(store, [run.id for run in runs])) == [runs[1].id]
    assert f"run {runs[0].id} holds a result that could not be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        "runs list", "runs list --json", "runs list --sort -holdout --where rule=30", "runs show RUN",
        "runs show RUN --json", "runs export out", "runs certify RUN", "runs retrain RUN", "runs rm RUN",
        "runs rm --damaged", "train 30 --hide 3 --scale smoke", "train 30 --hide 3 --scale smoke --json",
        "circuits RUN", "circuits RUN --over-time", "baselines RUN", "baselines --solved 30",
        "symbolic ask RUN 1 2 3 4 5", "symbolic analyse RUN",
        "reproduce main --scale smoke --no-run", "reproduce symbolic --scale smoke --no-run",
        "tempered target --scale smoke --no-run",
    ],
)  # fmt: skip
def test_no_command_stumbles_over_an_emptied_detail(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hardgap.worlds.automaton.scales import base

    run = base("smoke", "30", (3,))
    emptied = [point | {"detail": {}, "step": step} for step, point in zip((0, 2), curve(0), strict=False)]
    first_version(tmp_path / "old", [run], [emptied])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDGAP_STORE", str(tmp_path / "old"))
    with pytest.raises(SystemExit) as ended:
        main(command.replace("RUN", run.id).split())
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert ended.value.code in (0, None) or (ended.value.code == 2 and "hardgap: " in said), said
