"""README's sentences about the tempered recipe, with their numbers."""

from __future__ import annotations

from hardgap.report.document import NOT_YET, paragraph
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.tempered.spread import RECIPE


def tempered_words(found: dict[str, StudyResult]) -> str:
    """How many recover: with the recipe, on new rules, without it, and at the paper's width."""
    if not all(arm.n for name in ("target", "control", "forecast", "wide") for arm in found[name].arms):
        return NOT_YET
    wholes = [row for row in found["target"].more["beside"] if row["arm"].labels.get("hidden") == "all"]
    (parity, *others, whole) = wholes
    ours, paper = whole["arm"], whole["arm"].published
    longest = max(run.budget.steps for run in ours.runs)
    new = found["forecast"].arms
    rules = len({arm.labels["rule"] for arm in new})
    forecast = found["forecast"].more
    chosen = next(row for row in forecast["predictors"] if row["predictor"] == forecast["chosen"])
    rho = f"{chosen['judged on']['rho']:.2f}".replace("-", "−")
    wide = [arm for arm in found["wide"].arms if arm.labels.get("way") == "T = 8"]
    steps, trained = max(run.budget.steps for arm in wide for run in arm.runs), wide[0].runs[0].optimiser
    return paragraph(
        f"At desk scale {_of([ours])} runs recover the hidden entry within {longest:,} steps (paper, at width 101: "
        f"{paper.successes} of {paper.n} in 7,850), and so do {_of(new)} entries, one seed each, of {rules} rules that "
        f"had no part in finding the recipe. The control, T = 1 on the same seeds and for as many steps or more, "
        f"recovers {_of([whole['control']])}: {_of([parity['control']])} of Rule 150, "
        f"{_of([row['control'] for row in others])} of Rules 30 and 106. Which entries will be slow can be told from "
        f"the rule's table: those whose output differs from that of the patterns one bit away "
        f"(ρ = {rho} on new rules). On rows as wide as the paper's, but with wave "
        f"positions, learning rate {trained.learning_rate:g} and batches of {trained.batch}, T = 8 without the restart "
        f"recovers {sum(arm.recovered for arm in wide)} of Rule 150's {len(wide)} patterns (one seed each) within "
        f"{steps:,} steps; two end just short, and 0 and 7 are smuggled past. {_told_where(found['spread'])}"
    )


def _told_where(spread: StudyResult) -> str:
    """The same rows, by networks whose heads begin at neighbours."""
    told = [arm for arm in spread.arms if arm.labels["way"] == RECIPE and arm.n]
    if not told:
        return ""
    longest = max(max(arm.steps, default=0) for arm in told)
    return (
        f"If each head begins at a neighbour (a network is then told where to look, not what the rule is) and three "
        f"tenths of what is fed back are rounded, the recipe recovers {_of(told)}; "
        f"{sum(arm.solved for arm in told)} are solved, within {longest:,} steps."
    )


def _of(arms: list[Measured] | tuple[Measured, ...]) -> str:
    """Recovered of finished runs."""
    return f"{sum(arm.recovered for arm in arms)} of {sum(arm.n for arm in arms)}"
