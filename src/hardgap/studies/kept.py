"""What was computed once and kept as a file, beside the measured baselines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def kept_file(folder: Path, name: str) -> dict[str, Any] | None:
    """A kept file; one that is damaged counts as not there."""
    try:
        found = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
