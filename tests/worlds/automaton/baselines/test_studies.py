"""Table 1 over runs of a store, its ranges, the temporal table and the ceiling's configs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hardgap.core.errors import BadInput
from hardgap.nn.spec import ConvSpec
from hardgap.runs.store import Store
from hardgap.studies.ceiling import conv_rule_d
from hardgap.studies.interpolation import measure as interpolation
from hardgap.studies.interpolation import temporal
from hardgap.studies.main_table import rule_d_soft
from hardgap.studies.measure import measure
from hardgap.studies.study import STUDIES
from hardgap.worlds.automaton.baselines.levels import LEVELS
from hardgap.worlds.automaton.baselines.methods import METHODS
from hardgap.worlds.automaton.baselines.temporal import MOST_SHOWN, STEPS, TemporalQuestion
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.run import AutomatonRun

QUICK = [method for method in METHODS if method.name != "RF"]
SETTING = interpolation.Setting(methods=QUICK, size=40, most_asked=20)


def put(store: Store, run: AutomatonRun, holdout: float) -> str:
    """A finished run without weights."""
    curve = [{"step": 7, "loss": 0.1, "visible": 1.0, "holdout": holdout, "detail": {}}]
    store.put_all_done([(run, curve, "budget", {}, 1.0)])
    return run.id


def test_a_table_holds_every_level_and_method(trained: tuple[Store, str]) -> None:
    table = interpolation.measure_run(*trained, SETTING)
    assert [line.level for line in table.lines] == list(LEVELS)
    assert all(list(line.methods) == [method.name for method in QUICK] for line in table.lines)
    again = interpolation.measure_run(*trained, SETTING)
    assert again == table


def test_progress_counts_through_all_runs_and_sizes(trained: tuple[Store, str]) -> None:
    store, run = trained
    told: list[tuple[int, int]] = []
    setting = interpolation.Setting(methods=QUICK[-1:], size=40, levels=LEVELS[:2])
    curve = interpolation.measure_sizes(
        store, [run], setting, [30, 10, 30], lambda doing, done, total: told.append((done, total))
    )
    assert list(curve) == [10, 30]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (4, 4)
    report = interpolation.sizes_report(curve, setting)
    assert [entry["size"] for entry in report["sizes"]] == [10, 30]


def test_ranges_are_the_smallest_and_largest_over_runs(trained: tuple[Store, str]) -> None:
    first = interpolation.measure_run(*trained, SETTING)
    second = interpolation.measure_run(*trained, interpolation.Setting(methods=QUICK, size=10, seed=4))
    for place, line in enumerate(interpolation.ranges([first, second])):
        for name, (low, high) in line["holdout"].items():
            values = [100 * table.lines[place].methods[name].holdout for table in (first, second)]
            assert (low, high) == pytest.approx((min(values), max(values)), abs=0.005)
        assert line["published"] == {}  # an unsolved run of another rule is not what the paper's table is about


def test_solved_runs_are_the_first_finished_one_a_family(tmp_path: Path, tiny: Callable[..., AutomatonRun]) -> None:
    store = Store(tmp_path)
    wanted = [put(store, tiny(rule="150", hide=[p]), 0.96) for p in (3, 1)]
    put(store, tiny(rule="150", hide=[2]), 0.94)
    put(store, tiny(rule="30"), 1.0)
    put(store, tiny(rule="150", hide=[4], masking="first"), 1.0)
    put(store, tiny(rule="150", hide=[4], model={"kind": "conv"}), 1.0)
    longer = tiny(rule="150", hide=[3], budget={"steps": 9, "evaluate_every": 3})
    put(store, longer, 1.0)
    assert interpolation.solved_runs(store, "L ^ C ^ R") == wanted
    assert interpolation.solved_runs(store, "150", at_most=1) == wanted[:1]
    with pytest.raises(BadInput, match="holds no finished run with 95% holdout"):
        interpolation.solved_runs(store, "106")


def test_runs_that_cannot_be_measured_are_refused(tmp_path: Path, tiny: Callable[..., AutomatonRun]) -> None:
    store = Store(tmp_path)
    queued = tiny()
    store.add([queued])
    with pytest.raises(BadInput, match="has not been trained yet"):
        interpolation.measure_run(store, queued.id, SETTING)
    without_weights = put(store, tiny(seed=1), 1.0)
    with pytest.raises(BadInput, match="has no weights"):
        interpolation.measure_run(store, without_weights, SETTING)


def test_published_numbers_stand_beside_the_runs_they_are_about(tiny: Callable[..., AutomatonRun]) -> None:
    solved = interpolation.RunTable("x", tiny(rule="150"), 0.97, [])
    assert interpolation._as_published(solved)
    assert set(interpolation.PUBLISHED) < {level.name for level in LEVELS}


def test_the_temporal_table_carries_the_published_numbers() -> None:
    gap = Gap(parse_rule("150"), (2,))
    report = temporal.temporal_report(gap, width=9, size=50, methods=temporal.TEMPORAL_METHODS[2:])
    assert report["published"] == {"KNN (k=1)": 42.5, "KNN (k=5)": 36.2}
    assert report["methods"]["KNN (k=1)"]["shown"] == 1.0  # its own nearest neighbour
    assert report["setting"]["width"] == 9
    with pytest.raises(BadInput, match="width 4"):
        temporal.temporal_report(Gap(parse_rule("D"), (2,)), width=4)


def test_of_many_shown_cells_only_some_are_asked_for_again() -> None:
    gap = Gap(parse_rule("150"), (2,))
    rows = np.random.default_rng(0).integers(0, 2, (400, 9), dtype=np.uint8)
    learn, judge = gap.trajectory(rows, STEPS), gap.trajectory(rows[:50], 1)
    question = TemporalQuestion.draw(learn, judge, size=9_000, most_asked=20, seed=0)
    assert (len(question.shown.labels), len(question.asked["shown"].labels)) == (9_000, MOST_SHOWN)
    assert np.array_equal(question.asked["shown"].features, question.shown.features[:MOST_SHOWN])


def test_the_temporal_study_takes_no_file_of_another_size_for_its_own(tmp_path: Path) -> None:
    (kept := tmp_path / "baselines").mkdir()
    told = {"setting": {"size": 8_000}, "methods": {"KNN (k=1)": {"holdout": 0.4}}}
    for size, value in ((80_000, None), ("all", [40.0])):
        setting = {"width": 101, "rows": 20_000, "size": size}
        (kept / "temporal-150-2.json").write_text(json.dumps(told | {"setting": setting}))
        result = measure(STUDIES["interpolation/temporal"], "desk", Store(tmp_path))
        found = {tuple(arm.labels.values()): arm.value for arm in result.arms}
        assert found[2, "KNN (k=1)"] == value


def test_the_ceiling_changes_nothing_but_the_network() -> None:
    pairs = zip(conv_rule_d.runs("desk"), rule_d_soft.runs("desk"), strict=True)
    assert all(conv == encoder.but(model=ConvSpec(radius=2)) for conv, encoder in pairs)
