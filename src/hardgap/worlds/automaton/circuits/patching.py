"""Activation patching (Appendix B): flip a neighbour, then put clean activations back, one at a time.

The corrupted row differs from the clean one in a single neighbour of the target cell, chosen so that the
rule's output there changes. Patching replaces one named activation by its clean value

everywhere  at all cells. At a level of the stream this restores the clean answer by construction; only
            parts of it (one sublayer, queries, a pattern, …) say something
target      at the target cell only: how much of the flip has arrived where the answer is given
source      at the flipped cell only: how much still sits where it entered

Recovery is (patched - corrupted) / (clean - corrupted) accuracy at the target cell. The paper gives the
word and percentages but no formula, and patches whole levels; this is the usual one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.core.errors import BadInput
from hardgap.nn.hooks import DoesNotApply, Edit, Site, as_cells, record, replaced, sites
from hardgap.worlds.automaton.circuits.cells import Finding, share, truth_of
from hardgap.worlds.automaton.gap import Gap

TARGETS = 160
"""Target cells, half of them hidden and half visible."""

Where = Literal["everywhere", "target", "source"]
PLACES: tuple[Where, ...] = ("everywhere", "target", "source")


@dataclass(frozen=True)
class Patch:
    """What putting one clean activation back does.

    recovery and its parts are None where the flip did not lower accuracy, as on the hidden cells of a run
    that answers them wrong anyway; `logit_recovery` is the same ratio of mean logits towards the clean answer.
    """

    site: str
    where: Where
    recovery: float | None
    holdout: float | None
    visible: float | None
    logit_recovery: float | None


@dataclass(frozen=True)
class Patching(Finding):
    """Accuracy at the targets, clean and corrupted, and every patch."""

    targets: int
    clean: float
    corrupted: float
    patches: tuple[Patch, ...]


@dataclass(frozen=True)
class _Pairs:
    """Clean and corrupted rows, and per row the target and the flipped cell."""

    clean: NDArray[np.uint8]
    corrupted: NDArray[np.uint8]
    target: NDArray[np.intp]
    source: NDArray[np.intp]
    answer: NDArray[np.uint8]
    hidden: NDArray[np.bool_]


def patch_activations(
    model: nn.Module, gap: Gap, rows: NDArray[np.uint8], *, targets: int = TARGETS, seed: int = 0
) -> Patching:
    """Patch every named activation, everywhere, at the target and at the source."""
    found = sites(model, rows.shape[1])
    if not found:
        raise DoesNotApply(
            f"{type(model).__name__} names no activation to patch: pass values through hardgap.nn.encoder.Named"
        )
    pairs = _pairs(gap, rows, targets, np.random.default_rng(seed))
    kept = record(model, as_cells(model, pairs.clean), [site.name for site in found])
    clean = _at_target(model, pairs.clean, pairs)
    corrupted = _at_target(model, pairs.corrupted, pairs)
    patches = []
    for site in found:
        for where in PLACES if site.cell_axis is not None else PLACES[:1]:
            with replaced(model, {site.name: _edit(kept[site.name], site, where, pairs)}):
                patched = _at_target(model, pairs.corrupted, pairs)
            patches.append(_patch(site.name, where, clean, corrupted, patched, pairs))
    right = [float(((logits > 0) == pairs.answer).mean()) for logits in (clean, corrupted)]
    return Patching(len(pairs.target), right[0], right[1], tuple(patches))


def _pairs(gap: Gap, rows: NDArray[np.uint8], targets: int, rng: np.random.Generator) -> _Pairs:
    """Targets whose output some neighbour decides, that neighbour flipped."""
    rule, truth = gap.rule, truth_of(gap, rows)
    offsets = np.array([offset for offset in range(-rule.radius, rule.radius + 1) if offset])
    masks = 1 << (rule.radius - offsets)  # the bit of a pattern at that offset; the leftmost is the highest
    decides = rule.table[np.arange(rule.patterns)[:, None] ^ masks] != rule.table[:, None]  # [patterns, offsets]
    usable = decides.any(axis=1)[truth.patterns]
    chosen = []
    for group in (truth.hidden, ~truth.hidden):
        cells = np.argwhere(group & usable)
        chosen.append(cells[rng.permutation(len(cells))[: targets // 2]])
    picked = np.concatenate(chosen)
    if not len(picked):
        raise BadInput(f"{gap.describe()}: no neighbour decides the output of any cell of these rows")
    row, target = picked.T
    scores = rng.random((len(row), len(offsets))) * decides[truth.patterns[row, target]]
    source = (target + offsets[scores.argmax(axis=1)]) % rows.shape[1]
    corrupted = rows[row].copy()
    corrupted[np.arange(len(row)), source] ^= 1
    return _Pairs(rows[row], corrupted, target, source, truth.targets[row, target], truth.hidden[row, target])


@torch.no_grad()
def _at_target(model: nn.Module, rows: NDArray[np.uint8], pairs: _Pairs) -> NDArray[np.float32]:
    logits: NDArray[np.float32] = model(as_cells(model, rows)).cpu().numpy()  # in one piece, as patches are
    return logits[np.arange(len(rows)), pairs.target]


def _edit(clean: Tensor, site: Site, where: Where, pairs: _Pairs) -> Edit:
    if where == "everywhere" or site.cell_axis is None:
        return lambda _value: clean
    axis = site.cell_axis
    cells = torch.from_numpy(pairs.target if where == "target" else pairs.source)
    rows = torch.arange(len(cells))

    def edit(value: Tensor) -> Tensor:
        value = value.clone()
        value.movedim(axis, 1)[rows, cells] = clean.movedim(axis, 1)[rows, cells]
        return value

    return edit


def _patch(
    site: str,
    where: Where,
    clean: NDArray[np.float32],
    corrupted: NDArray[np.float32],
    patched: NDArray[np.float32],
    pairs: _Pairs,
) -> Patch:
    right = [(logits > 0) == pairs.answer for logits in (clean, corrupted, patched)]
    towards = np.where(clean > 0, 1.0, -1.0)
    means = [float((logits * towards).mean()) for logits in (clean, corrupted, patched)]
    return Patch(
        site,
        where,
        _ratio(*(share(r) for r in right)),
        _ratio(*(share(r[pairs.hidden]) for r in right)),
        _ratio(*(share(r[~pairs.hidden]) for r in right)),
        _ratio(*means),
    )


def _ratio(clean: float | None, corrupted: float | None, patched: float | None) -> float | None:
    if clean is None or corrupted is None or patched is None or clean - corrupted < 0.05:
        return None
    return (patched - corrupted) / (clean - corrupted)
