"""The paper's experiment as a reader would write it in an afternoon; what `hardgap bench` compares with.

`nn.TransformerEncoder`, default threads, everything in the obvious way. It prints the seconds that the given
number of training steps took.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

ROWS, STEPS = 2_000, 4


class Model(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.embed = nn.Linear(1, 64)
        self.positions = nn.Embedding(width, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(64, 1)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.embed(x.unsqueeze(-1)) + self.positions(torch.arange(x.shape[1]))
        logits: Tensor = self.head(self.encoder(hidden)).squeeze(-1)
        return logits


def next_row(x: Tensor) -> Tensor:
    return (x.roll(1, -1) + x + x.roll(-1, -1)) % 2


def stepper(seed: int, width: int, batch: int) -> Callable[[], None]:
    """A function that trains one step."""
    torch.manual_seed(seed)
    model = Model(width)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    data = torch.randint(0, 2, (ROWS, width)).float()

    def step() -> None:
        state = data[torch.randint(0, ROWS, (batch,))]
        prediction, loss = state, torch.zeros(())
        for _ in range(STEPS):
            pattern = 4 * state.roll(1, -1) + 2 * state + state.roll(-1, -1)
            state = next_row(state)
            logits = model(prediction)
            loss = loss + F.binary_cross_entropy_with_logits(logits[pattern != 2], state[pattern != 2])
            prediction = torch.sigmoid(logits)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    return step


def main(updates: int, seed: int, width: int, batch: int) -> float:
    step = stepper(seed, width, batch)
    step()  # The first update warms up.
    began = time.perf_counter()
    for _ in range(updates):
        step()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(main(*map(int, sys.argv[1:])))
