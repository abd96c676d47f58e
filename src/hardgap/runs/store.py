"""The store: one SQLite file in WAL mode, one row a run, found again by what was asked for.

A run is queued, running, done or failed. Whoever trains it holds a claim: their name and a heartbeat. A
claim whose owner has died, or cannot be seen from here and has been silent for `LEASE` seconds, may be taken by
anyone; a worker whose claim was taken finds out before it writes anything and stops. So no run is lost and none
is finished twice.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.runs.detail import check_curve
from hardgap.runs.digest import Damaged, check, curve_digest, row_digest
from hardgap.runs.owner import is_alive, me
from hardgap.runs.reading import Reader, read_point
from hardgap.runs.reading import Row as Row
from hardgap.runs.schema import APPLICATION_ID, MIGRATIONS, connect
from hardgap.runs.summary import summary_as_dict
from hardgap.runs.wanted import Wanted
from hardgap.worlds import parse_run

LEASE = 120.0
MANY = 2000
"""Bringing more runs than this forward takes long enough to say so."""
MOST_ATTEMPTS = 10
"""A run whose workers died this often without getting any further is given up as failed."""

DATABASE = "runs.sqlite"
Result = tuple[Run, list[dict[str, Any]], str, dict[str, Any], float]
"""A run measured elsewhere: config, curve, why it stopped, what it was made with, seconds."""


def open_store(store: Store | Path | str, *, create: bool = False) -> Store:
    """A store by its folder, or the store that it already is."""
    return store if isinstance(store, Store) else Store(Path(store), create=create)


class Store(Reader):
    """A folder with `runs.sqlite` and the checkpoints beside it."""

    def __init__(self, folder: Path, *, create: bool = True) -> None:
        self.folder = folder
        super().__init__()
        self.path = folder / DATABASE
        try:
            if not create and not self.path.exists():
                raise BadInput(f"there is no store at {folder}; train something first, or name another folder")
            folder.mkdir(parents=True, exist_ok=True)
            with self.named_errors():
                self._db, self._read_only = connect(self.path, create=create)
                self._open()
        except OSError as error:
            raise BadInput(f"cannot open a store in {folder}: {error.strerror}") from error
        except sqlite3.OperationalError as error:
            raise BadInput(f"cannot open a store in {folder}: {error}") from error

    def _open(self) -> None:
        self._db.text_factory = lambda text: text.decode(errors="replace")  # a rotten byte spoils one row, not all
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
                if number == 2:
                    self._bring_forward()
                self._db.execute(f"PRAGMA user_version = {number}")
            self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    def _bring_forward(self) -> None:
        """Write what version 2 keeps of a run for those of version 1; what cannot be read is named when asked for."""
        stored = self._db.execute("SELECT id, config, status FROM runs").fetchall()
        if len(stored) > MANY:
            print(f"hardgap: bringing {len(stored)} runs in {self.path} forward, this once", file=sys.stderr)
        for run_id, config, status in stored:
            try:
                run = parse_run(json.loads(config))
                if status == "done":
                    check_curve(run, [json.loads(point) for _, point in self.points(run_id)])
            except ValueError:
                continue
            values = [run.model_dump_json(), run.describe(), run_id]
            self._db.execute("UPDATE runs SET config = ?, about = ? WHERE id = ?", values)
            if status == "done":
                self._seal(run_id)

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

    def close(self) -> None:
        self._db.close()

    # What happens to a run

    def add(self, runs: Iterable[Run]) -> None:
        """Queue runs that are not there yet; a failed one gets another chance."""
        now = time.time()
        with self.transaction():
            for run in runs:
                self._db.execute(
                    "INSERT OR IGNORE INTO runs (id, family, config, about, written, status, created) "
                    "VALUES (?, ?, ?, ?, ?, 'queued', ?)",
                    [run.id, run.family, run.model_dump_json(), run.describe(), run.written, now],
                )
                self._db.execute(
                    "UPDATE runs SET status = 'queued', attempts = 0, error = NULL WHERE id = ? AND status = 'failed'",
                    [run.id],
                )

    @contextmanager
    def wanted(self, runs: Iterable[tuple[str, int]]) -> Iterator[Wanted]:
        """Keep ids, each with the steps its run is to have, where claims and counts find them quickly."""
        with self.named_errors():
            wanted = Wanted(self._db, runs)
            try:
                yield wanted
            finally:
                wanted.drop()

    def claim(self, ids: list[str], owner: str) -> str | None:
        """Take the first of these runs that nobody is training, and return its id."""
        with self.wanted((run_id, 0) for run_id in ids) as wanted:
            return self.claim_from(wanted, owner)

    def claim_from(self, wanted: Wanted, owner: str) -> str | None:
        this = me()  # a driver may hold a thousand: it need not look itself up for each
        with self.transaction():
            for _, run_id, status, holder, heartbeat, attempts in wanted.open_runs():
                if status == "running" and (holder == this or is_alive(holder, heartbeat, LEASE)):
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
        return self._update(run_id, owner, "heartbeat = ?, step = ?", time.time(), step)

    def last_heard(self, owner: str) -> float:
        """The last heartbeat of an owner for any run that they hold; 0 if they hold none."""
        held = "SELECT max(heartbeat) FROM runs WHERE status = 'running' AND owner = ?"
        return float(self._db.execute(held, [owner]).fetchone()[0] or 0.0)

    def checkpointed(self, run_id: str, owner: str, seconds: float) -> None:
        """Note that progress is safe on disk: earlier deaths no longer count against the run."""
        self._update(run_id, owner, "attempts = 1, seconds = seconds + ?", seconds)

    def release(self, run_id: str, owner: str) -> None:
        """Give a claim back; the run stays queued."""
        self._update(run_id, owner, "status = 'queued', owner = NULL, attempts = 0")

    def hand_over(self, run_id: str, before: str, owner: str) -> None:
        """Take the claim of an owner who has died, for whom somebody is training it still; else claim it as any."""
        if not self._update(run_id, before, "owner = ?, heartbeat = ?", owner, time.time()):
            self.claim([run_id], owner)

    def lost(self, run_id: str, owner: str) -> None:
        """Whoever trained it for the owner, far away, has died: back to the queue, and the death counts."""
        self._update(run_id, owner, "status = 'queued', owner = NULL")

    def fail(self, run_id: str, owner: str, error: str) -> None:
        self._update(run_id, owner, "status = 'failed', owner = NULL, error = ?, finished = ?", error, time.time())

    def _update(self, run_id: str, owner: str, change: str, *values: Any) -> bool:
        """Change a run that the owner has claimed; False if the claim was lost and nothing was changed."""
        with self.transaction():
            return self._update_claimed(run_id, owner, change, *values)

    def _update_claimed(self, run_id: str, owner: str, change: str, *values: Any) -> bool:
        held = f"UPDATE runs SET {change} WHERE id = ? AND owner = ? AND status = 'running'"
        return self._db.execute(held, [*values, run_id, owner]).rowcount == 1

    def add_points(self, run_id: str, owner: str, points: Iterable[dict[str, Any]]) -> bool:
        """Add evaluations to a run's curve; False if the claim was lost and nothing was written."""
        with self.transaction():
            held = "SELECT 1 FROM runs WHERE id = ? AND owner = ? AND status = 'running'"
            if self._db.execute(held, [run_id, owner]).fetchone() is None:
                return False
            self._put_points(run_id, points)
        return True

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
            change = (
                "status = 'done', owner = NULL, step = ?, finished = ?, seconds = seconds + ?, stopped = ?, "
                "versions = ?, error = NULL"
            )
            values = curve[-1]["step"], time.time(), seconds, stopped, json.dumps(versions)
            if held := self._update_claimed(run_id, owner, change, *values):
                self._db.execute("DELETE FROM points WHERE run = ?", [run_id])
                self._put_points(run_id, curve)
                self._seal(run_id)
        return held

    def put_all_done(self, results: Iterable[Result]) -> list[bool]:
        """Take in all of these runs or, if anything goes wrong, none; for each, whether it was not done here yet."""
        with self.transaction():
            return [self._put_done(*result) for result in results]

    def _put_done(
        self, run: Run, curve: list[dict[str, Any]], stopped: str, versions: dict[str, Any], seconds: float
    ) -> bool:
        known = self._db.execute("SELECT status, owner, heartbeat FROM runs WHERE id = ?", [run.id]).fetchone()
        if known and known[0] == "running" and is_alive(known[1], known[2], LEASE):
            return False
        if known and known[0] == "done" and self._is_whole(run.id):
            return False
        now, last, made_with = time.time(), curve[-1]["step"], json.dumps(versions)
        self._db.execute("DELETE FROM runs WHERE id = ?", [run.id])
        self._db.execute(
            "INSERT INTO runs (id, family, config, about, written, status, step, created, finished, seconds, stopped, "
            "versions) VALUES (?, ?, ?, ?, ?, 'done', ?, ?, ?, ?, ?, ?)",
            [run.id, run.family, run.model_dump_json(), run.describe(), run.written, last, now, now, seconds, stopped,
             made_with],
        )  # fmt: skip
        self._put_points(run.id, curve)
        self._seal(run.id)
        return True

    def _is_whole(self, run_id: str) -> bool:
        """Whether a finished run is what was written."""
        (record,) = self._records("WHERE id = ?", run_id)
        try:
            check(record)
        except Damaged:
            return False
        return record.curve_digest == curve_digest(self.points(run_id))

    def _seal(self, run_id: str) -> None:
        """Sum a finished run up, and note the digests that tell later whether it is still what was written."""
        points = self.points(run_id)
        (config,) = self._db.execute("SELECT config FROM runs WHERE id = ?", [run_id]).fetchone()
        summary = summary_as_dict([read_point(text) for _, text in points], json.loads(config)["budget"]["solved_at"])
        values = [json.dumps(summary), curve_digest(points), run_id]
        self._db.execute("UPDATE runs SET summary = ?, curve_digest = ? WHERE id = ?", values)
        digest = row_digest(self._records("WHERE id = ?", run_id)[0])
        self._db.execute("UPDATE runs SET digest = ? WHERE id = ?", [digest, run_id])

    def remove(self, run_id: str) -> None:
        """Forget a run, unless someone is training it."""
        with self.transaction():
            holder = self._db.execute("SELECT status, owner, heartbeat FROM runs WHERE id = ?", [run_id]).fetchone()
            if holder and holder[0] == "running" and is_alive(holder[1], holder[2], LEASE):
                raise BadInput(f"run {run_id} is being trained right now; stop that first")
            self._db.execute("DELETE FROM runs WHERE id = ?", [run_id])

    def remove_damaged(self) -> list[str]:
        """Forget every run that is not what was written; their names."""
        with self.transaction():
            self._db.execute("REINDEX")  # so that all that follows agrees with what the tables hold
            # Nothing may hang on a name that has changed, so rows go by their place and evaluations by hand.
            self._db.execute("PRAGMA defer_foreign_keys = ON")
            found = list(self.damaged())
            self._db.executemany("DELETE FROM runs WHERE rowid = ?", [[place] for place, _ in found])
            self._db.execute("DELETE FROM points WHERE run NOT IN (SELECT id FROM runs)")
        return [str(error.run) for _, error in found]
