"""Who holds a claim, and whether they still live."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path


def me() -> str:
    """This process: host, pid, and when it started, since pids are used again."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid()) or 0}"


def is_alive(owner: str | None, heartbeat: float | None, lease: float) -> bool:
    """Whether a claim still holds. On this host the process is looked up; elsewhere the lease decides."""
    if not owner or heartbeat is None:
        return False
    host, pid, started = owner.rsplit(":", 2)
    if host == socket.gethostname() and Path("/proc/self/stat").exists():
        return _started(int(pid)) == int(started)
    return time.time() - heartbeat <= lease


def _started(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if it is gone or /proc is not there."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])
