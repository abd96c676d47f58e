"""One question to a network of Experiment 2: type integers, read the derivation it writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardgap.core.errors import BadInput
from hardgap.core.run import only
from hardgap.core.task import Trained
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.task import decode_freely, is_valid
from hardgap.worlds.chains.tokens import Codec


@dataclass(frozen=True)
class Reply:
    """A derivation token by token, how sure the network was of each, and what the truth says."""

    places: tuple[str, ...]
    tokens: tuple[str, ...]
    confidence: tuple[float, ...]
    fitting: tuple[str, ...]  # the chains of operators that explain the input
    named: str | None  # the operators that the network names, or None if it names none
    right: bool  # whether the derivation is one that the input allows
    truth: str | None  # the only right derivation, if there is exactly one

    @property
    def derivation(self) -> str:
        return " ".join(self.tokens).removesuffix(" <end>")

    def as_dict(self) -> dict[str, Any]:
        tokens = zip(self.places, self.tokens, self.confidence, strict=True)
        return {
            "derivation": self.derivation,
            "tokens": [{"place": place, "token": token, "confidence": sure} for place, token, sure in tokens],
            "operators": self.named,
            "right": self.right,
            "fitting": list(self.fitting),
            "truth": self.truth,
        }


def ask_trained(trained: Trained, numbers: Sequence[int]) -> Reply:
    """`ask` of a network of a store."""
    (run,), model = only(SymbolicRun, [trained.run]), trained.model
    assert isinstance(model, Seq2Seq)
    return ask(model, Codec(run.gap.arithmetic, run.condition, run.seed), numbers)


def ask(model: Seq2Seq, codec: Codec, numbers: Sequence[int]) -> Reply:
    """Let the network derive from these integers, in the order of the world's input names."""
    arithmetic = codec.arithmetic
    names = arithmetic.input_names
    if len(numbers) != len(names) or not all(0 <= number < arithmetic.size for number in numbers):
        raise BadInput(f"give {len(names)} integers from 0 to {arithmetic.size - 1}: {' '.join(names)}")
    inputs = np.array([numbers], dtype=np.int64)
    tokens, confidence = decode_freely(model, codec, inputs)
    chains = arithmetic.ops_of(np.flatnonzero(arithmetic.fits(inputs[:, :-1])[0]))
    labels = codec.decode(tokens).labels
    truth = None
    if len(chains) == 1:
        example = arithmetic.examples(chains, inputs[:, :-2], inputs[:, -1])
        truth = codec.write(codec.encode(example)[0, 1:]).removesuffix(" <end>")
    return Reply(
        places=codec.layout,
        tokens=tuple(codec.texts[token] for token in tokens[0]),
        confidence=tuple(round(float(sure), 6) for sure in confidence[0]),
        fitting=tuple(arithmetic.chain_text(ops) for ops in chains),
        named=arithmetic.chain_text(labels[0]) if (labels >= 0).all() else None,
        right=bool(is_valid(codec, inputs, labels, tokens)[0]),
        truth=truth,
    )
