"""How a run ends, and what it tells while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from hardgap.core.loop import Observer, Trainer, solved_streak
from hardgap.core.specs import Budget, Optimiser
from hardgap.core.task import Point, Score


class Scripted:
    """A task whose scores are written down beforehand; its loss pulls one weight to zero."""

    def __init__(self, holdout: list[float], loss: Callable[[int], float] = lambda step: 1.0) -> None:
        self.holdout, self.loss, self.asked = holdout, loss, 0
        self.stands_contradicted = False
        self.restarted: list[int] = []
        self.steps: list[int] = []

    def model(self) -> nn.Module:
        return nn.Linear(1, 1, bias=False)

    def restart(self, attempt: int) -> nn.Module:
        self.restarted.append(attempt)
        return self.model()

    def contradicted(self, model: nn.Module) -> bool:
        return self.stands_contradicted

    def losses(self, model: nn.Module, step: int) -> Iterator[Tensor]:
        self.steps.append(step)
        for parameter in model.parameters():
            yield parameter.square().sum() * 0 + self.loss(step)

    def chooses_by(self) -> bytes:
        return b""

    def score(self, model: nn.Module, step: int) -> Score:
        self.asked += 1
        return Score(1.0, self.holdout[min(self.asked, len(self.holdout)) - 1])


def trainer(task: Scripted, **budget: float) -> Trainer:
    return Trainer(task, Optimiser(), Budget(**budget), seed=0)


@pytest.mark.parametrize(
    ("steps", "every", "expected"),
    [(7, 3, [0, 3, 6, 7]), (6, 3, [0, 3, 6]), (2, 5, [0, 2]), (1, 1, [0, 1])],
)
def test_evaluates_at_the_start_at_intervals_and_at_the_end(steps: int, every: int, expected: list[int]) -> None:
    told: list[int] = []
    run = trainer(Scripted([0.1]), steps=steps, evaluate_every=every)
    assert run.run(Observer(on_point=lambda point: told.append(point.step))) == "budget"
    assert told == [point.step for point in run.curve] == expected


def test_a_point_holds_the_mean_loss_since_the_last_one() -> None:
    run = trainer(Scripted([0.1], loss=float), steps=5, evaluate_every=2)
    run.run()
    assert [point.loss for point in run.curve] == [None, 0.5, 2.5, 4.0]


def test_stops_once_solved_often_enough_in_a_row() -> None:
    holdout = [0.0, 1.0, 0.2, 1.0, 1.0, 1.0, 1.0]
    run = trainer(Scripted(holdout), steps=20, evaluate_every=1, stop_after_solved=3)
    assert (run.run(), run.step) == ("solved", 5)
    patient = trainer(Scripted(holdout), steps=20, evaluate_every=1)
    assert (patient.run(), patient.step) == ("budget", 20)


def test_a_loss_that_is_no_number_ends_the_run() -> None:
    run = trainer(Scripted([0.3], loss=lambda step: float("nan") if step == 4 else 1.0), steps=20, evaluate_every=3)
    assert (run.run(), run.step) == ("diverged", 6)
    assert run.curve[-1].loss is None


def test_tells_of_the_weights_on_both_sides_of_the_transition() -> None:
    told: list[int] = []
    run = trainer(Scripted([0.1, 0.4, 0.5, 0.9, 0.2, 0.6]), steps=10, evaluate_every=2)
    run.run(Observer(on_transition=lambda weights, step: told.append(step)))
    assert told == [2, 4, 8, 10]


def test_asked_to_stop_it_stops_before_the_next_step() -> None:
    run = trainer(Scripted([0.1]), steps=10, evaluate_every=1)
    assert (run.run(Observer(should_stop=lambda: run.step == 4)), run.step) == ("interrupted", 4)
    assert (run.run(), run.step) == ("budget", 10)
    assert [point.step for point in run.curve] == list(range(11))


def test_solved_needs_visible_and_holdout() -> None:
    budget = Budget(steps=1, solved_at=0.9)
    curve = [Point(i, None, Score(v, h)) for i, (v, h) in enumerate([(1, 1), (0.8, 1), (0.9, 0.9), (1, 1)])]
    assert solved_streak(curve, budget) == 2
    assert solved_streak(curve[:2], budget) == 0
    assert solved_streak([], budget) == 0


def test_clipping_bounds_the_gradient_that_adam_sees() -> None:
    class Steep(Scripted):
        def losses(self, model: nn.Module, step: int) -> Iterator[Tensor]:
            yield 1e6 * next(model.parameters()).sum()

    run = Trainer(Steep([0.1]), Optimiser(clip=0.5), Budget(steps=1), seed=0)
    run.run()
    moments = {name: tensor for name, tensor in run.state()[0].items() if name.endswith("exp_avg")}
    assert [float(m.norm()) for m in moments.values()] == pytest.approx([0.1 * 0.5], rel=1e-4)
    assert torch.isfinite(run.weights()["weight"]).all()


@pytest.mark.parametrize("contradicted", [True, False])
def test_only_a_contradicted_network_starts_again_and_only_once(contradicted: bool) -> None:
    task = Scripted([0.0])
    task.stands_contradicted = contradicted
    trained = trainer(task, steps=9, evaluate_every=2, restart_at=4)
    assert trained.run() == "budget"
    assert trained.step == 9
    if contradicted:
        assert task.restarted == [1]
        assert task.steps == [0, 1, 2, 3, 0, 1, 2, 3, 4]  # schedules and batches begin again, the step does not
    else:
        assert task.restarted == []
        assert task.steps == list(range(9))
