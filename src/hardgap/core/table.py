"""A table as data: whoever measures makes one, whoever shows it chooses how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True)
class Table:
    """A title, columns, rows; columns in `right` hold numbers.

    Where there is little room, columns in `detail` are left out, from the last on; `notes` are words below each row.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    right: Sequence[str] = ()
    detail: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def flat(self) -> Self:
        """The same with the notes as a last column, for whoever has columns alone."""
        if not self.notes:
            return self
        rows = [[*row, note] for row, note in zip(self.rows, self.notes, strict=True)]
        return replace(self, columns=[*self.columns, "note"], rows=rows, notes=())
