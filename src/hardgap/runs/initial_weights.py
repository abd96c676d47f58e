"""Starting from given weights, such as a construction, instead of random ones.

A run names them by their SHA-256, so that its identity covers them; the store keeps the file.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from torch import nn

from hardgap.core.checkpoint import load_tensors, load_weights, save_bytes, sidecar
from hardgap.core.errors import BadInput
from hardgap.core.loop import under


def keep_initial(store_folder: Path, path: Path) -> str:
    """Copy a weights file into the store, after checking it, and return the name to put into a config."""
    if not path.exists():
        raise BadInput(f"init {path}: there is no such file", of="init")
    load_tensors(path)
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    kept = initial_path(store_folder, digest)
    if not sidecar(kept).exists():
        save_bytes(kept, data)
    return digest


def start_from(model: nn.Module, store_folder: Path, digest: str) -> None:
    """Load the weights that a config names; a state to go on from serves as well as bare weights."""
    path = initial_path(store_folder, digest)
    if not path.exists():
        raise BadInput(f"the weights that this run starts from are not in {store_folder}; give them again")
    tensors, _ = load_tensors(path)
    load_weights(model, under("model.", tensors) or tensors, path)


def initial_path(store_folder: Path, digest: str) -> Path:
    return store_folder / "initial" / f"{digest}.safetensors"
