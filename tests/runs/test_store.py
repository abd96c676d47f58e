"""The store: migrations, refusals, claims, and a file that is damaged in every way we could think of."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.runs import store as store_module
from hardgap.runs.owner import is_alive, me
from hardgap.runs.store import LEASE, MIGRATIONS, MOST_ATTEMPTS, Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
HOST = socket.gethostname()
DEAD = me().rpartition(":")[0] + ":1"  # this pid, but another process that had it long ago
ELSEWHERE = "another-host:17:4711"


def point(step: int, holdout: float = 0.5) -> dict[str, Any]:
    return {"step": step, "loss": None, "visible": 1.0, "holdout": holdout, "detail": {}}


CURVE = [point(0), point(3), point(7, 0.875)]


def database(folder: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(folder / "runs.sqlite", isolation_level=None))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def run(tiny: Tiny, store: Store) -> AutomatonRun:
    """One queued run."""
    made = tiny()
    store.add([made])
    return made


# Opening


def test_a_new_store_is_in_wal_mode_at_the_latest_version(store: Store) -> None:
    with database(store.folder) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert db.execute("PRAGMA application_id").fetchone() == (store_module.APPLICATION_ID,)
    assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_older_store_is_brought_forward_with_its_runs(
    store: Store, run: AutomatonRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = "ALTER TABLE runs ADD COLUMN note TEXT; UPDATE runs SET note = 'moved';"
    monkeypatch.setattr(store_module, "MIGRATIONS", [*MIGRATIONS, later])
    again = Store(store.folder)
    assert [row.id for row in again.rows()] == [run.id]
    with database(store.folder) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) + 1,)
        assert db.execute("SELECT note FROM runs").fetchall() == [("moved",)]
    assert [row.id for row in Store(store.folder).rows()] == [run.id]


def test_a_migration_that_breaks_leaves_the_store_as_it_was(
    store: Store, run: AutomatonRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        store_module, "MIGRATIONS", [*MIGRATIONS, "ALTER TABLE runs ADD COLUMN a TEXT; SELECT missing FROM runs;"]
    )
    with pytest.raises(BadInput, match="no such column: missing"):
        Store(store.folder)
    monkeypatch.undo()
    assert [row.id for row in Store(store.folder).rows()] == [run.id]
    with database(store.folder) as db:
        assert "a" not in [column[1] for column in db.execute("PRAGMA table_info(runs)")]


def test_a_newer_store_is_refused_and_left_alone(store: Store, run: AutomatonRun) -> None:
    with database(store.folder) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(BadInput, match=rf"written by a newer hardgap \(version {len(MIGRATIONS) + 1}\); update"):
        Store(store.folder)
    with database(store.folder) as db:
        assert db.execute("SELECT id FROM runs").fetchall() == [(run.id,)]


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    with database(tmp_path) as db:
        db.execute("CREATE TABLE birds (name TEXT)")
    before = (tmp_path / "runs.sqlite").read_bytes()
    with pytest.raises(BadInput, match="is a database of some other program"):
        Store(tmp_path)
    assert (tmp_path / "runs.sqlite").read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database, but long enough to look like one" * 9, b"\0" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "runs.sqlite").write_bytes(content)
    with pytest.raises(BadInput, match=r"runs\.sqlite is not a usable store: .*; move it away, nothing was changed"):
        Store(tmp_path)
    assert (tmp_path / "runs.sqlite").read_bytes() == content


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot open a store in"):
        Store(tmp_path / "file" / "store")
    (tmp_path / "runs.sqlite").mkdir()
    with pytest.raises(BadInput, match="cannot open a store in"):
        Store(tmp_path)


def test_a_store_that_is_only_to_be_read_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no store at"):
        Store(tmp_path / "nothing", create=False)
    assert not (tmp_path / "nothing").exists()


def test_many_processes_can_make_one_store_at_once(tmp_path: Path) -> None:
    code = f"from pathlib import Path; from hardgap.runs.store import Store; Store(Path({str(tmp_path / 's')!r}))"
    processes = [
        subprocess.Popen([sys.executable, "-c", f"import sys; sys.stdin.read(); {code}"], stdin=subprocess.PIPE)
        for _ in range(4)
    ]
    time.sleep(0.5)
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(600) for process in processes] == [0] * 4
    assert Store(tmp_path / "s").rows() == []


# What there is


def test_rows_come_back_in_the_order_asked_for(store: Store, tiny: Tiny) -> None:
    runs = [tiny(seed=seed) for seed in range(5)]
    store.add(runs)
    store.add(runs)
    wanted = [runs[3].id, "unknown", runs[0].id]
    assert [row.id for row in store.rows(wanted)] == [runs[3].id, runs[0].id]
    assert {row.config for row in store.rows()} == set(runs)
    assert {row.status for row in store.rows()} == {"queued"}


def test_a_run_is_found_by_its_first_digits(store: Store, run: AutomatonRun, tiny: Tiny) -> None:
    assert store.get(run.id[:4]).config == run
    runs = [tiny(seed=seed) for seed in range(1, 40)]
    store.add(runs)
    digits = [made.id[0] for made in runs]
    twice = next(digit for digit in digits if digits.count(digit) > 1)
    with pytest.raises(BadInput, match=f"run {twice} could be .* or .*: give more digits"):
        store.get(twice)
    for text in ("", "%", "_" * 12, "x", run.id + "0", "' OR 1 = 1 --"):
        with pytest.raises(BadInput, match="there is no run"):
            store.get(text)


# Claims


def test_a_claimed_run_is_claimed_by_nobody_else(store: Store, run: AutomatonRun) -> None:
    other = Store(store.folder)
    assert store.claim([run.id], me()) == run.id
    assert other.claim([run.id], ELSEWHERE) is None
    assert store.claim([run.id], me()) is None
    assert store.get(run.id).status == "running"


def test_two_owners_never_get_the_same_run(store: Store, tiny: Tiny) -> None:
    runs = [tiny(seed=seed) for seed in range(6)]
    ids = [made.id for made in runs]
    store.add(runs)
    owners = [(store, me()), (Store(store.folder), ELSEWHERE)]
    taken = [owners[i % 2][0].claim(ids, owners[i % 2][1]) for i in range(6)]
    assert taken == ids
    assert [opened.claim(ids, owner) for opened, owner in owners] == [None, None]


def test_only_what_was_asked_for_is_claimed_and_in_that_order(store: Store, tiny: Tiny) -> None:
    runs = [tiny(seed=seed) for seed in range(4)]
    store.add(runs)
    assert store.claim([runs[2].id, runs[1].id], me()) == runs[2].id
    assert store.claim([runs[2].id, runs[1].id], me()) == runs[1].id
    assert store.claim([runs[2].id, runs[1].id, "unknown"], me()) is None


def test_the_claim_of_a_dead_process_is_free_at_once(store: Store, run: AutomatonRun) -> None:
    assert store.claim([run.id], DEAD) == run.id
    assert store.claim([run.id], me()) == run.id
    assert not store.heartbeat(run.id, DEAD, 5)
    assert store.heartbeat(run.id, me(), 5)
    assert store.get(run.id).step == 5


def test_a_claim_from_elsewhere_lasts_as_long_as_its_lease(store: Store, run: AutomatonRun) -> None:
    assert store.claim([run.id], ELSEWHERE) == run.id
    with database(store.folder) as db:
        db.execute("UPDATE runs SET heartbeat = ?", [time.time() - LEASE + 20])
        assert store.claim([run.id], me()) is None
        assert store.heartbeat(run.id, ELSEWHERE, 1)
        assert db.execute("SELECT heartbeat > ? FROM runs", [time.time() - 60]).fetchone() == (1,)
        db.execute("UPDATE runs SET heartbeat = ?", [time.time() - LEASE - 1])
    assert store.claim([run.id], me()) == run.id


def test_who_is_alive() -> None:
    now = time.time()
    assert is_alive(me(), now, 10)
    assert is_alive(me(), now - 11, 10)  # busy with one long evaluation
    assert not is_alive(ELSEWHERE, now - 11, 10)
    assert not is_alive(DEAD, now, 10)
    assert is_alive(ELSEWHERE, now, 10)
    assert not is_alive(None, now, 10)
    assert not is_alive(me(), None, 10)
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # It has ended; not taken note of, it is a zombie.
    assert not is_alive(me().rsplit(":", 2)[0] + f":{process.pid}:0", now, 10)
    process.wait()


@pytest.mark.parametrize(
    "place",
    [
        HOST,  # as owners were written before the process table was part of them
        f"{HOST}:",  # its /proc showed it nothing
        f"{HOST}:another-boot:4026531836",
        me().rsplit(":", 3)[0] + ":1",  # another PID namespace of this very boot
    ],
)
def test_who_cannot_be_looked_up_from_here_lives_as_long_as_its_lease(place: str) -> None:
    for pid in (1, 2**22):  # one that is taken here, and one that is not
        assert is_alive(f"{place}:{pid}:1", time.time(), 10)
        assert not is_alive(f"{place}:{pid}:1", time.time() - 11, 10)


def test_a_released_run_is_free(store: Store, run: AutomatonRun) -> None:
    store.claim([run.id], me())
    store.release(run.id, ELSEWHERE)
    assert store.get(run.id).status == "running"
    store.release(run.id, me())
    assert store.get(run.id).status == "queued"
    assert store.claim([run.id], ELSEWHERE) == run.id


def test_a_run_that_kills_every_worker_is_given_up(store: Store, run: AutomatonRun) -> None:
    for _ in range(MOST_ATTEMPTS):
        assert store.claim([run.id], DEAD) == run.id
    assert store.claim([run.id], DEAD) is None
    row = store.get(run.id)
    assert (row.status, row.error) == ("failed", f"its worker died {MOST_ATTEMPTS} times without getting any further")
    store.add([run])
    assert store.claim([run.id], me()) == run.id


def test_deaths_before_a_checkpoint_do_not_count_any_more(store: Store, run: AutomatonRun) -> None:
    for _ in range(3 * MOST_ATTEMPTS):
        assert store.claim([run.id], DEAD) == run.id
        store.checkpointed(run.id, DEAD, 1.5)
    assert store.get(run.id).seconds == pytest.approx(3 * MOST_ATTEMPTS * 1.5)


# Results


def test_a_run_is_finished_once(store: Store, run: AutomatonRun) -> None:
    owner = me()
    store.claim([run.id], owner)
    assert store.add_points(run.id, owner, [point(0), point(5, 0.1)])
    assert store.finish(run.id, owner, CURVE, "budget", {"torch": "2"}, 3.0)
    assert not store.finish(run.id, owner, [point(0, 0.0)], "solved", {}, 99.0)
    row = store.get(run.id)
    assert (row.status, row.stopped, row.step, row.seconds) == ("done", "budget", 7, 3.0)
    assert store.curve(run.id) == CURVE
    assert store.claim([run.id], owner) is None


def test_who_lost_the_claim_finishes_and_fails_nothing(store: Store, run: AutomatonRun) -> None:
    store.claim([run.id], DEAD)
    store.claim([run.id], me())
    assert not store.finish(run.id, DEAD, CURVE, "budget", {}, 1.0)
    store.fail(run.id, DEAD, "no")
    store.checkpointed(run.id, DEAD, 5.0)
    assert not store.add_points(run.id, DEAD, CURVE)
    row = store.get(run.id)
    assert (row.status, row.error, row.seconds) == ("running", None, 0.0)
    assert store.curve(run.id) == []


def test_a_failed_run_keeps_its_reason_until_it_is_asked_for_again(store: Store, run: AutomatonRun) -> None:
    store.claim([run.id], me())
    store.fail(run.id, me(), "RuntimeError: out of luck")
    assert store.get(run.id).error == "RuntimeError: out of luck"
    store.add([run])
    assert (store.get(run.id).status, store.get(run.id).error) == ("queued", None)


def test_a_run_in_training_is_not_removed(store: Store, run: AutomatonRun) -> None:
    store.claim([run.id], me())
    with pytest.raises(BadInput, match="is being trained right now"):
        store.remove(run.id)
    store.finish(run.id, me(), CURVE, "budget", {}, 1.0)
    store.remove(run.id)
    assert store.rows() == []
    assert store.curve(run.id) == []


def test_shorter_runs_of_the_family_are_found(store: Store, tiny: Tiny) -> None:
    runs = [tiny(budget={"steps": steps, "evaluate_every": 3}) for steps in (3, 6, 9, 12)]
    store.add(runs)
    for made in runs[:2]:
        store.claim([made.id], me())
        store.finish(made.id, me(), [point(made.budget.steps)], "budget", {}, 0)
    assert store.shorter(runs[3]) == [runs[1].id, runs[0].id]
    assert store.shorter(runs[1]) == [runs[0].id]


# Damage


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE runs SET config = 'x'", "holds a config that cannot be read"),
        ("UPDATE runs SET config = '[]'", "holds a config that cannot be read"),
        ("UPDATE runs SET config = replace(config, '\"seed\":0', '\"seed\":1')", "does not match its config"),
        ("UPDATE runs SET versions = '{'", "cannot be read"),
    ],
)
def test_a_damaged_row_is_refused_by_name_left_out_of_lists_and_removed(
    store: Store, run: AutomatonRun, statement: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with database(store.folder) as db:
        db.execute(statement)
    with pytest.raises(BadInput, match=rf"run {run.id} .*{words}.*; `hardgap runs rm {run.id}` removes it"):
        store.get(run.id)
    assert store.rows() == []
    assert f"run {run.id} " in capsys.readouterr().err
    store.remove(run.id)
    assert (store.rows(), capsys.readouterr().err) == ([], "")


@pytest.mark.parametrize("text", ["{", "[]", "3", "{}", json.dumps({"step": 3})])
def test_a_damaged_evaluation_is_refused_by_name(store: Store, run: AutomatonRun, text: str) -> None:
    with database(store.folder) as db:
        db.execute("INSERT INTO points VALUES (?, 0, ?)", [run.id, text])
    with pytest.raises(BadInput, match=f"run {run.id} holds an evaluation that cannot be read"):
        store.curve(run.id)


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_store_with_damaged_bytes_is_read_or_refused(tmp_path: Path, tiny: Tiny, data: st.DataObject) -> None:
    """Whatever bytes a disk returns, a reader gets rows or one sentence."""
    folder = tmp_path / str(time.monotonic_ns())
    store = Store(folder)
    runs = [tiny(seed=seed) for seed in range(3)]
    store.add(runs)
    for run in runs:
        store.claim([run.id], me())
        if run.seed:
            store.finish(run.id, me(), CURVE, "budget", {}, 1.0)
    store.close()
    content = bytearray((folder / "runs.sqlite").read_bytes())
    for _ in range(data.draw(st.integers(1, 20), label="how many")):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.none(), st.integers(0, len(content))), label="cut")
    (folder / "runs.sqlite").write_bytes(content[:cut])
    try:
        opened = Store(folder)
        for row in opened.rows():
            opened.curve(row.id)
        opened.claim([run.id for run in runs], ELSEWHERE)
    except (BadInput, sqlite3.OperationalError):
        return


def test_a_write_ahead_log_cut_short_loses_no_finished_transaction_before_it(store: Store, run: AutomatonRun) -> None:
    with database(store.folder) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.claim([run.id], me())
    log = store.folder / "runs.sqlite-wal"
    copied = store.folder / "copy"
    copied.mkdir()
    (copied / "runs.sqlite").write_bytes((store.folder / "runs.sqlite").read_bytes())
    (copied / "runs.sqlite-wal").write_bytes(log.read_bytes()[:-100])
    opened = Store(copied)
    assert opened._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert [row.status for row in opened.rows()] == ["queued"]
