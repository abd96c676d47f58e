"""Forests and neighbours that learn from every visible cell: against scikit-learn, against brute force, and no leak."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from hardgap.core.errors import BadInput
from hardgap.studies.interpolation.temporal import temporal_report
from hardgap.worlds.automaton.baselines.every_cell import _Cells, forest_answers, neighbour_answers
from hardgap.worlds.automaton.baselines.lazy_forest import trees
from hardgap.worlds.automaton.baselines.methods import Features, Method, NearestVote
from hardgap.worlds.automaton.baselines.temporal import TEMPORAL_METHODS, Moments, TemporalQuestion
from hardgap.worlds.automaton.gap import Gap, Trajectory
from hardgap.worlds.automaton.rule import parse_rule

GAP = Gap(parse_rule("30"), (3,))


def question(rows: int = 40, width: int = 9) -> tuple[Trajectory, TemporalQuestion]:
    first = np.random.default_rng(0).integers(0, 2, (rows + 20, width), dtype=np.uint8)
    learn, judge = GAP.trajectory(first[:rows], 4), GAP.trajectory(first[rows:], 1)
    return learn, TemporalQuestion.draw(learn, judge, size=10**6, most_asked=60, seed=0)


def everything_asked(found: TemporalQuestion) -> Features:
    return np.concatenate([found.hidden.features, found.visible.features, found.shown.features[:60]])


TREES = 200


@pytest.fixture(scope="module")
def shares() -> tuple[TemporalQuestion, np.ndarray]:
    """A question, and the share of our trees that say 1."""
    learn, found = question()
    return found, np.mean(list(islice(trees(learn, everything_asked(found), 1), TREES)), axis=0)


def disagreement(shares: tuple[TemporalQuestion, np.ndarray], **settings: Any) -> float:
    """Root mean square of the difference from scikit-learn's share, in standard deviations; 1 is chance."""
    found, ours = shares
    forest = RandomForestClassifier(TREES, random_state=1, **settings).fit(found.shown.features, found.shown.labels)
    theirs = forest.predict_proba(everything_asked(found))[:, 1]
    share = (ours + theirs) / 2
    deviation = np.sqrt(np.maximum(share * (1 - share), 1 / TREES) * 2 / TREES)
    return float(np.sqrt(np.square((ours - theirs) / deviation).mean()))


def test_trees_are_drawn_as_scikit_learn_draws_them(shares: tuple[TemporalQuestion, np.ndarray]) -> None:
    assert disagreement(shares) < 1.2


@pytest.mark.parametrize("other", [{"max_features": None}, {"bootstrap": False}, {"min_samples_leaf": 4}], ids=str)
def test_other_trees_would_be_noticed(shares: tuple[TemporalQuestion, np.ndarray], other: dict[str, Any]) -> None:
    assert disagreement(shares, **other) > 1.2


def test_a_tree_knows_the_cells_that_it_has_drawn() -> None:
    """63 % of the shown cells are in a bootstrap; of those each leaf is pure."""
    learn, found = question()
    right = np.mean([answers == found.shown.labels for answers in islice(trees(learn, found.shown.features, 2), 20)])
    assert right > 0.8


def test_a_small_forest_is_the_beginning_of_a_large_one() -> None:
    learn, found = question()
    asked = everything_asked(found)
    answers = forest_answers(learn, asked, {5, 15}, seed=3)
    votes = np.sum(list(islice(trees(learn, asked, 3), 15)), axis=0)
    assert np.array_equal(answers[15], 2 * votes > 15)
    assert np.array_equal(answers[5], forest_answers(learn, asked, {5}, seed=3)[5])


@pytest.mark.parametrize(("width", "rows", "near", "reach"), [(5, 30, 2, 1), (9, 30, 4, 1), (21, 40, 64, 4)])
def test_neighbours_are_those_of_a_search_over_all_cells(width: int, rows: int, near: int, reach: int) -> None:
    """Also where it begins with few rows and must look further."""
    learn, found = question(rows, width)
    asked, lot = everything_asked(found), np.random.default_rng(5).random(learn.hidden.shape)
    step, row, place = np.nonzero(~learn.hidden)
    features = np.column_stack([learn.states[0][row], place, step + 1]).astype(np.float64)
    far = np.square(asked[:, None] - features).sum(-1) + lot[step, row, place]
    expected = learn.targets[step, row, place][np.argsort(far, axis=1)[:, :5]]
    assert np.array_equal(_Cells(learn, lot).nearest(asked, 5, near, reach), expected)


def test_one_neighbour_of_a_shown_cell_is_itself() -> None:
    learn, found = question(rows=12, width=21)
    answers = neighbour_answers(learn, found.shown.features, {1, 5}, seed=0)
    assert np.array_equal(answers[1], found.shown.labels)
    theirs = NearestVote(5).fit(found.shown.features, found.shown.labels).predict(found.shown.features)
    assert (answers[5] == theirs).mean() > 0.9  # ties are broken otherwise


def test_hidden_labels_change_no_answer(trajectories: Callable[[Gap], tuple[Trajectory, Trajectory]]) -> None:
    learn, judge = trajectories(GAP)
    asked = Moments.draw(judge, judge.hidden[:1], 30, np.random.default_rng(0)).features
    answers = [
        (forest_answers(one, asked, {5}, seed=0)[5], neighbour_answers(one, asked, {5}, seed=0)[5])
        for one in (learn, learn.with_flipped_hidden())
    ]
    np.testing.assert_array_equal(answers[0], answers[1])


def test_a_report_from_all_cells_says_so_and_refuses_what_cannot_learn_from_them() -> None:
    few = [method for method in TEMPORAL_METHODS if method.name.startswith("KNN")]
    report = temporal_report(GAP, width=9, rows=30, size=None, methods=few)
    assert (report["setting"]["size"], report["setting"]["rows"]) == ("all", 30)
    assert report["methods"]["KNN (k=1)"]["shown"] == 1.0
    with pytest.raises(BadInput, match="mine cannot learn from all cells: give a number"):
        temporal_report(GAP, width=9, rows=30, size=None, methods=[Method("mine", lambda seed: NearestVote(1), "")])
    with pytest.raises(BadInput, match="rows 0: at least one"):
        temporal_report(GAP, width=9, rows=0, size=None)
