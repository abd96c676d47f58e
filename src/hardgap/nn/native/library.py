"""The compiled kernel: the build that this processor runs, and why there is none."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hardgap.nn.native.build import BUILDS, library_path, source_hash

P, L, D = ctypes.c_void_p, ctypes.c_long, ctypes.c_double
NAMES = {16: "avx512", 8: "avx2", 4: "portable"}
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "version": (ctypes.c_int, []),
    "source": (ctypes.c_char_p, []),
    "compiler": (ctypes.c_char_p, []),
    "vector": (ctypes.c_int, []),
    "best_vector": (ctypes.c_int, []),
    "memory_floats": (L, [P, L]),
    "work_floats": (L, [P]),
    "loss_floats": (L, [P, L]),
    "forward": (None, [P, P, L, P, P, P, P]),
    "backward": (None, [P, P, L, P, P, P, P, P, P]),
    "loss": (D, [P, P, L, L, P, P, P, P, P, P, ctypes.c_uint32, D, P, P]),
    "seq2seq_floats": (L, [P, L]),
    "seq2seq_loss": (D, [P, P, L, L, P, P, P, P]),
    "seq2seq_logits": (None, [P, P, L, L, P, P, P, P]),
    "greedy_floats": (L, [P, L]),
    "greedy": (None, [P, P, L, L, P, P, P, P]),
    "clip": (None, [L, P, P, D]),
    "adam": (None, [L, P, P, P, P, P, D, D, D, D, D]),
}


class MissingLibraryError(Exception):
    """Why the native engine cannot be used here; one sentence."""


@dataclass(frozen=True)
class Library:
    """One build of the kernel, loaded. `name` says all that its results' bits depend on but the processor."""

    build: str
    name: str
    handle: ctypes.CDLL

    def __getattr__(self, function: str) -> Any:
        return getattr(self.handle, f"hardgap_{function}")


@cache
def load(build: str | None = None, folder: Path | None = None) -> Library:
    """A build by its name, or the best that is here for this processor; `MissingLibraryError` says why not."""
    if build is None:
        return _best(folder)
    path = library_path(build, folder) if folder else library_path(build)
    if not path.exists():
        raise MissingLibraryError(f"{path.name} was not built; `python -m hardgap.nn.native.build` builds it")
    try:
        handle = ctypes.CDLL(str(path))
        _declare(handle, "source")
        if handle.hardgap_source().decode() != source_hash():
            raise MissingLibraryError(
                f"{path.name} was built from another source; `python -m hardgap.nn.native.build` builds it again"
            )
        _declare(handle, *SIGNATURES)
    except (OSError, AttributeError) as error:
        raise MissingLibraryError(f"{path.name} cannot be loaded: {error}") from error
    name = f"native {build}, kernel {handle.hardgap_version()}, {handle.hardgap_compiler().decode()}"
    return Library(build, name, handle)


def _declare(handle: ctypes.CDLL, *names: str) -> None:
    for name in names:
        function = getattr(handle, f"hardgap_{name}")
        function.restype, function.argtypes = SIGNATURES[name]


def _best(folder: Path | None) -> Library:
    """The fastest that is here; if none is, why not the fastest that could be."""
    reasons = []
    for build in fitting_builds(folder):
        try:
            return load(build, folder)
        except MissingLibraryError as reason:
            reasons.append(reason)
    raise reasons[0]


def fitting_builds(folder: Path | None = None) -> list[str]:
    """The builds whose instructions this processor has, fastest first."""
    order = list(BUILDS)
    return order[order.index(NAMES[load("portable", folder).best_vector()]) :]


def runs_here(build: str) -> bool:
    """Whether this processor has the instructions of a build."""
    return build in fitting_builds()


def is_built() -> bool:
    """Whether a build is here at all, of whatever source."""
    return any(library_path(build).exists() for build in BUILDS)
