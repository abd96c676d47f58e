"""The lemmas behind the construction (paper, Appendix A.2), on the extreme points of their hypotheses.

Each hypothesis is a box or a cone and each conclusion linear in it, so corners and extreme rays decide.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log, pi, sin

import torch

from hardgap.theory.statement import Statement


def lemma_routing(widths: range = range(3, 129)) -> Statement:
    """For a mass ρ the scale A = ln((W-1)ρ/(1-ρ)) / gap suffices; checked at the softmax itself."""
    masses = (0.5, 0.9, 1 - 1e-6, 1 - 1e-12)
    short = [(w, rho) for w in widths for rho in masses for tau in (-1, 1) if circle_mass(w, rho, tau) < rho - 1e-15]
    return Statement(
        name="Lemma (routing)",
        claim="a softmax head on the circle code can put any mass ρ < 1 on a neighbour, at every position",
        cases=f"W = {widths[0]} … {widths[-1]}, both offsets, ρ up to 1 - 1e-12, every position",
        as_far_as=f"width {widths[-1]}",
        holds=not short,
        detail=f"missed at (W, ρ) = {short[0]}" if short else "with score scale ln((W-1)ρ/(1-ρ)) / (1 - cos 2π/W)",
    )


def circle_mass(width: int, rho: float, offset: int) -> float:
    """The least attention on the neighbour when the head's scale is chosen for ρ."""
    gap = 2 * sin(pi / width) ** 2
    scale = (log(width - 1) + log(rho) - log(1 - rho)) / gap
    here = torch.arange(width)
    distance = here - ((here + offset) % width)[:, None]
    # cos - 1 = -2 sin², which keeps the small gaps that cos would cancel
    scores = -2 * scale * torch.sin(pi * distance.double() / width) ** 2
    return float(scores.softmax(-1)[here, (here + offset) % width].min())


def lemma_margin(bound_factor: int = 1) -> Statement:
    """The claim is linear in each of: the values, the weights, ρ, and (m, M); so corners decide it.

    Values: a positive target at m or M, any other at ±m or ±M. Weights: all of the rest on one value, and the
    target's share at ρ or 1. ρ: 0 and 1. (m, M): the rays (0, 1) and (1, 1) of the cone 0 ≤ m ≤ M.
    `bound_factor` above 1 claims a larger margin, to see the check fail.
    """
    failures, cases, attained = 0, 0, False
    for rho, (m, big) in product((0, 1), ((0, 1), (1, 1))):
        for target, other, share in product((m, big), (-big, -m, m, big), (rho, 1)):
            slack = share * target + (1 - share) * other - bound_factor * (rho * m - (1 - rho) * big)
            cases, failures, attained = cases + 1, failures + (slack < 0), attained or slack == 0
    return Statement(
        name="Lemma (margins)",
        claim="averages with mass ρ on the target keep its sign and a margin ρm - (1-ρ)M, if that is positive",
        cases=f"{cases} corners of a claim that is linear in the values, in the weights, in ρ and in (m, M)",
        holds=failures == 0,
        detail=f"{failures} exceptions" if failures else f"the bound is {'attained' if attained else 'not attained'}",
    )


def lemma_layer_norm(dims: tuple[int, ...] = (12, 16, 64)) -> Statement:
    """LayerNorm of antisymmetric pairs is the vector times a positive number, also in float32."""
    generator, worst = torch.Generator().manual_seed(0), 0.0
    for dim in dims:
        half = torch.randn(256, dim // 2, generator=generator)
        vector = torch.stack([half, -half], dim=-1).flatten(1)
        normed = torch.nn.functional.layer_norm(vector, (dim,))
        scale = (vector.square().mean(1, keepdim=True) + 1e-5).rsqrt()
        worst = max(worst, float((normed - scale * vector).abs().max()))
    return Statement(
        name="Lemma (LayerNorm)",
        claim="LayerNorm multiplies antisymmetric pairs by (mean square + ε)^(-1/2), a positive number",
        cases=f"the mean of pairs (a, -a) is 0 identically; {256 * len(dims)} vectors through torch, {dims} dimensions",
        holds=worst < 1e-5,
        detail=f"largest difference in float32 {worst:.0e}",
    )


def detector_extremes(cells: int) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The signed sums Σ σ_k z_k at the corners of the box, as a·m + b·M: of the matching unit, and of others.

    Corners have |z_k| in {m, M}; sums are written (a, b) because they are linear in m and M.
    """
    active: set[tuple[int, int]] = set()
    silent: set[tuple[int, int]] = set()
    for bits, units in product(product((-1, 1), repeat=cells), repeat=2):
        for sizes in product((0, 1), repeat=cells):  # 0: m, 1: M
            signs = [b * u for b, u in zip(bits, units, strict=True)]
            pair = tuple(sum(s for s, size in zip(signs, sizes, strict=True) if size == kind) for kind in (0, 1))
            (active if bits == units else silent).add((pair[0], pair[1]))
    return active, silent


def lemma_detectors(cells: tuple[int, ...] = (3, 5), ratio: Fraction | None = None) -> Statement:
    """On the cone 0 < m ≤ M with extreme rays (m, M) = (0, 1) and (1, 1): n·m bounds active sums from below,
    (n-1)·M - m bounds silent ones from above. A threshold fits between them if and only if M < m·(n+1)/(n-1).

    `ratio` overrides the ratio M/m at which a threshold must exist, to see the check fail.
    """
    failures = []
    for n in cells:
        active, silent = detector_extremes(n)
        rays = ((0, 1), (1, 1))
        low = all((a - n) * m + b * big >= 0 for a, b in active for m, big in rays)
        high = all((-1 - a) * m + (n - 1 - b) * big >= 0 for a, b in silent for m, big in rays)
        limit = ratio or Fraction(n + 1, n - 1) - Fraction(1, 10**6)
        room = min(a + b * limit for a, b in active) - max(a + b * limit for a, b in silent)
        if not (low and high and room > 0):
            failures.append(n)
    return Statement(
        name="Lemma (detectors)",
        claim="if 0 < m ≤ M < 2m, 2M-m < θ < 3m, exactly the unit of the cells' own pattern fires, with ≥ 3m-θ",
        cases=f"all patterns × units × corners of the box × rays of the cone, {' and '.join(map(str, cells))} cells",
        holds=not failures,
        detail=f"no threshold for {failures} cells" if failures else "for n cells the condition is M < m·(n+1)/(n-1)",
    )


def lemma_update_and_clear(clearing: int = -1) -> Statement:
    """The 14 hidden units of the depth-T construction, written down: eight detectors, and ±z of each of three cells.

    The units are linear on each orthant and z = ReLU(z) - ReLU(-z) for every z, so the corners of the boxes
    z = ±m, ±M decide. Integers: m = 4, M = 7, θ = 11, B = 1. `clearing` other than -1 leaves scratch, to see it fail.
    """
    m, big, threshold = 4, 7, 11
    signs = list(product((-1, 1), repeat=3))
    failures = cases = 0
    for bits in signs:
        for sizes in product((m, big), repeat=3):
            z = [sign * size for sign, size in zip(bits, sizes, strict=True)]
            detectors = [max(0, sum(s * v for s, v in zip(sign, z, strict=True)) - threshold) for sign in signs]
            copied = [max(0, value) - max(0, -value) for value in z]
            left = [value + clearing * copy for value, copy in zip(z, copied, strict=True)]
            for rule in range(256):
                logit = sum((2 * (rule >> unit & 1) - 1) * fired for unit, fired in enumerate(detectors))
                right = (logit > 0) == bool(rule >> signs.index(bits) & 1) and logit != 0
                cases, failures = cases + 1, failures + (not right or any(left))
    return Statement(
        name="Lemma (update and clear)",
        claim="14 hidden units write the rule's output into the state pair and clear both scratch pairs, exactly",
        cases=f"{cases:,}: 256 rules, 8 patterns, 8 corners of the box m = {m}, M = {big}, in integers",
        holds=failures == 0,
        detail=f"{failures} exceptions" if failures else "state and scratch are zero before the output is added",
    )
