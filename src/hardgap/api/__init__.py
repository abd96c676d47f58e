"""The public names of `hardgap`: describe runs, train them, look at what came out.

| step | names |
| --- | --- |
| what to train | `Automaton`, `Chains`, `grid` |
| train it | `train`, `sweep` |
| what came out | `Result`, `Results`, `results` of a store |
| claims of the paper and ours | `study`, `list_studies` |
| fixed gaps for any network | `suite` |
| code of your own | `trust` |
| what is refused | `BadInput`, always one sentence |
"""
# ruff: noqa: F401

from hardgap.api.claims import list_studies, study
from hardgap.api.configs import Automaton, Chains, grid
from hardgap.api.result import Result, Results
from hardgap.api.suites import suite
from hardgap.api.training import results, sweep, train
from hardgap.core.errors import BadInput
from hardgap.core.plugins import trust
