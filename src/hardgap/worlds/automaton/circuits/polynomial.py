"""The logit as a polynomial of the neighbourhood's bits (paper §4.4, Appendix B).

Over 0/1 variables every function of n bits is exactly one multilinear polynomial of degree n. Its
coefficients are taken in each context and averaged; the spread is their standard deviation over contexts.

Whether it is XOR is decided in the parity basis, where a function is a sum of parities of subsets of the
cells and XOR is the single parity of all of them. The criterion is `PARITY_SHARE`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import nn

from hardgap.worlds.automaton.circuits.cells import Finding
from hardgap.worlds.automaton.circuits.contexts import CONTEXTS, pattern_grid
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule, halves

PARITY_SHARE = 0.9
"""XOR is recognised if at least this share of the variance of the mean logits over patterns lies on the
parity of all cells, and every mean logit has the sign that this parity gives it."""

Structure = Literal["XOR", "XNOR", "the rule, not XOR", "another function"]


@dataclass(frozen=True)
class Term:
    """One monomial; `cells` is empty for the constant."""

    cells: tuple[str, ...]
    coefficient: float
    spread: float

    @property
    def name(self) -> str:
        return "·".join(self.cells) or "1"


@dataclass(frozen=True)
class Polynomial(Finding):
    """The complete polynomial, how well it describes the logit, and how its variance is distributed.

    terms            low degree first, cells left to right
    rmse, explained  of the averaged polynomial, over all contexts and patterns
    degree_shares    share of the variance of the mean logits on parities of 1, 2, … cells; the first is
                     what an additive approximation can reach
    parity_share     the share on the parity of all cells
    rule_share       the share explained by the true rule's ±1 table (squared correlation)
    signs_right      patterns whose mean logit has the sign of the true output
    """

    terms: tuple[Term, ...]
    contexts: int
    rmse: float
    explained: float
    degree_shares: tuple[float, ...]
    parity_share: float
    rule_share: float
    signs_right: int
    structure: Structure

    def as_dict(self) -> dict[str, Any]:
        data = super().as_dict()
        named = [{"name": term.name} | plain for term, plain in zip(self.terms, data["terms"], strict=True)]
        return data | {"terms": named}


def fit_polynomial(
    model: nn.Module, gap: Gap, rows: NDArray[np.uint8], *, contexts: int = CONTEXTS, seed: int = 0
) -> Polynomial:
    """The polynomial of this network's logit over the rule's neighbourhood."""
    return polynomial_of(pattern_grid(model, gap, rows, contexts=contexts, seed=seed).logits, gap.rule)


def polynomial_of(logits: NDArray[np.float64], rule: Rule) -> Polynomial:
    """The polynomial of logits [contexts, patterns]; `rule` gives the cells' names and the true table."""
    coefficients = moebius(logits)
    means = logits.mean(axis=0)
    residual = logits - means
    total = float(np.square(logits - logits.mean()).sum())
    shares = parity_shares(means)
    sizes = np.bitwise_count(np.arange(rule.patterns))
    cells = 2 * rule.radius + 1
    return Polynomial(
        terms=_terms(coefficients, rule),
        contexts=len(logits),
        rmse=float(np.sqrt(np.square(residual).mean())),
        explained=1.0 - float(np.square(residual).sum()) / total if total else 1.0,
        degree_shares=tuple(float(shares[sizes == degree].sum()) for degree in range(1, cells + 1)),
        parity_share=float(shares[-1]),
        rule_share=_squared_correlation(means, rule.table),
        signs_right=int(((means > 0) == rule.table).sum()),
        structure=_structure(means, float(shares[-1]), rule),
    )


def moebius(values: ArrayLike) -> NDArray[np.float64]:
    """The coefficient of every monomial, indexed by the pattern in which exactly its cells are 1.

    >>> moebius([0, 1, 1, 0]).tolist()  # XOR of two bits is C + L - 2LC
    [0.0, 1.0, 1.0, -2.0]
    """
    coefficients = np.array(values, dtype=np.float64)
    for low, high in halves(coefficients):
        high -= low
    return coefficients


def parity_shares(values: ArrayLike) -> NDArray[np.float64]:
    """The share of the variance of `values` on each parity, indexed like patterns; the constant has none.

    >>> parity_shares([-1, 1, 1, -1]).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    spectrum = np.array(values, dtype=np.float64)
    for low, high in halves(spectrum):
        low[:], high[:] = low + high, low - high
    energy = np.square(spectrum)
    energy[0] = 0.0
    return energy / energy.sum() if energy.any() else energy


def _terms(coefficients: NDArray[np.float64], rule: Rule) -> tuple[Term, ...]:
    chosen = [
        [cell for cell, bit in zip(rule.cells, rule.pattern_text(p), strict=True) if bit == "1"]
        for p in range(rule.patterns)
    ]
    order = sorted(range(rule.patterns), key=lambda p: (len(chosen[p]), -p))
    means, spreads = coefficients.mean(axis=0), coefficients.std(axis=0)
    return tuple(Term(tuple(chosen[p]), float(means[p]), float(spreads[p])) for p in order)


def _structure(means: NDArray[np.float64], parity_share: float, rule: Rule) -> Structure:
    odd = np.bitwise_count(np.arange(rule.patterns)) % 2
    positive = means > 0
    if parity_share >= PARITY_SHARE and (positive == odd).all():
        return "XOR"
    if parity_share >= PARITY_SHARE and (positive != odd).all():
        return "XNOR"
    return "the rule, not XOR" if (positive == rule.table).all() else "another function"


def _squared_correlation(means: NDArray[np.float64], table: NDArray[np.uint8]) -> float:
    if means.std() == 0 or table.std() == 0:
        return 0.0
    return float(np.corrcoef(means, table)[0, 1] ** 2)
