"""How many processors this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Those of the machine, or fewer where a batch system or `taskset` leaves it fewer."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
