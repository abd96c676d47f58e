"""The runs that somebody wants trained, in their order: given once, then asked about without reading them all again.

They stand in a temporary table of the asker's own connection. Claiming moves a cursor along it, past runs that are
finished or taken, so that a claim costs the same however many runs there are.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import count

Open = tuple[int, str, str, str | None, float | None, int]
"""Rank, id, status, owner, heartbeat and attempts of a run that is queued or running."""

_OPEN = "wanted.rank, runs.id, runs.status, runs.owner, runs.heartbeat, runs.attempts"
_numbers = count()
MOST_STEPS = 2**40
"""More than this many left to train are shown as so many; sums of them fit a column."""


class Wanted:
    """Ids with their rank, and how many steps each run is to have (0 if that is nobody's question)."""

    def __init__(self, db: sqlite3.Connection, runs: Iterable[tuple[str, int]]) -> None:
        self._db, self._cursor = db, 0
        self._table = f"temp.wanted_{next(_numbers)}"
        db.execute(f"CREATE TABLE {self._table} (rank INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, steps INTEGER)")
        db.execute("BEGIN")
        held = ((run_id, min(steps, MOST_STEPS)) for run_id, steps in runs)
        db.executemany(f"INSERT OR IGNORE INTO {self._table} (id, steps) VALUES (?, ?)", held)
        db.execute("COMMIT")
        self._size = db.execute(f"SELECT count(*) + 1 FROM {self._table}").fetchone()[0]

    def drop(self) -> None:
        self._db.execute(f"DROP TABLE {self._table}")

    def open_runs(self) -> Iterator[Open]:
        """Those that might be claimed, first come first: queued ones, and running ones, whose owner may have died.

        Made to be read inside a transaction that changes the status of each one it does not pass over.
        """
        running = self._find(_OPEN, "= 'running' ORDER BY wanted.rank").fetchall()  # as many as there are workers
        return merge(running, self._queued())

    def _find(self, columns: str, rest: str) -> sqlite3.Cursor:
        """Those of a status, found by the status: the others are too many to look at."""
        joined = f"runs CROSS JOIN {self._table} AS wanted ON wanted.id = runs.id"
        return self._db.execute(f"SELECT {columns} FROM {joined} WHERE runs.status {rest}")

    def _queued(self) -> Iterator[Open]:
        while found := self._next_queued() or self._released():
            yield found

    def _next_queued(self) -> Open | None:
        query = f"SELECT {_OPEN} FROM {self._table} AS wanted CROSS JOIN runs ON runs.id = wanted.id"
        condition = "WHERE wanted.rank >= ? AND runs.status = 'queued' ORDER BY wanted.rank LIMIT 1"
        found: Open | None = self._db.execute(f"{query} {condition}", [self._cursor]).fetchone()
        self._cursor = found[0] if found else self._size
        return found

    def _released(self) -> Open | None:
        """The first that was taken when the cursor passed, and has been given back."""
        found: Open | None = self._find(_OPEN, "= 'queued' ORDER BY wanted.rank LIMIT 1").fetchone()
        return found

    def any_open(self) -> bool:
        """Whether one of them is still queued or running."""
        return self._find("1", "IN ('queued', 'running') LIMIT 1").fetchone() is not None

    def running(self) -> dict[str, int]:
        """The step of each run that is being trained."""
        return dict(self._find("runs.id, runs.step", "= 'running'").fetchall())

    def steps_of(self, ids: Iterable[str]) -> dict[str, int]:
        query = "SELECT id, step FROM runs WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(query, [json.dumps(list(ids))]).fetchall())

    def counts(self) -> dict[str, tuple[int, int]]:
        """For each status, how many runs have it, and how many steps these have left at most."""
        query = f"SELECT runs.status, count(*), sum(max(0, wanted.steps - runs.step)) FROM {self._table} AS wanted"
        found = self._db.execute(f"{query} CROSS JOIN runs ON runs.id = wanted.id GROUP BY runs.status").fetchall()
        return {status: (number, left) for status, number, left in found}
