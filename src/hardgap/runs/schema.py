"""The tables of a store, and how an older store becomes a newer one."""

from __future__ import annotations

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
