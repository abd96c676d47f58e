"""Runs in a stack are what they are by themselves: the same numbers up to rounding, whoever their neighbours are."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from hardgap.core.loop import Observer, Trainer, plain_adam
from hardgap.core.stack import Member, Stack
from hardgap.nn.native import engine
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.stacked import StackedAutomaton
from hardgap.worlds.automaton.task import AutomatonTask

Tiny = Callable[..., AutomatonRun]
State = tuple[dict[str, Tensor], dict[str, Any]]
pytestmark = pytest.mark.usefixtures("one_thread")

SOFT: dict[str, Any] = {"feedback": "soft", "steps": 3}
COURSE = SOFT | {"temperature": {"start": 4.0, "end": 1.0, "over": 5, "shape": "cosine"}}
LEARNED = SOFT | {"temperature": {"start": 2.0, "shape": "learned"}}
DRAWN = SOFT | {"temperature": {"start": 8.0, "end": 0.5, "shape": "random"}, "rounded": 0.5, "noise": 0.5}


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with engine.using("eager"):
        yield


def trainer(run: AutomatonRun, *, dtype: torch.dtype = torch.float32, stacked: bool = True) -> Trainer:
    task = AutomatonTask(run)
    task.dtype = dtype
    made = Member if stacked else plain_adam
    return Trainer(task, run.optimiser, run.budget, run.seed, make_adam=made)


def together(members: Sequence[Trainer], late: Sequence[Trainer] = (), after: int = 0) -> None:
    """Train to the end; those who are late come after so many steps of the others."""
    stack, turns = Stack(StackedAutomaton), {one.seed: one.turns(Observer()) for one in (*members, *late)}
    going, steps, new = list(members), 0, list(late)
    with torch.random.fork_rng(devices=[]):
        while going or new:
            if new and (steps == after or not going):
                going, new = [*new, *going], []
            going = [one for one in going if next(turns[one.seed], "ended") is None]
            if going:
                stack.update(going)
            steps += 1


def varied(tiny: Tiny, regime: dict[str, Any], **changes: Any) -> list[AutomatonRun]:
    """One shape, and whatever may differ in it: seed, gap, budget, clipping, schedule, temperature, restart."""
    hot = {"temperature": {"start": 3.0, "end": 3.0}} if "temperature" not in regime and regime["steps"] > 1 else {}
    if regime["feedback"] != "soft":
        hot = {}
    budget = {"steps": 13, "evaluate_every": 3, "restart_at": 6}
    return [
        tiny(seed=0, unrolling=regime, budget=budget, optimiser={"batch": 6, "clip": 0.5}, **changes),
        tiny(seed=1, unrolling=regime, budget=budget | {"restart_at": None}, masking="first", **changes),
        tiny(seed=2, unrolling=regime | hot, hide=[1, 5], budget=budget | {"steps": 8}, **changes),
        tiny(seed=3, rule="150", unrolling=regime, budget=budget,
             optimiser={"batch": 6, "learning_rate": 0.01, "schedule": "cosine", "warmup": 3}, **changes),
    ]  # fmt: skip


def furthest(one: Trainer, two: Trainer) -> float:
    """The greatest difference between anything that two trainings of a run have in the end."""
    (tensors, meta), (others, other_meta) = one.state(), two.state()
    assert tensors.keys() == others.keys()
    assert meta["attempt"] == other_meta["attempt"]
    for point, other in zip(one.curve, two.curve, strict=True):
        assert point.score == other.score
        assert point.step == other.step
    losses = [abs((a.loss or 0.0) - (b.loss or 0.0)) for a, b in zip(one.curve, two.curve, strict=True)]
    return max(*losses, *(float((tensors[name] - others[name]).abs().max()) for name in tensors))


def same_bits(one: Trainer, two: Trainer) -> bool:
    (tensors, meta), (others, other_meta) = one.state(), two.state()
    return meta == other_meta and all(torch.equal(tensors[name], others[name]) for name in tensors)


def test_in_float64_a_stack_trains_what_separate_runs_train(tiny: Tiny, regime: dict[str, Any]) -> None:
    runs = varied(tiny, regime)
    alone = [trainer(run, dtype=torch.float64, stacked=False) for run in runs]
    stacked = [trainer(run, dtype=torch.float64) for run in runs]
    for one in alone:
        one.run()
    together(stacked)
    assert max(map(furthest, stacked, alone)) < 1e-10
    assert [one.step for one in stacked] == [13, 13, 8, 13]
    assert stacked[0].attempt == 1  # it was contradicted, and began again with an Adam of its own


def test_a_convolution_and_positions_as_waves_are_stacked_too(tiny: Tiny) -> None:
    small = {"kind": "encoder", "dim": 8, "heads": 2, "layers": 1, "ffn": 16}
    for model in ({"kind": "conv", "channels": 8}, small | {"positions": "waves"}):
        runs = varied(tiny, SOFT, model=model)
        alone = [trainer(run, dtype=torch.float64, stacked=False) for run in runs]
        stacked = [trainer(run, dtype=torch.float64) for run in runs]
        for one in alone:
            one.run()
        together(stacked)
        assert max(map(furthest, stacked, alone)) < 1e-10


def test_early_stops_are_a_members_own(tiny: Tiny) -> None:
    budget = {"steps": 13, "evaluate_every": 3, "stop_after_solved": 1, "solved_at": 0.01}
    runs = [tiny(seed=0, budget=budget), tiny(seed=1)]
    stacked = [trainer(run) for run in runs]
    together(stacked)
    assert [one.step for one in stacked] == [0, 7]


@pytest.mark.parametrize("regime", [DRAWN, LEARNED], ids=["drawn", "learned"])
def test_bits_do_not_depend_on_neighbours_their_order_or_number(tiny: Tiny, regime: dict[str, Any]) -> None:
    runs = varied(tiny, regime)
    expected = [trainer(run) for run in runs]
    together(expected)
    more = [run.but(seed=run.seed + 10) for run in runs]
    for number in (1, 2, 8):
        neighbours = [*runs[1:], *more][: number - 1]
        members = [trainer(run) for run in (*neighbours[::-1], runs[0])]
        together(members)
        assert same_bits(members[-1], expected[0])


def test_who_comes_later_counts_its_own_steps(tiny: Tiny) -> None:
    runs = varied(tiny, SOFT)
    expected = [trainer(run) for run in runs]
    together(expected)
    members = [trainer(run) for run in runs]
    together(members[:2], late=members[2:], after=4)
    assert all(map(same_bits, members, expected))


def test_an_update_is_made_whole_or_not_at_all(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory runs out within one, fewer members try it again from where they were."""
    members, stack = [trainer(tiny(seed=seed)) for seed in range(2)], Stack(StackedAutomaton)
    turns = [one.turns(Observer()) for one in members]

    def update() -> None:
        for turn in turns:
            next(turn)
        stack.update(members)

    def state() -> list[State]:
        return [(one.weights(), one.adam.state_dict()) for one in members]

    def no_memory(_: Tensor) -> Tensor:
        raise MemoryError

    update()
    before = copy.deepcopy(state())
    with monkeypatch.context() as patched:
        patched.setattr(Tensor, "square", no_memory)
        with pytest.raises(MemoryError):
            update()
    torch.testing.assert_close(state(), before, rtol=0, atol=0)


def test_a_neighbour_that_diverges_harms_nobody(tiny: Tiny) -> None:
    runs = [tiny(seed=0), tiny(seed=1, optimiser={"batch": 6, "learning_rate": 1e6})]
    expected, members = trainer(runs[0]), [trainer(run) for run in runs]
    with torch.no_grad():
        next(iter(members[1].model.parameters())).fill_(float("nan"))
    together([expected])
    together(members)
    assert members[1].curve[-1].loss is None
    assert same_bits(members[0], expected)


@pytest.mark.parametrize("step", [4, 6])
def test_a_state_goes_on_in_a_stack_bitwise_and_without_one_up_to_rounding(tiny: Tiny, step: int) -> None:
    runs = varied(tiny, COURSE)
    whole, taken = [trainer(run, dtype=torch.float64) for run in runs], []
    together(whole)
    for run in runs:
        stopped = trainer(run, dtype=torch.float64)
        stack, turns = Stack(StackedAutomaton), stopped.turns(Observer())
        for _ in range(step):
            next(turns)
            stack.update([stopped])
        taken.append(stopped.state())
    in_a_stack = [trainer(run, dtype=torch.float64) for run in runs]
    alone = [trainer(run, dtype=torch.float64, stacked=False) for run in runs]
    for state, one, other in zip(taken, in_a_stack, alone, strict=True):
        one.restore(*state)
        other.restore(*state)
        other.run()
    together(in_a_stack)
    assert all(map(same_bits, in_a_stack, whole))
    assert max(map(furthest, alone, whole)) < 1e-10


def test_a_state_from_elsewhere_goes_on_in_a_stack(tiny: Tiny) -> None:
    run = varied(tiny, SOFT)[0]
    whole, begun, member = (trainer(run, dtype=torch.float64, stacked=stacked) for stacked in (False, False, True))
    whole.run()
    begun.run(Observer(should_stop=lambda: begun.step == 5))
    member.restore(*begun.state())
    together([member])
    assert furthest(member, whole) < 1e-10
