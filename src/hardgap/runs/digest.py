"""Finished runs keep a digest of themselves, so that a file that has rotted on its disk never passes for a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import NamedTuple

from hardgap.core.errors import BadInput

STATUSES = ("queued", "running", "done", "failed")


class Damaged(BadInput):
    """A run of a store that is not what was written; `run` is its name once that is known."""

    def __init__(self, message: str, run: str | None = None) -> None:
        super().__init__(message)
        self.run = run


class Record(NamedTuple):
    """A row of the store as it stands there; everything but the last three is in its digest."""

    id: str
    family: str
    config: str
    step: int
    created: float
    finished: float | None
    seconds: float
    stopped: str | None
    versions: str | None
    about: str | None
    written: str | None
    summary: str | None
    curve_digest: str | None
    status: str
    error: str | None
    digest: str | None


COLUMNS = ", ".join(f"runs.{name}" for name in Record._fields)


def row_digest(record: Record) -> str:
    return hashlib.sha256(json.dumps(record[:-3], default=repr).encode()).hexdigest()


def curve_digest(points: Iterable[tuple[int, str]]) -> str:
    """Of evaluations as they are stored, each with its step."""
    digest = hashlib.sha256()
    for step, text in points:
        digest.update(f"{step} {text}\n".encode())
    return digest.hexdigest()


def check(record: Record) -> None:
    """Refuse a row that is not what was written."""
    if record.status not in STATUSES:
        raise Damaged(f"has the status {record.status!r:.40}")
    if record.status == "done" and record.digest is None:
        raise Damaged("holds a result that could not be read when the store was brought forward")
    if record.status == "done" and record.error is not None:  # the digest does not have it
        raise Damaged("is not as it was written: it is done and has an error")
    if record.digest is not None and (record.status != "done" or record.digest != row_digest(record)):
        raise Damaged("is not as it was written: the digest of its row differs")
