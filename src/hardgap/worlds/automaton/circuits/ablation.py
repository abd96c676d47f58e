"""Ablation (paper §4.4, Appendix B): what is left of the answer without a layer, a sublayer or a head.

zero  the value is replaced by zeros, as in the paper
mean  by its mean over the batch at the same position: what the value says about the row is gone, but not
      its usual size, so a fall in accuracy is not just the shock of an input never seen (the control)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.nn.encoder import Encoder
from hardgap.nn.hooks import DoesNotApply, as_cells, levels, logits_of, replaced
from hardgap.worlds.automaton.circuits.cells import Finding, RightShares, Truth, shares_right, truth_of
from hardgap.worlds.automaton.gap import Gap

Kind = Literal["zero", "mean"]
KINDS: tuple[Kind, ...] = ("zero", "mean")


@dataclass(frozen=True)
class Ablation(Finding):
    """The accuracy that is left; `head` is None where the whole activation is replaced."""

    site: str
    title: str
    kind: Kind
    head: int | None
    accuracy: RightShares

    def as_dict(self) -> dict[str, Any]:
        return {"site": self.site, "title": self.title, "kind": self.kind, "head": self.head,
                **self.accuracy.as_dict()}  # fmt: skip


@dataclass(frozen=True)
class Ablations(Finding):
    """The accuracy of the whole network, and what is left after each ablation."""

    intact: RightShares
    results: tuple[Ablation, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"intact": self.intact.as_dict(), "results": [result.as_dict() for result in self.results]}


def ablate_layers(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> Ablations:
    """Remove each layer's output, and in the encoder each attention's and each feed-forward's.

    A layer's output is the stream that the next one reads, so removing it removes all that came before;
    a sublayer's output is what it adds to the stream, so removing that leaves the rest.
    """
    return _ablations(model, gap, rows, [(site, title, None) for site, title in _layer_sites(model, rows.shape[1])])


def ablate_heads(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> Ablations:
    """Remove what one attention head mixes, one head at a time."""
    if not isinstance(model, Encoder):
        raise DoesNotApply(f"head ablation needs the encoder's attention; {type(model).__name__} has no heads")
    heads: list[tuple[str, str, int | None]] = [
        (f"layers.{i}.attention.mixed", f"layer {i} head {head}", head)
        for i in range(len(model.layers))
        for head in range(head_count(model, i))
    ]
    return _ablations(model, gap, rows, heads)


def head_count(model: Encoder, layer: int) -> int:
    """How many attention heads a layer has."""
    return int(model.get_submodule(f"layers.{layer}.attention").heads)  # type: ignore[arg-type]


def _layer_sites(model: nn.Module, width: int) -> list[tuple[str, str]]:
    if not isinstance(model, Encoder):
        return list(levels(model, width).items())
    return [
        site
        for i in range(len(model.layers))
        for site in (
            (f"layers.{i}.normed2", f"layer {i}"),
            (f"layers.{i}.attention.out", f"attention {i}"),
            (f"layers.{i}.ffn.out", f"feed-forward {i}"),
        )
    ]


def _ablations(
    model: nn.Module, gap: Gap, rows: NDArray[np.uint8], sites: list[tuple[str, str, int | None]]
) -> Ablations:
    cells, truth = as_cells(model, rows), truth_of(gap, rows)
    results = tuple(
        Ablation(site, title, kind, head, _without(model, cells, truth, site, kind, head))
        for site, title, head in sites
        for kind in KINDS
    )
    return Ablations(shares_right((logits_of(model, cells) > 0).cpu().numpy(), truth), results)


def _without(model: nn.Module, cells: Tensor, truth: Truth, site: str, kind: Kind, head: int | None) -> RightShares:
    def edit(value: Tensor) -> Tensor:
        filler = torch.zeros_like(value) if kind == "zero" else value.mean(0, keepdim=True).expand_as(value)
        if head is None:
            return filler
        value = value.clone()
        value[:, head] = filler[:, head]
        return value

    with replaced(model, {site: edit}), torch.no_grad():
        logits = model(cells)  # in one piece, because the mean is over the batch
    return shares_right((logits > 0).cpu().numpy(), truth)
