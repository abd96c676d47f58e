"""The tables of a store, how an older store becomes a newer one, and how a store is opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from hardgap.core.errors import BadInput

APPLICATION_ID = 0x68616770  # "hagp"

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
    # about: the run in one line. written: its rule as its user wrote it. summary: its curve in a few numbers.
    # curve_digest, digest: SHA-256 of a finished run's evaluations, and of its row (`runs/digest.py`).
    # Older rows get theirs from `Store._bring_forward`.
    """
    ALTER TABLE runs ADD COLUMN about TEXT;
    ALTER TABLE runs ADD COLUMN written TEXT;
    ALTER TABLE runs ADD COLUMN summary TEXT;
    ALTER TABLE runs ADD COLUMN curve_digest TEXT;
    ALTER TABLE runs ADD COLUMN digest TEXT;
    CREATE INDEX runs_by_status ON runs (status);
    CREATE INDEX runs_by_created ON runs (created);
    """,
]
"""Append only: number n brings a store from version n to n + 1."""


NO_WRITING = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def connect(path: Path, *, create: bool) -> tuple[sqlite3.Connection, bool]:
    """A connection, and whether it can only read. Whoever may make a store must be able to write it."""
    db = sqlite3.connect(path, timeout=60, isolation_level=None)
    if create:
        return db, False
    try:
        db.execute("SELECT count(*) FROM sqlite_master")
        return db, False
    except sqlite3.OperationalError as error:
        db.close()
        if error.sqlite_errorcode & 0xFF not in NO_WRITING:
            raise
        return _read_only(path), True


def _read_only(path: Path) -> sqlite3.Connection:
    """A database in WAL mode wants to write even to be read, unless it is promised that nobody else does.

    Who writes it keeps a log beside it. Without one the promise holds; with one, the log belongs to what is read.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise BadInput(f"{log} is not yet part of the store, which cannot be written here: copy the folder first")
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, timeout=60, isolation_level=None)
