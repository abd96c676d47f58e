"""Experiment 1 as a task: rows of a cellular automaton, a gap, and a regime."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.core.errors import BadInput
from hardgap.core.task import Batches, Score, pick_device
from hardgap.nn.build import build_model
from hardgap.nn.native.adam import library_of
from hardgap.worlds.automaton.gap import Gap, Trajectory
from hardgap.worlds.automaton.native_loss import native_network
from hardgap.worlds.automaton.regime import ROLLOUT_STEPS
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.saturation import saturation
from hardgap.worlds.automaton.unrolling import check_own, give_temperature, unrolled_loss

CELLS_PER_PIECE = 1664
"""A batch is trained in pieces of about this many cells, so that activations stay in cache."""
NARROW = 12
"""Rows of at most so many cells come up again and again in free runs: there are few enough to remember."""
ROWS_TO_CONTRADICT, CONTRADICTED_BELOW = 500, 0.95
"""A network stands contradicted if its free run gets fewer of the visible cells of this many training rows right.

One wrong entry costs 10 to 32 % of them, averaged over four steps; a network that has it right but is not yet
steady, a few percent."""


class AutomatonTask:
    """Training and test rows with their true rollouts, masks and the unrolled loss.

    Test rows never occur among the training rows. At the paper's width that holds anyway; at a desk width
    (2¹¹ = 2,048 rows in all) it has to be made true.
    """

    dtype = torch.float32

    def __init__(self, run: AutomatonRun, *, decoy: bool = False) -> None:
        self.run, self.gap, self.device = run, run.gap.decoy() if decoy else run.gap, pick_device(run.device)
        self.unrolling = run.unrolling

    @cached_property
    def _rows(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Drawn when they are first needed: a network can be built for its weights alone."""
        return split_rows(self.run.width, self.run.train_rows, self.run.test_rows, self.run.seed)

    @cached_property
    def training(self) -> tuple[Tensor, Tensor]:
        """The states of the training rows' rollouts, and where the loss may look at them."""
        trajectory = self.gap.trajectory(self._rows[0], self.run.unrolling.steps)
        if not trajectory.supervised.any():
            raise BadInput(f"{self.gap.describe()}: no training cell is visible at width {self.run.width}")
        return (
            torch.from_numpy(trajectory.states).to(self.device),
            torch.from_numpy(trajectory.supervised).to(self.device),
        )

    @cached_property
    def _test(self) -> Trajectory:
        test = self.gap.trajectory(self._rows[1], max(ROLLOUT_STEPS, self.run.unrolling.steps))
        _check_test_rows(test, self.gap)
        return test

    @cached_property
    def _test_rows(self) -> Tensor:
        return torch.from_numpy(self._test.states[0]).to(self.device, self.dtype)

    @cached_property
    def batch_rows(self) -> Batches:
        return Batches(self.run.train_rows, self.run.optimiser.batch, self.run.seed, self.device)

    def check(self) -> None:
        check_own(self.unrolling, self.run.width)
        assert len(self.training[0])
        assert len(self._test_rows)

    def model(self) -> nn.Module:
        return self._build(self.run.seed)

    def restart(self, attempt: int) -> nn.Module:
        """Other weights, half the temperature."""
        cooler = self.run.unrolling.temperature.halved(attempt)
        self.unrolling = self.run.unrolling.model_copy(update={"temperature": cooler})
        return self._build(int(np.random.SeedSequence([self.run.seed, 3, attempt]).generate_state(1)[0]))

    def _build(self, seed: int) -> nn.Module:
        model = build_model(self.run.model, width=self.run.width, seed=seed)
        return give_temperature(model, self.unrolling).to(self.device, self.dtype)

    def contradicted(self, model: nn.Module) -> bool:
        """Whether a free run of the network gets visible cells of the training rows wrong, at any timestep."""
        states, supervised = (part[:, :ROWS_TO_CONTRADICT] for part in self.training)
        predicted = predict_rollout(model, states[0].to(self.dtype), len(supervised))
        right = torch.from_numpy(predicted).to(self.device) == states[1:]
        return bool(right[supervised].float().mean() < CONTRADICTED_BELOW)

    def chooses_by(self) -> bytes:
        return b""

    def shown(self, step: int) -> bytes:
        chosen = self.batch_rows(step)
        states, supervised = (part[:, chosen] for part in self.training)
        parts = (states[0], supervised, states[1:] * supervised)
        return b"".join(part.cpu().numpy().tobytes() for part in parts)

    def losses(self, model: nn.Module, step: int) -> Iterator[Tensor]:
        chosen = self.batch_rows(step)
        states, supervised = (part.index_select(1, chosen).to(self.dtype) for part in self.training)
        weights = torch.tensor(
            self.unrolling.weights or (1.0,) * self.unrolling.steps, dtype=self.dtype, device=self.device
        )
        weight = (weights * supervised.sum((1, 2))).sum().clamp(min=1.0)
        pieces = self.pieces(len(chosen))
        if len(pieces) > 1 and not self.unrolling.own_functions and native_network(model, states[0]) is not None:
            pieces = [slice(len(chosen))]  # the kernel cuts a batch by itself
        for piece in pieces:
            rows, targets, mask = states[0, piece], states[1:, piece], supervised[:, piece]
            yield unrolled_loss(model, rows, targets, mask, self.unrolling, step) / weight

    def pieces(self, rows: int) -> list[slice]:
        """A batch's rows, cut into what is computed at once."""
        most = -(-rows // max(1, round(rows * self.run.width / CELLS_PER_PIECE)))
        return [slice(first, min(first + most, rows)) for first in range(0, rows, most)]

    def score(self, model: nn.Module, step: int) -> Score:
        predicted = predict_rollout(model, self._test_rows, len(self._test.targets))
        score = score_rollout(predicted, self._test, self.gap)
        if self.run.log_saturation:
            score.detail["saturation"] = self._saturation(model, step)
        return score

    def _saturation(self, model: nn.Module, step: int) -> dict[str, Any]:
        targets = torch.from_numpy(self._test.targets).to(self.device, self.dtype)
        hidden = torch.from_numpy(self._test.hidden).to(self.device)
        return saturation(model, self._test_rows, targets, hidden, self.unrolling, step)


def split_rows(width: int, train: int, test: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """I.i.d. Bernoulli(1/2) rows for training and for testing, with no row in both.

    Where 2^width is small, the test rows are restricted to at most a quarter of all rows.
    """
    rng = np.random.default_rng([seed, 1])
    test_rows = rng.integers(0, 2, (test, width), dtype=np.uint8)
    distinct, first = np.unique(_keys(test_rows), return_index=True)
    if width < 62 and len(distinct) > 2**width // 4:
        allowed = test_rows[np.sort(first)][: 2**width // 4]
        test_rows = allowed[rng.integers(0, len(allowed), test)]
        distinct = np.unique(_keys(test_rows))
    train_rows = rng.integers(0, 2, (train, width), dtype=np.uint8)
    while (clash := np.isin(_keys(train_rows), distinct)).any():
        train_rows[clash] = rng.integers(0, 2, (int(clash.sum()), width), dtype=np.uint8)
    return train_rows, test_rows


def _keys(rows: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """One comparable value a row."""
    packed = np.ascontiguousarray(np.packbits(rows, axis=-1))
    return packed.view(f"S{packed.shape[-1]}")[:, 0]


@torch.no_grad()
def predict_rollout(model: nn.Module, rows: Tensor, steps: int) -> NDArray[np.uint8]:
    """Run the network freely: each prediction is rounded and becomes the next input. [steps, rows, width]"""
    was_training = model.training
    model.eval()
    predictions = torch.empty((steps, *rows.shape), dtype=torch.uint8, device=rows.device)
    size = max(1, 4 * CELLS_PER_PIECE // rows.shape[1])
    narrow = rows.shape[1] <= NARROW and library_of(model) is not None
    decided = _Remembered(model, rows) if narrow else lambda cells: (model(cells) > 0).to(rows.dtype)
    for start in range(0, len(rows), size):
        piece = slice(start, start + size)
        cells = rows[piece]
        for t in range(steps):
            cells = decided(cells)
            predictions[t, piece] = cells.to(torch.uint8)
    model.train(was_training)
    return predictions.cpu().numpy()


class _Remembered:
    """A network's decisions, each row asked for once: the native engine gives a row the same bits in any company."""

    def __init__(self, model: nn.Module, rows: Tensor) -> None:
        self._model, self._places = model, torch.arange(rows.shape[1])
        self._known = torch.zeros(1 << rows.shape[1], dtype=torch.bool)
        self._decided = rows.new_zeros(len(self._known), rows.shape[1])

    def __call__(self, cells: Tensor) -> Tensor:
        numbers = (cells.long() << self._places).sum(1)
        new = torch.zeros_like(self._known)
        new[numbers] = ~self._known[numbers]
        if len(fresh := new.nonzero()):
            asked = (fresh >> self._places & 1).to(cells.dtype)
            self._decided[new] = (self._model(asked) > 0).to(cells.dtype)
            self._known |= new
        return self._decided[numbers]


def score_rollout(predicted: NDArray[np.uint8], truth: Trajectory, gap: Gap) -> Score:
    """Accuracy at the first step by pattern, and at every step on visible and on hidden cells.

    A cell counts as hidden by its neighbourhood in the true trajectory, also late in a free run.
    """
    right = predicted == truth.targets
    hidden = [_mean(right[t], truth.hidden[t]) for t in range(len(right))]
    visible = [_mean(right[t], ~truth.hidden[t]) for t in range(len(right))]
    seen = np.bincount(truth.patterns[0].ravel(), minlength=gap.rule.patterns)
    hits = np.bincount(truth.patterns[0].ravel(), weights=right[0].ravel(), minlength=gap.rule.patterns)
    by_pattern = [round(float(h / n), 6) if n else None for h, n in zip(hits, seen, strict=True)]
    assert visible[0] is not None
    assert hidden[0] is not None
    detail = {"patterns": by_pattern, "rollout_visible": visible, "rollout_holdout": hidden}
    return Score(visible[0], hidden[0], detail)


def _mean(right: NDArray[np.bool_], where: NDArray[np.bool_]) -> float | None:
    """The share of right cells among `where`, to six digits; None if there is no such cell."""
    return round(float(right[where].mean()), 6) if where.any() else None


def _check_test_rows(test: Trajectory, gap: Gap) -> None:
    if not test.hidden[0].any() or test.hidden[0].all():
        kind = "hidden" if not test.hidden[0].any() else "visible"
        raise BadInput(f"{gap.describe()}: the test rows hold no {kind} cell; use more test rows or a greater width")
