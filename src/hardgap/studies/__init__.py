"""Every claim that is measured; importing this package declares them all."""

from hardgap.studies import ceiling, gf2, k_sweep, main_table, main_table_controls, theorems
from hardgap.studies.interpolation import study as interpolation
from hardgap.studies.symbolic import ambiguity as symbolic_ambiguity
from hardgap.studies.symbolic import coverage as symbolic_coverage
from hardgap.studies.symbolic import table as symbolic_table
from hardgap.studies.tempered import cliff, dial, explain, forecast, target, wide

__all__ = [
    "ceiling",
    "cliff",
    "dial",
    "explain",
    "forecast",
    "gf2",
    "interpolation",
    "k_sweep",
    "main_table",
    "main_table_controls",
    "symbolic_ambiguity",
    "symbolic_coverage",
    "symbolic_table",
    "target",
    "theorems",
    "wide",
]
