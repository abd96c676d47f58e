"""The atlas: every gap once, and a forecast that was written down before the runs."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from rich.box import HEAVY_HEAD

from hardgap.cli.tables import table_lines
from hardgap.core.errors import BadInput
from hardgap.studies.atlas.cells import (
    all_table,
    atlas_runs,
    cells_of,
    forecast_table,
    rule_remarks,
    rule_table,
    settled,
    trained_in_results,
)
from hardgap.studies.atlas.figure import draw_atlas
from hardgap.studies.atlas.forecast import KNOWN_BEFORE, every_rule, images, is_new, write_forecast
from hardgap.studies.atlas.missed import missed_table, missed_words
from hardgap.studies.atlas.study import MISSED, atlas, every_gap, missed
from hardgap.studies.atlas.words import atlas_words
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.tempered.forecast import forecast
from hardgap.studies.tempered.target import target
from hardgap.worlds.automaton.rule import Rule

RESULTS = Path(__file__).parents[2] / "results"
FORECAST = RESULTS / "atlas" / "forecast.csv"


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


def test_a_gap_that_is_not_recovered_is_the_other_table_or_neither() -> None:
    def ended(visible: float, holdout: float) -> str:
        return settled([{"step": 25, "visible": visible, "holdout": holdout, "detail": {}}], "0" * 12).settled

    assert [ended(1, 1), ended(1, 0), ended(0.8, 0), ended(1, 0.5)] == [
        "recovered",
        "the other table",
        "neither",
        "neither",
    ]


def test_images_of_a_gap_share_every_exact_answer() -> None:
    cells = {(cell.rule, cell.pattern): cell for cell in cells_of(every_rule(), {})}
    assert len(cells) == 2048
    for gap, cell in cells.items():
        for image in images(*gap):
            other = cells[image]
            assert (other.known.determined, other.similarity) == (cell.known.determined, cell.similarity), gap
            assert set(images(*image)) == set(images(*gap))


def test_the_picture_has_a_mark_for_what_is_trained_and_none_for_what_is_not() -> None:
    found = {(0, 7): settled([{"step": 25, "visible": 1.0, "holdout": 0.0, "detail": {}}], "0" * 12)}
    bare, marked = (draw_atlas(cells_of(every_rule(), one)).axes[0].images[0].get_array() for one in ({}, found))
    places = np.argwhere((np.asarray(bare) != np.asarray(marked)).any(axis=-1))
    assert len(places) == 9  # one small square, in the first cell of the first tile
    assert places.max() < 8


def test_the_gaps_that_are_looked_into_are_those_that_were_missed() -> None:
    """Of a gap and its images those of the first rule of which one was missed."""
    cells = cells_of(every_rule(), trained_in_results(RESULTS, atlas_runs()))
    assert all(cell.trained is not None for cell in cells)
    found: dict[int, tuple[int, ...]] = {}
    first: dict[frozenset[tuple[Rule, int]], int] = {}
    for cell in (cell for cell in cells if cell.known.determined is not None and not cell.recovered):
        number = cell.rule.number
        if first.setdefault(frozenset(images(cell.rule, cell.pattern)), number) == number:
            found[number] = (*found.get(number, ()), cell.pattern)
    assert found == MISSED
    own = {run.id for run in atlas_runs().values()}
    assert all(arm.runs[0].id in own for arm in missed.arms("desk") if arm.labels["way"] == "the recipe")


def test_gaps_that_other_seeds_or_rounding_recover_are_told_from_those_that_neither_does() -> None:
    """Of three gaps one is recovered by another seed, one by rounding, one by neither."""
    right, wrong = ([{"step": 25, "visible": 1.0, "holdout": share, "detail": {}}] for share in (1.0, 0.0))
    ended = [
        (wrong, right, wrong), (wrong,) * 3, (right, wrong),
        (wrong,) * 3, (right, wrong, right), (),
        (wrong,) * 3, (wrong,) * 3, (right,),
    ]  # fmt: skip
    arms = missed.arms("desk")[:9]
    found = StudyResult(
        missed, "desk", tuple(Measured(a.labels, 3, a.runs[: len(c)], c) for a, c in zip(arms, ended, strict=True))
    )
    words = " ".join(missed_words(found).split())
    assert "the first gap that was missed was looked into: 3 gaps. At least one of two other" in words
    assert "seeds recovers 1 of them; all three seeds miss 2, and of 1 of these an image recovered. With" in words
    assert "at least one of three seeds recovers 1. Neither recovers Rule 7 (010)." in words
    assert words.endswith("Of the 3 of their other images that are trained, 2 recovered.")
    begun = [(wrong, right, wrong), (wrong,) * 3, (right, wrong), (wrong,), (), (), (wrong,), (), (right,)]
    some = StudyResult(
        missed, "desk", tuple(Measured(a.labels, 3, a.runs[: len(c)], c) for a, c in zip(arms, begun, strict=True))
    )
    assert len(missed_table(some).rows) == 1
    assert " ".join(missed_words(some).split()).endswith(  # an image of a gap that is not looked into does not count
        "Of the 2 of their other images that are trained, 1 recovered. Missed and not looked into yet: 2."
    )
    rows = missed_table(found).rows
    assert [row[2:5] for row in rows] == [["1/3", "0/3", "1/2"], ["0/3", "2/3", ""], ["0/3", "0/3", "1/1"]]
    assert rows[0][5:] == ["the other table (2)", "the other table (3)"]


def test_all_gaps_that_were_trained_before_the_forecast_are_known() -> None:
    """Those of both studies: the same gaps, and the same runs but for when they end."""
    gaps = {
        (int(arm.labels["rule"]), int(arm.labels["pattern"])) for one in (forecast, target) for arm in one.arms("desk")
    }
    assert gaps == {(rule, pattern) for rule in KNOWN_BEFORE for pattern in range(8)}
    assert len(gaps) == 88
    for arm in target.arms("desk"):
        own = atlas_runs()[int(arm.labels["rule"]), int(arm.labels["pattern"])].asked()
        first = arm.runs[0].asked()
        assert {name for name in own.keys() | first.keys() if own.get(name) != first.get(name)} <= {"budget"}


def test_a_network_that_answers_as_another_table_is_not_said_to_compute_it() -> None:
    wrong = settled([{"step": 25, "visible": 1.0, "holdout": 0.0, "detail": {}}], "2ad772691613")
    cells = cells_of([every_rule()[8]], {(8, 7): wrong})
    (row,) = [row for row in rule_table(cells).rows if row[0] == "111"]
    assert row[5:] == ["like Rule 136", "0.0", None, "2ad772691613"]
    assert [said.split(":")[0] for said in rule_remarks(cells)] == ["“like Rule …”", "A trained cell again"]
    assert list(rule_remarks(cells_of([every_rule()[8]], {}))) == []


def test_the_forecast_is_scored_on_problems_that_are_new_each_once() -> None:
    """All gaps trained: those that were to recover do, those that may fail do not, whatever was known before."""
    right, wrong = ([{"step": 25, "visible": 1.0, "holdout": share, "detail": {}}] for share in (1.0, 0.0))
    bare = cells_of(every_rule(), {})
    ended = {(c.rule.number, c.pattern): settled(right if c.known.says == "recovers" else wrong, "") for c in bare}
    words = " ".join(atlas_words(cells_of(every_rule(), ended)).split())
    since = [c for c in bare if is_new(c.rule, c.pattern)]
    assert {c.rule.number for c in bare if c not in since} > set(KNOWN_BEFORE)  # images of theirs, too
    before = f"{2048 - len(since)} gaps of the 11 rules that had been trained before the forecast was written"
    assert f"{before}, or images of theirs, do not test it." in words
    may_fail = [c for c in since if c.known.says == "may fail"]
    assert f"“may fail” was said of {len(may_fail)}, and 0 of them recovered." in words
    sure, unsure = (
        len({frozenset(images(c.rule, c.pattern)) for c in since if c.known.says == says and c.known.determined})
        for says in ("recovers", "may fail")
    )
    assert 4 * unsure > len(may_fail) > 2 * unsure  # most problems have four images, symmetric ones fewer
    assert f"each problem counted once, that is {sure} of {sure} against 0 of {unsure} (p = " in words
    missed = f"Of the {len(may_fail)} determined gaps that test it and were missed, it had named {len(may_fail)}"
    assert f"{missed} (“may fail”) and had said of 0 that they recover." in words
    assert "All are trained, once each: " in words
    assert "yet" not in words
    alike = " ".join(atlas_words(cells_of(every_rule(), dict.fromkeys(ended, settled(right, "")))).split())
    assert f"{sure} of {sure} against {unsure} of {unsure}, no difference is shown (p = 1)." in alike
    assert "that test it and were missed" not in alike
    unlike = " ".join(atlas_words(cells_of(every_rule(), dict.fromkeys(ended, settled(wrong, "")))).split())
    said = [c for c in since if c.known.determined is not None and c.known.says == "recovers"]
    assert f"named {len(may_fail)} (“may fail”) and had said of {len(said):,} that they recover." in unlike


def test_what_recovered_has_its_interval_and_is_told_by_what_similarity_must_say() -> None:
    """Similarity is right on the six determined gaps of Rule 8, of which five recover, and wrong on Rule 150's."""
    right, wrong = (settled([{"step": 25, "visible": 1.0, "holdout": s, "detail": {}}], "") for s in (1.0, 0.0))
    ended = dict.fromkeys([(8, 0), (8, 1), (8, 2), (8, 4), (8, 5), (8, 6), (150, 0)], right)
    words = " ".join(atlas_words(cells_of(every_rule(), ended | dict.fromkeys([(8, 7), (150, 1)], wrong))).split())
    told = "6 of 8 determined ones recovered (75.0 %; 95 % interval 40.9 to 92.9, as if no two were images)"
    assert f"{told}; by what similarity must say: wrong 1 of 2, open 0 of 0, right 5 of 6." in words
    bare = " ".join(atlas_words(cells_of(every_rule(), {(8, 0): right})).split())
    assert "0 of 0 determined ones recovered. The other 2,047" in bare


def test_a_gap_that_four_steps_do_not_determine_is_not_said_to_be_never() -> None:
    (row,) = [row for row in rule_table(cells_of([Rule(1, 0)], {})).rows if row[0] == "000"]
    assert row[2] == "not in 4"
    kinds = {row[0] for row in forecast_table(cells_of(every_rule(), {})).rows}
    assert kinds == {"in 2 steps", "not in 4 steps"}
    assert "124 undetermined in these four, however many rows" in " ".join(
        atlas_words(cells_of(every_rule(), {})).split()
    )


def test_steps_are_shown_at_80_columns() -> None:
    """Also where a cell is long, and beside the rule."""
    found = cells_of([Rule(1, 8)], trained_in_results(RESULTS, {(8, 7): atlas_runs()[8, 7]}))
    for table in (rule_table(found), all_table(found)):
        lines = [line for line, _ in table_lines(table, 80, HEAVY_HEAD)]
        assert {"determined", "trained", "steps", "run"} <= set(lines[1].replace("┃", " ").split())
        assert "like Rule 136" in "".join(lines)


def test_recovered_runs_that_were_never_solved_are_slower_than_any() -> None:
    """Of three gaps of Rule 0's kind one is solved at step 25, two recover with 80 % of the hidden cells right."""
    kind = [c for c in cells_of(every_rule(), {}) if (c.known.determined, c.known.agreeing) == (None, 3)][:3]
    ends = [settled([{"step": 25, "visible": 1.0, "holdout": share, "detail": {}}], "") for share in (1.0, 0.8, 0.8)]

    def steps(count: int) -> object:
        trained = {(c.rule.number, c.pattern): end for c, end in zip(kind[:count], ends[:count], strict=True)}
        (row,) = [
            row for row in forecast_table(cells_of(every_rule(), trained)).rows if row[:2] == ["not in 4 steps", 3]
        ]
        return row[-1]

    assert [steps(1), steps(3)] == ["25", ""]


def test_a_results_file_that_is_damaged_is_refused_by_name(tmp_path: Path) -> None:
    run = atlas_runs()[(0, 0)]
    (tmp_path / f"{run.id}.json").write_text('{"format": 1, "curve": [')
    with pytest.raises(BadInput, match=f"{run.id}.json is not a results file"):
        trained_in_results(tmp_path, atlas_runs())
