"""Theorem 14, its corollary and the depth-T proposition, checked on the weights themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from hardgap.nn.encoder import Layer
from hardgap.nn.spec import EncoderSpec
from hardgap.theory.composition import Code, compose
from hardgap.theory.construction import Construction, construct
from hardgap.theory.limits import guaranteed_width, measured_limit, routing_curve
from hardgap.theory.statement import Statement
from hardgap.theory.verification import (
    Check,
    activation,
    certified_margin,
    check_rows,
    check_widths,
    detectors_fire,
    every_row,
    random_rows,
)
from hardgap.worlds.automaton.rollout import patterns_of
from hardgap.worlds.automaton.rule import Rule, parse_rule

PAPER = EncoderSpec()
ALL = [Rule(1, number) for number in range(256)]


def summary(checks: Sequence[Check]) -> str:
    wrong, margin = sum(c.wrong for c in checks), min(c.margin for c in checks)
    return f"{wrong} wrong cells, smallest logit margin {margin:.5f}"


def theorem_14(widths: Sequence[int] = range(3, 13), tables: Sequence[Rule] | None = None) -> Statement:
    """All rules at once: only the last linear maps differ, and they see one cell's vector at a time.

    So the vectors that reach the FFN are collected over every row, and each distinct one is answered by every
    rule. `tables` are the 256 rules whose weights are checked against the true ones (for tests).
    """
    margins = [all_rules_margin(width, every_row(width), tables) for width in widths]
    margins.append(all_rules_margin(101, random_rows(101, 128, seed=0), tables))
    bound = certified_margin(construct(Rule(1, 110), 101))
    return Statement(
        name="Theorem 14",
        claim="one post-LN block (12 dimensions, 2 heads, 8 hidden units) computes each radius-1 rule exactly",
        cases=f"256 rules × every row of widths {widths[0]} … {widths[-1]}, 128 random rows at 101; float32",
        as_far_as=f"width {widths[-1]}",
        holds=min(margins) > 0,
        detail=f"smallest logit margin {min(margins):.5f}; before rounding {bound:.4f} on all 2^101 rows of width 101",
    )


def all_rules_margin(width: int, rows: NDArray[np.uint8], tables: Sequence[Rule] | None = None) -> float:
    """The smallest margin over all 256 rules on these rows; negative if any cell of any rule is wrong."""
    construction = construct(Rule(1, 0), width)
    vectors = activation(construction, rows, "layers.0.normed1").flatten(0, 1)
    patterns = torch.from_numpy(patterns_of(rows, 1).astype(np.int64)).flatten()
    distinct = torch.unique(torch.cat([vectors, patterns[:, None].to(vectors.dtype)], dim=1), dim=0)
    vectors, patterns = distinct[:, :-1], distinct[:, -1].long()
    return min(
        _answered(construction, built, vectors, _signs(true)[patterns])
        for true, built in zip(ALL, tables or ALL, strict=True)
    )


def _signs(rule: Rule) -> torch.Tensor:
    return torch.from_numpy(2 * rule.table.astype(np.float32) - 1)


def _answered(construction: Construction, rule: Rule, vectors: torch.Tensor, targets: torch.Tensor) -> float:
    """The least margin when the block's output weights are those of `rule` (rows 10 and 11: the readout pair)."""
    layer, readout = cast(Layer, construction.model.layers[0]), construction.model.readout
    with torch.no_grad():
        layer.ffn.contract.weight[10] = _signs(rule)
        layer.ffn.contract.weight[11] = -_signs(rule)
        logits = readout(layer.norm2(vectors + layer.ffn(vectors))).squeeze(-1)
    return float((logits * targets).nan_to_num(nan=-torch.inf).min())


def corollary_rule_150() -> Statement:
    rule = parse_rule("150")
    construction = construct(rule, 101, compact=True)
    checks = check_widths(lambda width: construct(rule, width, compact=True))
    bias = construction.model.readout.bias.item()
    return Statement(
        name="Corollary (Rule 150)",
        claim="4 hidden units, for 100, 010, 001 and 111, and a negative readout bias compute Rule 150 exactly",
        cases="every row of widths 3 … 12, 128 random rows at 101",
        as_far_as="width 12",
        holds=all(c.exact for c in checks) and bias < 0 and construction.spec.ffn == 4,
        detail=f"{summary(checks)}; readout bias {bias:g}",
    )


def theorem_14_padded() -> Statement:
    names = ("150", "30", "110", "D")
    checks = [check for name in names for check in check_widths(_builder(name, PAPER), (3, 8, 10))]
    return Statement(
        name="Theorem 14 (a fortiori)",
        claim="the same construction sits in the paper's own architecture: 64 dimensions, 4 heads, 2 layers, FFN 128",
        cases="Rules 150, 30, 110 and D: every row of widths 3, 8 and 10, 128 random rows at 101",
        as_far_as="width 10, four rules",
        holds=all(c.exact for c in checks),
        detail=summary(checks),
    )


def _builder(name: str, spec: EncoderSpec | None = None) -> Callable[[int], Construction]:
    return lambda width: construct(parse_rule(name), width, spec=spec)


def any_radius() -> Statement:
    names = ("D", "G", "L3 ^ (C | R3)")
    checks = [check for name in names for check in check_widths(_builder(name))]
    fire = detectors_fire(_builder("D")(10), every_row(10))
    return Statement(
        name="Theorem 14, any radius",
        claim="2r heads, 4r+8 dimensions (24 for r = 3, so that heads divide them) and 2^(2r+1) hidden units"
        " compute any rule of radius r",
        cases="Rules D, G and one of radius 3: every row of widths 3 … 12, random rows at 101; all 32 detectors",
        as_far_as="width 12, three rules",
        holds=all(c.exact for c in checks) and fire,
        detail=summary(checks),
        published=False,
    )


def proposition_depth(code: Code = "one-hot", seed: int = 0) -> Statement:
    published = code == "one-hot"
    generator, checks, shapes = np.random.default_rng(seed), [], set()
    for depth in range(1, 6):
        rules = [Rule(1, int(number)) for number in generator.integers(0, 256, depth)]
        for width in range(3, 11):
            construction = compose(rules, width, code=code)
            checks.append(check_rows(construction, every_row(width), exhaustive=True))
            position = 2 * width if published else 4
            shapes.add((construction.spec.dim - position, construction.spec.heads, construction.spec.ffn))
    dim = "2W+6" if published else "10"
    return Statement(
        name="Proposition (depth T)" if published else "Depth T in 10 dimensions",
        claim=f"T blocks of dimension {dim}, 2 heads and 14 hidden units apply T rules in turn, exactly",
        cases="random rules, T = 1 … 5, every row of widths 3 … 10",
        as_far_as="T = 5, width 10, random rules",
        holds=all(c.exact for c in checks) and shapes == {(6, 2, 14)},
        detail=summary(checks),
        published=published,
    )


def float_limits() -> Statement:
    lines, safe = [], True
    for dtype in (torch.float32, torch.float64):
        curve = routing_curve(dtype)
        guaranteed, measured = guaranteed_width(dtype), measured_limit(curve)
        safe &= measured >= 0.9 * guaranteed and not curve[-1].routed
        safe &= all(point.measured >= point.predicted - 1e-6 for point in curve)
        lines.append(f"{str(dtype).removeprefix('torch.')}: {guaranteed:,.0f} guaranteed, {measured:,} measured")
    return Statement(
        name="Width limits",
        claim="rounding cannot break the routing below width π/(2√u), u the unit roundoff, and does a little above",
        cases="17 widths around the prediction, up to 4,096 positions each, float32 and float64",
        holds=safe,
        detail="; ".join(lines),
        published=False,
    )
