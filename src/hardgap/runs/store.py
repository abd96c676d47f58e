"""The store: one SQLite file in WAL mode, one row a run, found again by what was asked for.

A run is queued, running, done or failed. Whoever trains it holds a claim: their name and a heartbeat. A
claim whose owner has died, or has been silent for `LEASE` seconds, may be taken by anyone; a worker whose
claim was taken finds out at its next heartbeat and stops. So no run is lost and none is finished twice.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardgap.errors import BadInput
from hardgap.runs.config import Run, parse_run
from hardgap.runs.opening import connect
from hardgap.runs.owner import is_alive

APPLICATION_ID = 0x68616770  # "hagp"
LEASE = 120.0
MOST_ATTEMPTS = 10
"""A run whose workers died this often without getting any further is given up as failed."""

MIGRATIONS = [
    """
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        family TEXT NOT NULL,
        config TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed')),
        step INTEGER NOT NULL DEFAULT 0,
        owner TEXT,
        heartbeat REAL,
        attempts INTEGER NOT NULL DEFAULT 0,
        created REAL NOT NULL,
        finished REAL,
        seconds REAL NOT NULL DEFAULT 0,
        stopped TEXT,
        versions TEXT,
        error TEXT
    ) STRICT;
    CREATE INDEX runs_by_family ON runs (family);
    CREATE TABLE points (
        run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        step INTEGER NOT NULL,
        point TEXT NOT NULL,
        PRIMARY KEY (run, step)
    ) STRICT, WITHOUT ROWID;
    """,
]
"""Append only: number n brings a store from version n to n + 1."""


@dataclass(frozen=True)
class Row:
    """A run as the store knows it."""

    id: str
    config: Run
    status: str
    step: int
    seconds: float
    stopped: str | None
    versions: dict[str, Any]
    error: str | None
    finished: float | None


DATABASE = "runs.sqlite"


class Store:
    """A folder with `runs.sqlite` and the checkpoints beside it."""

    def __init__(self, folder: Path, *, create: bool = True) -> None:
        self.folder = folder
        self.path = folder / DATABASE
        try:
            if not create and not self.path.exists():
                raise BadInput(f"there is no store at {folder}; train something first, or give --store")
            folder.mkdir(parents=True, exist_ok=True)
            with self.named_errors():
                self._db, self._read_only = connect(self.path, create=create)
                self._open()
        except OSError as error:
            raise BadInput(f"cannot open a store in {folder}: {error.strerror}") from error
        except sqlite3.OperationalError as error:
            raise BadInput(f"cannot open a store in {folder}: {error}") from error

    def _open(self) -> None:
        self._db.execute("PRAGMA busy_timeout = 60000")
        self._db.execute("PRAGMA foreign_keys = ON")
        # One snapshot for all three: another process may be making this very store.
        self._db.execute("BEGIN")
        application = self._db.execute("PRAGMA application_id").fetchone()[0]
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        self._db.execute("COMMIT")
        if application != APPLICATION_ID and tables:
            raise BadInput(f"{self.path} is a database of some other program")
        if version > len(MIGRATIONS):
            raise BadInput(f"{self.path} was written by a newer hardgap (version {version}); update hardgap to read it")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if version < len(MIGRATIONS):
            if self._read_only:
                raise BadInput(f"{self.path} is of an older hardgap and cannot be written here: copy the folder first")
            self._migrate()

    def _migrate(self) -> None:
        with self.transaction():  # Two processes may both have seen the old version: look again inside.
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            for number, script in enumerate(MIGRATIONS[version:], version + 1):
                for statement in filter(str.strip, script.split(";")):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {number}")
            self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.named_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Tell a damaged file by its name."""
        try:
            yield
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise BadInput(f"{self.path} is not a usable store: {error}; move it away, nothing was changed") from error

    def close(self) -> None:
        self._db.close()

    # What there is

    def get(self, run_id: str) -> Row:
        """The run with this id, or with the only id that begins so."""
        found = self._select("WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2", run_id) if run_id else []
        if not found:
            raise BadInput(f"there is no run {run_id} in {self.folder}; `hardgap runs list` shows what there is")
        if len(found) > 1 and found[0].id != run_id:
            raise BadInput(f"run {run_id} could be {found[0].id} or {found[1].id}: give more digits")
        return found[0]

    def rows(self, ids: Iterable[str] | None = None) -> list[Row]:
        """All runs, oldest first, or those asked for, in the order asked for."""
        if ids is None:
            return self._select("ORDER BY created, id")
        wanted = list(ids)
        found = {
            row.id: row for row in self._select("WHERE id IN (SELECT value FROM json_each(?))", json.dumps(wanted))
        }
        return [found[run_id] for run_id in wanted if run_id in found]

    def _select(self, condition: str, *values: Any) -> list[Row]:
        columns = "id, config, status, step, seconds, stopped, versions, error, finished"
        with self.named_errors():
            fetched = self._db.execute(f"SELECT {columns} FROM runs {condition}", values).fetchall()
        return [_row(self.path, record) for record in fetched]

    def curve(self, run_id: str) -> list[dict[str, Any]]:
        """The evaluations of a run, in order."""
        with self.named_errors():
            points = self._db.execute("SELECT point FROM points WHERE run = ? ORDER BY step", [run_id]).fetchall()
        return [_point(self.path, run_id, point) for (point,) in points]

    def shorter(self, run: Run) -> list[str]:
        """Finished runs of the same family, the longest first."""
        with self.named_errors():
            found = self._db.execute(
                "SELECT id FROM runs WHERE family = ? AND id != ? AND status = 'done' ORDER BY step DESC",
                [run.family, run.id],
            ).fetchall()
        return [run_id for (run_id,) in found]

    def progress(self, ids: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Status and step of each run, without reading anything else."""
        with self.named_errors():
            found = self._db.execute(
                "SELECT id, status, step FROM runs WHERE id IN (SELECT value FROM json_each(?))",
                [json.dumps(list(ids))],
            ).fetchall()
        return {run_id: (status, step) for run_id, status, step in found}

    # What happens to a run

    def add(self, runs: Iterable[Run]) -> None:
        """Queue runs that are not there yet; a failed one gets another chance."""
        now = time.time()
        with self.transaction():
            for run in runs:
                self._db.execute(
                    "INSERT OR IGNORE INTO runs (id, family, config, status, created) VALUES (?, ?, ?, 'queued', ?)",
                    [run.id, run.family, run.model_dump_json(), now],
                )
                self._db.execute(
                    "UPDATE runs SET status = 'queued', attempts = 0, error = NULL WHERE id = ? AND status = 'failed'",
                    [run.id],
                )

    def claim(self, ids: list[str], owner: str) -> str | None:
        """Take the first of these runs that nobody is training, and return its id."""
        with self.transaction():
            found = self._db.execute(
                "SELECT id, status, owner, heartbeat, attempts FROM runs "
                "WHERE status IN ('queued', 'running') AND id IN (SELECT value FROM json_each(?))",
                [json.dumps(ids)],
            ).fetchall()
            open_runs = {run_id: rest for run_id, *rest in found}
            for run_id in filter(open_runs.__contains__, ids):
                status, holder, heartbeat, attempts = open_runs[run_id]
                if status == "running" and is_alive(holder, heartbeat, LEASE):
                    continue
                if attempts >= MOST_ATTEMPTS:
                    self._give_up(run_id, attempts)
                    continue
                self._db.execute(
                    "UPDATE runs SET status = 'running', owner = ?, heartbeat = ?, attempts = attempts + 1 "
                    "WHERE id = ?",
                    [owner, time.time(), run_id],
                )
                return run_id
        return None

    def _give_up(self, run_id: str, attempts: int) -> None:
        error = f"its worker died {attempts} times without getting any further"
        self._db.execute("UPDATE runs SET status = 'failed', owner = NULL, error = ? WHERE id = ?", [error, run_id])

    def heartbeat(self, run_id: str, owner: str, step: int) -> bool:
        """Keep a claim; False if it has been taken by someone else."""
        with self.transaction():
            changed = self._db.execute(
                "UPDATE runs SET heartbeat = ?, step = ? WHERE id = ? AND owner = ? AND status = 'running'",
                [time.time(), step, run_id, owner],
            )
        return changed.rowcount == 1

    def checkpointed(self, run_id: str, owner: str, seconds: float) -> None:
        """Note that progress is safe on disk: earlier deaths no longer count against the run."""
        with self.transaction():
            self._db.execute(
                "UPDATE runs SET attempts = 1, seconds = seconds + ? WHERE id = ? AND owner = ?",
                [seconds, run_id, owner],
            )

    def release(self, run_id: str, owner: str) -> None:
        """Give a claim back; the run stays queued."""
        with self.transaction():
            self._db.execute(
                "UPDATE runs SET status = 'queued', owner = NULL, attempts = 0 WHERE id = ? AND owner = ?",
                [run_id, owner],
            )

    def fail(self, run_id: str, owner: str, error: str) -> None:
        with self.transaction():
            self._db.execute(
                "UPDATE runs SET status = 'failed', owner = NULL, error = ?, finished = ? WHERE id = ? AND owner = ?",
                [error, time.time(), run_id, owner],
            )

    def add_points(self, run_id: str, points: Iterable[dict[str, Any]]) -> None:
        with self.transaction():
            self._put_points(run_id, points)

    def _put_points(self, run_id: str, points: Iterable[dict[str, Any]]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO points VALUES (?, ?, ?)",
            [(run_id, point["step"], json.dumps(point, separators=(",", ":"))) for point in points],
        )

    def finish(
        self,
        run_id: str,
        owner: str,
        curve: list[dict[str, Any]],
        stopped: str,
        versions: dict[str, Any],
        seconds: float,
    ) -> bool:
        """Write the whole result in one transaction; False if the claim was lost and nothing was written."""
        with self.transaction():
            changed = self._db.execute(
                "UPDATE runs SET status = 'done', owner = NULL, step = ?, finished = ?, seconds = seconds + ?, "
                "stopped = ?, versions = ?, error = NULL WHERE id = ? AND owner = ? AND status = 'running'",
                [curve[-1]["step"], time.time(), seconds, stopped, json.dumps(versions), run_id, owner],
            )
            if changed.rowcount == 1:
                self._db.execute("DELETE FROM points WHERE run = ?", [run_id])
                self._put_points(run_id, curve)
        return changed.rowcount == 1

    def put_done(
        self, run: Run, curve: list[dict[str, Any]], stopped: str, versions: dict[str, Any], seconds: float
    ) -> bool:
        """Take in a run measured elsewhere; False if it is already done here."""
        now, made_with = time.time(), json.dumps(versions)
        with self.transaction():
            known = self._db.execute("SELECT status, owner, heartbeat FROM runs WHERE id = ?", [run.id]).fetchone()
            if known and (known[0] == "done" or (known[0] == "running" and is_alive(known[1], known[2], LEASE))):
                return False
            self._db.execute("DELETE FROM runs WHERE id = ?", [run.id])
            self._db.execute(
                "INSERT INTO runs (id, family, config, status, step, created, finished, seconds, stopped, versions) "
                "VALUES (?, ?, ?, 'done', ?, ?, ?, ?, ?, ?)",
                [run.id, run.family, run.model_dump_json(), curve[-1]["step"], now, now, seconds, stopped, made_with],
            )
            self._put_points(run.id, curve)
        return True

    def remove(self, run_id: str) -> None:
        """Forget a run, unless someone is training it."""
        with self.transaction():
            holder = self._db.execute("SELECT status, owner, heartbeat FROM runs WHERE id = ?", [run_id]).fetchone()
            if holder and holder[0] == "running" and is_alive(holder[1], holder[2], LEASE):
                raise BadInput(f"run {run_id} is being trained right now; stop that first")
            self._db.execute("DELETE FROM runs WHERE id = ?", [run_id])

    def integrity(self) -> str:
        """SQLite's own verdict on the file: `ok`, or what is wrong."""
        with self.named_errors():
            return str(self._db.execute("PRAGMA integrity_check").fetchone()[0])


def _row(path: Path, record: tuple[Any, ...]) -> Row:
    run_id, config, status, step, seconds, stopped, versions, error, finished = record
    try:
        run, made_with = parse_run(json.loads(config)), json.loads(versions or "{}")
    except ValueError as problem:
        raise BadInput(f"{path}: run {run_id} holds a config that cannot be read: {problem}") from problem
    if run.id != run_id:
        raise BadInput(f"{path}: run {run_id} does not match its config, whose id is {run.id}")
    return Row(run_id, run, status, step, seconds, stopped, made_with, error, finished)


def _point(path: Path, run_id: str, text: str) -> dict[str, Any]:
    try:
        point = json.loads(text)
        if point.keys() >= {"step", "loss", "visible", "holdout", "detail"}:
            return dict(point)
    except (ValueError, AttributeError):
        pass
    raise BadInput(f"{path}: run {run_id} holds an evaluation that cannot be read: {text!r:.60}")
