"""Every analysis of Experiment 2 on one network, as plain data (paper, Appendix F)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from hardgap.core.errors import BadInput
from hardgap.core.run import only as only_runs
from hardgap.core.task import Trained
from hardgap.core.wording import did_you_mean
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.worlds.chains.circuits.activations import cross_attention, head_ablations, logit_lens, probes
from hardgap.worlds.chains.circuits.inputs import corruption, network_namer, substitution, surgery
from hardgap.worlds.chains.gap import ChainGap, Sets
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.task import decode_freely
from hardgap.worlds.chains.tokens import Codec

Analysis = Callable[[Seq2Seq, Codec, Sets, int], Any]
MOST_SEEN = 2_000
"""Of the seen test examples, which are shuffled, at most so many for the lens and for every head in turn."""


def _corruption(model: Seq2Seq, codec: Codec, sets: Sets, seed: int) -> dict[str, dict[str, float]]:
    changed = corruption(network_namer(model, codec), codec.arithmetic, sets.test_holdout.inputs, seed=seed)
    slots = [f"op{i + 1}" for i in range(codec.arithmetic.length)]
    names = codec.arithmetic.input_names
    return {name: dict(zip(slots, row, strict=True)) for name, row in zip(names, changed.tolist(), strict=True)}


def _substitution(model: Seq2Seq, codec: Codec, sets: Sets, seed: int) -> dict[str, list[dict[str, Any]]]:
    namer, base = network_namer(model, codec), sets.test_holdout
    shown = surgery(namer, codec.arithmetic, base, seed=seed)
    example = [
        asdict(one) | {"named": _symbols(codec, one.named), "derivation": _derived(model, codec, one.inputs)}
        for one in shown
    ]
    return {
        "targets": [asdict(one) for one in substitution(namer, codec.arithmetic, base, seed=seed)],
        "example": example,
    }


def _symbols(codec: Codec, ops: tuple[int, ...]) -> str:
    return "".join(codec.arithmetic.operators[op].symbol if op >= 0 else "?" for op in ops)


def _derived(model: Seq2Seq, codec: Codec, inputs: tuple[int, ...]) -> str:
    tokens, _ = decode_freely(model, codec, np.array([inputs], dtype=np.int64))
    return codec.write(tokens[0]).removesuffix(" <end>")


def _attention(model: Seq2Seq, codec: Codec, sets: Sets, seed: int) -> dict[str, dict[str, float]]:
    names = codec.arithmetic.input_names
    found = cross_attention(model, codec, sets.test_holdout)
    return {place: dict(zip(names, shares.tolist(), strict=True)) for place, shares in found.items()}


def _lens(model: Seq2Seq, codec: Codec, sets: Sets, seed: int) -> dict[str, dict[str, dict[str, float]]]:
    """Paper is silent: on which examples, among which tokens. On held-out and on seen ones, and there in both ways."""
    seen = sets.test_seen[:MOST_SEEN]
    return {
        "holdout": logit_lens(model, codec, sets.test_holdout),
        "seen": logit_lens(model, codec, seen),
        "seen, among operators": logit_lens(model, codec, seen, among_operators=True),
    }


def _heads(model: Seq2Seq, codec: Codec, sets: Sets, seed: int) -> list[dict[str, Any]]:
    def score(network: Seq2Seq) -> tuple[float, float]:
        found = []
        for examples in (sets.test_seen[:MOST_SEEN], sets.test_holdout):
            truth = codec.encode(examples)[:, 1:]
            tokens, _ = decode_freely(network, codec, examples.inputs, draft=truth)
            found.append(float((tokens == truth).all(axis=1).mean()))
        return found[0], found[1]

    return [asdict(one) for one in head_ablations(model, score)]


ANALYSES: dict[str, Analysis] = {
    "corruption": _corruption,
    "substitution": _substitution,
    "attention": _attention,
    "lens": _lens,
    "probes": lambda model, codec, sets, seed: probes(model, codec, sets.eval_seen, sets.test_seen, layer=-1),
    "heads": _heads,
}


def sets_to_open(run: SymbolicRun, examples: int = 200) -> Sets:
    """Of the run's own evaluation and test parts, as many of each chain as the paper looks at.

    Unambiguous ones, as in the paper, whatever the run was trained on.
    """
    arithmetic = run.gap.arithmetic
    sizes = {"train": arithmetic.chains, "evaluate": examples, "test": examples}
    return ChainGap(arithmetic, run.holdout).sets(**sizes, seed=run.seed)


def open_trained(trained: Trained, only: Sequence[str], seed: int) -> dict[str, Any]:
    """What is found inside a network of a store, as plain data by analysis."""
    (run,), model = only_runs(SymbolicRun, [trained.run]), trained.model
    assert isinstance(model, Seq2Seq)
    codec = Codec(run.gap.arithmetic, run.condition, run.seed)
    return open_symbolic(model, codec, sets_to_open(run), only=list(only), seed=seed)


def open_symbolic(
    model: Seq2Seq,
    codec: Codec,
    sets: Sets,
    *,
    only: list[str],
    seed: int,
    on_start: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """The asked analyses, or all that apply: substitution is about chains of two operators.

    Probes learn from evaluation examples of seen chains and are judged on test ones. `on_start` hears each name before
    it runs.
    """
    for name in only:
        if name not in ANALYSES:
            hint = did_you_mean(name, ANALYSES)
            raise BadInput(f"{name}: there is no such analysis{hint}; choose from {', '.join(ANALYSES)}", of="only")
    applying = [name for name in ANALYSES if name != "substitution" or codec.arithmetic.length == 2]
    found = {}
    for name in only or applying:
        on_start(name)
        found[name] = ANALYSES[name](model, codec, sets, seed)
    return found
