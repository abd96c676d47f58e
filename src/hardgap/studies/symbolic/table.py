"""The paper's symbolic table (§4.6): four held-out pairs under three conditions, twelve studies.

symbolic/xor-or/familiar   and so on; `hardgap reproduce symbolic/xor-or` takes all three conditions of a pair
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hardgap.core.specs import Scale
from hardgap.studies.published import Seeds
from hardgap.studies.study import Arm, Study, add
from hardgap.studies.symbolic.published import BY_SEED, SEEDS
from hardgap.worlds.chains.chains import Arithmetic
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import symbolic_base
from hardgap.worlds.chains.tokens import Condition

CELL_SEEDS = (*SEEDS, 1, 2, 3)
"""The paper's three, and three more, since single seeds differ by tens of points."""
CELLS = "hardgap.studies.symbolic.cells:cell_tables"
"""How a cell is shown, whoever declares it."""
CLAIMS: dict[Condition, str] = {
    "familiar": "A network that writes out derivations uses {pair} without ever having seen it.",
    "opaque": "Arbitrary letters in place of the operators' symbols do not keep a network from finding {pair}.",
    "label-only": "A network that only names operators finds {pair} less often than one that derives.",
}


def study_name(holdout: str, condition: Condition) -> str:
    """The name of a study, without characters that a shell would take for its own.

    >>> study_name("^|", "opaque")
    'symbolic/xor-or/opaque'
    """
    return f"symbolic/{pair_name(holdout).replace('→', '-').lower()}/{condition}"


def pair_name(holdout: str) -> str:
    arithmetic = Arithmetic()
    return "→".join(arithmetic.operators[op].name for op in arithmetic.parse_chain(holdout))


def symbolic_runs(scale: Scale, holdout: str, condition: Condition, seeds: Iterable[int] = SEEDS) -> list[SymbolicRun]:
    base = symbolic_base(scale, holdout, condition)
    return [base.but(seed=seed) for seed in seeds]


def cell_runs(scale: Scale, holdout: str, condition: Condition) -> list[SymbolicRun]:
    """All that is measured of a cell of the table."""
    return symbolic_runs(scale, holdout, condition, CELL_SEEDS)


def declare(
    name: str,
    claim: str,
    accuracies: tuple[float, ...],
    runs: Callable[[Scale], list[SymbolicRun]],
    *,
    ours: bool = False,
) -> None:
    """A cell of the table: one arm, labelled as its runs are."""
    published = Seeds("Tables 3 and 9", dict(zip(SEEDS, accuracies, strict=True)))

    def arms(scale: Scale) -> list[Arm]:
        found = runs(scale)
        labels = {"holdout": found[0].holdout, "condition": found[0].condition, "ambiguity": found[0].ambiguity}
        return [Arm(dict(labels), tuple(found), published)]

    add(Study(name, claim, arms, CELLS, "hardgap.studies.symbolic.coverage_figure:symbolic_table_figure", ours=ours))


def _declare(holdout: str, condition: Condition, accuracies: tuple[float, ...]) -> None:
    name, claim = study_name(holdout, condition), CLAIMS[condition].format(pair=pair_name(holdout))
    declare(name, claim, accuracies, lambda scale: cell_runs(scale, holdout, condition))


for _holdout, _conditions in BY_SEED.items():
    for _condition, _accuracies in _conditions.items():
        _declare(_holdout, _condition, _accuracies)
