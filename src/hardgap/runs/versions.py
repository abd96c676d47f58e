"""What a result was made with; stored beside it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch


def versions(engines: Sequence[str] = ()) -> dict[str, Any]:
    """The versions, the machine and the thread count that a number depends on, and what trained it, in order."""
    packages = {name: version(name) for name in ("hardgap", "numpy", "torch")}
    return packages | {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        **({"engine": ", then ".join(engines)} if engines else {}),
    }


def processor() -> str:
    """The model, as the system names it: other processors round otherwise."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
