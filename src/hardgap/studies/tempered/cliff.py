"""Ours: how much of Rules D and G can be hidden (paper, k-sweep), tempered and not, beside what is determined.

The paper's regime falls from 100 % to chance between 14 and 16 hidden patterns of Rule D. What is visible
determines all of them far beyond that (docs/identifiability.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from hardgap.core.specs import Scale
from hardgap.studies.identifiability import TRAINED_K
from hardgap.studies.study import Arm, Labels, study
from hardgap.studies.tempered.parts import of_ten, shown
from hardgap.worlds.automaton.gap import draw_hidden
from hardgap.worlds.automaton.recipes import TEN_EPOCHS, single_attempt, tempered, untempered, until_first_solved
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.run import AutomatonRun

HIDDEN = {"D": (14, 16, 18, 20, 22, 24, 26, 28), "G": (24, 26, 28)}
"""Numbers of patterns; of some the paper has no successes."""
SETS = range(3)
INFORMED = (14, 20, 24, 26, 27, 28, 29, 30, 31)
"""Numbers of hidden patterns at which it is asked what could be recovered at all, each on five random sets."""
STEPS = 2 * TEN_EPOCHS
"""More hidden entries take longer; the restart, timed for single patterns, is left out."""


def runs_of_size(scale: Scale, rule: str, k: int) -> Iterator[AutomatonRun]:
    """T = 8 on random sets of k hidden patterns; one set a seed, so that sets and seeds are sampled together."""
    for index in SETS:
        hide = draw_hidden(parse_rule(rule), k, seed=index)
        yield single_attempt(until_first_solved(tempered(scale, rule, hide, steps=STEPS))).but(seed=index)


@study("tempered/cliff", **shown("cliff"))
def cliff(scale: Scale) -> Iterator[Arm]:
    """How many patterns of Rules D and G can be hidden: tempered, at T = 1, and as far as they are determined."""
    for rule, sizes in HIDDEN.items():
        for k in sizes:
            _, paper = TRAINED_K[rule].get(k, (None, None))
            runs = tuple(runs_of_size(scale, rule, k))
            labels: Labels = {"rule": rule, "k": k}
            published = of_ten(paper)
            yield Arm({**labels, "way": "tempered"}, runs, published)
            if paper is not None:  # where there is a number to set it beside
                yield Arm({**labels, "way": "T = 1"}, tuple(untempered(run) for run in runs), published)
