"""What was computed once and kept as a file, beside the measured baselines."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from hardgap.runs.results import read_json, write_text

_told: set[Path] = set()
"""Damaged files that have been named: one is asked for by many rows of a table."""


def kept_file(folder: Path, name: str) -> dict[str, Any] | None:
    """A kept file, or None: one that is damaged is named, and counts as not there."""
    path = folder / name
    try:
        return read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        if path not in _told:
            print(f"hardgap: {path} is damaged, passed over: {error}", file=sys.stderr)
        _told.add(path)
        return None


def keep_file(folder: Path, name: str, data: dict[str, Any]) -> None:
    write_text(folder / name, json.dumps(data, indent=1) + "\n")
