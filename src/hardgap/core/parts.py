"""Parts of this package by name, `hardgap.module:name`, loaded when used: torch and matplotlib take seconds."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def part(path: str) -> Any:
    """What the path names. It is never a user's: those are plug-ins, and have to be trusted first."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
