"""Inside the networks of Experiment 2 (paper, Appendix F): each printed number of the four networks beside ours.

Computed from `analyses-SCALE.json`, which `hardgap symbolic analyse RUN… --json` prints; the committed one is in
results/symbolic. Paper is silent: on which examples its logit lens looks. Its last layer names op1 in 92 to 95 % and
op2 in 100 %, as only seen pairs are, so ours is compared on seen examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardgap.core.errors import BadInput
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.core.wording import listed
from hardgap.report.verdicts import FEWEST_SEEDS, NOT_RUN, Verdict
from hardgap.runs.store import Store
from hardgap.studies.interpolation.study import computed_tables
from hardgap.studies.kept import kept_file
from hardgap.studies.measure import StudyResult
from hardgap.studies.published import Found, Published, Spread
from hardgap.studies.study import Arm, study
from hardgap.studies.symbolic import published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = "hardgap.studies.symbolic.inside"
SHOWN: dict[str, Any] = {"tables": f"{HERE}:inside_tables", "folder": "symbolic"}
Run = dict[str, Any]
Printed = dict[str, dict[tuple[str, str], float]]


@dataclass(frozen=True)
class OfOneNetwork(Published):
    """A share in percent of one network, beside one of ours: how far apart they are can be said, and no more."""

    value: float

    @property
    def said(self) -> str:
        return f"{self.value:g}"

    def compare(self, found: Found) -> Verdict:
        return NOT_RUN if found.value is None else _apart([found.value - self.value])


@dataclass(frozen=True)
class SpreadOfOneNetwork(Spread):
    """The least and the most of one network's shares."""

    def judge(self, found: Sequence[float] | None) -> Verdict:
        return NOT_RUN if found is None else _apart([found[0] - self.low, found[1] - self.high])


def _apart(differences: Sequence[float]) -> Verdict:
    points = listed([f"{one:+.1f}" for one in differences])
    return Verdict("inconclusive", needed=FEWEST_SEEDS, why=f"one network, {points} points")


def _arms(scale: Scale, printed: Printed, find: Callable[[Run, str, str], float | None]) -> Iterator[Arm]:
    for pair, numbers in printed.items():
        for (first, second), value in numbers.items():
            number = OfOneNetwork("Appendix F", value)
            compute = partial(_value, scale, pair, partial(_percent, find, first, second))
            yield Arm({"pair": pair, "of": f"{first}, {second}"}, (), number, compute)


def _percent(find: Callable[[Run, str, str], float | None], first: str, second: str, analyses: Run) -> float | None:
    share = find(analyses, first, second)
    return None if share is None else round(100 * share, 1)


def _value(scale: Scale, pair: str, find: Callable[[Run], Any], kept: Path) -> Any:
    """Of the network that held this pair out, under the familiar condition; None if it was not opened."""
    runs = _opened(kept / f"analyses-{scale}.json")
    found = next((run for run in runs if (run["holdout"], run["condition"]) == (pair, "familiar")), None)
    try:
        return None if found is None else find(found["analyses"])
    except KeyError:  # this analysis was not asked for
        return None


@cache
def _opened(path: Path) -> list[Run]:
    runs = (kept_file(path.parent, path.name) or {}).get("runs")
    return runs if isinstance(runs, list) else []


@study("chains/probes", **SHOWN)
def probes(scale: Scale) -> Iterator[Arm]:
    """A probe of the last encoder layer reads op1 best where a and b stand, op2 best where d stands."""
    return _arms(scale, published.PROBES, lambda run, place, op: run["probes"][place][op])


@study("chains/attention", **SHOWN)
def attention(scale: Scale) -> Iterator[Arm]:
    """While it predicts e and f, the first decoder layer looks at c, and for f at u."""

    def find(run: Run, value: str, place: str) -> float | None:
        return next((shares[place] for key, shares in run["attention"].items() if key.endswith(f":{value}")), None)

    return _arms(scale, published.ATTENTION, find)


@study("chains/corruption", **SHOWN)
def corruption(scale: Scale) -> Iterator[Arm]:
    """Another a or b changes op1, another c or d changes op2, another u neither."""
    return _arms(scale, published.CORRUPTION, lambda run, place, op: run["corruption"][place][op])


@study("chains/lens", **SHOWN)
def lens(scale: Scale) -> Iterator[Arm]:
    """Operators cannot be read at the decoder's embedding, partly after its first layer, and after its second."""
    return _arms(scale, published.LENS, lambda run, layer, op: run["lens"]["seen"][layer][op])


@study("chains/heads", **SHOWN)
def heads(scale: Scale) -> Iterator[Arm]:
    """One head is needed for the held-out pair and hardly for seen ones."""
    _, (before, after), seen = published.HEAD
    for part, value in (("holdout", before - after), ("seen", seen)):
        compute = partial(_value, scale, "^|", partial(_lost, part))
        yield Arm({"pair": "^|", "of": f"points lost on {part}"}, (), OfOneNetwork("Appendix F", value), compute)


def _lost(part: str, analyses: Run) -> float:
    """By the head that the held-out pair needs most beyond what seen ones do: which one is a matter of the seed."""
    whole = next(one for one in analyses["heads"] if one["head"] is None)
    silenced = [one for one in analyses["heads"] if one["head"] is not None]
    chosen = max(silenced, key=lambda one: float(one["seen"] - one["holdout"]))
    return round(100 * float(whole[part] - chosen[part]), 1)


@study("chains/substitution", figure=f"{HERE}:substitution", more=f"{HERE}:network", **SHOWN)
def substitutions(scale: Scale) -> Iterator[Arm]:
    """Inputs that fit another operator make the network name it, and leave the other operator as it was."""
    (low, high), (least, most) = published.SUBSTITUTION
    for of, key, sides, paper in (
        ("target named", "follows", ("a, b", "c, d"), SpreadOfOneNetwork("§4.6", low, high)),
        ("other kept, a and b swapped", "keeps", ("a, b",), SpreadOfOneNetwork("§4.6", least, most)),
    ):
        spread: Published = paper
        yield Arm({"pair": "^|", "of": of}, (), spread, partial(_value, scale, "^|", partial(_range, key, sides)))


def _range(key: str, sides: Sequence[str], analyses: Run) -> list[float]:
    """Over the seven target operators."""
    targets = [one for one in analyses["substitution"]["targets"] if one["swapped"] in sides and one[key] is not None]
    values = [round(100 * one[key], 1) for one in targets]
    return [min(values), max(values)]


def network(result: StudyResult, store: Store, kept: Path) -> dict[str, Any]:
    """The network that the figure is of."""
    return {"opened": _opened(kept / f"analyses-{result.scale}.json")[:1]}


def substitution(results: Sequence[StudyResult]) -> Figure:
    """The paper's Figure 3."""
    from hardgap.studies.symbolic.figures import substitution_figure

    (result,) = results
    if not result.more["opened"]:
        raise BadInput(f"no network of Experiment 2 has been opened yet at {result.scale} scale")
    return substitution_figure(result.more["opened"][0])


def inside_tables(results: Sequence[StudyResult]) -> list[Table]:
    return computed_tables(results)
