"""The numbers in docs/baselines.md are those of the measured files, and the verdicts follow from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hardgap.studies.interpolation.published import PUBLISHED
from hardgap.studies.interpolation.published import TEMPORAL as PUBLISHED_TEMPORAL

ROOT = Path(__file__).parents[4]
DOCUMENT = (ROOT / "docs" / "baselines.md").read_text()


def measured(name: str) -> Any:
    return json.loads((ROOT / "results" / "baselines" / f"{name}.json").read_text())


def span(values: list[float]) -> str:
    low, high = (f"{value:.0f}" for value in values)
    return low if low == high else f"{low}–{high}"


def test_table_1_is_the_measured_one() -> None:
    report = measured("rule-150-desk")
    assert all(run["run"] in DOCUMENT and run["final_holdout"] >= 0.95 for run in report["runs"])
    for line in report["table"]:
        published = PUBLISHED.get(line["level"], {})
        cells = [
            span(line["holdout"][m]) + (f" [{span(list(published[m]))}]" if m in published else "")
            for m in line["holdout"]
        ]
        assert f"| {line['title']} | {' | '.join(cells)} |" in DOCUMENT


def test_the_size_curve_is_the_measured_one() -> None:
    sizes = measured("rule-150-desk-sizes")["sizes"]
    for place, line in enumerate(sizes[0]["table"]):
        for method in line["holdout"]:
            values = [entry["table"][place]["holdout"][method] for entry in sizes]
            if place < 3:
                assert values == [[0, 0]] * len(sizes)
            else:
                assert f"| {line['title']} | {method} | {' | '.join(map(span, values))} |" in DOCUMENT


@pytest.mark.parametrize("pattern", [2, 5])
def test_what_the_page_says_of_the_temporal_baseline(pattern: int) -> None:
    """The table itself is generated; the sentences below it are not."""
    sample, every = measured(f"temporal-150-{pattern}-size-80000"), measured(f"temporal-150-{pattern}")
    published = every["published"]
    assert published == PUBLISHED_TEMPORAL[(pattern,)]
    assert all(100 * every["methods"][name]["holdout"] < published[name] for name in published)
    assert all(abs(100 * sample["methods"][name]["holdout"] - published[name]) < 5 for name in published)
    assert {one["shown"] for name, one in every["methods"].items() if name != "KNN (k=5)"} == {1.0}
    assert all(0.56 <= every["methods"][name]["visible"] <= 0.58 for name in published if name.startswith("RF"))


def test_the_failed_run_reads_as_wrong_as_it_answers() -> None:
    after = [line for line in measured("rule-150-desk-failed")["table"] if "hidden" in line["level"]]
    assert [line["network"] for line in after] == [0.0, 0.0]
    assert all(values == [0, 0] for line in after for values in line["holdout"].values())
