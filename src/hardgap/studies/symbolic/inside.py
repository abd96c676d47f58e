"""Inside the networks of Experiment 2 (paper, Appendix F): each printed number of the four networks beside ours.

Computed from `analyses-SCALE.json`, which `hardgap symbolic analyse RUN… --json` prints; the committed one is in
results/symbolic. Paper is silent: on which examples its logit lens looks, and among which tokens. Its last layer names
op1 in 92 to 95 % and op2 in 100 %, as only seen pairs are, so ours is compared on seen examples, among all tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from hardgap.core.errors import NotMeasured
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.runs.store import Store
from hardgap.studies.kept import kept_file
from hardgap.studies.measure import Measured, StudyResult, each
from hardgap.studies.networks import POINTS, OfNetworks, spread
from hardgap.studies.study import Arm, study
from hardgap.studies.symbolic import published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN: dict[str, Any] = {"tables": f"{__name__}:inside_tables", "folder": "symbolic"}
Run = dict[str, Any]
Printed = dict[str, dict[tuple[str, str], float]]


def _number(value: float, where: str = "Appendix F") -> OfNetworks:
    """A share in percent of the one network that the paper opened."""
    return OfNetworks(where, value, POINTS, (value,))


def _arms(scale: Scale, printed: Printed, find: Callable[[Run, str, str], float | None]) -> Iterator[Arm]:
    for pair, numbers in printed.items():
        for (first, second), value in numbers.items():
            compute = partial(_values, scale, pair, partial(_percent, find, first, second))
            yield Arm({"pair": pair, "of": f"{first}, {second}"}, (), _number(value), compute)


def _percent(find: Callable[[Run, str, str], float | None], first: str, second: str, analyses: Run) -> float | None:
    share = find(analyses, first, second)
    return None if share is None else 100 * share


def _values(scale: Scale, pair: str, find: Callable[[Run], float | None], kept: Path) -> dict[str, float] | None:
    """Of all networks that held this pair out, under the familiar condition; None if none was opened."""
    runs = _opened(kept / f"analyses-{scale}.json")
    opened = [run["analyses"] for run in runs if (run["holdout"], run["condition"]) == (pair, "familiar")]
    values = []
    for analyses in opened:
        with suppress(KeyError):  # this analysis was not asked for
            if (value := find(analyses)) is not None:
                values.append(value)
    return spread(median(values), values) if values else None


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
        compute = partial(_values, scale, "^|", partial(_lost, part))
        yield Arm({"pair": "^|", "of": f"points lost on {part}"}, (), _number(value), compute)


def _lost(part: str, analyses: Run) -> float:
    """By the head that the held-out pair needs most beyond what seen ones do: which one is a matter of the seed."""
    whole = next(one for one in analyses["heads"] if one["head"] is None)
    silenced = [one for one in analyses["heads"] if one["head"] is not None]
    chosen = max(silenced, key=lambda one: float(one["seen"] - one["holdout"]))
    return 100 * float(whole[part] - chosen[part])


@study("chains/substitution", figure=f"{__name__}:substitution", more=f"{__name__}:network", **SHOWN)
def substitutions(scale: Scale) -> Iterator[Arm]:
    """Inputs that fit another operator make the network name it, and leave the other operator as it was."""
    named, kept = published.SUBSTITUTION
    for of, key, sides, ends in (
        ("target named", "follows", ("a, b", "c, d"), named),
        ("other kept, a and b swapped", "keeps", ("a, b",), kept),
    ):
        for word, choose, value in (("least", min, ends[0]), ("most", max, ends[1])):
            compute = partial(_values, scale, "^|", partial(_end, choose, key, sides))
            yield Arm({"pair": "^|", "of": f"{of}, {word}"}, (), _number(value, "§4.6"), compute)


def _end(choose: Callable[[Sequence[float]], float], key: str, sides: Sequence[str], analyses: Run) -> float:
    """The least or the most over the seven target operators."""
    targets = [one for one in analyses["substitution"]["targets"] if one["swapped"] in sides and one[key] is not None]
    return choose([100 * one[key] for one in targets])


def network(result: StudyResult, store: Store, kept: Path) -> dict[str, Any]:
    """The network that the figure is of."""
    return {"opened": _opened(kept / f"analyses-{result.scale}.json")[:1]}


def substitution(results: Sequence[StudyResult]) -> Figure:
    """The paper's Figure 3."""
    from hardgap.studies.symbolic.figures import substitution_figure

    (result,) = results
    if not result.more["opened"]:
        raise NotMeasured(f"no network of Experiment 2 has been opened yet at {result.scale} scale")
    return substitution_figure(result.more["opened"][0])


@each
def inside_tables(one: StudyResult) -> Table:
    """The paper's network, the median and range of ours, the verdict."""
    columns = ["pair", "of", "published %", "networks", "median %", "range %", "verdict", "why"]
    return Table(f"{one.name}: {one.study.claim}", columns, [_row(arm) for arm in one.arms], columns[2:6], ["why"])


def _row(arm: Measured) -> list[object]:
    assert isinstance(arm.published, OfNetworks)
    ours: list[object] = ["", "", ""]
    if arm.value is not None:
        ends = f"{arm.value['least']:.1f} to {arm.value['most']:.1f}"
        ours = [arm.value["networks"], f"{arm.value['middle']:.1f}", ends]
    return [*arm.labels.values(), f"{arm.published.value:g}", *ours, arm.comparison.verdict, arm.comparison.note]
