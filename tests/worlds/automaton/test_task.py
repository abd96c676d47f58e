"""Experiment 1 as a task: rows that never meet, batches that miss none, losses that add up, honest scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from hardgap.core.errors import BadInput
from hardgap.core.run import validated
from hardgap.nn.native import engine
from hardgap.worlds import build_task
from hardgap.worlds.automaton import task as automaton
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rollout import patterns_of
from hardgap.worlds.automaton.rule import Rule, parse_rule
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.task import AutomatonTask, predict_rollout, score_rollout, split_rows

Tiny = Callable[..., AutomatonRun]


def as_set(rows: np.ndarray) -> set[bytes]:
    return {row.tobytes() for row in rows}


@given(st.integers(3, 70), st.integers(1, 300), st.integers(1, 300), st.integers(0, 10**6))
@settings(max_examples=80)
def test_no_row_is_in_training_and_in_the_test(width: int, train: int, test: int, seed: int) -> None:
    training, testing = split_rows(width, train, test, seed)
    assert training.shape == (train, width)
    assert testing.shape == (test, width)
    assert not as_set(training) & as_set(testing)
    assert len(as_set(testing)) <= max(1, 2**width // 4)
    assert set(np.unique(training)) | set(np.unique(testing)) <= {0, 1}


def test_rows_are_fair_coins_and_a_function_of_the_seed() -> None:
    one, other = split_rows(40, 500, 500, 3), split_rows(40, 500, 500, 3)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert not np.array_equal(one[0], split_rows(40, 500, 500, 4)[0])
    assert all(0.49 < rows.mean() < 0.51 for rows in one)
    assert abs(np.corrcoef(one[0].T)[np.triu_indices(40, 1)]).mean() < 0.06


def test_rows_of_the_narrowest_width_still_part() -> None:
    training, testing = split_rows(3, 200, 200, 0)
    assert len(as_set(testing)) <= 2
    assert len(as_set(training)) == 8 - len(as_set(testing))


class Recorder(nn.Module):
    """Remembers every row that it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.rows: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.rows.append(x.detach().clone())
        return self.scale * (x - 0.5)


def shown(task: Any, steps: range) -> np.ndarray:
    recorder = Recorder()
    for step in steps:
        list(task.losses(recorder, step))
    return torch.cat(recorder.rows).to(torch.uint8).numpy()


@pytest.mark.parametrize("batch", [1, 7, 16, 50, 64])
def test_an_epoch_shows_every_training_row_once_in_a_new_order(tiny: Tiny, batch: int) -> None:
    run = tiny(width=30, train_rows=50, optimiser={"batch": batch}, unrolling={"feedback": "none", "steps": 1}, seed=5)
    training, _ = split_rows(30, 50, 16, 5)
    task, length = build_task(run), -(-50 // batch)
    epochs = [shown(task, range(length * e, length * (e + 1))) for e in range(3)]
    wanted = Counter(row.tobytes() for row in training)
    assert all(Counter(row.tobytes() for row in epoch) == wanted for epoch in epochs)
    assert not np.array_equal(epochs[0], epochs[1])
    assert np.array_equal(epochs[2], shown(build_task(run), range(length * 2, length * 3)))
    assert not np.array_equal(epochs[0], training)


def test_batches_can_be_asked_for_in_any_order(tiny: Tiny) -> None:
    task = build_task(tiny(width=20, train_rows=40, optimiser={"batch": 9}))
    forward = [shown(task, range(step, step + 1)) for step in range(12)]
    backward = [shown(task, range(step, step + 1)) for step in reversed(range(12))]
    assert all(np.array_equal(a, b) for a, b in zip(forward, reversed(backward), strict=True))


def gradients(task: Any, model: nn.Module, step: int) -> tuple[int, float, Tensor]:
    model.zero_grad()
    pieces, total = 0, 0.0
    for loss in task.losses(model, step):
        loss.backward()
        pieces, total = pieces + 1, total + float(loss.detach())
    return pieces, total, torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


def test_pieces_add_up_to_the_whole_loss(tiny: Tiny, regime: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    regime = {name: value for name, value in regime.items() if name not in ("noise", "rounded")}
    if regime.get("temperature", {}).get("shape") == "random":
        del regime["temperature"]  # What is drawn is drawn piece by piece; everything else must add up.
    run = tiny(width=9, train_rows=64, optimiser={"batch": 32}, unrolling=regime)
    task = build_task(run)
    model = task.model()
    whole = gradients(task, model, 3)
    monkeypatch.setattr(automaton, "CELLS_PER_PIECE", 20)
    with engine.using("eager"):
        parts = gradients(task, model, 3)
    assert (whole[0], parts[0]) == (1, 11)
    assert parts[1] == pytest.approx(whole[1], rel=1e-5)
    torch.testing.assert_close(parts[2], whole[2], rtol=1e-3, atol=1e-6)
    natively = engine.current() is not None
    assert gradients(task, model, 3)[0] == (1 if natively else 11), "the kernel cuts a batch by itself"


def test_the_loss_is_the_mean_over_supervised_cells(tiny: Tiny) -> None:
    run = tiny(width=9, train_rows=24, hide=[1, 6], optimiser={"batch": 24}, unrolling={"steps": 1, "feedback": "none"})
    task = build_task(run)
    model = task.model()
    rows, _ = split_rows(9, 24, 16, 0)
    trajectory = run.gap.trajectory(rows, 1)
    logits = model(torch.from_numpy(rows).float())
    kept = torch.from_numpy(trajectory.supervised[0])
    expected = F.binary_cross_entropy_with_logits(logits[kept], torch.from_numpy(trajectory.targets[0]).float()[kept])
    assert sum(float(loss.detach()) for loss in task.losses(model, 0)) == pytest.approx(
        float(expected.detach()), rel=1e-5
    )


class Table(nn.Module):
    """A rule as a network: what its table says, as confident logits."""

    def __init__(self, rule: Rule) -> None:
        super().__init__()
        self.rule = rule

    def forward(self, x: Tensor) -> Tensor:
        patterns = patterns_of(x.round().to(torch.uint8).numpy(), self.rule.radius).astype(np.int64)
        return torch.tensor(self.rule.table.tolist(), dtype=torch.float32)[patterns] * 2 - 1


def scored(rule: str, hidden: tuple[int, ...], learned: Rule, steps: int = 4) -> Any:
    gap = Gap(parse_rule(rule), hidden)
    rows = np.random.default_rng(0).integers(0, 2, (200, 15), dtype=np.uint8)
    truth = gap.trajectory(rows, steps)
    return score_rollout(predict_rollout(Table(learned), torch.from_numpy(rows).float(), steps), truth, gap)


def test_the_true_rule_scores_full_marks_everywhere() -> None:
    score = scored("D", (1, 4, 12), parse_rule("D"))
    assert (score.visible, score.holdout) == (1.0, 1.0)
    assert score.detail["patterns"] == [1.0] * 32
    assert score.detail["rollout_visible"] == score.detail["rollout_holdout"] == [1.0] * 4


def test_a_rule_wrong_on_one_hidden_pattern_loses_exactly_that() -> None:
    score = scored("30", (3, 5), Rule(1, 30 ^ (1 << 3)))
    assert score.visible == 1.0
    assert score.detail["patterns"] == [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert 0.4 < score.holdout < 0.6
    late = score.detail["rollout_visible"]
    assert late[0] == 1.0 > late[1] > late[3]


def test_scores_against_a_count_by_hand() -> None:
    rule, hidden = parse_rule("110"), {3}
    gap = Gap(rule, (3,))
    rows = np.random.default_rng(1).integers(0, 2, (9, 7), dtype=np.uint8)
    truth = gap.trajectory(rows, 2)
    predicted = np.random.default_rng(2).integers(0, 2, truth.targets.shape, dtype=np.uint8)
    score = score_rollout(predicted, truth, gap)
    right: dict[tuple[int, bool], list[bool]] = {}
    for t, row, cell in np.ndindex(*predicted.shape):
        inside = int(truth.patterns[t, row, cell]) in hidden
        right.setdefault((t, inside), []).append(bool(predicted[t, row, cell] == truth.targets[t, row, cell]))
    mean = {key: round(sum(values) / len(values), 6) for key, values in right.items()}
    assert (score.visible, score.holdout) == (mean[0, False], mean[0, True])
    assert score.detail["rollout_holdout"] == [mean[0, True], mean[1, True]]
    assert score.detail["rollout_visible"] == [mean[0, False], mean[1, False]]


def test_a_free_run_feeds_rounded_predictions_back_in_batches() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (1500, 9), dtype=np.uint8)
    predicted = predict_rollout(Table(Rule(1, 110)), torch.from_numpy(rows).float(), 3)
    assert np.array_equal(predicted, Gap(Rule(1, 110), (3,)).trajectory(rows, 3).targets)


def check_task(rule: str, hidden: tuple[int, ...], **changes: Any) -> None:
    values = {"width": 7, "train_rows": 4, "test_rows": 1, "seed": 0, "budget": {"steps": 1}} | changes
    AutomatonTask(validated(AutomatonRun, {"rule": rule, "hide": hidden, **values})).check()


def test_test_rows_that_show_nothing_hidden_are_refused() -> None:
    with pytest.raises(BadInput, match="the test rows hold no hidden cell; use more test rows"):
        check_task("r3:0x1", (77,))


def test_test_rows_that_show_nothing_visible_are_refused() -> None:
    with pytest.raises(BadInput, match="the test rows hold no visible cell"):
        check_task("30", tuple(range(1, 7)), width=4, seed=0)


def test_training_rows_without_a_visible_cell_are_refused() -> None:
    with pytest.raises(BadInput, match="no training cell is visible at width 4"):
        check_task("150", tuple(range(1, 7)), width=4, train_rows=1, seed=3)
