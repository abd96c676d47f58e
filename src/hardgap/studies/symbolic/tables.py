"""The analyses of Experiment 2 in the layout of the paper's tables (Appendix F): a column a network.

Made from the plain data that `hardgap symbolic analyse --json` prints. Where the paper has a number for a network's
held-out pair, it stands in brackets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.studies.numbers import beside
from hardgap.studies.symbolic import published as published

Runs = Sequence[dict[str, Any]]
Maker = Callable[[Runs], list[Table]]
Printed = dict[str, dict[tuple[str, str], float]]


def analysis_tables(runs: Runs, *, on_page: bool = False) -> list[Table]:
    """Which networks were opened, then one table an analysis that was made, in the paper's order.

    A page has fewer: one network's substitutions, the lens on seen examples, and no heads, which are a figure.
    """
    if not runs:
        return []
    makers = ON_PAGE if on_page else TABLES
    made = [make for name, make in makers.items() if all(name in run["analyses"] for run in runs)]
    return [_opened(runs), *(table for make in made for table in make(runs))]


def _opened(runs: Runs) -> Table:
    keys = ["holdout", "condition", "seed", "run", "checkpoint", "step"]
    rows: list[list[object]] = [[run[key] for key in keys] for run in runs]
    return Table("The networks that were opened", ["held out", *keys[1:]], rows, ["seed", "step"])


def _probes(runs: Runs) -> list[Table]:
    """Holdouts in rows, as in Table 11, with every position and operator."""
    first = runs[0]["analyses"]["probes"]
    keys = [(place, op) for op in next(iter(first.values())) for place in first]
    rows: list[list[object]] = [
        [_heading(run), *(_beside(run["analyses"]["probes"][place][op], run, published.PROBES, (place, op))
                          for place, op in keys)]
        for run in runs
    ]  # fmt: skip
    columns = [f"{op} at {place}" for place, op in keys]
    title = "Linear probes of the last encoder layer, % right [published]"
    return [Table(title, ["holdout", *columns], rows, columns)]


def _attention(runs: Runs) -> list[Table]:
    """Table 12: attention while e and f are predicted; every place is in the figure and in `--json`."""
    keys = [("e", "c"), ("f", "c"), ("f", "u")]
    rows: list[list[object]] = [
        [f"{value}: attention to {place}",
         *(_beside(_share(run, value, place), run, published.ATTENTION, (value, place)) for run in runs)]
        for value, place in keys
    ]  # fmt: skip
    title = "Cross-attention of the first decoder layer, mean over heads, % [published]"
    return [_table(title, ["predicting"], rows, runs)]


def _share(run: dict[str, Any], value: str, place: str) -> float | None:
    found = [shares for key, shares in run["analyses"]["attention"].items() if key.endswith(f":{value}")]
    return found[0].get(place) if found else None


def _corruption(runs: Runs) -> list[Table]:
    """Table 13, with every input and operator."""
    first = runs[0]["analyses"]["corruption"]
    keys = [(place, op) for place, changed in first.items() for op in changed]
    rows: list[list[object]] = [
        [f"{place} → {op} changed",
         *(_beside(run["analyses"]["corruption"].get(place, {}).get(op), run, published.CORRUPTION, (place, op))
           for run in runs)]
        for place, op in keys
    ]  # fmt: skip
    return [_table("An input replaced: how often a named operator changes, % [published]", ["corrupted"], rows, runs)]


LENS_PARTS = {
    "holdout": "held-out examples",
    "seen": "seen examples",
    "seen, among operators": "seen examples, among operators alone",
}


def _lens(runs: Runs, parts: Sequence[str] = tuple(LENS_PARTS)) -> list[Table]:
    """Table 14, on held-out and on seen examples; older files do not have it among operators alone."""
    tables = []
    for part in parts:
        if not all(part in run["analyses"]["lens"] for run in runs):
            continue
        first = runs[0]["analyses"]["lens"][part]
        keys = [(layer, op) for op in reversed(next(iter(first.values()))) for layer in first]
        rows: list[list[object]] = [
            [layer, op, *(_beside(_read_out(run, part, layer, op), run, published.LENS, (layer, op)) for run in runs)]
            for layer, op in keys
        ]
        unsaid = "on which examples and among which tokens is not said"
        title = f"Logit lens on {LENS_PARTS[part]}, % right [published; {unsaid}]"
        tables.append(_table(title, ["layer", "target"], rows, runs))
    return tables


def _read_out(run: dict[str, Any], part: str, layer: str, op: str) -> float | None:
    found: float | None = run["analyses"]["lens"][part].get(layer, {}).get(op)
    return found


def _heads(runs: Runs) -> list[Table]:
    """Each head silenced, what it costs on held-out and on seen pairs, in points."""
    names = [f"{h['attention']}_head_{h['head']}" for h in runs[0]["analyses"]["heads"] if h["head"] is not None]
    found = {id(run): _drops(run) for run in runs}
    rows: list[list[object]] = [[name, *(_drop(found[id(run)].get(name), run, name) for run in runs)] for name in names]
    whole = [_whole(run) for run in runs]
    head: list[object] = ["none (accuracy, %)", *(f"{100 * w['holdout']:.1f} / {100 * w['seen']:.1f}" for w in whole)]
    title = "A head silenced: points lost on held-out / seen pairs [published, of another network's heads]"
    return [_table(title, ["head"], [head, *rows], runs)]


def _drops(run: dict[str, Any]) -> dict[str, tuple[float, float]]:
    whole = _whole(run)
    return {
        f"{h['attention']}_head_{h['head']}": (whole["holdout"] - h["holdout"], whole["seen"] - h["seen"])
        for h in run["analyses"]["heads"]
        if h["head"] is not None
    }


def _whole(run: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(h for h in run["analyses"]["heads"] if h["head"] is None)
    return found


def _drop(drop: tuple[float, float] | None, run: dict[str, Any], name: str) -> str:
    if drop is None:
        return "–"
    head, (before, after), seen = published.HEAD
    is_printed = (run["holdout"], run["condition"], name) == ("^|", "familiar", head)
    printed = f" [{before - after:.1f} / {seen}]" if is_printed else ""
    return f"{100 * drop[0]:.1f} / {100 * drop[1]:.1f}{printed}"


def _substitution(runs: Runs) -> list[Table]:
    """Figure 3b in numbers: both directions, every target."""
    return [_targets(run) for run in runs]


def _targets(run: dict[str, Any]) -> Table:
    rows: list[list[object]] = [
        [one["swapped"], one["target"], one["examples"], percent(one["follows"], "–"), percent(one["keeps"], "–")]
        for one in run["analyses"]["substitution"]["targets"]
    ]
    columns = ["swapped", "target", "examples", "target named %", "other kept %"]
    title = f"Inputs swapped so that one operator changes, {_heading(run)} held out"
    if (run["holdout"], run["condition"]) == ("^|", "familiar"):
        (low, high), (least, most) = published.SUBSTITUTION
        title += (
            f" [published: target {low:.0f} to {high:.0f}; other kept {least:.0f} to {most:.0f} where a, b are swapped]"
        )
    return Table(title, columns, rows, columns[2:])


TABLES: dict[str, Maker] = {
    "substitution": _substitution,
    "probes": _probes,
    "attention": _attention,
    "corruption": _corruption,
    "lens": _lens,
    "heads": _heads,
}
ON_PAGE: dict[str, Maker] = {
    "substitution": lambda runs: _substitution(runs[:1]),
    "probes": _probes,
    "attention": _attention,
    "corruption": _corruption,
    "lens": partial(_lens, parts=("seen",)),
}


def _table(title: str, first: list[str], rows: list[list[object]], runs: Runs) -> Table:
    columns = [_heading(run) for run in runs]
    unique = [
        name if columns.count(name) == 1 else f"{name} {run['run'][:4]}"
        for name, run in zip(columns, runs, strict=True)
    ]
    return Table(title, [*first, *unique], rows, unique)


def _heading(run: dict[str, Any]) -> str:
    return str(run["holdout"]) if run["condition"] == "familiar" else f"{run['holdout']} {run['condition']}"


def _beside(share: float | None, run: dict[str, Any], printed: Printed, key: tuple[str, str]) -> str:
    """The paper opened networks of the familiar condition only."""
    value = printed.get(run["holdout"], {}).get(key) if run["condition"] == "familiar" else None
    return beside(share, value)
