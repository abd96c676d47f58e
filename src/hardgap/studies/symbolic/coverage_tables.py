"""The coverage of all pairs as tables, from the plain data that `hardgap reproduce symbolic/coverage --json` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import beside
from hardgap.studies.symbolic.coverage import ALL, PAPERS_METHODS, mean_of
from hardgap.studies.symbolic.published import PAPERS_KRR
from hardgap.worlds.chains.baselines import SYMBOLIC_METHODS
from hardgap.worlds.chains.selection import PAPERS_CHOICE, SELECTIONS

METHODS = [method.name for method in SYMBOLIC_METHODS]
RIDGES = [PAPERS_KRR, *(name for name in METHODS if name.startswith("KRR") and name != PAPERS_KRR)]


SEEDS_HERE = "the paper's three seeds at most, though the four pairs of its table have six"
"""Why such a pair has another mean here than in its own table."""


def coverage_tables(results: Sequence[StudyResult]) -> list[Table]:
    """All pairs, the printed ones beside their baselines, all together, and the verdict on them."""
    (result,) = results
    report = result.more | {"scale": result.scale}
    return [coverage_table(report), baselines_table(report), summary_table(report), together_table(result)]


def together_table(result: StudyResult) -> Table:
    """A row a statement about all pairs: what was printed, what was found, the verdict."""
    arms = [arm for arm in result.arms if arm.labels["holdout"] == ALL]
    rows = [[arm.labels["of"], *_beside(arm), arm.comparison.verdict, arm.comparison.note] for arm in arms]
    columns = ["of all pairs", "published", "measured", "verdict", "why"]
    title = f"All pairs together, {result.scale} scale: {arms[0].n} of {arms[0].planned} runs"
    return Table(title, columns, rows, columns[1:3], detail=["why"])


def _beside(arm: Measured) -> tuple[str, str]:
    assert arm.published is not None
    return arm.published.said, arm.published.told(arm)


def coverage_table(report: dict[str, Any]) -> Table:
    """One row a pair, the best understood first; pairs without a run last."""
    by = report["selection"]
    published = report["published"]["network"]
    ordered = sorted(
        report["pairs"], key=lambda pair: -1.0 if (mean := mean_of(pair, by)) is None else mean, reverse=True
    )
    rows: list[list[object]] = [
        [pair["holdout"], pair["about"].removesuffix(" held out"), len(pair["runs"]),
         *(_percent(mean_of(pair, one)) for one in SELECTIONS), _percent(mean_of(pair, by, "pair")),
         _percent(mean_of(pair, by, "f")), _percent(mean_of(pair, by, "seen")),
         _best(pair["best_baseline"]), published.get(pair["holdout"])]
        for pair in ordered
    ]  # fmt: skip
    exact = [f"{one} %" for one in SELECTIONS]
    columns = ["pair", "operators", "seeds", *exact, "both named %", "f %", "seen %", "best baseline %", "published %"]
    title = f"All pairs held out in turn, {report['scale']} scale: whole derivation right by choice of checkpoint"
    others = [name for name in exact if name != f"{by} %"]
    detail = ["operators", *others, "seen %", "f %", "both named %", "seeds"]
    return Table(f"{title}; {SEEDS_HERE}", columns, rows, [*columns[2:9], "published %"], detail)


def summary_table(report: dict[str, Any]) -> Table:
    """What the paper says of all 49 pairs together, measured beside published."""
    paper = report["published"]["summary"]
    found = report["summary"]

    def row(words: str, key: str, published: object) -> list[object]:
        return [words, published, *(_summed(found[by].get(key)) for by in SELECTIONS)]

    above = {by: f"{found[by]['above']} of {found[by]['compared']}" for by in SELECTIONS}
    rows: list[list[object]] = [
        ["pairs with a run", paper["pairs"], *(str(found[by]["pairs"]) for by in SELECTIONS)],
        ["pairs above every interpolation baseline", f"{paper['above']} of 49", *above.values()],
        row("mean over pairs", "mean", paper["mean"]),
        row("mean without the two on which desk was chosen", "mean without the search's", ""),
        row("pairs from … to", "range", _span(paper["range"])),
        row("seen pairs, runs from … to", "seen range", _span(paper["seen range"])),
        *(row(f"{name}, mean", f"{name} mean", paper["KRR mean"] if name == PAPERS_KRR else "") for name in RIDGES),
        *(
            row(f"{name}, from … to", f"{name} range", _span(paper["KRR range"]) if name == PAPERS_KRR else "")
            for name in RIDGES
        ),
        row("KNN, from … to", "KNN range", _span(paper["KNN range"])),
        row("MLP, from … to", "MLP range", _span(paper["MLP range"])),
    ]
    title = f"All pairs together, %, at {report['scale']} scale, by choice of checkpoint"
    detail = [by for by in SELECTIONS if by != PAPERS_CHOICE]
    return Table(title, ["", "published", *SELECTIONS], rows, ["published", *SELECTIONS], detail)


def baselines_table(report: dict[str, Any]) -> Table:
    """Table 10's layout: the printed pairs, the network beside every method, published in brackets."""
    paper = report["published"]
    pairs = {pair["holdout"]: pair for pair in report["pairs"]}
    rows: list[list[object]] = [
        [holdout, beside(mean_of(pairs[holdout], report["selection"]), paper["network"][holdout]),
         *(beside(pairs[holdout]["baselines"].get(name), published.get(name)) for name in METHODS)]
        for holdout, published in paper["baselines"].items()
    ]  # fmt: skip
    title = (
        f"Held-out accuracy, % [published]; {report['scale']} scale, checkpoint by {report['selection']}; network: "
        f"{SEEDS_HERE}"
    )
    detail = [name for name in METHODS if name not in PAPERS_METHODS]
    return Table(title, ["holdout", "network", *METHODS], rows, ["network", *METHODS], detail)


def _percent(share: float | None) -> str:
    return percent(share, "–")


def _summed(value: float | tuple[float, float] | list[float] | None) -> str:
    if value is None:
        return "–"
    return _percent(value) if isinstance(value, float) else _span([100 * share for share in value])


def _span(values: Any) -> str:
    return f"{values[0]:.1f} to {values[1]:.1f}"


def _best(found: Any) -> str:
    return "–" if found is None else f"{_percent(found[1])} ({found[0]})"
