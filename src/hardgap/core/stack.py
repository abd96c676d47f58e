"""Several runs of one shape trained as one stacked network, so that a GPU has enough to do.

The weights of each network, and Adam's moments of them, lie in one row, and the rows of a stack in one matrix. The
gradient of the summed losses is every network's own gradient, and Adam's update is a few operations however many parts
a network has. Trainers stay what they are: evaluations, restarts, states and ends are their own.

A row's bits depend on nothing but its own run, on a CPU at least (docs/stacking.md has what was measured). Hence two
rules. Rows and batches are filled up to whole vectors, since PyTorch computes what is left over in another way. And a
stack has two rows at least, since it multiplies a single matrix in another way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, vmap

from hardgap.core.loop import Trainer
from hardgap.core.specs import Optimiser

VECTOR = 32
"""Numbers that the longest vector loop of PyTorch's takes at once: two registers of 16."""
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

Given = dict[str, Tensor | float]


class StackedTask(Protocol):
    """What a stack asks of a task. Between runs of one shape, all that is given differs in its numbers alone."""

    @property
    def draws(self) -> bool:
        """Whether `given` draws; seeding a generator for each run takes its time."""

    def data(self) -> dict[str, Tensor]:
        """What stays the same throughout."""

    def given(self, step: int) -> list[Given]:
        """What this step's loss needs besides, in pieces whose losses add up to it; drawn as `Task.losses` draws."""

    def loss(
        self,
        network: Callable[[Tensor], Tensor],
        parameters: Mapping[str, Tensor],
        data: Mapping[str, Tensor],
        given: Mapping[str, Tensor],
    ) -> Tensor:
        """Of one piece. It draws nothing, and all that differs between runs is in its arguments."""


class Member:
    """A network's weights and Adam's moments as one row each, of its own or in a stack; its `make_adam`, too."""

    def __init__(self, model: nn.Module, _: Optimiser) -> None:
        self._parameters = list(model.parameters())
        sizes = [-(-p.numel() // VECTOR) * VECTOR for p in self._parameters]
        self._starts = list(accumulate(sizes, initial=0))
        kept = [
            F.pad(p.detach().flatten(), (0, size - p.numel())) for p, size in zip(self._parameters, sizes, strict=True)
        ]
        row = torch.cat(kept)
        self.updates = 0
        self.lie_in(row, torch.zeros_like(row), torch.zeros_like(row))

    def lie_in(self, weights: Tensor, first: Tensor, second: Tensor) -> None:
        """Have these rows, which hold the member's numbers already, as the network's weights and moments."""
        self.weights, self.first, self.second = weights, first, second
        for parameter, own in zip(self._parameters, self.parts(weights), strict=True):
            parameter.data = own

    def parts(self, rows: Tensor) -> list[Tensor]:
        """A row, or several, as tensors of the parameters' shapes."""
        split = torch.split_with_sizes(rows, [end - start for start, end in pairwise(self._starts)], -1)
        cut = (part[..., : p.numel()] for part, p in zip(split, self._parameters, strict=True))
        return [part.view((*rows.shape[:-1], *p.shape)) for part, p in zip(cut, self._parameters, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """As PyTorch's Adam has it, so that a run can go on without a stack."""
        moments = zip(self.parts(self.first), self.parts(self.second), strict=True)
        state = {
            place: {"step": torch.tensor(float(self.updates)), "exp_avg": first, "exp_avg_sq": second}
            for place, (first, second) in enumerate(moments)
        }
        return {"state": state if self.updates else {}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        firsts, seconds = self.parts(self.first), self.parts(self.second)
        for place, own in state_dict["state"].items():
            firsts[place].copy_(own["exp_avg"])
            seconds[place].copy_(own["exp_avg_sq"])
            self.updates = int(own["step"])


class Stack:
    """Updates trainers together whose `make_adam` is `Member`; others may be there at each update.

    `view` takes a task to what the stack asks of it.
    """

    def __init__(self, view: Callable[[Any], StackedTask]) -> None:
        self._view = view
        self._members: list[Member] = []

    def update(self, trainers: Sequence[Trainer]) -> None:
        """One step of each, every one at its own."""
        members = [trainer.adam for trainer in trainers]
        if members != self._members:
            self._gather(trainers)
        gradient, losses = self._gradient(trainers)
        _clip(gradient, [trainer.optimiser.clip for trainer in self._rows(trainers)])
        self._adam(gradient, self._rows(trainers))
        for trainer, loss in zip(trainers, losses, strict=False):
            trainer.updated(loss)

    def why_not(self, trainers: Sequence[Trainer]) -> str | None:
        """Why these networks cannot be stacked, or are others in a stack than by themselves; None if all is well."""
        model = trainers[0].model
        if next(model.buffers(), None) is not None:
            return "its network has buffers, which a stack does not keep apart"
        if not all(parameter.requires_grad for parameter in model.parameters()):
            return "its network has parameters that are not trained"
        try:
            self._gather(trainers)
            gradient, _ = self._gradient(trainers)
        except Exception as error:  # whatever a user's own network raises
            return f"its network fails in a stack: {type(error).__name__}: {' '.join(str(error).split()):.160}"
        same = map(_is_gradient_of, gradient, trainers)
        return None if all(same) else "its network learns otherwise in a stack than by itself"

    def _rows(self, each: Sequence[Any]) -> list[Any]:
        """Something of each member for each row: a member alone has two."""
        return list(each) * 2 if len(each) == 1 else list(each)

    def _gather(self, trainers: Sequence[Trainer]) -> None:
        """Have the rows of other members, or of members that began again."""
        self._members = [trainer.adam for trainer in trainers if isinstance(trainer.adam, Member)]
        assert len(self._members) == len(trainers)
        rows = self._rows(self._members)
        self._weights, self._first, self._second = (
            torch.stack([getattr(member, name) for member in rows]) for name in ("weights", "first", "second")
        )
        for place, member in enumerate(self._members):
            member.lie_in(self._weights[place], self._first[place], self._second[place])
        self._tasks = [self._view(trainer.task) for trainer in trainers]
        self._network = trainers[0].model
        self._names = [name for name, _ in self._network.named_parameters()]
        self._data = _stacked(self._rows([task.data() for task in self._tasks]), self._weights)

    def _gradient(self, trainers: Sequence[Trainer]) -> tuple[Tensor, list[float]]:
        """A row of gradients and the loss of each."""
        given = []
        for trainer, task in zip(trainers, self._tasks, strict=True):
            if task.draws:
                trainer.draw()
            given.append(task.given(trainer.step - trainer.began))
        gradient, losses = torch.zeros_like(self._weights), []
        for piece in zip(*self._rows(given), strict=True):
            weights = self._weights.detach().requires_grad_()
            named = dict(zip(self._names, self._members[0].parts(weights), strict=True))
            loss = vmap(self._loss)(named, self._data, _stacked(piece, weights))
            gradient += torch.autograd.grad(loss.sum(), weights)[0]
            losses.append(loss.detach().cpu().double())
        return gradient, torch.stack(losses).sum(0).tolist()

    def _loss(self, named: dict[str, Tensor], data: dict[str, Tensor], given: dict[str, Tensor]) -> Tensor:
        def network(cells: Tensor) -> Tensor:
            found: Tensor = functional_call(self._network, named, (cells,))
            return found

        return self._tasks[0].loss(network, named, data, given)

    @torch.no_grad()
    def _adam(self, gradient: Tensor, trainers: Sequence[Trainer]) -> None:
        """Adam as PyTorch has it, with a step count a row; each operation rounds by itself, wherever a number lies."""
        counts = [member.updates + 1 for member in self._rows(self._members)]
        rates = [one.learning_rate / (1 - BETA1**count) for one, count in zip(trainers, counts, strict=True)]
        rate, scale = (
            self._weights.new_tensor(values)[:, None]
            for values in (rates, [math.sqrt(1 - BETA2**count) for count in counts])
        )
        first = self._first.mul(BETA1).add_(gradient * (1 - BETA1))
        second = self._second.mul(BETA2).add_(gradient.square() * (1 - BETA2))
        change = first.div(second.sqrt().div_(scale).add_(EPSILON)).mul_(rate)
        # Nothing below needs memory: an update is made whole, or not at all.
        self._first.copy_(first)
        self._second.copy_(second)
        self._weights.sub_(change)
        for member in self._members:
            member.updates += 1


def _is_gradient_of(row: Tensor, trainer: Trainer) -> bool:
    """Whether a row of gradients is, up to rounding, that of the trainer's next update by itself."""
    member, model = trainer.adam, trainer.model
    assert isinstance(member, Member)
    trainer.draw()
    model.zero_grad()
    for loss in trainer.task.losses(model, trainer.step - trainer.began):
        loss.backward()  # type: ignore[no-untyped-call]
    alone = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
    model.zero_grad()
    return all(
        torch.allclose(one, two, rtol=1e-3, atol=1e-5) for one, two in zip(alone, member.parts(row), strict=True)
    )


def _clip(gradient: Tensor, largest: Sequence[float | None]) -> None:
    """Scale each row whose norm is larger than it may be, as `clip_grad_norm_` does."""
    if all(clip is None for clip in largest):
        return
    may_be = gradient.new_tensor([math.inf if clip is None else clip for clip in largest])
    norm = gradient.square().sum(1).sqrt()
    gradient.mul_((may_be / (norm + 1e-6)).clamp(max=1.0)[:, None])


def _stacked(each: Sequence[Mapping[str, Tensor | float]], like: Tensor) -> dict[str, Tensor]:
    """What several runs give, by name, with a first dimension for the run."""
    found = {}
    for name in each[0]:
        values: list[Any] = [one[name] for one in each]
        found[name] = torch.stack(values) if isinstance(values[0], Tensor) else like.new_tensor(values)
    return found
