"""Experiment 1 as a task: rows of a cellular automaton, a gap, and a regime."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.core.errors import BadInput
from hardgap.core.saturation import saturation
from hardgap.core.specs import ROLLOUT_STEPS, Optimiser, Unrolling
from hardgap.core.task import Score
from hardgap.core.unrolling import give_temperature, unrolled_loss
from hardgap.nn.build import build_model
from hardgap.nn.spec import ConvSpec, EncoderSpec, PluginSpec
from hardgap.worlds.automaton.gap import Gap, Trajectory

CELLS_PER_PIECE = 1664
"""A batch is trained in pieces of about this many cells, so that activations stay in cache."""
ROWS_TO_CONTRADICT, CONTRADICTED_BELOW = 500, 0.95
"""A network stands contradicted if its free run gets fewer of the visible cells of this many training rows right.

One wrong entry costs 10 to 32 % of them, averaged over four steps; a network that has it right but is not yet
steady, a few percent."""


class AutomatonTask:
    """Training and test rows with their true rollouts, masks and the unrolled loss.

    Test rows never occur among the training rows. At the paper's width that holds anyway; at a desk width
    (2¹¹ = 2,048 rows in all) it has to be made true.
    """

    def __init__(
        self,
        gap: Gap,
        *,
        width: int,
        train_rows: int,
        test_rows: int,
        unrolling: Unrolling,
        optimiser: Optimiser,
        model: EncoderSpec | ConvSpec | PluginSpec,
        seed: int,
        device: torch.device,
        log_saturation: bool = False,
    ) -> None:
        self.gap, self.width, self.unrolling, self.seed, self.device = gap, width, unrolling, seed, device
        self._asked = unrolling
        self._model_spec, self._batch, self._log_saturation = model, optimiser.batch, log_saturation
        train, test = split_rows(width, train_rows, test_rows, seed)
        trajectory = gap.trajectory(train, unrolling.steps)
        if not trajectory.supervised.any():
            raise BadInput(f"{gap.describe()}: no training cell is visible at width {width}")
        self._states = torch.from_numpy(trajectory.states).to(device)
        self._supervised = torch.from_numpy(trajectory.supervised).to(device)
        self._test = gap.trajectory(test, max(ROLLOUT_STEPS, unrolling.steps))
        self._test_rows = torch.from_numpy(self._test.states[0]).to(device, torch.float32)
        _check_test_rows(self._test, gap)
        self._order = lru_cache(maxsize=1)(self._shuffle)

    def model(self) -> nn.Module:
        return self._build(self.seed)

    def restart(self, attempt: int) -> nn.Module:
        """Other weights, half the temperature."""
        cooler = self._asked.temperature.halved(attempt)
        self.unrolling = self._asked.model_copy(update={"temperature": cooler})
        return self._build(int(np.random.SeedSequence([self.seed, 3, attempt]).generate_state(1)[0]))

    def _build(self, seed: int) -> nn.Module:
        model = build_model(self._model_spec, width=self.width, seed=seed)
        return give_temperature(model, self.unrolling).to(self.device)

    def contradicted(self, model: nn.Module) -> bool:
        """Whether a free run of the network gets visible cells of the training rows wrong, at any timestep."""
        rows = min(ROWS_TO_CONTRADICT, self._states.shape[1])
        predicted = predict_rollout(model, self._states[0, :rows].to(torch.float32), len(self._supervised))
        right = torch.from_numpy(predicted).to(self.device) == self._states[1:, :rows]
        return bool(right[self._supervised[:, :rows]].float().mean() < CONTRADICTED_BELOW)

    def chooses_by(self) -> bytes:
        return b""

    def shown(self, step: int) -> bytes:
        chosen = self._batch_rows(step)
        states, supervised = self._states[:, chosen], self._supervised[:, chosen]
        parts = (states[0], supervised, states[1:] * supervised)
        return b"".join(part.cpu().numpy().tobytes() for part in parts)

    def losses(self, model: nn.Module, step: int) -> Iterator[Tensor]:
        chosen = self._batch_rows(step)
        states = self._states[:, chosen].to(torch.float32)
        supervised = self._supervised[:, chosen].to(torch.float32)
        weights = torch.tensor(self.unrolling.weights or (1.0,) * self.unrolling.steps, device=self.device)
        weight = (weights * supervised.sum((1, 2))).sum().clamp(min=1.0)
        pieces = max(1, round(len(chosen) * self.width / CELLS_PER_PIECE))
        for piece in torch.arange(len(chosen), device=self.device).chunk(pieces):
            rows, targets, mask = states[0, piece], states[1:, piece], supervised[:, piece]
            yield unrolled_loss(model, rows, targets, mask, self.unrolling, step) / weight

    def score(self, model: nn.Module, step: int) -> Score:
        predicted = predict_rollout(model, self._test_rows, len(self._test.targets))
        score = score_rollout(predicted, self._test, self.gap)
        if self._log_saturation:
            score.detail["saturation"] = self._saturation(model, step)
        return score

    def _saturation(self, model: nn.Module, step: int) -> dict[str, Any]:
        targets = torch.from_numpy(self._test.targets).to(self.device, torch.float32)
        hidden = torch.from_numpy(self._test.hidden).to(self.device)
        return saturation(model, self._test_rows, targets, hidden, self.unrolling, step)

    def _batch_rows(self, step: int) -> Tensor:
        """The rows of this step's batch: epochs are permutations, the last batch of one may be short."""
        rows = self._states.shape[1]
        batches = -(-rows // self._batch)
        epoch, index = divmod(step, batches)
        return self._order(epoch)[index * self._batch : (index + 1) * self._batch]

    def _shuffle(self, epoch: int) -> Tensor:
        order = np.random.default_rng([self.seed, 2, epoch]).permutation(self._states.shape[1])
        return torch.from_numpy(order).to(self.device)


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
    for start in range(0, len(rows), size):
        piece = slice(start, start + size)
        cells = rows[piece]
        for t in range(steps):
            cells = (model(cells) > 0).to(torch.float32)
            predictions[t, piece] = cells.to(torch.uint8)
    model.train(was_training)
    return predictions.cpu().numpy()


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
