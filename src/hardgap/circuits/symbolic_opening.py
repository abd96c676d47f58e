"""Every analysis of Experiment 2 on one network, as plain data (paper, Appendix F)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from hardgap.circuits.symbolic_activations import cross_attention, head_ablations, logit_lens, probes
from hardgap.circuits.symbolic_inputs import corruption, network_namer, substitution
from hardgap.errors import BadInput
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.operators.gap import Sets
from hardgap.operators.tokens import Codec
from hardgap.training.symbolic import decode_freely

Analysis = Callable[[Seq2Seq, Codec, Sets, int], Any]


def _corruption(model: Seq2Seq, codec: Codec, sets: Sets, seed: int) -> dict[str, dict[str, float]]:
    changed = corruption(network_namer(model, codec), codec.world, sets.test_holdout.inputs, seed=seed)
    slots = [f"op{i + 1}" for i in range(codec.world.length)]
    names = codec.world.input_names
    return {name: dict(zip(slots, row, strict=True)) for name, row in zip(names, changed.tolist(), strict=True)}


def _substitution(model: Seq2Seq, codec: Codec, sets: Sets, seed: int) -> list[dict[str, Any]]:
    namer = network_namer(model, codec)
    return [asdict(one) for one in substitution(namer, codec.world, sets.test_holdout, seed=seed)]


def _attention(model: Seq2Seq, codec: Codec, sets: Sets, seed: int) -> dict[str, dict[str, float]]:
    names = codec.world.input_names
    found = cross_attention(model, codec, sets.test_holdout)
    return {place: dict(zip(names, shares.tolist(), strict=True)) for place, shares in found.items()}


def _heads(model: Seq2Seq, codec: Codec, sets: Sets, seed: int) -> list[dict[str, Any]]:
    def score(network: Seq2Seq) -> tuple[float, float]:
        found = []
        for examples in (sets.test_seen, sets.test_holdout):
            truth = codec.encode(examples)[:, 1:]
            tokens, _ = decode_freely(network, codec, examples.inputs, draft=truth)
            found.append(float((tokens == truth).all(axis=1).mean()))
        return found[0], found[1]

    return [asdict(one) for one in head_ablations(model, score)]


ANALYSES: dict[str, Analysis] = {
    "corruption": _corruption,
    "substitution": _substitution,
    "attention": _attention,
    "lens": lambda model, codec, sets, seed: logit_lens(model, codec, sets.test_holdout),
    "probes": lambda model, codec, sets, seed: probes(model, codec, sets.eval_seen, sets.test_seen, layer=-1),
    "heads": _heads,
}


def open_symbolic(model: Seq2Seq, codec: Codec, sets: Sets, *, only: list[str], seed: int) -> dict[str, Any]:
    """The asked analyses, or all. Probes learn from evaluation examples of seen chains and are judged on test ones."""
    for name in only:
        if name not in ANALYSES:
            raise BadInput(f"--only {name}: choose {', '.join(ANALYSES)}")
    return {name: ANALYSES[name](model, codec, sets, seed) for name in only or ANALYSES}
