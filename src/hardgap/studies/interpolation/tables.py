"""What interpolation methods answer, as tables, from the plain data that `hardgap baselines … --json` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hardgap.core.table import Table
from hardgap.core.wording import percent, plural
from hardgap.studies.interpolation.published import PUBLISHED_NETWORK
from hardgap.studies.published import Spread

Report = dict[str, Any]


def tables_of(report: Report) -> list[Table]:
    return TABLES[report["kind"]](report)


def _levels(report: Report) -> list[Table]:
    """Table 1 as the paper prints it, the control below it."""
    lines, methods = report["table"], list(report["table"][0]["holdout"])
    columns = ["representation level", *methods, "network"]
    hidden = [
        [line["title"], *(_range(line["holdout"][m]) for m in methods), _digits(line["network"])] for line in lines
    ]
    control = [[line["title"], *(_digits(line["visible"][m]) for m in methods)] for line in lines]
    about = f"Control: on visible cells, %; {report['setting']['size']} examples learned from"
    tables = [
        Table(f"{report['about']}: right answers on hidden cells, %", columns, hidden, columns[1:]),
        Table(about, columns[:-1], control, columns[1:]),
    ]
    if published := [line for line in lines if line["published"]]:
        rows = [
            [line["title"], *(_verdict(line, m) for m in line["published"]), _digits(PUBLISHED_NETWORK)]
            for line in published
        ]
        names = [*published[0]["published"], "network"]
        tables.append(Table("Published (Table 1, width 101), %", ["representation level", *names], rows, names))
    return tables


def _verdict(line: dict[str, Any], method: str) -> str:
    low, high = line["published"][method]
    found = Spread("Table 1", low, high).judge(line["holdout"].get(method))
    return _range([low, high]) + ("" if found.word == "reproduced" else f" ({found.verdict})")


def _sizes(report: Report) -> list[Table]:
    sizes = report["sizes"]
    rows = [
        [
            line["title"] if i == 0 else "",
            method,
            *(_range(entry["table"][place]["holdout"][method]) for entry in sizes),
        ]
        for place, line in enumerate(sizes[0]["table"])
        for i, method in enumerate(sizes[0]["table"][0]["holdout"])
    ]
    columns = [str(entry["size"]) for entry in sizes]
    title = f"{report['about']}: right answers on hidden cells, %, by number of examples learned from"
    return [Table(title, ["representation level", "method", *columns], rows, columns)]


def _truth_table(report: Report) -> list[Table]:
    methods = list(report["table"][0]["holdout"])
    rows = [
        [p["pattern"], p["neighbourhood"], p["truth"], *(p["answers"][m] for m in methods)] for p in report["patterns"]
    ]
    right = ["right, %", "", "", *(_digits(report["table"][0]["holdout"][m][0]) for m in methods)]
    columns = ["pattern", "neighbourhood", "true output", *methods]
    learned = f"learned from {plural(report['visible'], 'visible one')}"
    title = f"{report['about']}: answers for the hidden patterns, {learned}"
    return [Table(title, columns, [*rows, right], columns[2:])]


def _temporal(report: Report) -> list[Table]:
    rows = [
        [name, percent(one["holdout"]), report["published"].get(name), percent(one["visible"]), percent(one["shown"])]
        for name, one in report["methods"].items()
    ]
    setting = report["setting"]
    columns = ["method", "hidden, t=1", "published (width 101)", "visible, t=1", "learned from"]
    title = (
        f"{report['about']}: first row, position and timestep; width {setting['width']}, {setting['size']} cells "
        f"of t=1 to {setting['steps']}; right answers, %"
    )
    return [Table(title, columns, rows, columns[1:])]


TABLES: dict[str, Callable[[Report], list[Table]]] = {
    "levels": _levels,
    "sizes": _sizes,
    "truth-table": _truth_table,
    "temporal": _temporal,
}


def _range(values: list[float] | tuple[float, float]) -> str:
    """`34–42`, or one number where both are the same to a percent, as Table 1 prints it."""
    low, high = (f"{value:.0f}" for value in values)
    return low if low == high else f"{low}–{high}"


def _digits(value: float) -> str:
    return f"{value:.1f}"
