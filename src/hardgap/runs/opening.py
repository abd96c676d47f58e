"""Opening the store's database, also where it can only be read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from hardgap.core.errors import BadInput

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
