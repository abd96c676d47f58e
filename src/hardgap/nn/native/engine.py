"""Which engine computes: the native one where it can, or PyTorch's own operations (eager).

HARDGAP_ENGINE (what `--engine` sets, so that workers have it too) is `auto`, `native`, `eager`, `stacked` (which
`--stack` sets), or one build of the native engine by its name; on a cluster, `any`: as `auto`, but a run whose own
engine is missing goes on with another. Which one a run used stands in its record and its checkpoints; it is no part of
its config.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from hardgap.core.errors import BadInput
from hardgap.nn.native.library import Library, MissingLibraryError, is_built, load, runs_here

VARIABLE = "HARDGAP_ENGINE"
EAGER = "eager"
STACKED = "stacked"
"""PyTorch's operations on several networks at once (`core/stack.py`); a run has the same bits alone."""
ANY = "any"
BUILT = ("avx512", "avx2", "portable")
_chosen: ContextVar[tuple[Library | None, ...]] = ContextVar("chosen", default=())
"""What `using` has put in use, the innermost last; of this thread only."""


def current() -> Library | None:
    """The library that computes now, or None where PyTorch does."""
    chosen = _chosen.get()
    return chosen[-1] if chosen else _asked(asked())


def current_name() -> str:
    library = current()
    return library.name if library else EAGER


def asked() -> str:
    """What the environment asks for; `auto` if nothing."""
    return os.environ.get(VARIABLE) or "auto"


@cache
def _asked(engine: str) -> Library | None:
    if engine in (EAGER, STACKED):
        return None
    if engine not in ("auto", "native", ANY, *BUILT):
        raise BadInput(
            f"{VARIABLE}={engine}: choose auto, native, eager, stacked, {', '.join(BUILT[:-1])} or {BUILT[-1]}"
        )
    try:
        if engine in BUILT and not runs_here(engine):
            raise MissingLibraryError(f"this processor cannot run the build {engine}")
        return load(engine if engine in BUILT else None)
    except MissingLibraryError as reason:
        if engine in ("auto", ANY):
            return None
        raise BadInput(f"the native engine is not available: {reason}") from reason


def choose(engine: str | None) -> None:
    """Take an engine for this process and those it starts; None leaves what the environment says."""
    if engine is not None:
        os.environ[VARIABLE] = engine
    library = _asked(asked())  # a wrong choice is said before anything is trained
    if library is None and asked() == "auto" and is_built():
        _tell_once(f"hardgap: the native engine is left out: {state_of(None)}")


@cache
def _tell_once(said: str) -> None:
    print(said, file=sys.stderr)


@contextmanager
def using(engine: str) -> Iterator[None]:
    """Compute with an engine for a while, given as for HARDGAP_ENGINE or by the full name that a record has."""
    token = _chosen.set((*_chosen.get(), named(engine)))
    try:
        yield
    finally:
        _chosen.reset(token)


def named(engine: str) -> Library | None:
    """The engine that a record names; `BadInput` if it is not the one that is here."""
    if engine in ("auto", "native", ANY, EAGER, STACKED, *BUILT):
        return _asked(engine)
    build = engine.removeprefix("native ").partition(",")[0]
    found = _asked(build) if build in BUILT else None
    if found is None or found.name != engine:
        raise BadInput(f"the engine “{engine}” is not available; here it is “{found.name if found else EAGER}”")
    return found


def is_here(engine: str) -> bool:
    """Whether the engine that a record names can go on with what it began."""
    try:
        named(engine)
    except BadInput:
        return False
    return True


def why() -> str:
    """One sentence: what computes here, and why not the native engine if it does not."""
    library = current()
    if library is not None:
        return library.name
    return f"{asked()}, as {VARIABLE} asks" if asked() in (EAGER, STACKED) else f"{EAGER}: {state_of(None)}"


def state_of(build: str | None) -> str:
    """Whether a build of the native engine (the best, if not said) can be used, and if not why."""
    try:
        if build is not None and not runs_here(build):
            return "needs another processor"
        return f"ready: {load(build).name}"
    except MissingLibraryError as reason:
        return str(reason)
