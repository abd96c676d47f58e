"""How much of the symbolic table hangs on its filter of ambiguous examples: the familiar rows with a weaker one.

ambiguity/xor-or   and so on

By default only examples are kept that fit exactly one of the 49 pairs (`worlds/chains/gap.py`), so no training example
fits the held-out pair: its meaning decides what is dropped. `--ambiguity seen` asks the seen pairs alone. Then some
training examples fit the held-out pair as well, and are labelled with their own. Test examples of the held-out pair
fit no other pair either way.
"""

from __future__ import annotations

from hardgap.core.specs import Scale
from hardgap.studies.symbolic.published import BY_SEED
from hardgap.studies.symbolic.table import declare, pair_name, study_name, symbolic_runs
from hardgap.worlds.chains.run import SymbolicRun


def _declare(holdout: str) -> None:
    def runs(scale: Scale) -> list[SymbolicRun]:
        return [run.but(ambiguity="seen") for run in symbolic_runs(scale, holdout, "familiar")]

    name = study_name(holdout, "familiar").replace("symbolic/", "ambiguity/").removesuffix("/familiar")
    claim = f"A network uses {pair_name(holdout)}, never seen, though seen examples that fit it too were not dropped."
    declare(name, claim, BY_SEED[holdout]["familiar"], runs, ours=True)


for _holdout in BY_SEED:
    _declare(_holdout)
