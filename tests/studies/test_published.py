"""What a verdict says of a number whose protocol the paper does not tell, and two such numbers of Table 1 and §4.1."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hardgap.core.run import Run
from hardgap.runs.store import Store
from hardgap.studies.measure import Measured, measure
from hardgap.studies.published import Number, read_as
from hardgap.studies.study import STUDIES

RESULTS = Path(__file__).parents[2] / "results"


def test_a_reading_stands_beside_the_verdict_and_changes_nothing_else() -> None:
    alone = Number("Table 1", 96.8, 10.0)
    read = read_as("on new rows", alone)
    for value in (None, 100.0, 50.0):
        plain, told = (Measured({}, 0, published=one, value=value).comparison for one in (alone, read))
        assert (told.word, told.way, told.p) == (plain.word, plain.way, plain.p)
        assert told.why == ("" if value is None else "on new rows")
    assert (read.said, read.as_dict()["value"]) == ("96.8", 96.8)


def test_a_count_over_patterns_says_which_are_measured_so_far() -> None:
    (arm,) = STUDIES["main/rule-150-short"].arms("desk")
    assert arm.published is not None

    def told(runs: Sequence[Run]) -> str:
        ends = [{"step": 600, "loss": 0.1, "visible": 1.0, "holdout": 1.0, "detail": {}}]
        return arm.published.told(Measured({}, 80, tuple(runs), tuple(ends for _ in runs)))

    assert told(arm.runs[20:21]) == "1/1 (21 to 100 %) of pattern 2, mean 100.0 %"
    assert told(arm.runs[20:60:30]) == "2/2 (34 to 100 %) of patterns 2 and 5, mean 100.0 %"
    assert told(arm.runs) == "80/80 (95 to 100 %), mean 100.0 %"
    assert told([]) == ""


def test_the_networks_own_accuracy_stands_in_table_1(tmp_path: Path) -> None:
    result = measure(STUDIES["interpolation/levels"], "desk", Store(tmp_path), RESULTS / "baselines")
    network = result.arms[-1]
    assert (network.labels["method"], network.value, network.comparison.word) == ("network", 100.0, "no test")
    (table,) = result.tables()
    assert list(table.rows[-1][:4]) == ["all", "network", "96.8", "100"]
    nothing = measure(STUDIES["interpolation/levels"], "desk", Store(tmp_path)).arms[-1]
    assert nothing.comparison.word == "not run"


def test_what_a_forest_learned_from_is_not_taken_for_what_it_was_never_shown(tmp_path: Path) -> None:
    (kept := tmp_path / "baselines").mkdir()
    for seed in range(3):
        shares = {"holdout": 0.001 * seed, "visible": 0.57, "shown": 1.0}
        told = {"setting": {"width": 101, "rows": 20_000, "size": "all"}, "methods": {"RF (500 trees)": shares}}
        (kept / f"temporal-150-2{f'-seed-{seed}' if seed else ''}.json").write_text(json.dumps(told))
    result = measure(STUDIES["interpolation/temporal"], "desk", Store(tmp_path))
    found = {tuple(arm.labels.values()): arm for arm in result.arms}
    supervised = found[2, "RF (500 trees), supervised"]
    assert supervised.value == [100.0] * 3
    assert supervised.comparison.word == "reproduced"
    assert supervised.comparison.why == "of cells that it learned from; the paper does not say which"
    assert found[2, "RF (500 trees)"].value == [0.0, 0.1, 0.2]
    assert found[5, "RF (500 trees), supervised"].comparison.word == "not run"
