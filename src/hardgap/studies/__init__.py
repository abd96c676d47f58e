"""Every claim that is measured; importing this package, or anything in it, declares them all."""
# ruff: noqa: F401

from hardgap.studies import (
    alternative_rule,
    ceiling,
    dynamics,
    gf2,
    k_sweep,
    main_table,
    main_table_controls,
    per_pattern,
    rule_30_hard,
    rule_150,
    setup,
    theorems,
)
from hardgap.studies.atlas import study as atlas
from hardgap.studies.circuits import study as circuits
from hardgap.studies.interpolation import study as interpolation
from hardgap.studies.symbolic import ambiguity, baselines_study, bounds, calibration, coverage, inside, relations, table
from hardgap.studies.tempered import cliff, dial, explain, forecast, spread, target, wide
