"""What the paper prints about interpolation: Table 1 and Appendix C, in percent."""

from __future__ import annotations

Range = tuple[float, float]
_NEVER = {"KNN": (0.0, 0.0), "GP": (0.0, 0.0), "RBF SVM": (0.0, 0.0), "RF": (0.0, 0.0)}
PUBLISHED: dict[str, dict[str, Range]] = {
    "Input space": _NEVER,
    "Nbhd. embedding": _NEVER,
    "Single-pos. embedding": _NEVER | {"KNN": (34.0, 42.0), "GP": (5.0, 27.0)},
    "Single-pos. hidden": {"KNN": (0.0, 100.0), "GP": (0.0, 100.0), "RBF SVM": (0.0, 100.0), "RF": (94.0, 100.0)},
    "Nbhd. hidden": {"KNN": (72.0, 100.0), "GP": (0.0, 100.0), "RBF SVM": (0.0, 100.0), "RF": (95.0, 100.0)},
}
"""Table 1, in percent: the smallest and largest of six Rule 150 runs at width 101."""
PUBLISHED_NETWORK = 96.8
"""Of the same six runs, at every level."""


TEMPORAL: dict[tuple[int, ...], dict[str, float]] = {
    (2,): {"RF (500 trees)": 0.2, "RF (100 trees)": 8.4, "KNN (k=1)": 42.5, "KNN (k=5)": 36.2},
    (5,): {"RF (500 trees)": 0.4, "RF (100 trees)": 11.8, "KNN (k=1)": 42.1, "KNN (k=5)": 36.1},
}
"""Holdout accuracy in percent by hidden pattern of Rule 150, at width 101."""
SUPERVISED = ("RF (500 trees)", 100.0)
"""What the forest has right "on supervised patterns" (§4.1), in percent; of which cells is not said."""
