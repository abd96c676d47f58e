"""Folders for a while: readable by their owner only, and cleared away by the next one if their owner was killed."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from hardgap.runs.owner import is_alive, me
from hardgap.runs.results import write_text

PREFIX = "hardgap-node-"
OWNER = "owner"


def scratch() -> Path:
    """A new folder on this machine; those of dead processes go."""
    for found in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER}"):
        with suppress(OSError, ValueError):  # another user's, or just going
            if not is_alive(found.read_text(), heartbeat=time.time(), lease=1.0):  # who cannot be seen is let be
                shutil.rmtree(found.parent, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    write_text(folder / OWNER, me())  # whole at once: a neighbour would take an empty one for that of a dead process
    return folder
