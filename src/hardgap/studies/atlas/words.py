"""What the atlas shows, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hardgap.core.wording import percent, plural
from hardgap.report.document import paragraph
from hardgap.report.statistics import same_rate_p, wilson
from hardgap.studies.atlas.cells import AtlasCell
from hardgap.studies.atlas.forecast import KNOWN_BEFORE, images, is_new
from hardgap.worlds.automaton.rule import Rule

MUST = ("wrong", "open", "right")
"""What similarity must say; open: it depends on the weights."""


def atlas_words(cells: Sequence[AtlasCell]) -> str:
    """What is exact of all gaps, and what came of those that are trained."""
    done = [cell for cell in cells if cell.trained is not None]
    return paragraph(f"{_exact_words(cells)}{_trained_words(cells, done)}{_image_words(done)}{_forecast_words(done)}")


def _exact_words(cells: Sequence[AtlasCell]) -> str:
    determined = [cell for cell in cells if cell.known.determined is not None]
    steps = {cell.known.determined for cell in determined}
    says = Counter(cell.similarity for cell in determined)
    return (
        f"Exact, for all {len(cells):,} gaps: what is visible in four steps determines {len(determined):,} of them, "
        f"{'all by the second step' if steps == {2} else 'the last by step ' + str(max(filter(None, steps)))}, and "
        f"leaves {len(cells) - len(determined):,} undetermined in these four, however many rows are seen. Of the "
        f"determined ones, similarity must be wrong on {says['wrong']:,} and right on {says['right']:,}; on "
        f"{says['open']:,} it depends on the weights. "
    )


def _trained_words(cells: Sequence[AtlasCell], done: Sequence[AtlasCell]) -> str:
    """How many are trained, and of how many classes of rules all eight gaps of a member."""
    right = _recovered_words([cell for cell in done if cell.known.determined is not None])
    if len(done) == len(cells):
        return f"All are trained, once each: {right}. "
    eight: dict[Rule, list[bool]] = {}
    for cell in cells:
        eight.setdefault(cell.rule, []).append(cell.trained is not None)
    found = {rule.equivalence_class()[0] for rule, trained in eight.items() if all(trained)}
    classes = {rule.equivalence_class()[0] for rule in eight}
    whole = f", with all eight of a rule of {len(found)} of the {len(classes)} classes" if found else ""
    left = f"The other {len(cells) - len(done):,} are not trained yet. "
    return f"Trained so far: {plural(len(done), 'gap')}{whole}; {right}. {left}" if done else "None is trained yet. "


def _recovered_words(determined: Sequence[AtlasCell]) -> str:
    """How many recovered: of all, and by what similarity must say."""
    right, own = sum(cell.recovered for cell in determined), len(determined)
    said = f"{right:,} of {plural(own, 'determined one')} recovered"
    if not own:
        return said
    low, high = wilson(right, own)
    said += f" ({percent(right / own)} %; 95 % interval {percent(low)} to {percent(high)}, as if no two were images)"
    by = {must: [cell.recovered for cell in determined if cell.similarity == must] for must in MUST}
    parts = [f"{must} {sum(ends):,} of {len(ends):,}" for must, ends in by.items()]
    return f"{said}; by what similarity must say: {', '.join(parts)}"


def _image_words(done: Sequence[AtlasCell]) -> str:
    """Whether a gap, its mirror image and their negatives end alike, where two or more of them are trained."""
    ended: dict[frozenset[tuple[Rule, int]], list[bool]] = {}
    for cell in done:
        if cell.known.determined is not None:
            ended.setdefault(frozenset(images(cell.rule, cell.pattern)), []).append(cell.recovered)
    several = [ends for ends in ended.values() if len(ends) > 1]
    if not several:
        return ""
    every, none = sum(all(ends) for ends in several), sum(not any(ends) for ends in several)
    return (
        f"A gap, its mirror image and their negatives are one problem: of {len(several):,} determined ones of which "
        f"two or more are trained, {every:,} recover each time, {none:,} never, {len(several) - every - none:,} some "
        "of the times. "
    )


def _forecast_words(done: Sequence[AtlasCell]) -> str:
    """The forecast beside what came since, a sentence for each thing that it says; one gap a problem is tested."""
    since = [cell for cell in done if is_new(cell.rule, cell.pattern)]
    before = f"of the {len(KNOWN_BEFORE)} rules that had been trained before the forecast was written"
    known = f"{plural(len(done) - len(since), 'gap')} {before}, or images of theirs, do not test it. "
    told = [known] if len(since) < len(done) else []
    for says in ("recovers", "may fail", "fails"):
        right, own = _share_recovered(since, says)
        told.append(f"“{says}” was said of {own:,}, and {right:,} of them recovered. " if own else "")
    tested = [cell for cell in since if cell.known.determined is not None and _stands_for_its_images(cell)]
    sure, unsure = (_share_recovered(tested, says) for says in ("recovers", "may fail"))
    if sure[1] and unsure[1]:
        p = same_rate_p(*sure, *unsure)
        counts = "{:,} of {:,} against {:,} of {:,}".format(*sure, *unsure)
        shown = "" if p < 0.05 else ", no difference is shown"
        told.append(f"Of determined ones, each problem counted once, that is {counts}{shown} (p = {p:.2g}). ")
    missed = [cell.known.says for cell in since if cell.known.determined is not None and not cell.recovered]
    if missed:
        named, rest = missed.count("may fail"), missed.count("recovers")
        told.append(f"Of the {len(missed):,} determined gaps that test it and were missed, it had named {named:,} ")
        told.append(f"(“may fail”) and had said of {rest:,} that they recover. ")
    return "".join(told)


def _stands_for_its_images(cell: AtlasCell) -> bool:
    """Whether it is the one of its images with the smallest rule and pattern, which is trained before the others."""
    return (cell.rule, cell.pattern) == min(images(cell.rule, cell.pattern))


def _share_recovered(cells: Sequence[AtlasCell], says: str) -> tuple[int, int]:
    own = [cell for cell in cells if cell.known.says == says]
    return sum(cell.recovered for cell in own), len(own)
