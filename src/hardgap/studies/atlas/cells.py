"""The atlas cell by cell: what is exact about a gap, and what its training gave, if it was trained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, Literal

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.runs.results import RUN_FILE, read_result
from hardgap.runs.store import Store
from hardgap.runs.summary import summarise
from hardgap.studies.atlas.forecast import UNROLLED, Forecast, every_rule, foresee
from hardgap.studies.atlas.study import atlas, every_gap
from hardgap.studies.measure import StudyResult
from hardgap.suites.gaps import Similarity, similarity_of
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule

Curve = list[dict[str, Any]]
Settled = Literal["recovered", "the other table", "neither"]
FITS, WRONG = 0.95, 0.3
"""A network that has the visible cells right and the hidden ones wrong answers as the other table would. Whether it
computes that table, no accuracy tells: it has to be opened."""
COLUMNS = ("hidden", "output", "determined", "similarity", "forecast", "trained", "holdout, %", "steps", "run")
RIGHT = ("output", "holdout, %", "steps")
DETAIL = ("similarity", "forecast", "output", "holdout, %")
NOT_DETERMINED = f"not in {UNROLLED}"


@dataclass(frozen=True)
class Trained:
    """How the run of a gap ended."""

    run: str
    settled: Settled
    holdout: float
    visible: float
    steps: int | None  # to the first solved evaluation


@dataclass(frozen=True)
class AtlasCell:
    """One gap: what is known of it before training, and its run, if there is one."""

    rule: Rule
    known: Forecast
    similarity: Similarity
    trained: Trained | None = None

    @property
    def pattern(self) -> int:
        return self.known.pattern

    @property
    def recovered(self) -> bool:
        return self.trained is not None and self.trained.settled == "recovered"

    @property
    def other(self) -> Rule:
        """The only other table that agrees with all visible entries."""
        return Rule(1, self.rule.number ^ (1 << self.pattern))

    def as_dict(self) -> dict[str, Any]:
        trained = None if self.trained is None else vars(self.trained)
        cells = self.rule.pattern_text(self.pattern)
        return {"rule": self.rule.number, "pattern": self.pattern, "neighbourhood": cells,
                "output": int(self.rule.table[self.pattern]), "determined": self.known.determined,
                "similarity": self.similarity, "agreeing": self.known.agreeing, "forecast": self.known.says,
                "other": self.other.number, "trained": trained}  # fmt: skip


@cache
def _exact(rule: Rule) -> tuple[AtlasCell, ...]:
    return tuple(AtlasCell(rule, foresee(rule, p), similarity_of(Gap(rule, (p,)))) for p in range(rule.patterns))


def cells_of(rules: Iterable[Rule], trained: Mapping[tuple[int, int], Trained]) -> list[AtlasCell]:
    """The cells of these rules, each with its run."""
    return [
        AtlasCell(cell.rule, cell.known, cell.similarity, trained.get((rule.number, cell.pattern)))
        for rule in rules
        for cell in _exact(rule)
    ]


def check_elementary(rule: Rule) -> Rule:
    if rule.radius != 1:
        raise BadInput(f"the atlas has the 256 elementary rules, of radius 1, not Rule {rule.name}")
    return rule


@cache
def atlas_runs(scale: Scale = "desk") -> dict[tuple[int, int], Run]:
    """The run of each gap."""
    arms = zip(every_gap(), atlas.arms(scale), strict=True)
    return {(rule.number, pattern): arm.runs[0] for (rule, pattern), arm in arms}


def settled(curve: Curve, run_id: str) -> Trained:
    """How a run ended, from its curve."""
    found, last = summarise(curve), curve[-1]
    other = last["visible"] >= FITS and last["holdout"] <= WRONG
    how: Settled = "recovered" if found.success else "the other table" if other else "neither"
    return Trained(run_id, how, last["holdout"], last["visible"], found.solved_step)


def trained_in_store(store: Store, runs: Mapping[tuple[int, int], Run]) -> dict[tuple[int, int], Trained]:
    curves = store.curves(run.id for run in runs.values())
    return {gap: settled(curves[run.id], run.id) for gap, run in runs.items() if run.id in curves}


def trained_in_results(results: Path, runs: Mapping[tuple[int, int], Run]) -> dict[tuple[int, int], Trained]:
    """The same from the files of a folder, wherever there: some runs are those of other studies."""
    gaps = {run.id: gap for gap, run in runs.items()}
    files = {path.stem: path for path in results.rglob("*.json") if RUN_FILE.fullmatch(path.name) and path.stem in gaps}
    return {gaps[run_id]: settled(read_result(path)[1], run_id) for run_id, path in files.items()}


def cells_of_study(result: StudyResult) -> list[AtlasCell]:
    """All cells, with the runs that a study has measured."""
    gaps = {run.id: gap for gap, run in atlas_runs(result.scale).items()}
    ended = [(arm.runs[0].id, curve) for arm in result.arms for curve in arm.curves]
    return cells_of(every_rule(), {gaps[i]: settled(curve, i) for i, curve in ended if i in gaps})


def atlas_tables(results: Sequence[StudyResult]) -> list[Table]:
    (result,) = results
    return [forecast_table(cells_of_study(result), result.scale)]


def forecast_table(cells: Sequence[AtlasCell], scale: Scale = "desk") -> Table:
    """What was forecast against what came of it: a row for each kind of gap."""
    kinds: dict[tuple[str, int, str], list[AtlasCell]] = {}
    for cell in cells:
        known = cell.known
        kind = f"{NOT_DETERMINED if known.determined is None else f'in {known.determined}'} steps"
        kinds.setdefault((kind, known.agreeing, known.says), []).append(cell)
    columns = ["determined", "neighbours that agree", "forecast", "gaps", "trained", "recovered", "median steps"]
    rows = [[*kind, len(several), *_outcomes(several)] for kind, several in sorted(kinds.items())]
    return Table(f"Every gap of one pattern, {scale} scale", columns, rows, columns[3:])


def _outcomes(cells: Sequence[AtlasCell]) -> list[object]:
    """Trained, recovered, and the steps of these; a run that recovered but was never solved counts as slower."""
    done = [cell.trained for cell in cells if cell.trained is not None]
    right = [one for one in done if one.settled == "recovered"]
    middle = median(one.steps or inf for one in right) if right else inf
    return [len(done), len(right), "" if middle == inf else f"{middle:.0f}"]


def rule_table(cells: list[AtlasCell]) -> Table:
    """The eight gaps of a rule."""
    return Table(f"Rule {cells[0].rule.name}: its eight gaps", COLUMNS, [*map(_row, cells)], RIGHT, DETAIL)


def all_table(cells: Sequence[AtlasCell]) -> Table:
    """The gaps of all rules."""
    rows = [[cell.rule.name, *_row(cell)] for cell in cells]
    return Table("Every gap of one pattern", ["rule", *COLUMNS], rows, RIGHT, DETAIL)


def _row(cell: AtlasCell) -> list[object]:
    known = cell.known
    steps = NOT_DETERMINED if known.determined is None else known.determined
    hidden, output = cell.rule.pattern_text(cell.pattern), cell.rule.table[cell.pattern]
    return [hidden, output, steps, cell.similarity, known.says, *_outcome(cell)]


def _outcome(cell: AtlasCell) -> list[object]:
    if cell.trained is None:
        return ["not yet", "", "", ""]
    how = f"like Rule {cell.other.name}" if cell.trained.settled == "the other table" else cell.trained.settled
    return [how, percent(cell.trained.holdout), cell.trained.steps, cell.trained.run]


def rule_remarks(cells: Sequence[AtlasCell]) -> Iterator[str]:
    """What the table of a rule does not say itself."""
    done = [cell.trained for cell in cells if cell.trained is not None]
    alike = [one.run for one in done if one.settled == "the other table"]
    if alike:
        told = "“like Rule …”: it answers as that rule would, visible cells right and hidden ones wrong. "
        yield f"{told}What it computes, `hardgap circuits RUN` tells where its weights are."
    if done:
        yield "A trained cell again: `hardgap runs import`, once, and `hardgap runs retrain RUN`."
