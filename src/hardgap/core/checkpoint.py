"""Weights on disk: safetensors, plus a SHA-256 beside it, because safetensors alone misses a flipped bit.

A file is written under another name, flushed, and renamed; its sidecar follows. A file without a sidecar
is therefore an interrupted write, and one that disagrees with its sidecar is corrupt and refused by name.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from hardgap.core.errors import BadInput


class CorruptFile(BadInput):
    """A file that is there but is not what was once written."""


class CannotWrite(BadInput):
    """A disk that is full, or a folder that may not be written to: no fault of what was to be kept."""


def sidecar(path: Path) -> Path:
    return path.parent / f"{path.name}.sha256"


def save_tensors(path: Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write tensors and JSON metadata so that a kill at any moment leaves either all of it or none."""
    data = save({name: t.detach().cpu().contiguous() for name, t in tensors.items()}, {"hardgap": json.dumps(meta)})
    save_bytes(path, data)


def save_bytes(path: Path, data: bytes) -> None:
    """Write a file and, after it, its checksum."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sidecar(path).unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
    _replace(path, data)
    _replace(sidecar(path), f"{hashlib.sha256(data).hexdigest()}  {path.name}\n".encode())


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote, or raise `CorruptFile` naming the file."""
    try:
        data, expected = path.read_bytes(), sidecar(path).read_text().split()[0]
    except (OSError, IndexError, UnicodeDecodeError) as error:
        raise CorruptFile(f"{path} or its checksum {sidecar(path).name} is missing or empty") from error
    if hashlib.sha256(data).hexdigest() != expected:
        raise CorruptFile(f"{path} does not match its checksum: the file is damaged")
    try:
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        return load(data), json.loads(header["__metadata__"]["hardgap"])
    except (SafetensorError, KeyError, ValueError, TypeError, RecursionError) as error:
        raise CorruptFile(f"{path} is not a hardgap weights file: {error}") from error


def load_weights(model: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """Put weights into a model, refusing by name what does not fit it."""
    own = model.state_dict()
    if missing := sorted(own.keys() ^ weights.keys()):
        raise CorruptFile(f"{path} does not fit this network: it disagrees about {missing[0]}")
    for name, tensor in weights.items():
        if tensor.shape != own[name].shape:
            raise CorruptFile(
                f"{path} does not fit this network: {name} is {list(tensor.shape)}, not {list(own[name].shape)}"
            )
    model.load_state_dict(weights)


def _replace(path: Path, data: bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
