"""What a result was made with; stored beside it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import hardgap


def versions(engines: Sequence[str] = (), machines: Sequence[str] = ()) -> dict[str, Any]:
    """The versions, the machine and the thread count that a number depends on, and what trained it, in order.

    Where it ended is always said; all of the machines only if it has moved.
    """
    packages = {"hardgap": hardgap.__version__} | {name: version(name) for name in ("numpy", "torch")}
    return packages | {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        **({"engine": ", then ".join(engines)} if engines else {}),
        **({"machines": ", then ".join(machines)} if len(machines) > 1 else {}),
    }


def machine() -> str:
    """What the bits of a result depend on, of a machine: the processor and the instructions that PyTorch uses."""
    return f"{processor()}, {torch.backends.cpu.get_cpu_capability()}"


@cache
def processor() -> str:
    """The model, as the system names it: other processors round otherwise."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
