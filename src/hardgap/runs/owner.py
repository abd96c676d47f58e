"""Who holds a claim, and whether they still live."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path


def me() -> str:
    """This process: where it runs, its pid, and when it started, since pids are used again."""
    return f"{_place()}:{os.getpid()}:{_started(os.getpid()) or 0}"


def is_alive(owner: str | None, heartbeat: float | None, lease: float) -> bool:
    """Whether a claim still holds. The process is looked up if it would be seen from here; else the lease decides."""
    if not owner or heartbeat is None:
        return False
    place, pid, started = owner.rsplit(":", 2)
    if _process_table() and place == _place():
        return _started(int(pid)) == int(started)
    return time.time() - heartbeat <= lease


def _place() -> str:
    return f"{socket.gethostname()}:{_process_table()}"


def _process_table() -> str:
    """Whose pids can be looked up here: this boot's, in this PID namespace. Empty if nobody's can.

    Containers may share a host name and a store, but not a process table.
    """
    try:
        if Path("/proc/self").readlink().name != str(
            os.getpid()
        ):  # The /proc that is mounted here is another namespace's.
            return ""
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def _started(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if it is gone or /proc is not there."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])
