"""The atlas: every gap once, and a forecast that was written down before the runs."""

from __future__ import annotations

import csv
from pathlib import Path

from hardgap.studies.atlas import atlas, every_gap, write_forecast

FORECAST = Path(__file__).parents[2] / "results" / "atlas" / "forecast.csv"


def test_every_gap_is_there_once_and_one_rule_of_each_class_comes_first() -> None:
    gaps = [(rule.number, pattern) for rule, pattern in every_gap()]
    assert len(gaps) == len(set(gaps)) == 2048
    first = {number for number, _ in gaps[: 88 * 8]}  # there are 88 classes of elementary rules
    assert len(first) == 88
    assert len({run.id for run in atlas.runs("desk")}) == 2048


def test_the_forecast_is_what_is_committed(tmp_path: Path) -> None:
    write_forecast(tmp_path / "forecast.csv")
    assert (tmp_path / "forecast.csv").read_text() == FORECAST.read_text()


def test_gaps_that_a_mirror_exchanges_have_the_same_forecast() -> None:
    lines = FORECAST.read_text().splitlines()
    rows = {(int(row["rule"]), int(row["pattern"])): row for row in csv.DictReader(lines)}
    mirrored = 6  # 011 is read as 110
    for name in ("determined", "agreeing", "forecast"):
        assert rows[110, 3][name] == rows[124, mirrored][name]
