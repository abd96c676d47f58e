"""Rules stacked in depth: block t applies rule t to what block t-1 left (paper, Appendix A.3).

After every block the stream is again (position, ±state), the neighbours' pairs cleared, so blocks compose.
The paper's layout uses a signed one-hot position: 2W+6 dimensions, 2 heads and 14 hidden units for radius 1.
Beyond the paper, `code="circle"` does it in 10 dimensions at any width, and for any radius.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch

from hardgap.core.errors import BadInput
from hardgap.nn.spec import EncoderSpec
from hardgap.theory.construction import (
    LOGIT,
    Construction,
    PositionCode,
    Weights,
    blank,
    check_fits,
    circle_code,
    embed_cell,
    norm_scale,
    offsets,
    route,
    to_encoder,
    write_detectors,
)
from hardgap.worlds.automaton.rule import Rule

Code = Literal["one-hot", "circle"]
# A new state is written three times as large as the position code. LayerNorm then damps a relative error of
# the state by 1 + 3² = 10, more than the detectors amplify it (2r+1 times, r ≤ 3), so any depth is stable.
STATE_TO_POSITION = 3.0


def one_hot_code(width: int) -> PositionCode:
    """The paper's signed one-hot code: e_j in the first W coordinates, -e_j in the next W."""
    eye = torch.eye(width, dtype=torch.float64)
    return PositionCode(
        vectors=eye,
        coordinates=list(range(width)),
        mirrors=list(range(width, 2 * width)),
        shift=eye.roll(1, dims=0),  # row i+1 of the product reads entry i
        gap=1.0,
    )


def composed_spec(radius: int, width: int, depth: int, code: Code) -> EncoderSpec:
    """The smallest encoder for a composition: 2W+6, 2 and 14 for radius 1 and the paper's code."""
    cells, heads = 2 * radius + 1, 2 * radius
    position = 2 * width if code == "one-hot" else 4
    dim = -(-(position + 2 * cells) // heads) * heads
    if code == "one-hot":  # a head must hold a whole position vector
        dim = max(dim, heads * width)
    return EncoderSpec(dim=dim, heads=heads, layers=depth, ffn=(1 << cells) + 2 * cells)


def compose(
    rules: Sequence[Rule], width: int, *, code: Code = "one-hot", spec: EncoderSpec | None = None
) -> Construction:
    """The encoder whose block t applies rules[t]: the logits are those of the last rule's output."""
    radius = _common_radius(rules)
    needed = composed_spec(radius, width, len(rules), code)
    spec = spec or needed
    check_fits(spec, width, dim=needed.dim, heads=needed.heads, ffn=needed.ffn, layers=needed.layers)
    first = width if code == "one-hot" else 0  # the pair of the leftmost cell
    cells = 2 * radius + 1
    position = one_hot_code(width) if code == "one-hot" else circle_code(width, first=2 * cells)
    weights = blank(spec, width)
    embed_cell(weights, pair=first + radius)
    position.write(weights)

    state, where = 1.0, 1.0  # the sizes of the state and of the position code where they enter a block
    for layer, rule in enumerate(rules):
        for head, offset in enumerate(offsets(radius)):
            route(
                weights, spec, position, layer=layer, head=head, offset=offset, source=first + radius, code_size=where
            )
        scale = norm_scale(2 * cells * state**2 + 2 * where**2, spec.dim)
        state, where = state * scale, where * scale
        gain = STATE_TO_POSITION * where / state
        _write_update(weights, rule, layer=layer, first=first, level=state, gain=gain)
        state *= gain
        scale = norm_scale(2 * state**2 + 2 * where**2, spec.dim)
        state, where = state * scale, where * scale
    _write_readout(weights, first + radius, _after_idle_blocks(state, where, spec, len(rules)))
    return Construction(tuple(rules), width, spec, to_encoder(weights, spec, width, torch.float32))


def _common_radius(rules: Sequence[Rule]) -> int:
    radii = {rule.radius for rule in rules}
    if len(radii) != 1:
        raise BadInput(f"rules of radius {sorted(radii)} cannot be composed: give at least one, all of one radius")
    return radii.pop()


def _write_update(weights: Weights, rule: Rule, *, layer: int, first: int, level: float, gain: float) -> None:
    """Detectors for every pattern, then ReLU(z) and ReLU(-z) of every cell to clear it (paper's width 14)."""
    cells, prefix = 2 * rule.radius + 1, f"layers.{layer}.ffn."
    write_detectors(
        weights, layer=layer, cells=cells, patterns=list(range(rule.patterns)), level=level, first_pair=first
    )
    expand, contract = weights[prefix + "expand.weight"], weights[prefix + "contract.weight"]
    state = 2 * (first + rule.radius)
    outputs = torch.from_numpy(2.0 * rule.table - 1)
    contract[state, : rule.patterns] = gain * outputs
    contract[state + 1, : rule.patterns] = -gain * outputs
    for cell in range(cells):
        coordinate, unit = 2 * (first + cell), rule.patterns + 2 * cell
        expand[unit, coordinate], expand[unit + 1, coordinate] = 1.0, -1.0
        contract[coordinate, unit], contract[coordinate + 1, unit] = -1.0, 1.0
        contract[coordinate, unit + 1], contract[coordinate + 1, unit + 1] = 1.0, -1.0


def _after_idle_blocks(state: float, where: float, spec: EncoderSpec, used: int) -> float:
    for _ in range(2 * (spec.layers - used)):
        scale = norm_scale(2 * state**2 + 2 * where**2, spec.dim)
        state, where = state * scale, where * scale
    return state


def _write_readout(weights: Weights, pair: int, size: float) -> None:
    weights["readout.weight"][0, 2 * pair] = LOGIT / (2 * size)
    weights["readout.weight"][0, 2 * pair + 1] = -LOGIT / (2 * size)
