"""README's sentences about Experiment 2, with their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from hardgap.report.document import NOT_YET, paragraph
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import span
from hardgap.studies.published import Seeds
from hardgap.studies.symbolic.cells import exact, published_shares
from hardgap.studies.symbolic.table import pair_name
from hardgap.worlds.chains.selection import PAPERS_CHOICE

HARDLY = "R^"
"""The pair of the table that is hardly understood; the other three are told together."""


def symbolic_words(cells: Sequence[StudyResult], weaker: Sequence[StudyResult], coverage: StudyResult) -> str:
    """What the networks know at the end, of the table's pairs, of all pairs, and with the weaker filter."""
    arms = [one.arm for one in cells]
    if not all(arm.n for arm in (*arms, *(one.arm for one in weaker), *coverage.arms)):
        return NOT_YET
    full = [arm for arm in arms if arm.labels["condition"] != "label-only"]
    three, fourth = _split(full)
    names_alone, _ = _split(arm for arm in arms if arm.labels["condition"] == "label-only")
    weakened, _ = _split(one.arm for one in weaker)
    seen = [100 * share for arm in full for share in exact(arm, "final", "seen")]
    pairs = {arm.labels["holdout"] for arm in three}
    best = max(one["best_baseline"][1] for one in coverage.more["pairs"] if one["holdout"] in pairs)
    words = [arm.comparison.word for arm in arms]
    below = sum(fmean(arm.accuracies()) < fmean(published_shares(arm).values()) for arm in arms)
    seeds = [len(one["runs"]) for one in coverage.more["pairs"]]
    all_pairs, theirs = coverage.more["summary"][PAPERS_CHOICE], coverage.more["published"]["summary"]
    return paragraph(
        f"Networks that know {span(seen)} % of the seen chains in the end answer "
        f"{span(_ends(three))} % of three held-out pairs, where no baseline has more than {100 * best:.1f} % and a "
        f"network that learns the operators' names alone {span(_ends(names_alone), '.1f')} % (paper: "
        f"{span(_published(three))} %). The fourth pair, {pair_name(HARDLY)}, stays at {span(_ends(fourth))} %. "
        f"{below} of {len(arms)} cells are below the published ones. Verdicts, corrected for {len(arms)} tests of "
        f"{span([arm.n for arm in arms])} seeds against three: differs {words.count('differs')}, inconclusive "
        f"{words.count('inconclusive')}, reproduced {words.count('reproduced')}. Of all {all_pairs['pairs']} pairs "
        f"held out in turn, {span(seeds)} seeds each, {all_pairs['above']} are above every baseline, "
        f"{100 * all_pairs['mean']:.0f} % on average (paper: {theirs['above']}, and {theirs['mean']:.0f} %). But all "
        f"this is with training examples that the held-out pair does not fit: if the 2 to 3 % that it fits as well "
        f"stay in, the three pairs fall to {span(_ends(weakened))} % at the end."
    )


def _split(arms: Iterable[Measured]) -> tuple[list[Measured], list[Measured]]:
    """The pairs that are told together, and the one that is not."""
    listed = list(arms)
    return [a for a in listed if a.labels["holdout"] != HARDLY], [a for a in listed if a.labels["holdout"] == HARDLY]


def _ends(arms: Iterable[Measured]) -> list[float]:
    """Each arm's mean over seeds at the end of training, in percent."""
    return [100 * fmean(exact(arm, "final")) for arm in arms]


def _published(arms: Iterable[Measured]) -> list[float]:
    return [fmean(arm.published.seeds.values()) for arm in arms if isinstance(arm.published, Seeds)]
