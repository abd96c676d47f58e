"""Inside a network of Experiment 2 (paper, Appendix F): attention to the input, logit lens, probes, heads.

Layers count from 0. Output places are named as in `Codec.layout`; the token at place p is predicted by decoder
position p, under teacher forcing with the true derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from hardgap.nn.hooks import recorded, replaced
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.worlds.chains.chains import Examples
from hardgap.worlds.chains.tokens import Codec


def activations(model: Seq2Seq, codec: Codec, examples: Examples, names: list[str]) -> dict[str, Tensor]:
    """These named activations in one teacher-forced pass over the examples."""
    device = next(model.parameters()).device
    inputs, sequences = (torch.from_numpy(t).to(device) for t in (examples.inputs.copy(), codec.encode(examples)))
    with recorded(model, names) as found:
        model(inputs, sequences[:, :-1])
    return {name: values[-1] for name, values in found.items()}


def cross_attention(model: Seq2Seq, codec: Codec, examples: Examples, layer: int = 0) -> dict[str, NDArray[np.float64]]:
    """For each output place, how a decoder layer's heads, on average, share their attention among the inputs.

    Keys are `place:name`, such as `4:e`; a share for each input, adding up to 1.
    """
    name = f"decoder.{layer}.cross.pattern"
    mean_TS = activations(model, codec, examples, [name])[name].double().mean(dim=(0, 1)).cpu().numpy()
    return {f"{place}:{name}": mean_TS[place] for place, name in enumerate(codec.layout)}


@torch.no_grad()
def logit_lens(
    model: Seq2Seq, codec: Codec, examples: Examples, *, among_operators: bool = False
) -> dict[str, dict[str, float]]:
    """Accuracy of each operator where it is first written, read out early: at the embedding and after each layer.

    The readout may name any token, or the likeliest operator only: early on, numbers may stand before all of them.
    """
    first = codec.arithmetic.size if among_operators else 0
    tokens = slice(first, first + len(codec.letters) if among_operators else None)
    layers = {f"after dec-{i}": f"decoder.{i}.normed3" for i in range(len(model.decoder))}
    names = {"embedding": "output_embedding"} | layers
    seen = activations(model, codec, examples, list(names.values()))
    targets = codec.encode(examples)[:, 1:]
    found: dict[str, dict[str, float]] = {}
    for words, name in names.items():
        answers = first + model.readout(model.decoder_norm(seen[name]))[..., tokens].argmax(-1).cpu().numpy()
        places = {f"op{i + 1}": codec.places[f"op{i + 1}"][0] for i in range(codec.arithmetic.length)}
        found[words] = {op: float((answers[:, p] == targets[:, p]).mean()) for op, p in places.items()}
    return found


def probes(
    model: Seq2Seq, codec: Codec, learn: Examples, judge: Examples, layer: int = 1
) -> dict[str, dict[str, float]]:
    """How well a linear probe reads each operator from each input position of an encoder layer (-1: the last)."""
    name = f"encoder.{layer % len(model.encoder)}.normed2"
    shown, asked = (activations(model, codec, one, [name])[name].cpu().numpy() for one in (learn, judge))
    found: dict[str, dict[str, float]] = {}
    for place, letter in enumerate(codec.arithmetic.input_names):
        found[letter] = {}
        for slot in range(codec.arithmetic.length):
            probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000))
            probe.fit(shown[:, place], learn.ops[:, slot])
            found[letter][f"op{slot + 1}"] = float(probe.score(asked[:, place], judge.ops[:, slot]))
    return found


@dataclass(frozen=True)
class HeadAblation:
    """Accuracy with one attention head silenced; `head` is None for the network as it is."""

    attention: str
    head: int | None
    seen: float
    holdout: float


def head_ablations(model: Seq2Seq, score: Callable[[Seq2Seq], tuple[float, float]]) -> Iterator[HeadAblation]:
    """The network whole, then without each head in turn: `score` gives its accuracy on seen and held-out chains."""
    yield HeadAblation("none", None, *score(model))
    named = {f"enc_self_{i}": f"encoder.{i}.attention" for i in range(len(model.encoder))}
    for kind in ("causal", "cross"):
        named |= {f"dec_{kind}_{i}": f"decoder.{i}.{kind}" for i in range(len(model.decoder))}
    for name, attention in named.items():
        for head in range(int(model.get_submodule(attention).heads)):  # type: ignore[arg-type]
            with replaced(model, {f"{attention}.mixed": partial(silence, head)}):
                yield HeadAblation(name, head, *score(model))


def silence(head: int, out_BHQE: Tensor) -> Tensor:
    """What the heads mixed without one of them, which then adds nothing but its bias; cached decoding included."""
    out_BHQE = out_BHQE.clone()
    out_BHQE[:, head] = 0
    return out_BHQE
