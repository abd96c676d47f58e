"""A user's own network, method or operator, named by its import path: `package.module:name`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardgap.errors import BadInput


def load_plugin(asked: str, path: str) -> Any:
    """What the path names; `asked` is how it was asked for ("--model"), for the sentence if it cannot be had."""
    if (here := str(Path.cwd())) not in sys.path:  # a console script does not look there; last, so it shadows nothing
        sys.path.append(here)
    module, _, name = path.partition(":")
    with blamed(f"{asked} {path} cannot be imported"):
        return getattr(importlib.import_module(module), name)


@contextmanager
def blamed(sentence: str) -> Iterator[None]:
    """Somebody else's code may raise anything, even SystemExit: it becomes this sentence and the reason.

    Our own sentences and Ctrl-C stay what they are.
    """
    try:
        yield
    except (BadInput, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise BadInput(f"{sentence}: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """The first line of what somebody else's code raised."""
    if isinstance(error, SystemExit):
        return f"it calls exit({error.code!r:.40})"
    return str(error).strip().partition("\n")[0] or type(error).__name__
