"""Rows of a cellular automaton as a stack of runs asks for them (`core/stack.py`): every regime, in tensors alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hardgap.core.stack import VECTOR, Given
from hardgap.worlds.automaton.regime import temperature_at
from hardgap.worlds.automaton.task import CELLS_PER_PIECE, AutomatonTask
from hardgap.worlds.automaton.unrolling import (
    LOG_TEMPERATURE,
    Chance,
    drawn_temperature,
    fed_back,
    on_cells,
    summed_loss,
)

CELLS_ELSEWHERE = 2**14
"""A piece on other devices than a CPU: the paper's whole batch. It bounds memory and has no cache to stay in."""


class StackedAutomaton:
    """A task in a stack. Batches are filled up to whole vectors of rows, short ones too, with a row that is masked."""

    def __init__(self, task: AutomatonTask) -> None:
        self._task, self._regime = task, task.run.unrolling
        self._rows = -(-task.run.optimiser.batch // VECTOR) * VECTOR
        cells = CELLS_PER_PIECE if task.device.type == "cpu" else CELLS_ELSEWHERE
        self._piece = max(VECTOR, round(cells / task.run.width / VECTOR) * VECTOR)

    @property
    def draws(self) -> bool:
        regime = self._regime
        return regime.steps > 1 and bool(regime.noise or regime.rounded or regime.temperature.shape == "random")

    def data(self) -> dict[str, Tensor]:
        states, supervised = (F.pad(part, (0, 0, 0, 1)) for part in self._task.training)
        return {"states": states, "supervised": supervised}

    def given(self, step: int) -> list[Given]:
        chosen = self._task.batch_rows(step)
        missing = self._rows - len(chosen)
        drawn = {name: F.pad(whole, (0, 0, 0, missing), value=1.0) for name, whole in self._drawn(len(chosen)).items()}
        batch = F.pad(chosen, (0, missing), value=self._task.run.train_rows) if missing else chosen
        now = self._task.unrolling.temperature
        pieces = []
        for start in range(0, self._rows, self._piece):
            part = slice(start, start + self._piece)
            here: Given = {"batch": batch, "rows": batch[part], "temperature": temperature_at(now, step)}
            pieces.append(here | {name: whole[:, part] for name, whole in drawn.items()})
        return pieces

    def _drawn(self, rows: int) -> dict[str, Tensor]:
        """What `unroll` would draw, and in its order: piece by piece, and after each timestep but the last."""
        task = self._task
        if not self.draws:
            return {}
        drawn: dict[str, list[Tensor]] = {"normal": [], "hot": [], "uniform": []}
        for piece in task.pieces(rows):
            like = torch.empty(piece.stop - piece.start, task.run.width, dtype=task.dtype, device=task.device)
            each = [self._after_a_timestep(like) for _ in range(self._regime.steps - 1)]
            for name in drawn:
                drawn[name].append(torch.stack([one[name] for one in each]))
        return {name: torch.cat(parts, 1) for name, parts in drawn.items() if parts[0].numel()}

    def _after_a_timestep(self, like: Tensor) -> dict[str, Tensor]:
        """Noise, temperatures, what is rounded; empty where nothing is drawn."""
        regime, nothing = self._regime, like[:, :0]
        hot = self._task.unrolling.temperature
        return {
            "normal": torch.randn_like(like) if regime.noise else nothing,
            "hot": drawn_temperature(hot, like) if hot.shape == "random" else nothing,
            "uniform": torch.rand_like(like) if regime.rounded else nothing,
        }

    def loss(
        self,
        network: Callable[[Tensor], Tensor],
        parameters: Mapping[str, Tensor],
        data: Mapping[str, Tensor],
        given: Mapping[str, Tensor],
    ) -> Tensor:
        regime, dtype = self._regime, self._task.dtype
        states, supervised = (data[name][:, given["rows"]].to(dtype) for name in ("states", "supervised"))
        unrolled = fed_back(
            network, states[0], regime, self._temperature(parameters, given, supervised), _chance(given)
        )
        counts = data["supervised"][:, given["batch"]].sum((1, 2))
        weights = regime.weights or (1.0,) * regime.steps
        whole: Any = sum(weight * count for weight, count in zip(weights, counts.to(dtype), strict=True))
        found: Tensor = summed_loss(unrolled, states[1:], supervised, regime) / whole.clamp(min=1.0)
        return found

    def _temperature(
        self, parameters: Mapping[str, Tensor], given: Mapping[str, Tensor], supervised: Tensor
    ) -> Callable[[int], float | Tensor]:
        learned = self._regime.temperature.shape == "learned"
        given_now = parameters[LOG_TEMPERATURE].exp() if learned else given["temperature"]
        return on_cells(self._regime, lambda t: given["hot"][t] if "hot" in given else given_now, supervised)


def _chance(given: Mapping[str, Tensor]) -> Chance:
    """What was drawn before, in its order."""

    def drawn(name: str) -> Callable[[Tensor], Tensor]:
        each: Iterator[Tensor] = iter(given.get(name, ()))
        return lambda like: next(each)

    return Chance(drawn("normal"), drawn("uniform"))
