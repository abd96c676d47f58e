"""A table as data; every renderer starts from here."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TextTable:
    """A title, columns, rows; columns in `right` hold numbers.

    Where there is little room, columns in `detail` are left out, from the last on; `notes` are words below each row.
    """

    title: str
    columns: list[str]
    rows: list[list[object]]
    right: list[str] = field(default_factory=list)
    detail: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
