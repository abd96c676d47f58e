"""A network that contradicts what is visible starts again, cooler; hidden targets have no say in it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hardgap.core.loop import Observer
from hardgap.runs.certificate import Certificate
from hardgap.runs.execute import build_trainer
from hardgap.runs.summary import restarts
from hardgap.worlds import build_task
from hardgap.worlds.automaton.rollout import patterns_of
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.task import AutomatonTask

pytestmark = pytest.mark.usefixtures("one_thread")
Tiny = Callable[..., AutomatonRun]
AGAIN = {"steps": 9, "evaluate_every": 3, "restart_at": 3}


class Table(nn.Module):
    """A network that computes a given truth table."""

    def __init__(self, table: np.ndarray) -> None:
        super().__init__()
        self.table = torch.from_numpy(table.astype(np.float32))

    def forward(self, cells: Tensor) -> Tensor:
        return self.table[patterns_of((cells > 0.5).numpy(), 1).astype(np.int64)] * 2 - 1


@pytest.mark.parametrize("rule", ["30", "150", "106"])
@pytest.mark.parametrize("pattern", range(8))
def test_a_wrong_hidden_entry_is_contradicted_and_the_truth_is_not(tiny: Tiny, rule: str, pattern: int) -> None:
    """Its own outputs are never looked at, as their opposite in their place shows: what it leads to is."""
    run = tiny(rule=rule, hide=[pattern], width=11, train_rows=300, unrolling={"steps": 4})
    task = build_task(run)
    table = parse_rule(rule).table.copy()
    assert not task.contradicted(Table(table))
    assert not build_task(run, decoy=True).contradicted(Table(table))
    table[pattern] ^= 1
    assert task.contradicted(Table(table))


def test_a_single_step_cannot_contradict_the_hidden_entry(tiny: Tiny) -> None:
    table = parse_rule("150").table.copy()
    table[2] ^= 1
    assert not build_task(tiny(rule="150", hide=[2], unrolling={"feedback": "none", "steps": 1})).contradicted(
        Table(table)
    )


def test_other_weights_and_half_the_temperature(tiny: Tiny) -> None:
    task = build_task(tiny(unrolling={"steps": 2, "temperature": {"start": 8.0, "end": 2.0, "over": 5}}))
    assert isinstance(task, AutomatonTask)
    first, again, twice = task.model(), task.restart(1), task.restart(1)
    assert (task.unrolling.temperature.start, task.unrolling.temperature.end) == (4.0, 1.0)
    assert torch.equal(again.state_dict()["positions"], twice.state_dict()["positions"])
    assert not torch.equal(first.state_dict()["positions"], again.state_dict()["positions"])


def test_a_curve_tells_where_another_network_goes_on(tiny: Tiny) -> None:
    """The evaluation at step 3 is still of the network that is then thrown away."""
    for budget, found in ((AGAIN, [6]), (AGAIN | {"restart_at": None}, [])):
        trainer = build_trainer(tiny(budget=budget))
        trainer.run()
        assert restarts([point.as_dict() for point in trainer.curve]) == found


@pytest.mark.parametrize("stop", [2, 3, 4, 6, 8])
def test_resuming_before_and_after_a_restart_is_bitwise_the_same(tiny: Tiny, stop: int) -> None:
    run = tiny(budget=AGAIN)
    straight, first, second = (build_trainer(run) for _ in range(3))
    straight.run()
    assert straight.attempt == 1
    first.run(Observer(should_stop=lambda: first.step >= stop))
    second.restore(*first.state())
    second.run()
    assert [p.as_dict() for p in second.curve] == [p.as_dict() for p in straight.curve]
    assert all(torch.equal(second.weights()[name], tensor) for name, tensor in straight.weights().items())


def test_no_hidden_target_decides_about_a_restart(tiny: Tiny, certify_here: Callable[..., Certificate]) -> None:
    assert certify_here(tiny(budget=AGAIN), 6).passed
