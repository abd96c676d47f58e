"""Theorem 14 as weights: one block of the trained `Encoder` that computes any local rule (paper, Appendix A.2).

The residual stream is a row of antisymmetric pairs (a, -a), so every LayerNorm only rescales it:

    cells, left to right (2r+1 pairs) | position on a circle (2 pairs) | readout (1 pair)

A cell's own bit enters as ±1 in the centre pair. One attention head an offset looks at the position code alone
and copies that neighbour's bit into its pair. One hidden unit a pattern fires exactly on its pattern. The
readout pair takes the rule's output, and the linear readout turns it into a logit.

For radius 1 this is the paper's block: 12 dimensions, 2 heads, 8 hidden units. Beyond the paper: any radius,
and `compact`, which keeps only the hidden units of the rarer output and a bias (the paper's 4 for Rule 150).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import torch
from torch import Tensor

from hardgap.core.errors import BadInput
from hardgap.nn.encoder import Encoder
from hardgap.nn.spec import EncoderSpec
from hardgap.worlds.automaton.rule import Rule

EPSILON = 1e-5  # of the encoder's LayerNorm
SHARPNESS = 30.0  # by how much a head's target outscores the runner-up: about 1e-13 of the weight leaks
LOGIT = 10.0  # the size of the logits in exact arithmetic

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Construction:
    """A rule (or several, one a block) and the network that computes it."""

    rules: tuple[Rule, ...]
    width: int
    spec: EncoderSpec
    model: Encoder

    @property
    def radius(self) -> int:
        return self.rules[0].radius

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters())


@dataclass(frozen=True)
class PositionCode:
    """A position as a unit vector read from some coordinates, with a matrix that turns it to a neighbour's.

    `gap` is by how much a vector's product with itself exceeds that with any other position.
    """

    vectors: Tensor  # [width, size]
    coordinates: list[int]  # where the vectors stand in the residual stream; minus them stands in `mirrors`
    mirrors: list[int]
    shift: Tensor  # [size, size], from position i's vector to position i+1's
    gap: float

    def write(self, weights: Weights) -> None:
        weights["positions"][:, self.coordinates] = self.vectors
        weights["positions"][:, self.mirrors] = -self.vectors


def circle_code(width: int, first: int) -> PositionCode:
    """The paper's circle: (cos, sin) of 2πj/W, in two pairs from coordinate `first` on."""
    angles = 2 * pi * torch.arange(width, dtype=torch.float64) / width
    turn = 2 * pi / width
    return PositionCode(
        vectors=torch.stack([angles.cos(), angles.sin()], dim=1),
        coordinates=[first, first + 2],
        mirrors=[first + 1, first + 3],
        shift=torch.tensor([[cos(turn), -sin(turn)], [sin(turn), cos(turn)]], dtype=torch.float64),
        gap=2 * sin(pi / width) ** 2 if width > 1 else 1.0,  # 1 - cos, without cancellation
    )


def minimal_spec(radius: int, *, ffn: int | None = None) -> EncoderSpec:
    """The smallest encoder of one block that the construction fits into: for radius 1 12, 2 and 8."""
    heads, pairs = 2 * radius, 2 * radius + 4
    dim = -(-2 * pairs // heads) * heads  # whole heads; 24 for radius 3, where 20 would do without
    return EncoderSpec(dim=dim, heads=heads, layers=1, ffn=ffn or 1 << (2 * radius + 1))


def construct(
    rule: Rule,
    width: int,
    *,
    spec: EncoderSpec | None = None,
    compact: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Construction:
    """The encoder that computes `rule` on rows of `width` cells, exactly.

    `spec` asks for a larger network (the paper's own is `EncoderSpec()`); unused dimensions, heads, hidden
    units stay silent, and blocks after the first pass everything on.
    """
    detected = detected_patterns(rule) if compact else list(range(rule.patterns))
    spec = spec or minimal_spec(rule.radius, ffn=max(1, len(detected)))
    cells = 2 * rule.radius + 1
    check_fits(spec, width, dim=2 * cells + 6, heads=2 * rule.radius, ffn=len(detected))
    weights = blank(spec, width)
    code = circle_code(width, first=2 * cells)
    readout = 2 * cells + 4

    embed_cell(weights, pair=rule.radius)
    code.write(weights)
    for head, offset in enumerate(offsets(rule.radius)):
        route(weights, spec, code, layer=0, head=head, offset=offset, source=rule.radius)
    scale = norm_scale(2 * cells + 2, spec.dim)  # all cells ±1, the position a unit vector, each twice
    write_detectors(weights, layer=0, cells=cells, patterns=detected, level=scale)
    _write_outputs(weights, rule, detected, readout, compact)
    size = _readout_size(spec, total=scale**2 * (2 * cells + 2), pair=scale)
    _write_readout(weights, rule, readout, size, compact)
    return Construction((rule,), width, spec, to_encoder(weights, spec, width, dtype))


def offsets(radius: int) -> list[int]:
    """The neighbours that heads fetch, left to right; the centre needs none."""
    return [offset for offset in range(-radius, radius + 1) if offset]


def detected_patterns(rule: Rule) -> list[int]:
    """The patterns with the rarer output (with output 1 if neither is rarer).

    >>> detected_patterns(Rule(1, 150))  # 100, 010, 001 and 111
    [1, 2, 4, 7]
    """
    rare = int(2 * int(rule.table.sum()) <= rule.patterns)
    return [p for p in range(rule.patterns) if rule.table[p] == rare]


def blank(spec: EncoderSpec, width: int) -> Weights:
    """All weights zero, all LayerNorm gains one: every block only rescales."""
    shapes = {name: p.shape for name, p in _encoder(spec, width).named_parameters()}
    gains = ("norm1.weight", "norm2.weight")
    return {
        name: (torch.ones if name.endswith(gains) else torch.zeros)(shape, dtype=torch.float64)
        for name, shape in shapes.items()
    }


def _encoder(spec: EncoderSpec, width: int) -> Encoder:
    with torch.random.fork_rng(devices=[]):  # its random weights are overwritten: leave the global generator alone
        return Encoder(width, **spec.model_dump(exclude={"kind"}))


def to_encoder(weights: Weights, spec: EncoderSpec, width: int, dtype: torch.dtype) -> Encoder:
    """The weights in the class that is trained, ready to answer and to be trained on."""
    model = _encoder(spec, width).to(dtype)
    model.load_state_dict(weights)
    return model.eval()


def embed_cell(weights: Weights, pair: int) -> None:
    """A bit x becomes 2x-1 in the given pair."""
    for coordinate, sign in ((2 * pair, 1.0), (2 * pair + 1, -1.0)):
        weights["embed.weight"][coordinate, 0] = 2 * sign
        weights["embed.bias"][coordinate] = -sign


def route(
    weights: Weights,
    spec: EncoderSpec,
    code: PositionCode,
    *,
    layer: int,
    head: int,
    offset: int,
    source: int,
    code_size: float = 1.0,
) -> None:
    """Let a head copy the pair `source` of the cell at `offset` into that neighbour's own pair.

    Queries and keys read the position code alone, so the routing is the same for every row. `code_size` is
    the length of the position vector where it enters this layer.
    """
    size = spec.dim // spec.heads
    prefix = f"layers.{layer}.attention."
    qkv, output = weights[prefix + "qkv.weight"], weights[prefix + "output.weight"]
    gain = sqrt(SHARPNESS * sqrt(size) / code.gap) / code_size
    rows = head * size + torch.arange(len(code.coordinates))
    turned = torch.linalg.matrix_power(code.shift if offset > 0 else code.shift.T, abs(offset))
    qkv[rows[:, None], code.coordinates] = gain * turned
    qkv[spec.dim + rows, code.coordinates] = gain
    qkv[2 * spec.dim + head * size, 2 * source] = 1.0
    target = 2 * (source + offset)
    output[target, head * size] = 1.0
    output[target + 1, head * size] = -1.0


def norm_scale(total: float, dim: int) -> float:
    """By what LayerNorm multiplies a mean-free vector whose squares sum to `total`."""
    return 1 / sqrt(total / dim + EPSILON)


def write_detectors(
    weights: Weights, *, layer: int, cells: int, patterns: list[int], level: float, first_pair: int = 0
) -> None:
    """Hidden unit i fires, with `level`, exactly when the cells (each ±level) spell patterns[i]."""
    expand, bias = (weights[f"layers.{layer}.ffn.expand.{part}"] for part in ("weight", "bias"))
    for unit, pattern in enumerate(patterns):
        for cell in range(cells):
            expand[unit, 2 * (first_pair + cell)] = 1.0 if pattern >> (cells - 1 - cell) & 1 else -1.0
        bias[unit] = -(cells - 1) * level


def _write_outputs(weights: Weights, rule: Rule, detected: list[int], readout: int, compact: bool) -> None:
    """A unit that fires moves the readout pair by its activation, up for output 1 and down for 0."""
    contract = weights["layers.0.ffn.contract.weight"]
    for unit, pattern in enumerate(detected):
        sign = 1.0 if compact or rule.table[pattern] else -1.0
        contract[readout, unit], contract[readout + 1, unit] = sign, -sign


def _readout_size(spec: EncoderSpec, *, total: float, pair: float) -> float:
    """The readout pair's size after the last LayerNorm, when a detector has fired."""
    total += 2 * pair**2
    for _ in range(2 * spec.layers - 1):  # the first block's second norm, then two a block
        scale = norm_scale(total, spec.dim)
        total, pair = total * scale**2, pair * scale
    return pair


def _write_readout(weights: Weights, rule: Rule, readout: int, size: float, compact: bool) -> None:
    """Full: logits ±LOGIT. Compact: 0 or a fired pair, so the bias sits half-way below (or above)."""
    sign = -1.0 if compact and 2 * int(rule.table.sum()) > rule.patterns else 1.0
    gain = (2 if compact else 1) * sign * LOGIT / (2 * size)
    weights["readout.weight"][0, readout], weights["readout.weight"][0, readout + 1] = gain, -gain
    weights["readout.bias"][0] = -sign * LOGIT if compact else 0.0


def check_fits(spec: EncoderSpec, width: int, **needed: int) -> None:
    for name, least in needed.items():
        if getattr(spec, name) < least:
            raise BadInput(f"{name} {getattr(spec, name)} is too small for this construction: it needs {least}")
    if width < 1:
        raise BadInput(f"width {width} is not possible: give 1 or more")
    if spec.dim // spec.heads < 2:
        raise BadInput(f"heads {spec.heads} leave {spec.dim // spec.heads} dimension each: a head needs 2")
