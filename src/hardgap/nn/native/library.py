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
    "loss": (D, [P, P, L, L, P, P, P, P, P, P, P, P]),
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
    """A build by its name, or the best for this processor; `MissingLibraryError` says why not."""
    if build is None:
        build = best_build(folder)
    path = library_path(build, folder) if folder else library_path(build)
    if not path.exists():
        raise MissingLibraryError(f"{path.name} was not built; `python -m hardgap.nn.native.build` builds it")
    try:
        handle = ctypes.CDLL(str(path))
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(handle, f"hardgap_{name}")
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise MissingLibraryError(f"{path.name} cannot be loaded: {error}") from error
    if handle.hardgap_source().decode() != source_hash():
        raise MissingLibraryError(
            f"{path.name} was built from another source; `python -m hardgap.nn.native.build` builds it again"
        )
    name = f"native {build}, kernel {handle.hardgap_version()}, {handle.hardgap_compiler().decode()}"
    return Library(build, name, handle)


def best_build(folder: Path | None = None) -> str:
    """The fastest build that this processor can run."""
    return NAMES[load("portable", folder).best_vector()]


def runs_here(build: str) -> bool:
    """Whether this processor has the instructions of a build."""
    order = list(BUILDS)
    return build in order and order.index(build) >= order.index(best_build())
