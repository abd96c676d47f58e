"""Where a run computes."""

from __future__ import annotations

import torch

from hardgap.core.errors import BadInput


def pick_device(name: str) -> torch.device:
    """`auto` is the fastest there is: cuda, then mps, then cpu."""
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = next(device for device in ("cuda", "mps", "cpu") if available[device])
    if name not in available:
        raise BadInput(f"device {name}: choose auto, cpu, cuda or mps", of="device")
    if not available[name]:
        raise BadInput(f"device {name} is not available here; use cpu or auto", of="device")
    return torch.device(name)
