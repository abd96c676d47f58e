"""Stopping and going on is bitwise the same as never having stopped: weights, Adam, curve.

The state goes through a file, as it does in a real run. It is taken in the two places where it can be: at
the top of the loop (interrupted) and after an update whose evaluation is still owed (a checkpoint).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hardgap.core.checkpoint import load_tensors, save_tensors
from hardgap.core.loop import Observer, Trainer
from hardgap.core.plugins import trust
from hardgap.runs.execute import build_trainer
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
State = tuple[dict[str, Tensor], dict[str, Any]]
pytestmark = pytest.mark.usefixtures("one_thread")


def through_a_file(state: State, path: Path) -> State:
    save_tensors(path, *state)
    return load_tensors(path)


def finished(run: AutomatonRun) -> Trainer:
    trainer = build_trainer(run)
    trainer.run()
    return trainer


def interrupted(run: AutomatonRun) -> dict[int, State]:
    """The state at each step at which a run was interrupted; it was stopped before every single one."""
    trainer, states = build_trainer(run), {}
    while trainer.run(Observer(should_stop=lambda: trainer.step not in states)) == "interrupted":
        states[trainer.step] = trainer.state()
    return states


def checkpointed(run: AutomatonRun) -> dict[int, State]:
    """The state as a checkpoint takes it after each step."""
    trainer, states = build_trainer(run), {}
    trainer.run(Observer(on_step=lambda step: states.update({step: trainer.state()})))
    return states


def resumed(run: AutomatonRun, state: State) -> Trainer:
    trainer = build_trainer(run)
    trainer.restore(*state)
    trainer.run()
    return trainer


def assert_same(one: Trainer, other: Trainer) -> None:
    """Every tensor of the whole state bit for bit, and the curve to the last digit."""
    (tensors, meta), (others, other_meta) = one.state(), other.state()
    assert meta == other_meta
    assert tensors.keys() == others.keys()
    assert any(name.startswith("adam.") for name in tensors)
    assert [name for name in tensors if not torch.equal(tensors[name], others[name])] == []


def test_resume_at_every_step_of_every_regime(tiny: Tiny, regime: dict[str, Any], tmp_path: Path) -> None:
    run = tiny(unrolling=regime, budget={"steps": 7, "evaluate_every": 3})
    whole = finished(run)
    assert [point.step for point in whole.curve] == [0, 3, 6, 7]
    stopped, saved = interrupted(run), checkpointed(run)
    assert list(stopped) == list(range(7))
    assert list(saved) == list(range(1, 8))
    for state in [*stopped.values(), *saved.values()]:
        assert_same(whole, resumed(run, through_a_file(state, tmp_path / "state")))


def test_resume_with_everything_switched_on(tiny: Tiny, tmp_path: Path) -> None:
    run = tiny(
        optimiser={"batch": 5, "clip": 0.1, "schedule": "cosine", "warmup": 4, "learning_rate": 0.01},
        budget={"steps": 12, "evaluate_every": 5},
        masking="first",
        seed=2**31 - 1,
    )
    whole, states = finished(run), interrupted(run)
    for step in (1, 4, 5, 6, 11):
        assert_same(whole, resumed(run, through_a_file(states[step], tmp_path / "state")))


def test_many_interruptions_are_as_good_as_one(tiny: Tiny, tmp_path: Path) -> None:
    run = tiny(budget={"steps": 9, "evaluate_every": 2})
    trainer = build_trainer(run)
    while trainer.run(Observer(should_stop=iter([False, True]).__next__)) == "interrupted":
        state = through_a_file(trainer.state(), tmp_path / "state")
        trainer = build_trainer(run)
        trainer.restore(*state)
    assert_same(finished(run), trainer)


def test_random_draws_inside_a_network_resume_too(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(torch)("dropping_nets")
    module.make = lambda width: nn.Sequential(nn.Linear(width, 16), nn.Dropout(0.5), nn.Linear(16, width))
    monkeypatch.setitem(__import__("sys").modules, "dropping_nets", module)
    trust(["dropping_nets:make"])
    run = tiny(model={"kind": "plugin", "factory": "dropping_nets:make"})
    torch.manual_seed(1)
    whole = finished(run)
    torch.manual_seed(2)
    assert_same(whole, finished(run))
    assert_same(whole, resumed(run, through_a_file(interrupted(run)[4], tmp_path / "state")))


def test_training_leaves_the_global_generator_alone(tiny: Tiny) -> None:
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    finished(tiny())
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_longer_run_of_the_family_goes_on_where_the_shorter_one_ended(
    tiny: Tiny, regime: dict[str, Any], tmp_path: Path
) -> None:
    short = tiny(unrolling=regime, budget={"steps": 6, "evaluate_every": 3})
    long = tiny(unrolling=regime, budget={"steps": 13, "evaluate_every": 3})
    assert short.family == long.family
    state = through_a_file(finished(short).state(), tmp_path / "state")
    assert_same(finished(long), resumed(long, state))


def test_the_transition_is_seen_across_an_interruption(tiny: Tiny) -> None:
    """The weights before the transition come from before the interruption."""
    run = tiny(
        hide=[2, 5], optimiser={"batch": 6, "learning_rate": 0.03}, budget={"steps": 12, "evaluate_every": 1}, seed=7
    )
    straight, pieces = watched(run, None), watched(run, 1)
    assert len(straight) >= 2
    assert [step for _, step in straight] == [step for _, step in pieces]
    for (one, _), (other, _) in zip(straight, pieces, strict=True):
        assert all(torch.equal(one[name], other[name]) for name in one)


def watched(run: AutomatonRun, steps_at_a_time: int | None) -> list[tuple[dict[str, Tensor], int]]:
    """What `on_transition` was told, in one go or stopping every few steps."""
    seen: list[tuple[dict[str, Tensor], int]] = []
    trainer, ended = build_trainer(run), "interrupted"
    while ended == "interrupted":
        state, trainer = trainer.state(), build_trainer(run)
        trainer.restore(*state)
        begin = trainer.step
        observer = Observer(
            on_transition=lambda weights, step: seen.append((weights, step)),
            should_stop=lambda: steps_at_a_time is not None and trainer.step - begin >= steps_at_a_time,  # noqa: B023
        )
        ended = trainer.run(observer)
    return seen
