"""The measured parts of docs/suite.md: from the committed cards and from nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from hardgap.core.table import Table
from hardgap.core.wording import listed, percent
from hardgap.report.document import NOT_YET, Content, markdown, paragraph
from hardgap.report.statistics import holm
from hardgap.suites.card import FITS, Card, PartScore, parts_of
from hardgap.suites.checking import Comparison, compare
from hardgap.suites.computed import COMPUTED
from hardgap.suites.entries import NETWORKS, RECIPES
from hardgap.suites.figure import draw_references
from hardgap.suites.gaps import ASKED_AT, GROUPS, SIMILARITIES, WIDTH, SuiteGap
from hardgap.suites.references import read_cards
from hardgap.suites.tables import interval

BLOCKS = ("suite-words", "suite-table", "suite-whole", "suite-needs", "suite-beside", "suite-groups", "suite-wide")
WIDE = ("radius 2", "radius 3")
PAPERS = ("encoder", "tempered")
"""The reference that all others are set beside."""
OTHERWISE = {
    ("encoder", "untempered"): "T = 1, no restart",
    ("one-layer", "tempered"): "one layer",
    ("looped", "tempered"): "one layer, used twice",
    ("wider", "tempered"): "twice as wide",
    ("relative", "tempered"): "distances, no positions",
    ("rotary", "tempered"): "rotary positions",
    ("conv", "tempered"): "no attention, local by design",
    ("gru", "tempered"): "no attention, cells in turn",
    ("mixer", "tempered"): "no attention, cells mixed by a matrix",
    ("mlp", "tempered"): "no attention, nothing shared by cells",
    ("linear", "tempered"): "no attention, nothing nonlinear",
}
"""In what each differs from it."""


def content(results: Path) -> Content:
    cards = read_cards(results / "suite")
    blocks = {
        "suite-words": suite_words(cards),
        "suite-table": markdown([cards_table(cards)] if cards else []),
        "suite-whole": whole_words(read_cards(results / "suite", quick=False)),
        "suite-needs": needs_words(cards),
        "suite-beside": markdown([needs_table(cards)] if beside_the_papers(cards) else []),
        "suite-groups": markdown([groups_table(cards)] if cards else []),
        "suite-wide": wide_words(cards),
    }
    return Content(blocks, {"suite": partial(draw_references, cards)})


def cards_table(cards: Sequence[Card]) -> Table:
    """A row a reference."""
    kinds = [f"similarity {kind}" for kind in SIMILARITIES]
    wide = [f"at width {width}" for width in ASKED_AT]
    size = ["parameters", "MFLOP a row", "ms a step", "minutes, two cores"]
    fits = ["visible, %", f"of recovered, visible ≥ {100 * FITS:.0f} %"]
    right = ["recovered", "Wilson, %", *fits, *kinds, "private", "runs", "median steps to recovery", *wide, *size]
    rows = [[card.network, card.recipe, *_row(card)] for card in cards]
    return Table("Gaps of the quick part that are recovered", ["network", "recipe", *right], rows, right)


def _row(card: Card) -> list[object]:
    parts, whole = parts_of(card), PartScore(card.scores)
    kinds = [_of(parts.get(f"similarity {kind}")) for kind in SIMILARITIES]
    wide = [_wide(whole, width) for width in ASKED_AT]
    fits = "" if whole.visible is None else f"{whole.fitting}/{whole.recovered}"
    steps = "" if whole.median_steps is None else f"{whole.median_steps:.0f}"
    size = "" if card.parameters is None else f"{card.parameters:,}"
    flop = "" if card.flop is None else f"{card.flop / 1e6:.2g}"
    runs = len(card.runs) if len(card.runs) == card.planned else f"{len(card.runs)} of {card.planned}"
    step = "" if card.seconds_a_step is None else f"{1000 * card.seconds_a_step:.0f}"
    time = "" if card.minutes_on_two_cores is None else f"{card.minutes_on_two_cores:.0f}"
    own = [_of(whole), interval(whole), percent(whole.visible), fits]
    return [*own, *kinds, _of(parts.get("private")), runs, steps, *wide, size, flop, step, time]


def _of(part: PartScore | None) -> str:
    return "" if part is None else f"{part.recovered}/{part.gaps}"


def _wide(whole: PartScore, width: int) -> str:
    """Of recovered runs; a network that cannot answer there has none."""
    found = whole.at(width)
    return "" if found is None else "{}/{}".format(*found)


def suite_words(cards: Sequence[Card]) -> str:
    """What is measured, what the table shows, and what is missing."""
    if not cards:
        return NOT_YET
    trained = [card for card in cards if card.network in NETWORKS]
    missing = [name for name in (*COMPUTED, *NETWORKS) if name not in {card.network for card in cards}]
    begun = [f"{_short(card)} has {len(card.runs)} of {card.planned} runs"
             for card in trained if len(card.runs) < card.planned]  # fmt: skip
    told = [
        f"On the quick part; private part from seed {listed({card.seed for card in cards})}.",
        _ranking(trained) if trained else "",
        _both_recipes(trained) if trained else "",
        _fitting(trained) if trained else "",
        _clocks(trained) if trained else "",
        f"So far {listed(begun)}." if begun else "",
        f"Still to be measured: {listed(missing)}." if missing else "",
    ]
    return paragraph(" ".join(told))


def _ranking(cards: Sequence[Card]) -> str:
    """Who recovers how many gaps."""
    found: dict[tuple[int, int], list[str]] = {}
    for card in cards:
        whole = PartScore(card.scores)
        found.setdefault((whole.recovered, whole.gaps), []).append(_short(card))
    ranks = sorted(found.items(), key=lambda item: -item[0][0] / item[0][1])
    return "; ".join(f"{listed(names)}: {right} of {gaps} gaps" for (right, gaps), names in ranks) + "."


def _both_recipes(cards: Sequence[Card]) -> str:
    """Recipes can be told apart only on these."""
    of_name: dict[str, set[str]] = {}
    for card in cards:
        of_name.setdefault(card.network, set()).add(card.recipe)
    both = [f"`{name}`" for name, recipes in of_name.items() if recipes >= RECIPES.keys()]
    return f"Measured under both recipes: {listed(both)} alone." if both else ""


def _fitting(cards: Sequence[Card]) -> str:
    """Recovered gaps of networks that do not fit what is visible."""
    found = {_short(card): PartScore(card.scores) for card in cards}
    less = [
        f"{name} {part.fitting} of {part.recovered}" for name, part in found.items() if part.fitting < part.recovered
    ]
    told = f"Of their recovered gaps, these have {100 * FITS:.0f} % of the visible cells right, too: "
    return f"{told}{listed([*less, 'all of the others'] if len(less) < len(found) else less)}." if less else ""


def _clocks(cards: Sequence[Card]) -> str:
    """Whose times are to be trusted."""
    clocked = [_short(card) for card in cards if card.by_wall_clock == len(card.runs)]
    wall = f", but of {listed(clocked)} by the clock on the wall while the machine had other work: at most so much"
    timed = {f"{len(card.runs) - card.by_wall_clock} of {len(card.runs)}": None for card in cards}
    return (
        f"“ms a step” is of a core, evaluations included: the median over the runs whose processor time is known, "
        f"{listed(timed, 'or')} of a network{wall if clocked else ''}. “Minutes, two cores” are computed from it: the "
        f"steps of all runs at that pace, shared by two cores."
    )


def _short(card: Card) -> str:
    """Where no recipe is named, it is the tempered one."""
    return f"`{card.network if card.recipe == PAPERS[1] else card.name}`"


def whole_words(cards: Sequence[Card]) -> str:
    """Who recovers how many gaps of all of v1, those on wider rows not counted again."""
    if not cards:
        return NOT_YET
    narrow = [_only(card, lambda gap: gap.width == WIDTH) for card in cards]
    seeds = listed({card.seed for card in cards})
    parts = Counter(score.gap.part for score in narrow[0].scores)
    asked = f"{parts['public']} public and {parts['private']} private gaps; wider rows not counted again"
    told = " ".join(_trained_whole(card) for card in cards if card.network in NETWORKS)
    return paragraph(f"On all of v1 ({asked}); private part from seed {seeds}. {_ranking(narrow)} {told}")


def _trained_whole(card: Card) -> str:
    """What a network made of the gaps on wider rows, and what all of its runs took."""
    wider = PartScore(_only(card, lambda gap: gap.width > WIDTH).scores)
    minutes = sum(run.seconds for run in card.runs) / 60
    return (
        f"On wider rows, {_short(card)} recovers {wider.recovered} of {wider.gaps} gaps; its {len(card.runs)} runs of "
        f"{card.planned} took {minutes:.0f} minutes of a core."
    )


def wide_words(cards: Sequence[Card]) -> str:
    """Where the references differ most: rules that look further than to the next cell."""
    wide = [_only(card, lambda gap: gap.group in WIDE) for card in cards if card.network in NETWORKS]
    found = [card for card in wide if card.runs]
    return paragraph(f"On rules of {' and '.join(WIDE)}, {_ranking(found)}") if found else NOT_YET


def _only(card: Card, wanted: Callable[[SuiteGap], bool]) -> Card:
    return card.model_copy(update={"runs": tuple(run for run in card.runs if wanted(run.gap))})


def groups_table(cards: Sequence[Card]) -> Table:
    """Recovered gaps by group of rules, of what is trained."""
    trained = [card for card in cards if card.network in NETWORKS]
    groups = [group for group in GROUPS if any(group in parts_of(card) for card in trained)]
    rows = [[card.name, *(_of(parts_of(card).get(group)) for group in groups)] for card in trained]
    return Table("Gaps of the quick part that are recovered, by group", ["reference", *groups], rows, groups)


def needs_words(cards: Sequence[Card]) -> str:
    """What recovery needs, as far as the gaps tell."""
    found = beside_the_papers(cards)
    if not found:
        return NOT_YET
    fewer = [f"`{card.name}`" for card, pair, p in found if p < 0.05 and pair.first > pair.second]
    more = [f"`{card.name}`" for card, pair, p in found if p < 0.05 and pair.first < pair.second]
    alike = [f"`{card.name}`" for card, _, p in found if p >= 0.05]
    told = [
        f"Fewer gaps than `{', '.join(PAPERS)}`: {listed(fewer)}." if fewer else "",
        f"More gaps: {listed(more)}." if more else "",
        f"No difference is shown for {listed(alike)}; so few gaps show large ones only." if alike else "",
    ]
    return paragraph(" ".join(told))


def beside_the_papers(cards: Sequence[Card]) -> list[tuple[Card, Comparison, float]]:
    """Each trained reference, the paper's encoder's gaps against its own, and McNemar's p after Holm's correction."""
    of_name = {(card.network, card.recipe): card for card in cards}
    if PAPERS not in of_name:
        return []
    others = [of_name[name] for name in OTHERWISE if name in of_name]
    pairs = [compare(of_name[PAPERS], card)[0] for card in others]
    return list(zip(others, pairs, holm([pair.p for pair in pairs]), strict=True))


def needs_table(cards: Sequence[Card]) -> Table:
    right = ["both", "only the paper's", "only it", "neither", "p, Holm"]
    rows: list[list[object]] = [
        [card.name, OTHERWISE[card.network, card.recipe], pair.both, pair.first, pair.second, pair.neither, f"{p:.2g}"]
        for card, pair, p in beside_the_papers(cards)
    ]
    return Table(f"Gaps beside those of {', '.join(PAPERS)}", ["reference", "what differs", *right], rows, right)
