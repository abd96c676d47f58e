"""What a result was made with; stored beside it."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import torch


def versions() -> dict[str, Any]:
    """The versions and the thread count that a number depends on."""
    packages = {name: version(name) for name in ("hardgap", "numpy", "torch")}
    return packages | {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "threads": torch.get_num_threads(),
    }
