"""Experiment 2 as a reader would write it in an afternoon; what `hardgap bench symbolic` compares with.

`nn.Transformer`, default threads, everything in the obvious way: targets padded to a fixed longest length, a causal
mask and a padding mask, cross-entropy that ignores the padding, and a greedy loop that runs the network on all tokens
so far for every further token. Examples are integers at random in the layout of the paper's derivations, since speed
does not depend on them. It prints seconds: `train STEPS LONGEST` for training steps, `decode EXAMPLES BATCH` for
answers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

NUMBERS, VOCABULARY, PAD, BEGIN = 64, 76, 75, 73
INPUTS, TOKENS, BATCH, EXAMPLES = 5, 16, 512, 20_000


class Model(nn.Module):
    def __init__(self, longest: int = TOKENS) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 64)
        self.input_positions, self.output_positions = nn.Embedding(INPUTS, 64), nn.Embedding(longest, 64)
        self.transformer = nn.Transformer(64, 4, 2, 2, 128, dropout=0.0, batch_first=True)
        self.head = nn.Linear(64, VOCABULARY)

    def forward(self, inputs: Tensor, outputs: Tensor) -> Tensor:
        length = outputs.shape[1]
        source = self.embed(inputs) + self.input_positions(torch.arange(INPUTS))
        target = self.embed(outputs) + self.output_positions(torch.arange(length))
        causal = torch.ones(length, length, dtype=torch.bool).triu(1)
        padding = outputs == PAD
        hidden = self.transformer(source, target, tgt_mask=causal, tgt_key_padding_mask=padding, tgt_is_causal=True)
        logits: Tensor = self.head(hidden)
        return logits


def stepper(longest: int) -> Callable[[], None]:
    """A training step of 512 examples, their targets padded to `longest` tokens."""
    torch.manual_seed(0)
    model = Model(longest)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    inputs = torch.randint(0, NUMBERS, (EXAMPLES, INPUTS))
    outputs = torch.randint(0, PAD, (EXAMPLES, TOKENS))
    outputs = F.pad(outputs, (0, longest - TOKENS), value=PAD)

    def step() -> None:
        chosen = torch.randint(0, EXAMPLES, (BATCH,))
        logits = model(inputs[chosen], outputs[chosen, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), outputs[chosen, 1:].flatten(), ignore_index=PAD)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    return step


def train(updates: int, longest: int) -> float:
    """Seconds for so many such steps, after one to warm up."""
    step = stepper(longest)
    step()
    began = time.perf_counter()
    for _ in range(updates):
        step()
    return time.perf_counter() - began


@torch.no_grad()
def answer(model: Model, inputs: Tensor) -> Tensor:
    """Greedy, one token after another, the whole network for each."""
    tokens = torch.full_like(inputs[:, :1], BEGIN)
    for _ in range(TOKENS - 1):
        tokens = torch.cat([tokens, model(inputs, tokens)[:, -1:].argmax(-1)], dim=1)
    return tokens


def decode(examples: int, batch: int) -> float:
    """Seconds for the answers to `examples` inputs, `batch` at a time, after one batch to warm up."""
    torch.manual_seed(0)
    model = Model().eval()
    inputs = torch.randint(0, NUMBERS, (examples, INPUTS))
    answer(model, inputs[:batch])
    began = time.perf_counter()
    for piece in torch.split(inputs, batch):
        answer(model, piece)
    return time.perf_counter() - began


if __name__ == "__main__":
    what, first, second = sys.argv[1:]
    print({"train": train, "decode": decode}[what](int(first), int(second)))
