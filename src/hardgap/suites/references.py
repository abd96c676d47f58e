"""The references' scores, gap by gap, so that a new card can be set beside them wherever hardgap is installed.

Made from the committed cards: `python -m hardgap.suites.references results/suite`. Of a reference that has a card of
the quick part and one of the whole suite, it has the whole.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from hardgap.suites.card import Card, read_card
from hardgap.suites.computed import COMPUTED
from hardgap.suites.entries import NETWORKS
from hardgap.suites.gaps import SIMILARITIES

ORDER = [*COMPUTED, *NETWORKS]
FILE = "references.json"


@dataclass(frozen=True)
class Reference:
    """A card in short: for each public gap, what similarity makes of it, recovered runs and runs."""

    network: str
    recipe: str
    suite: str
    parameters: int | None
    gaps: dict[str, tuple[str, int, int]]

    @property
    def name(self) -> str:
        return f"{self.network}, {self.recipe}" if self.recipe else self.network

    @property
    def recovered(self) -> dict[str, bool]:
        return {key: 2 * successes > runs for key, (_, successes, runs) in self.gaps.items()}

    @property
    def seeds(self) -> str:
        """Of a gap; a method that is not trained has none."""
        if not (self.recipe and self.gaps):
            return ""
        each = sorted({runs for _, _, runs in self.gaps.values()})
        return " to ".join(map(str, {each[0]: None, each[-1]: None}))

    def only(self, keys: Collection[str]) -> Reference:
        return replace(self, gaps={key: told for key, told in self.gaps.items() if key in keys})

    def told(self) -> list[object]:
        """A row of a table."""
        kinds = [[key for key, (similarity, *_) in self.gaps.items() if similarity == kind] for kind in SIMILARITIES]
        by_kind = [f"{sum(self.recovered[key] for key in keys)}/{len(keys)}" for keys in kinds]
        runs = sum(runs for _, _, runs in self.gaps.values())
        size = "" if self.parameters is None else f"{self.parameters:,}"
        return [len(self.gaps), sum(self.recovered.values()), *by_kind, runs, size]


def in_short(card: Card) -> Reference:
    public = [score for score in card.scores if score.gap.part == "public"]
    gaps: dict[str, tuple[str, int, int]] = {
        score.key: (score.gap.similarity, score.successes, len(score.runs)) for score in public
    }
    return Reference(card.network, card.recipe, card.suite, card.parameters, gaps)


def read_cards(folder: Path, *, quick: bool = True) -> list[Card]:
    """The cards of a folder of the quick part, or else of the whole, in the order of references; others last."""
    cards = [card for path in sorted(folder.glob("*.json")) if (card := read_card(path)).quick == quick]
    return sorted(cards, key=lambda card: (_rank(card.network), card.recipe))


def _rank(network: str) -> int:
    return ORDER.index(network) if network in ORDER else len(ORDER)


@cache
def load_references() -> tuple[Reference, ...]:
    rows: list[dict[str, Any]] = json.loads((files("hardgap.suites") / FILE).read_text(encoding="utf-8"))
    return tuple(Reference(**row | {"gaps": {key: tuple(told) for key, told in row["gaps"].items()}}) for row in rows)


def widest(folder: Path) -> list[Card]:
    """A card of each reference of a folder."""
    found = {card.name: card for quick in (True, False) for card in read_cards(folder, quick=quick)}
    return list(found.values())


def as_text(cards: Iterable[Card]) -> str:
    """The file, one reference a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(in_short(card))) for card in cards) + "\n]\n"


def standing(card: Card, references: Sequence[Reference]) -> list[tuple[Reference, int, int, int]]:
    """Each reference, the public gaps that it shares with the card, and how many of them it and the card recover."""
    own = in_short(card).recovered
    found = []
    for one in references:
        shared = [key for key in one.gaps if key in own]
        if one.suite == card.suite and shared:
            found.append((one, len(shared), sum(one.recovered[k] for k in shared), sum(own[k] for k in shared)))
    return sorted(found, key=lambda item: -item[2] / item[1])


def standing_data(card: Card) -> list[dict[str, Any]]:
    """The same as plain data, among the references that are installed."""
    found = standing(card, load_references())
    return [
        {"reference": one.name, "seeds": one.seeds, "gaps": shared, "recovered": theirs, "by this card": ours}
        for one, shared, theirs, ours in found
    ]


if __name__ == "__main__":
    (Path(__file__).parent / FILE).write_text(as_text(widest(Path(sys.argv[1]))), encoding="utf-8")
