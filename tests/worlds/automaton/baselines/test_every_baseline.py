"""The one suite that every baseline passes: same seed same answer, any batch, never a hidden target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from hardgap.worlds.automaton.baselines.input_space import predict_hidden
from hardgap.worlds.automaton.baselines.levels import LEVELS, Level
from hardgap.worlds.automaton.baselines.methods import METHODS, Fitted, Method, fit
from hardgap.worlds.automaton.baselines.plugin import check_method, load_method
from hardgap.worlds.automaton.baselines.questions import Exam
from hardgap.worlds.automaton.baselines.temporal import TEMPORAL_METHODS, TemporalQuestion
from hardgap.worlds.automaton.gap import Gap, Trajectory
from hardgap.worlds.automaton.rule import Rule, parse_rule

GAP = Gap(parse_rule("30"), (3, 6))


def small_forest(seed: int) -> RandomForestClassifier:
    return RandomForestClassifier(n_estimators=5, random_state=seed)


# A forest's trees are alike: five tell as much here as five hundred.
EVERY = [
    *(
        Method(m.name, small_forest, m.settings) if m.name.startswith("RF") else m
        for m in (*METHODS, *TEMPORAL_METHODS)
    ),
    load_method("sklearn.tree:DecisionTreeClassifier"),
]
every_baseline = pytest.mark.parametrize("method", EVERY, ids=lambda method: method.name)


def examples(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shown = rng.integers(0, 2, (50, 6)).astype(np.float64)  # repeated points, so that ties occur
    return shown, rng.integers(0, 2, 50).astype(np.uint8), rng.integers(0, 2, (33, 6)).astype(np.float64)


@every_baseline
def test_passes_the_check_that_a_users_method_must_pass(method: Method) -> None:
    check_method(method)


@every_baseline
def test_same_seed_same_answer(method: Method) -> None:
    shown, labels, asked = examples()
    first, again = (fit(method, shown, labels, seed=5).predict(asked) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@every_baseline
@pytest.mark.parametrize("batch", [1, 7, 33])
def test_an_example_gets_the_same_answer_in_any_batch(method: Method, batch: int) -> None:
    shown, labels, asked = examples()
    fitted = fit(method, shown, labels, seed=5)
    in_batches = Fitted(method.name, fitted.estimator, batch=batch).predict(asked)
    np.testing.assert_array_equal(in_batches, fitted.predict(asked))
    np.testing.assert_array_equal(in_batches[::-1], fitted.predict(asked[::-1]))


@every_baseline
def test_answers_are_labels_and_nothing_asked_gets_nothing(method: Method) -> None:
    shown, labels, asked = examples()
    answers = fit(method, shown, labels, seed=0).predict(asked)
    assert answers.dtype == np.uint8
    assert set(answers.tolist()) <= {0, 1}
    assert fit(method, shown, labels, seed=0).predict(asked[:0]).shape == (0,)


@every_baseline
@pytest.mark.parametrize("label", [0, 1])
def test_where_only_one_label_is_visible_it_is_the_answer(method: Method, label: int) -> None:
    shown, labels, asked = examples()
    assert set(fit(method, shown, np.full_like(labels, label), seed=0).predict(asked).tolist()) == {label}


@every_baseline
def test_two_examples_are_enough(method: Method) -> None:
    shown, _, asked = examples()
    answers = fit(method, shown[:2], np.array([0, 1], np.uint8), seed=0).predict(asked)
    assert len(answers) == len(asked)


def flipped(gap: Gap) -> Gap:
    """Another rule that agrees on everything visible and disagrees on everything hidden."""
    return Gap(Rule(gap.rule.radius, gap.rule.number ^ sum(1 << p for p in gap.hidden)), gap.hidden)


@every_baseline
def test_the_truth_table_of_hidden_patterns_changes_no_answer(method: Method) -> None:
    assert predict_hidden(GAP, [method]) == predict_hidden(flipped(GAP), [method])


@pytest.fixture(scope="module")
def exams(exam: Callable[..., Exam]) -> list[Exam]:
    """The truth; the opposite of hidden targets; another rule on everything hidden."""
    found = [exam(GAP), exam(GAP, change=lambda truth: truth.with_flipped_hidden()), exam(flipped(GAP))]
    assert not np.array_equal(found[0].asked.labels, found[1].asked.labels)  # the change reaches the exam
    assert not np.array_equal(found[0].everywhere.labels, found[2].everywhere.labels)
    return found


@every_baseline
@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_hidden_labels_change_no_answer_at_any_level(method: Method, level: Level, exams: list[Exam]) -> None:
    true, scrambled, other = (found.question(level).answer(method) for found in exams)
    np.testing.assert_array_equal(true, scrambled)
    np.testing.assert_array_equal(true, other)


@pytest.mark.parametrize("level", LEVELS[:2], ids=lambda level: level.name)
def test_a_leak_would_be_noticed(level: Level, exams: list[Exam]) -> None:
    """With hidden cells among the shown ones, the same comparison fails."""
    leaky = [replace(found, shown=found.asked) for found in exams]
    true, scrambled, other = (found.question(level).answer(METHODS[0]) for found in leaky)
    assert not np.array_equal(true, scrambled)
    assert not np.array_equal(true, other)


@every_baseline
def test_hidden_labels_change_no_answer_of_the_temporal_baseline(
    method: Method, trajectories: Callable[[Gap], tuple[Trajectory, Trajectory]]
) -> None:
    learn, judge = trajectories(GAP)
    pairs = [(learn, judge), (learn.with_flipped_hidden(), judge.with_flipped_hidden())]
    questions = [TemporalQuestion.draw(*pair, size=80, most_asked=30, seed=0) for pair in pairs]
    assert not np.array_equal(questions[0].hidden.labels, questions[1].hidden.labels)
    first, second = (question.answer(method) for question in questions)
    assert all(np.array_equal(first[name], second[name]) for name in first)
