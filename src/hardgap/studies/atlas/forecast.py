"""What is known of a gap of one pattern before training, and what was foretold from it.

The forecast stands in results/atlas/forecast.csv, written before the runs:

    python -m hardgap.studies.atlas.forecast results/atlas/forecast.csv
"""

from __future__ import annotations

import csv
import sys
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from hardgap.studies.identifiability import TRAINED_50
from hardgap.studies.tempered.forecast import RULES as RULES_OF_FORECAST
from hardgap.theory.cube import agreement, rule_labels
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.completions import completions
from hardgap.worlds.automaton.identify.evidence import every_row
from hardgap.worlds.automaton.rule import Rule

KNOWN_BEFORE = tuple(sorted(map(int, (*RULES_OF_FORECAST, *TRAINED_50))))
"""Rules whose eight gaps had been trained when the forecast was written, so that neither they nor their images test
it: those of `tempered/forecast`, whose runs are the atlas's own, and of `tempered/target`, the same but for when they
end."""
UNROLLED = 4
"""Steps that the recipe unrolls, and so all that what is visible can testify to."""


def every_rule() -> list[Rule]:
    return [Rule(1, number) for number in range(256)]


@dataclass(frozen=True)
class Forecast:
    """What is known of a gap before training.

    determined   after how many steps the visible cells leave one table only; None: not in four
    agreeing     of the three patterns one bit away, those that have the hidden pattern's output
    """

    rule: int
    pattern: int
    determined: int | None
    agreeing: int

    @property
    def says(self) -> str:
        """Determined gaps recover, but perhaps those that stand alone; elsewhere the network does as its neighbours.

        On the 88 gaps trained before this was written (`KNOWN_BEFORE`), 3 of 33 without an agreeing neighbour failed
        and none of the others (`tempered/target` with its first seed, `tempered/forecast`); all are determined.
        """
        if self.determined is None:
            return "recovers" if self.agreeing >= 2 else "fails"
        return "recovers" if self.agreeing else "may fail"


def foresee(rule: Rule, pattern: int) -> Forecast:
    """What is known of a gap before training.

    >>> foresee(Rule(1, 150), 3)
    Forecast(rule=150, pattern=3, determined=2, agreeing=0)
    >>> foresee(Rule(1, 0), 0).determined is None
    True
    """
    gap = Gap(rule, (pattern,))
    steps = (t for t in range(1, UNROLLED + 1) if completions(every_row(gap, t), limit=2).determined)
    votes = int(agreement(rule_labels(rule))[pattern, 1])  # of the three: those that agree less those that do not
    return Forecast(rule.number, pattern, next(steps, None), (3 + votes) // 2)


def images(rule: Rule, pattern: int) -> list[tuple[Rule, int]]:
    """The gap, then it in a mirror, in negative and in both, each once: they share every exact answer.

    >>> [(image.number, place) for image, place in images(Rule(1, 110), 3)]
    [(110, 3), (124, 6), (137, 4), (193, 1)]
    >>> [(image.number, place) for image, place in images(Rule(1, 150), 3)]
    [(150, 3), (150, 6), (150, 4), (150, 1)]
    """
    found = [(rule, pattern), (rule.reflected(), int(f"{pattern:03b}"[::-1], 2))]
    found += [(image.complemented(), image.patterns - 1 - place) for image, place in found]
    return list(dict.fromkeys(found))


def is_new(rule: Rule, pattern: int) -> bool:
    """Whether neither the gap nor an image of it had been trained when the forecast was written: it tests it.

    >>> is_new(Rule(1, 124), 6), is_new(Rule(1, 8), 2)
    (False, True)
    """
    return not any(image.number in KNOWN_BEFORE for image, _ in images(rule, pattern))


def write_forecast(path: Path) -> None:
    """A row a gap, by rule and pattern."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*(field.name for field in fields(Forecast)), "forecast"])
        found = (foresee(rule, pattern) for rule in every_rule() for pattern in range(rule.patterns))
        rows.writerows([*astuple(one), one.says] for one in found)


if __name__ == "__main__":
    write_forecast(Path(sys.argv[1]))
