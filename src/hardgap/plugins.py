"""A user's own network, method or operator, named by its import path: `package.module:name`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from hardgap.errors import BadInput


def load_plugin(asked: str, path: str) -> Any:
    """What the path names; `asked` is how it was asked for ("--model"), for the sentence if it cannot be had."""
    if (here := str(Path.cwd())) not in sys.path:  # a console script does not look there; last, so it shadows nothing
        sys.path.append(here)
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # somebody else's module may raise anything
        raise BadInput(f"{asked} {path} cannot be imported: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """The first line of what somebody else's code raised."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
