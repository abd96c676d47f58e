"""Every claim that is measured; importing this package declares them all."""

from hardgap.studies import ceiling, dynamics, gf2, k_sweep, main_table, per_pattern, rule_30_hard, theorems
from hardgap.studies.circuits import study as circuits
from hardgap.studies.interpolation import study as interpolation
from hardgap.studies.symbolic import ambiguity as symbolic_ambiguity
from hardgap.studies.symbolic import coverage as symbolic_coverage
from hardgap.studies.symbolic import inside as symbolic_inside
from hardgap.studies.symbolic import relations as symbolic_relations
from hardgap.studies.symbolic import table as symbolic_table
from hardgap.studies.tempered import cliff, dial, explain, forecast, target, wide

__all__ = [
    "ceiling",
    "circuits",
    "cliff",
    "dial",
    "dynamics",
    "explain",
    "forecast",
    "gf2",
    "interpolation",
    "k_sweep",
    "main_table",
    "per_pattern",
    "rule_30_hard",
    "symbolic_ambiguity",
    "symbolic_coverage",
    "symbolic_inside",
    "symbolic_relations",
    "symbolic_table",
    "target",
    "theorems",
    "wide",
]
