"""What a paper prints about single networks that it opened, beside several of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hardgap.core.wording import plural
from hardgap.report.settling import FEWEST_SEEDS
from hardgap.report.verdicts import NOT_RUN, WIDER, Verdict, judge_number, too_few
from hardgap.studies.published import Found, Number

POINTS = 10.0
"""How far a median may be from a share in percent."""


@dataclass(frozen=True)
class OfNetworks(Number):
    """A number of each of the paper's networks, and their mean; the value is a `spread` of ours.

    Single networks are often at 0 or at 100 %, and a median jumps between them: alone it shows no difference.
    """

    each: tuple[float, ...]

    def told(self, found: Found) -> str:
        return "" if found.value is None else "{middle:g} ({least:g} to {most:g})".format(**found.value)

    def compare(self, found: Found) -> Verdict:
        here = found.value
        if here is None:
            return NOT_RUN
        if here["networks"] < FEWEST_SEEDS:
            return too_few(here["networks"], "networks")
        middle = judge_number(here["middle"], self.value, self.tolerance)
        inside = [one for one in self.each if here["least"] <= one <= here["most"]]
        if middle.word == "reproduced" or not inside:
            return middle
        settle = f"the paper has {plural(len(self.each), 'network')}: more of its own would settle it; {WIDER}"
        return Verdict("inconclusive", why=f"ours lie from {here['least']:g} to {here['most']:g}", settle=settle)


def spread(middle: float, values: Sequence[float]) -> dict[str, float]:
    """What a verdict looks at of the networks' values."""
    ends = {"middle": middle, "least": min(values), "most": max(values)}
    return {name: round(one, 2) for name, one in ends.items()} | {"networks": len(values)}
