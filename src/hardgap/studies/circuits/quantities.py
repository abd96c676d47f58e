"""What the paper prints about two solved networks of Rule 150 (Appendix B), and where a file of ours has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from hardgap.studies.networks import POINTS, OfNetworks

RATIO = 0.25
"""How far a median may be from a coefficient, whose scale depends on the weights'."""
Network = dict[str, Any]


@dataclass(frozen=True)
class Quantity:
    """One published number, of each of the paper's networks, and where it stands in the file of one of ours."""

    analysis: str
    of: str
    published: tuple[float, ...]
    find: Callable[[Network], float]
    unit: str = "%"

    @property
    def number(self) -> OfNetworks | None:
        """What the paper prints, if it does."""
        if not self.published:
            return None
        mean = fmean(self.published)
        tolerance = POINTS if self.unit == "%" else RATIO * abs(mean)
        return OfNetworks("Appendix B", round(mean, 2), tolerance, self.published)


def _probe(level: str, bit: str, network: Network) -> float:
    found = (one for one in network["probes"]["readings"] if (one["title"], one["bit"]) == (level, bit))
    return 100 * float(next(found)["accuracy"])


def _lens(level: str, network: Network) -> float:
    return 100 * float(next(one for one in network["lens"]["levels"] if one["title"] == level)["holdout"])


def _without(layer: str, network: Network, of: str = "holdout") -> float:
    found = (one for one in network["layers"]["results"] if (one["title"], one["kind"]) == (layer, "zero"))
    return 100 * float(next(found)[of])


def _patched(site: str, network: Network, where: str = "everywhere") -> float:
    found = (one for one in network["patching"]["patches"] if (one["site"], one["where"]) == (site, where))
    return 100 * float(next(found)["recovery"])


def _transfer(level: str, network: Network) -> float:
    """Of XOR, by a probe that was taught by visible cells alone, on hidden ones."""
    found = (one for one in network["probes"]["readings"] if one["title"] == level and one["transfer"] is not None)
    return 100 * float(next(found)["transfer"])


def _coefficient(term: str, network: Network) -> float:
    found = (one for one in network["polynomial"]["terms"] if one["name"] == term)
    return float(next(found)["coefficient"])


SHARE = "is XOR, of networks"
COEFFICIENTS = {
    "1": (-5.89, -6.50), "L1": (11.82, 12.59), "C": (7.13, 8.26), "R1": (11.63, 12.91), "L1·C": (-19.28, -20.39),
    "L1·R1": (-23.60, -25.27), "C·R1": (-18.91, -21.11), "L1·C·R1": (42.88, 46.14),
}  # fmt: skip
"""Of each term of the logit's polynomial, in the paper's two networks."""
PROBES = {
    "embedding": (51.6, 100.0, 51.5, 51.6),
    "after layer 0": (75.4, 100.0, 75.3, 56.8),
    "after layer 1": (76.8, 99.2, 75.8, 98.4),
}
BITS = {"L1": "left", "C": "centre", "R1": "right", "output (XOR)": "XOR"}


def _term_name(term: str) -> str:
    """
    >>> _term_name("L1·R1"), _term_name("1")
    ('coefficient of left·right', 'constant term')
    """
    cells = term.split("·")
    return "constant term" if cells == ["1"] else f"coefficient of {'·'.join(BITS[cell] for cell in cells)}"


QUANTITIES = (
    Quantity("polynomial", SHARE, (100.0, 100.0), lambda one: 100.0 * (one["polynomial"]["structure"] == "XOR")),
    # Computed from the printed coefficients.
    Quantity("polynomial", "share of parity", (93.57, 94.24), lambda one: 100.0 * one["polynomial"]["parity_share"]),
    *(
        Quantity("polynomial", _term_name(term), values, partial(_coefficient, term), "")
        for term, values in COEFFICIENTS.items()
    ),
    Quantity("layer zeroed", "layer 0", (20.5, 13.1), partial(_without, "layer 0")),
    Quantity("layer zeroed", "layer 1", (0.0, 0.0), partial(_without, "layer 1")),
    Quantity("logit lens", "embedding", (1.2, 2.7), partial(_lens, "embedding")),
    Quantity("logit lens", "after layer 0", (0.0, 0.0), partial(_lens, "after layer 0")),
    Quantity("logit lens", "after layer 1", (100.0, 100.0), partial(_lens, "after layer 1")),
    *(
        Quantity("probe", f"{BITS[bit]}, {level}", (value,), partial(_probe, level, bit))
        for level, values in PROBES.items()
        for bit, value in zip(BITS, values, strict=True)
    ),
    Quantity("patching", "neighbour flipped", (6.0,), lambda one: 100 * float(one["patching"]["corrupted"])),
    Quantity("patching", "embedding put back", (98.6, 98.6), partial(_patched, "embedding")),
    Quantity("patching", "layer 0 put back", (98.6, 100.0), partial(_patched, "layers.0.normed2")),
    Quantity("patching", "layer 1 put back", (100.0, 100.0), partial(_patched, "layers.1.normed2")),
    Quantity("parity neurons", "difference", (1.0,), lambda one: abs(one["neurons"]["best"][0]["difference"]), ""),
    # Not in the paper.
    Quantity("layer zeroed", "layer 0, all cells", (), partial(_without, "layer 0", of="overall")),
    Quantity("layer zeroed", "layer 1, all cells", (), partial(_without, "layer 1", of="overall")),
    Quantity("probe", "hidden XOR, after layer 0", (), partial(_transfer, "after layer 0")),
    Quantity("probe", "hidden XOR, after layer 1", (), partial(_transfer, "after layer 1")),
    Quantity("patching", "layer 0, target cell", (), partial(_patched, "layers.0.normed2", where="target")),
)  # fmt: skip
