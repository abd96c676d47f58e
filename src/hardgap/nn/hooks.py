"""Read and replace the named activations of a network, and know which of their axes counts cells.

Shape suffixes are those of `hardgap.nn.encoder`; P stands for whatever an activation holds besides rows
and cells, flattened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.core.errors import BadInput
from hardgap.nn.conv import Conv
from hardgap.nn.encoder import Encoder, activation_names

CELLS_PER_PIECE = 2_048
"""Forward passes take about this many cells at a time, so that activations stay in cache."""
Edit = Callable[[Tensor], Tensor | None]
_HEADED = ("q", "k", "v", "scores", "pattern", "mixed")
"""Activations of an attention module: [rows, heads, cells, …]."""


class DoesNotApply(BadInput):
    """An analysis needs something that this network does not have; the message says what."""


@dataclass(frozen=True)
class Site:
    """A named activation: its shape without the row axis, and which axis (rows counted) counts cells."""

    name: str
    shape: tuple[int, ...]
    cell_axis: int | None

    @property
    def level(self) -> bool:
        """Whether it is one vector a cell, [rows, cells, D] or [rows, channels, cells]."""
        return self.cell_axis is not None and len(self.shape) == 2


def as_cells(model: nn.Module, rows: NDArray[np.uint8]) -> Tensor:
    """Rows as the network wants them: reals, on its device."""
    device = next(model.parameters()).device
    return torch.from_numpy(np.ascontiguousarray(rows)).to(device, torch.float32)


@torch.no_grad()
def logits_of(model: nn.Module, cells_BW: Tensor) -> Tensor:
    """The logits of many rows, a piece at a time."""
    return torch.cat([model(piece) for piece in _pieces(cells_BW)])


@contextmanager
def replaced(model: nn.Module, edits: Mapping[str, Edit]) -> Iterator[None]:
    """Inside, each named activation is what its edit makes of it; an edit that gives None leaves it as it is."""
    hooks = [
        model.get_submodule(name).register_forward_hook(lambda _m, _i, out, edit=edit: edit(out))
        for name, edit in edits.items()
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def recorded(model: nn.Module, names: Iterable[str]) -> Iterator[dict[str, list[Tensor]]]:
    """Inside, the values of each named activation are written down, one a time it is reached, in the order reached."""
    found: dict[str, list[Tensor]] = {}
    with replaced(model, {name: partial(_note, found, name) for name in names}), torch.no_grad():
        yield found


def _note(found: dict[str, list[Tensor]], name: str, out: Tensor) -> None:
    found.setdefault(name, []).append(out.detach())


def record(model: nn.Module, cells_BW: Tensor, names: Iterable[str]) -> dict[str, Tensor]:
    """The value of each named activation on these rows."""
    with recorded(model, names) as found:
        for piece in _pieces(cells_BW):
            model(piece)
    return {name: torch.cat(values) for name, values in found.items()}


def sites(model: nn.Module, width: int) -> list[Site]:
    """The named activations in the order of the forward pass; empty for a network that names none.

    One that is reached more than once, or never, in a forward pass cannot be read or replaced as *the*
    value, and is left out.
    """
    device = next(model.parameters()).device
    with recorded(model, activation_names(model)) as found:
        model(torch.zeros(1, width, device=device))
    shapes = {name: tuple(values[0].shape) for name, values in found.items() if len(values) == 1}
    return [Site(name, shape[1:], _cell_axis(model, name, shape, width)) for name, shape in shapes.items()]


def levels(model: nn.Module, width: int) -> dict[str, str]:
    """The activations at which the network's whole state can be read, in order, each with its title.

    For the encoder: the embedding, and the stream after each attention and after each layer.
    """
    if isinstance(model, Encoder):
        titles = {"embedding": "embedding"}
        for i in range(len(model.layers)):
            titles[f"layers.{i}.normed1"] = f"after attention {i}"
            titles[f"layers.{i}.normed2"] = f"after layer {i}"
        return titles
    found = {site.name: site.name for site in sites(model, width) if site.level}
    if not found:
        raise DoesNotApply(
            f"{type(model).__name__} names no activation with one vector a cell: pass values that are to be "
            "looked at through hardgap.nn.encoder.Named"
        )
    return found


def by_cell(value: Tensor, cell_axis: int) -> Tensor:
    """An activation as [rows, cells, P]."""
    return value.movedim(cell_axis, 1).flatten(2) if value.dim() > 2 else value.unsqueeze(-1)


def level_values(model: nn.Module, cells_BW: Tensor) -> dict[str, NDArray[np.float32]]:
    """The state at each level, [rows, cells, P], by name."""
    width = cells_BW.shape[1]
    names = levels(model, width)
    axes = {site.name: site.cell_axis for site in sites(model, width)}
    values = record(model, cells_BW, list(names))
    return {name: by_cell(value, axes[name] or 1).cpu().numpy() for name, value in values.items()}


def _cell_axis(model: nn.Module, name: str, shape: tuple[int, ...], width: int) -> int | None:
    if isinstance(model, Conv):
        return len(shape) - 1
    if name.rpartition(".")[2] in _HEADED and len(shape) == 4 and shape[2] == width:
        return 2
    axes = [axis for axis in range(1, len(shape)) if shape[axis] == width]
    return axes[0] if axes else None


def _pieces(cells_BW: Tensor) -> tuple[Tensor, ...]:
    return torch.split(cells_BW, max(1, CELLS_PER_PIECE // cells_BW.shape[1]))
