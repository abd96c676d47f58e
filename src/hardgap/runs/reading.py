"""What a store has to say: rows, curves and lists, each checked against the digest that was written with it.

A run that is asked for by name and turns out damaged is refused. Where many are read, a damaged one is named on
stderr and left out.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.runs.digest import COLUMNS, Damaged, Record, check, curve_digest
from hardgap.runs.listing import ENGINE, Listed, Where, as_listed, condition, ordering
from hardgap.runs.summary import summary_as_dict
from hardgap.worlds import parse_run

T = TypeVar("T")


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


class Reader:
    """The reading half of a store."""

    folder: Path
    path: Path
    _db: sqlite3.Connection

    def __init__(self) -> None:
        self.left_out: set[str] = set()  # damaged runs that were come across where many were read

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Tell a damaged file by its name."""
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.ProgrammingError):  # a busy store, a wrong use of it
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise BadInput(f"{self.path} is not a usable store: {error}; move it away, nothing was changed") from error

    def get(self, run_id: str) -> Row:
        """The run with this id, or with the only id that begins so."""
        record = self._records("WHERE id = ?", self.find(run_id))[0]
        return self._row(record)

    def find(self, text: str) -> str:
        """The id that this is, or that alone begins so."""
        # Digits are less than g, so this is a range of the index.
        query = "SELECT id FROM runs WHERE id >= ?1 AND id < ?1 || 'g' AND substr(id, 1, length(?1)) = ?1"
        found = self.query(f"{query} ORDER BY id LIMIT 2", [text]) if text else []
        if not found:
            raise BadInput(f"there is no run {text} in {self.folder}; `hardgap runs list` shows what there is")
        if len(found) > 1 and found[0][0] != text:
            raise BadInput(f"run {text} could be {found[0][0]} or {found[1][0]}: give more digits")
        return str(found[0][0])

    def rows(self, ids: Iterable[str] | None = None) -> list[Row]:
        """All runs, oldest first, or those asked for, in the order asked for; damaged ones are named and left out."""
        return list(self._whole(self._asked_for(ids), self._row))

    def curves(self, ids: Iterable[str], *, begun: bool = False) -> dict[str, list[dict[str, Any]]]:
        """The curve of each of these runs that is done, in the order asked for; damaged ones are named and left out.

        With `begun`, also what there is of those that are not done.
        """
        open_ones = () if begun else ("queued", "running", "failed")
        done = [record for record in self._asked_for(ids) if record.status not in open_ones]
        return dict(self._whole(done, lambda record: (record.id, self.curve(record.id))))

    def listed(
        self,
        *,
        where: Where = (),
        sort: str = "created",
        limit: int | None = None,
        offset: int = 0,
        ids: Iterable[str] | None = None,
    ) -> list[Listed]:
        """A page of the runs that meet every condition, without reading curves; see `listing.py`.

        `sort` is a field, from the greatest down if a `-` stands before it; runs that have no value there come last.
        Damaged runs are named and left out.
        """
        chosen, values = condition(where, ids)
        order, more = ordering(sort)
        page = [-1 if limit is None else limit, offset]
        records = self._records(f"{chosen} {order} LIMIT ? OFFSET ?", *values, *more, *page)
        return list(self._whole(records, lambda record: as_listed(record, self._so_far)))

    def count(self, where: Where = (), ids: Iterable[str] | None = None) -> int:
        """How many runs meet every condition."""
        chosen, values = condition(where, ids)
        return int(self.query(f"SELECT count(*) FROM runs {chosen}", values)[0][0])

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows of a statement that only reads."""
        with self.named_errors():
            return self._db.execute(statement, values).fetchall()

    def _asked_for(self, ids: Iterable[str] | None) -> list[Record]:
        if ids is None:
            return self._records("ORDER BY created, rowid")
        wanted = list(ids)
        found = {r.id: r for r in self._records("WHERE id IN (SELECT value FROM json_each(?))", json.dumps(wanted))}
        return [found[run_id] for run_id in wanted if run_id in found]

    def _records(self, rest: str, *values: Any) -> list[Record]:
        with self.named_errors():
            return [Record(*record) for record in self._db.execute(f"SELECT {COLUMNS} FROM runs {rest}", values)]

    def _whole(self, records: Iterable[Record], read: Callable[[Record], T]) -> Iterator[T]:
        """What can be read; what cannot is named on stderr, once."""
        for record in records:
            try:
                with self._by_name(record.id):
                    check(record)
                    value = read(record)
            except Damaged as error:
                if record.id not in self.left_out:
                    print(f"hardgap: {error}; it is left out", file=sys.stderr)
                self.left_out.add(record.id)
                continue
            yield value

    @contextmanager
    def _by_name(self, run_id: str) -> Iterator[None]:
        """Say which run is damaged, and what to do about it."""
        try:
            yield
        except Damaged as error:
            if error.run is not None:
                raise
            sound = re.fullmatch("[0-9a-f]{12}", run_id)
            shown, remove = (run_id, run_id) if sound else (ascii(run_id), "--damaged")
            raise Damaged(f"{self.path}: run {shown} {error}; `hardgap runs rm {remove}` removes it", shown) from error

    def damaged(self) -> Iterator[tuple[int, Damaged]]:
        """Every damaged run, by its place in the table: an index may be damaged too, and a name unreadable."""
        for (place,) in self.query("SELECT rowid FROM runs NOT INDEXED"):
            for record in self._records("WHERE rowid = ?", place):
                try:
                    self._row(record)
                    self.curve(record.id)
                except Damaged as error:
                    yield place, error

    def _row(self, record: Record) -> Row:
        with self._by_name(record.id):
            check(record)
            return _row(record)

    def curve(self, run_id: str) -> list[dict[str, Any]]:
        """The evaluations of a run, in order."""
        for record in self._records("WHERE id = ?", run_id):
            with self.named_errors(), self._by_name(run_id):
                check(record)
                points = self.points(run_id)
                if record.digest is not None and record.curve_digest != curve_digest(points):
                    raise Damaged("is not as it was written: the digest of its curve differs")
                return [read_point(text) for _, text in points]
        return []

    def points(self, run_id: str) -> list[tuple[int, str]]:
        return self._db.execute("SELECT step, point FROM points WHERE run = ? ORDER BY step", [run_id]).fetchall()

    def _so_far(self, record: Record) -> dict[str, Any] | None:
        """The summary of a run that is not finished."""
        curve = self.curve(record.id) if record.step or record.status == "running" else []
        return summary_as_dict(curve, json.loads(record.config)["budget"]["solved_at"]) if curve else None

    def shorter(self, run: Run) -> list[str]:
        """Finished runs of the same family, the longest first."""
        found = self._records("WHERE family = ? AND id != ? AND status = 'done' ORDER BY step DESC", run.family, run.id)
        # The index may be damaged too, so what it led to is asked again.
        return [row.id for row in self._whole(found, self._row) if row.config.family == run.family]

    def engines(self, ids: Iterable[str]) -> dict[str, str | None]:
        """What trained each of these runs, as far as it is written down."""
        query = f"SELECT id, {ENGINE} FROM runs WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self.query(query, [json.dumps(list(ids))]))

    def progress(self, ids: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Status and step of each run, without reading anything else."""
        query = "SELECT id, status, step FROM runs WHERE id IN (SELECT value FROM json_each(?))"
        found = self.query(query, [json.dumps(list(ids))])
        return {run_id: (status, step) for run_id, status, step in found}


def _row(record: Record) -> Row:
    try:
        run = parse_run(json.loads(record.config), record.written)
        made_with = json.loads(record.versions or "{}")
    except (ValueError, TypeError) as problem:
        raise Damaged(f"holds a config that cannot be read: {problem}") from problem
    if run.id != record.id:
        raise Damaged(f"does not match its config, whose id is {run.id}")
    return Row(
        record.id, run, record.status, record.step, record.seconds, record.stopped, made_with, record.error,
        record.finished,
    )  # fmt: skip


def read_point(text: str) -> dict[str, Any]:
    try:
        point = json.loads(text)
        if point.keys() >= {"step", "loss", "visible", "holdout", "detail"}:
            return dict(point)
    except (ValueError, AttributeError):
        pass
    raise Damaged(f"holds an evaluation that cannot be read: {text!r:.60}")
