"""Every number that the paper prints about Experiment 2 (§4.6 and Appendix F), in percent.

| printed | measured by |
| --- | --- |
| accuracy of each seed and condition (main table and its complete version) | `hardgap reproduce symbolic` |
| spread over all 49 pairs, seen accuracy | `hardgap reproduce symbolic/coverage` |
| baselines of seven pairs, and of all 49 together | `hardgap reproduce symbolic/baselines` |
| probes, attention, corruption, logit lens, heads, substitution | `hardgap symbolic analyse` |
"""

from __future__ import annotations

from typing import Any

from hardgap.worlds.chains.tokens import Condition

SEEDS = (42, 123, 456)
"""The paper's. Another implementation draws other numbers from them; they only name three independent runs."""
CASES = ("^|", "&L", "R^", "d|")
"""The four held-out pairs that the paper looks at in detail, in its order."""

BY_SEED: dict[str, dict[Condition, tuple[float, float, float]]] = {
    "^|": {"familiar": (70.4, 74.0, 75.2), "opaque": (66.0, 78.2, 74.8), "label-only": (28.0, 29.6, 29.6)},
    "&L": {"familiar": (50.8, 60.2, 54.8), "opaque": (67.6, 66.8, 63.2), "label-only": (13.0, 18.0, 12.6)},
    "R^": {"familiar": (30.4, 35.0, 19.2), "opaque": (23.2, 33.8, 16.8), "label-only": (8.0, 8.8, 1.6)},
    "d|": {"familiar": (37.0, 47.6, 78.6), "opaque": (36.4, 63.8, 68.8), "label-only": (19.4, 39.8, 40.6)},
}
"""Held-out accuracy on the test set at the paper's best checkpoint, one value a seed."""

NETWORK = {"^|": 73.2, "^r": 53.4, "&L": 55.3, "d|": 54.4, "R^": 28.2, "|&": 12.3, "|r": 11.6}
"""Means over three seeds of the seven pairs that are printed beside their baselines."""
PAPERS_KRR = "KRR of index ±1"
"""What the paper calls KRR, by its numbers (docs/symbolic.md): it does not say what is regressed or counted."""
TABLES_OF_CHAINS = "Learned Tables (chains)"
PAPERS_TABLES = ("Learned Tables", TABLES_OF_CHAINS, "Learned Tables (derivations)")
"""One of these is the paper's: by its words, "from the seen training chains", that of chains."""
BASELINES: dict[str, dict[str, float]] = {
    pair: {"KNN": 0.0, "MLP": 0.0, PAPERS_KRR: krr, "Oracle": 100.0} | dict.fromkeys(PAPERS_TABLES, tables)
    for pair, krr, tables in (
        ("^|", 13.8, 100.0), ("^r", 11.8, 99.6), ("&L", 0.2, 99.2), ("d|", 3.2, 99.8), ("R^", 7.2, 99.8),
        ("|&", 0.4, 100.0), ("|r", 0.2, 99.2),
    )
}  # fmt: skip
COVERAGE: dict[str, Any] = {
    "pairs": 49,
    "above": 49,
    "mean": 41.8,
    "range": (9.2, 73.2),
    "KRR mean": 4.3,
    "KRR range": (0.0, 18.2),
    "KNN range": (0.0, 0.0),
    "MLP range": (0.0, 0.0),
    "seen range": (88.0, 94.0),
}
"""Of all 49 pairs: how many are above every interpolation baseline, and means and ranges of the pairs' means."""

PROBES: dict[str, dict[tuple[str, str], float]] = {
    "^|": {("a", "op1"): 63.9, ("b", "op1"): 61.7, ("d", "op2"): 83.8, ("u", "op2"): 56.5},
    "&L": {("a", "op1"): 49.2, ("b", "op1"): 52.3, ("d", "op2"): 85.0, ("u", "op2"): 46.9},
    "R^": {("a", "op1"): 70.8, ("b", "op1"): 67.6, ("d", "op2"): 84.7, ("u", "op2"): 37.3},
    "d|": {("a", "op1"): 58.4, ("b", "op1"): 53.3, ("d", "op2"): 84.8, ("u", "op2"): 44.9},
}
"""Which operator a linear probe reads from which input position of the last encoder layer."""
ATTENTION: dict[str, dict[tuple[str, str], float]] = {
    "^|": {("e", "c"): 84.9, ("f", "c"): 74.0, ("f", "u"): 24.8},
    "&L": {("e", "c"): 57.2, ("f", "c"): 62.3, ("f", "u"): 34.9},
    "R^": {("e", "c"): 84.0, ("f", "c"): 68.4, ("f", "u"): 27.6},
    "d|": {("e", "c"): 91.2, ("f", "c"): 77.6, ("f", "u"): 19.6},
}
"""Of the first decoder layer's attention while it predicts e or f, the share on c or u."""
_CORRUPTED = (("a", "op1"), ("b", "op1"), ("c", "op2"), ("d", "op2"), ("u", "op1"), ("u", "op2"))
CORRUPTION: dict[str, dict[tuple[str, str], float]] = {
    pair: dict(zip(_CORRUPTED, row, strict=True))
    for pair, row in {
        "^|": (73.0, 73.7, 70.7, 77.0, 3.0, 1.7), "&L": (68.0, 73.3, 69.7, 78.7, 1.0, 0.7),
        "R^": (62.0, 67.0, 69.3, 75.3, 1.3, 0.7), "d|": (73.7, 73.7, 70.0, 78.3, 1.0, 1.0),
    }.items()
}  # fmt: skip
"""How often replacing an input changes a named operator."""
_READ_OUT = [(layer, op) for op in ("op2", "op1") for layer in ("embedding", "after dec-0", "after dec-1")]
LENS: dict[str, dict[tuple[str, str], float]] = {
    pair: dict(zip(_READ_OUT, row, strict=True))
    for pair, row in {
        "^|": (6.6, 97.5, 100.0, 0.0, 61.8, 93.1), "&L": (4.6, 87.2, 100.0, 3.9, 47.9, 91.6),
        "R^": (2.4, 82.0, 99.9, 1.7, 54.3, 94.9), "d|": (10.4, 89.6, 100.0, 0.6, 60.1, 93.6),
    }.items()
}  # fmt: skip
"""Accuracy of an operator read out early, where the derivation first writes it."""
HEAD = ("dec_cross_0_head_0", (69.0, 47.0), 1.7)
"""The one ablated head that is printed, of `^|`: held-out accuracy before and after; points lost on seen pairs."""
SUBSTITUTION = ((77.0, 100.0), (94.0, 100.0))
"""For `^|`, over all seven targets: how often the target is named; and, with a, b swapped, the untouched operator."""
