"""Cards as tables, and what is to be said beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardgap.core.table import Table
from hardgap.core.wording import percent, plural
from hardgap.suites.card import FITS, Card, PartScore, drawn_apart, parts_of
from hardgap.suites.gaps import ASKED_AT, SEEDS, SIMILARITIES, Suite
from hardgap.suites.references import Reference, in_short, standing

SUBSET = "This is the quick part, a subset of the suite: compare it with quick parts alone."


def card_table(card: Card) -> Table:
    """A row for each way to look at the gaps."""
    rows = [[name, *_told(part)] for name, part in parts_of(card).items()]
    time = "wall s" if card.by_wall_clock else "core s"
    right = ["gaps", "recovered", "Wilson, %", "runs recovered", "median steps", "visible, %", time]
    which = f"{card.suite}, {'quick part' if card.quick else 'whole'}"
    detail = [time, "visible, %", "median steps", "runs recovered"]  # the last goes first: it says least that is new
    return Table(f"{card.name}: {which}", ["gaps of", *right], rows, right, detail)


def _told(part: PartScore) -> list[object]:
    steps = "" if part.median_steps is None else f"{part.median_steps:.0f}"
    runs = f"{part.successes}/{len(part.runs)}"
    time = "" if part.visible is None else f"{part.seconds:,.0f}"
    return [part.gaps, part.recovered, interval(part), runs, steps, percent(part.visible), time]


def interval(part: PartScore) -> str:
    return "" if part.wilson is None else "{:.0f} to {:.0f}".format(*(100 * end for end in part.wilson))


def remarks(card: Card) -> Iterator[str]:
    """What the numbers do not say themselves."""
    if card.scale == "smoke":
        yield "At smoke scale nothing is learned: these numbers show that it runs, and nothing else."
    if card.quick:
        yield SUBSET
    if len(card.runs) < card.planned:
        yield f"{len(card.runs)} of {plural(card.planned, 'run')} are finished; the rest is not measured yet."
    if (drawn := drawn_apart(card)) is not None:
        (ours, of_ours), (theirs, of_theirs) = drawn["public"], drawn["private"]
        alike = f"{ours} of {of_ours} public gaps and {theirs} of {of_theirs} private ones"
        far = "a large difference: it may be tuned to the public part" if drawn["large"] else "no large difference"
        yield f"Of the same cells and numbers of patterns, {alike} (seed {card.seed}): {far} (p = {drawn['p']:.2g})."
    yield from _wider(card)
    whole = PartScore(card.scores)
    if whole.fitting < whole.recovered and whole.visible is not None:
        yield (
            f"Recovered asks of hidden cells alone: {whole.fitting} of {plural(whole.recovered, 'recovered gap')} have "
            f"{100 * FITS:.0f} % of the visible cells right, too."
        )
    if card.solved_untrained:
        untrained = plural(card.solved_untrained, "run")
        yield f"Solved before any training, at step 0: {untrained}, counted as recovered, without steps."
    if card.by_wall_clock:
        clocked = plural(card.by_wall_clock, "run")
        yield f"The seconds of {clocked} are by the clock on the wall: other work on the machine lengthens them."
    if card.parameters is not None:
        flop = "" if card.flop is None else f", {card.flop / 1e6:.2g} MFLOP for an answer to a row"
        yield f"{card.parameters:,} parameters{flop}."
    if card.certificate is not None:
        passed = "holds" if card.certificate.passed else "FAILS: hidden targets reach training"
        yield f"The leak certificate {passed} (first {card.certificate.steps} steps of run {card.certificate.run})."


def _wider(card: Card) -> Iterator[str]:
    """Transfer, of the runs that are recovered where they were trained."""
    whole = PartScore(card.scores)
    if not any(run.asked for run in whole.runs):
        return
    told = {width: whole.at(width) for width in ASKED_AT}
    if not any(told.values()):
        yield "Asked on wider rows than it was trained on, it cannot answer."
        return
    said = [f"{found[0]} of {found[1]} at width {width}" for width, found in told.items() if found]
    yield f"Recovered runs that are recovered on wider rows, too: {', '.join(said)}."


def standing_table(card: Card, references: Sequence[Reference]) -> Table | None:
    """Where a card stands among the references, over the public gaps that it shares with each."""
    found = standing(card, references)
    if not found:
        return None
    right = ["its seeds a gap", "gaps shared", "it recovers", "this card recovers"]
    rows = [[one.name, one.seeds, shared, theirs, ours] for one, shared, theirs, ours in found]
    own = in_short(card).seeds
    title = f"Among the references: public gaps recovered, by most of the seeds{f' (this card: {own})' if own else ''}"
    return Table(title, ["reference", *right], rows, right)


def suite_table(suite: Suite) -> Table:
    """How many gaps there are of each group, by what similarity makes of them."""
    groups = list(dict.fromkeys(gap.group for gap in suite.gaps))
    rows: list[list[object]] = []
    for group in groups:
        own = [gap for gap in suite.gaps if gap.group == group]
        hidden = sorted({len(gap.hide) for gap in own})
        kinds = [sum(gap.similarity == kind for gap in own) for kind in SIMILARITIES]
        rows.append([group, *kinds, f"{hidden[0]} to {hidden[-1]}", sum(gap.quick for gap in own)])
    right = [*(f"similarity {kind}" for kind in SIMILARITIES), "hidden patterns", "quick"]
    title = f"{suite.name}: {len(suite.gaps)} public gaps, {SEEDS} seeds each"
    return Table(title, ["group", *right], rows, right)


def reference_table(suite: Suite, references: Sequence[Reference]) -> Table:
    """Every reference that is measured, as far as it is, on what all of them have."""
    quick = {gap.key for gap in suite.gaps if gap.quick}
    right = ["gaps", "recovered", *(f"similarity {kind}" for kind in SIMILARITIES), "runs", "parameters"]
    rows = [[one.network, one.recipe, *one.only(quick).told()] for one in references]
    return Table(
        "References, public gaps of the quick part", ["network", "recipe", *right], rows, right, ["gaps", *right[-2:]]
    )
