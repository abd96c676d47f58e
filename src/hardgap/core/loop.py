"""The one training loop: both experiments, every regime, any network.

Batches are pure functions of (seed, step), so the state of a run is its weights, Adam's moments, the curve
so far and the loss since the last evaluation. `state()` holds exactly that, and `restore()` continues from
it bitwise as if nothing had happened.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal, Protocol, TypeVar, cast

import torch
from torch import Tensor, nn

from hardgap.core.specs import Budget, Optimiser
from hardgap.core.task import Point, Task

Stopped = Literal["budget", "solved", "diverged", "interrupted"]
E = TypeVar("E")
Turns = Generator[None, None, E]
"""All of a training but its updates: an update is due at every turn, and how it ended is its value."""


@dataclass
class Observer:
    """What the loop tells the outside, and asks it. Nothing here can change the result."""

    on_step: Callable[[int], None] = lambda step: None
    on_point: Callable[[Point], None] = lambda point: None
    on_transition: Callable[[dict[str, Tensor], int], None] = lambda weights, step: None
    should_stop: Callable[[], bool] = lambda: False


class Moments(Protocol):
    """What Adam remembers, in the form that PyTorch's has."""

    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: dict[str, Any]) -> None: ...


class Adam(Moments, Protocol):
    """What the loop asks of Adam: PyTorch's, or one quicker for some networks with a state of the same form."""

    @property
    def param_groups(self) -> list[dict[str, Any]]: ...
    def zero_grad(self, set_to_none: bool = True) -> None: ...
    def clip(self, most: float) -> None: ...
    def step(self) -> object: ...


class PlainAdam(torch.optim.Adam):
    """PyTorch's, which can clip what it is given."""

    def clip(self, most: float) -> None:
        torch.nn.utils.clip_grad_norm_(self.param_groups[0]["params"], most)


def plain_adam(model: nn.Module, chosen: Optimiser) -> Adam:
    return PlainAdam(model.parameters(), lr=chosen.learning_rate, fused=chosen.fused or None)


def learning_rate_at(spec: Optimiser, step: int, steps: int) -> float:
    """The learning rate of this step out of `steps`."""
    warm = min(1.0, (step + 1) / spec.warmup) if spec.warmup else 1.0
    left = 1 - step / steps
    decay = {"constant": 1.0, "linear": left, "cosine": (1 - math.cos(math.pi * left)) / 2}[spec.schedule]
    return spec.learning_rate * warm * decay


@dataclass
class Trainer:
    """A run in progress: `run()` takes it to its end or to an interruption."""

    task: Task
    optimiser: Optimiser
    budget: Budget
    seed: int
    step: int = 0
    curve: list[Point] = field(default_factory=list)
    make_adam: Callable[[nn.Module, Optimiser], Moments] = plain_adam

    def __post_init__(self) -> None:
        self.model = self.task.model()
        self.adam = self._fresh_adam()
        self._loss_sum, self._loss_count = 0.0, 0
        self._before: dict[str, Tensor] = {}
        self.attempt, self.began = 0, 0

    def run(self, observer: Observer | None = None) -> Stopped:
        """Train until the budget is spent, the rule is solved (if asked to stop then), or told to stop."""
        # Plug-in networks may draw (dropout); the draws are a function of (seed, step) and stay in here.
        with torch.random.fork_rng(devices=[]):
            return driven(self.turns(observer or Observer()), self.update)

    def turns(self, observer: Observer) -> Turns[Stopped]:
        """Evaluations, restart and end; whoever goes through them makes the updates, alone or with other trainers'."""
        while True:
            # Looked at before, not after, an update: a state saved from `on_step` still owes this point.
            if self._is_due():
                self._evaluate(observer)
            if (ended := self._ended()) is not None:
                return ended
            if self.step == self.budget.restart_at and not self.attempt and self.task.contradicted(self.model):
                self._start_again()
            if observer.should_stop():
                return "interrupted"
            yield
            observer.on_step(self.step)

    def _is_due(self) -> bool:
        """Whether this step is to be evaluated and has not been."""
        if self.curve and self.curve[-1].step == self.step:
            return False
        return self.step % self.budget.evaluate_every == 0 or self.step == self.budget.steps

    def _start_again(self) -> None:
        """Fresh weights and a fresh optimiser; the step goes on counting."""
        self.attempt, self.began = self.attempt + 1, self.step
        self.model = self.task.restart(self.attempt)
        self.adam = self._fresh_adam()

    def _fresh_adam(self) -> Moments:
        return self.make_adam(self.model, self.optimiser)

    @property
    def learning_rate(self) -> float:
        return learning_rate_at(self.optimiser, self.step, self.budget.steps)

    def update(self) -> None:
        """One step."""
        adam = cast(Adam, self.adam)  # what is updated with others has moments alone, and does not come here
        self.draw()
        for group in adam.param_groups:
            group["lr"] = self.learning_rate
        adam.zero_grad(set_to_none=True)
        total = 0.0
        for loss in self.task.losses(self.model, self.step - self.began):
            loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        if self.optimiser.clip is not None:
            adam.clip(self.optimiser.clip)
        adam.step()
        self.updated(total)

    def updated(self, loss: float) -> None:
        """Note an update, and the loss that it was made for."""
        self._loss_sum += loss
        self._loss_count += 1
        self.step += 1

    def draw(self) -> None:
        """From here on, what is drawn is what this step draws."""
        seed = (self.seed << 32) ^ self.step
        if next(self.model.parameters()).is_cpu:
            torch.default_generator.manual_seed(seed)  # the same draws, without asking after every kind of device
        else:
            torch.manual_seed(seed)

    def _evaluate(self, observer: Observer) -> None:
        loss = self._loss_sum / self._loss_count if self._loss_count else None
        self._loss_sum, self._loss_count = 0.0, 0
        if loss is not None and not math.isfinite(loss):
            loss = None
        point = Point(self.step, loss, self.task.score(self.model, self.step - self.began))
        if self.attempt:
            point.score.detail["attempt"] = self.attempt
        crossed = bool(self.curve) and self.curve[-1].score.holdout < 0.5 <= point.score.holdout
        if crossed:
            observer.on_transition(self._before, self.curve[-1].step)
            observer.on_transition(self.weights(), self.step)
        self._before = self.weights()
        self.curve.append(point)
        observer.on_point(point)

    def _ended(self) -> Stopped | None:
        last = self.curve[-1]
        if last.step == self.step > 0 and last.loss is None:
            return "diverged"
        needed = self.budget.stop_after_solved
        if needed is not None and last.step == self.step and solved_streak(self.curve, self.budget) >= needed:
            return "solved"
        return "budget" if self.step >= self.budget.steps else None

    def weights(self) -> dict[str, Tensor]:
        """A copy of the current weights."""
        return {name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()}

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Everything needed to go on: tensors, and plain values for the metadata."""
        tensors = {f"model.{name}": tensor for name, tensor in self.weights().items()}
        tensors |= {f"before.{name}": tensor for name, tensor in self._before.items()}
        names = [name for name, _ in self.model.named_parameters()]
        for index, moments in self.adam.state_dict()["state"].items():
            tensors |= {f"adam.{names[index]}.{key}": value.clone() for key, value in moments.items()}
        meta = {
            "step": self.step,
            "curve": [point.as_dict() for point in self.curve],
            "loss": [self._loss_sum, self._loss_count],
            "attempt": [self.attempt, self.began],
        }
        return tensors, meta

    def restore(self, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        """Take up the state that `state()` gave."""
        self.attempt, self.began = meta.get("attempt", (0, 0))
        if self.attempt:
            self.model = self.task.restart(self.attempt)
            self.adam = self._fresh_adam()
        self.model.load_state_dict(under("model.", tensors))
        self._before = under("before.", tensors)
        self.step = meta["step"]
        self.curve = [Point.from_dict(point) for point in meta["curve"]]
        self._loss_sum, self._loss_count = meta["loss"]
        packed = self.adam.state_dict()
        for index, (name, parameter) in enumerate(self.model.named_parameters()):
            if moments := under(f"adam.{name}.", tensors):
                if any(moments[key].shape != parameter.shape for key in ("exp_avg", "exp_avg_sq")):
                    raise ValueError(f"Adam's moments of {name} have another shape")
                packed["state"][index] = {key: value.clone() for key, value in moments.items()}
        self.adam.load_state_dict(packed)


def driven(turns: Turns[E], update: Callable[[], object]) -> E:
    """A training to its end, with an update at every turn."""
    while True:
        try:
            next(turns)
        except StopIteration as ended:
            return cast(E, ended.value)
        update()


def solved_streak(curve: list[Point], budget: Budget) -> int:
    """How many evaluations at the end of the curve, in a row, were solved."""
    solved = (min(point.score.visible, point.score.holdout) >= budget.solved_at for point in reversed(curve))
    return sum(takewhile(bool, solved))


def under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
