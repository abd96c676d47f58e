"""The atlas cell by cell: what is exact about a gap, and what its training gave, if it was trained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from hardgap.core.errors import BadInput
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.core.wording import percent, plural
from hardgap.report.document import paragraph
from hardgap.report.statistics import same_rate_p
from hardgap.runs.results import RUN_FILE, read_result
from hardgap.runs.summary import summarise
from hardgap.studies.atlas.forecast import KNOWN_BEFORE, Forecast, every_rule, foresee, images
from hardgap.studies.atlas.study import atlas, every_gap
from hardgap.suites.gaps import Similarity, similarity_of
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule

if TYPE_CHECKING:
    from hardgap.core.run import Run
    from hardgap.runs.store import Store
    from hardgap.studies.measure import StudyResult

Curve = list[dict[str, Any]]
Settled = Literal["recovered", "the other table", "neither"]
FITS, WRONG = 0.95, 0.3
"""A network that has the visible cells right and the hidden ones wrong answers as the other table would. Whether it
computes that table, no accuracy tells: it has to be opened."""


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
        kind = "no" if known.determined is None else f"in {known.determined} steps"
        kinds.setdefault((kind, known.agreeing, known.says), []).append(cell)
    columns = ["determined", "neighbours that agree", "forecast", "gaps", "trained", "recovered", "median steps"]
    rows = [[*kind, len(several), *_outcomes(several)] for kind, several in sorted(kinds.items())]
    return Table(f"Every gap of one pattern, {scale} scale", columns, rows, columns[3:])


def _outcomes(cells: Sequence[AtlasCell]) -> list[object]:
    done = [cell.trained for cell in cells if cell.trained is not None]
    right = [one for one in done if one.settled == "recovered"]
    steps = [one.steps for one in right if one.steps is not None]
    return [len(done), len(right), f"{median(steps):.0f}" if steps else ""]


def rule_table(cells: list[AtlasCell]) -> Table:
    """The eight gaps of a rule."""
    rule = cells[0].rule
    rows = [
        [cell.rule.pattern_text(cell.pattern), cell.rule.table[cell.pattern],
         "never" if cell.known.determined is None else f"{cell.known.determined} steps", cell.similarity,
         cell.known.says, *_outcome(cell)]
        for cell in cells
    ]  # fmt: skip
    columns = ["hidden", "output", "determined", "similarity", "forecast", "trained", "holdout, %", "steps", "run"]
    right = ["output", "holdout, %", "steps"]
    return Table(f"Rule {rule.name}: its eight gaps", columns, rows, right, ["steps", "output", "holdout, %"])


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


def atlas_words(cells: list[AtlasCell]) -> str:
    """What is exact of all gaps, and what came of those that are trained."""
    determined = [cell for cell in cells if cell.known.determined is not None]
    steps = {cell.known.determined for cell in determined}
    says = Counter(cell.similarity for cell in determined)
    done = [cell for cell in cells if cell.trained is not None]
    left = len(cells) - len(done)
    return paragraph(
        f"Exact, for all {len(cells):,} gaps: what is visible in four steps determines {len(determined):,} of them, "
        f"{'all by the second step' if steps == {2} else 'the last by step ' + str(max(filter(None, steps)))}, and "
        f"leaves {len(cells) - len(determined):,} undetermined however many rows are seen. Of the determined ones, "
        f"similarity must be wrong on {says['wrong']:,} and right on {says['right']:,}; on {says['open']:,} it depends "
        f"on the weights. Trained so far: {plural(len(done), 'gap')}{_class_words(cells)}. {_forecast_words(done)}"
        f"{_image_words(cells)}"
        f"{f'The other {left:,} are not trained yet.' if left else ''}"
    )


def _class_words(cells: list[AtlasCell]) -> str:
    """Of how many classes of rules all eight gaps of a member are trained."""
    eight: dict[Rule, list[bool]] = {}
    for cell in cells:
        eight.setdefault(cell.rule, []).append(cell.trained is not None)
    found = {rule.equivalence_class()[0] for rule, trained in eight.items() if all(trained)}
    classes = {rule.equivalence_class()[0] for rule in eight}
    return f", with all eight of a rule of {len(found)} of the {len(classes)} classes" if found else ""


def _image_words(cells: list[AtlasCell]) -> str:
    """Whether a gap, its mirror image and their negatives end alike, where two or more of them are trained."""
    ended: dict[frozenset[tuple[Rule, int]], list[bool]] = {}
    for cell in cells:
        if cell.known.determined is not None and cell.trained is not None:
            same = frozenset(images(cell.rule, cell.pattern))
            ended.setdefault(same, []).append(cell.trained.settled == "recovered")
    several = [ends for ends in ended.values() if len(ends) > 1]
    if not several:
        return ""
    every, none = sum(all(ends) for ends in several), sum(not any(ends) for ends in several)
    return (
        f"A gap, its mirror image and their negatives are one problem: of {len(several):,} determined ones of which "
        f"two or more are trained, {every:,} recover each time, {none:,} never, {len(several) - every - none:,} some "
        "of the times. "
    )


def _forecast_words(done: list[AtlasCell]) -> str:
    """The forecast beside what came since, a sentence for each thing that it says."""
    since = [cell for cell in done if cell.rule.number not in KNOWN_BEFORE]
    known = len(done) - len(since)
    before = f"are of the {len(KNOWN_BEFORE)} rules whose gaps had been trained before the forecast was written"
    told = [f"{known:,} of the gaps {before}, and do not test it. "] if known else []
    for says in ("recovers", "may fail", "fails"):
        right, own = _share_recovered(since, says)
        told.append(f"“{says}” was said of {own:,}, and {right:,} of them recovered. " if own else "")
    determined = [cell for cell in since if cell.known.determined is not None]
    sure, unsure = (_share_recovered(determined, says) for says in ("recovers", "may fail"))
    if sure[1] and unsure[1]:
        p = same_rate_p(*sure, *unsure)
        counts = "{:,} of {:,} against {:,} of {:,}".format(*sure, *unsure)
        shown = "" if p < 0.05 else ", no difference is shown"
        told.append(f"Among determined gaps that is {counts}{shown} (p = {p:.2g}). ")
    return "".join(told)


def _share_recovered(cells: Sequence[AtlasCell], says: str) -> tuple[int, int]:
    own = [cell.trained for cell in cells if cell.known.says == says and cell.trained is not None]
    return sum(one.settled == "recovered" for one in own), len(own)
