"""Experiment 2 as a task: chains of operators, a held-out pair, and teacher forcing.

What counts as right, for a decoded sequence of tokens:
    exact    every token is the true derivation's: the accuracy of a run, and what is compared with the paper's
    pair     the operators named at the end are the true ones
    f        the final value is the true one (none under label-only)
    valid    the derivation is right for the operators it names, and these explain the evidence. Where evidence is
             ambiguous this is what can be asked for; where it is not, valid and exact agree
    tokens   the share of right tokens

The leak certificate of Experiment 1 flips hidden outputs. Here a held-out pair has no place in training at all, so the
certificate draws and trains in a world that is wrong about it (`ChainGap.decoy`): weights and scores on seen chains
must stay bitwise the same. With `ambiguity="unambiguous"` the held-out pair's true meaning still decides which seen
examples are too ambiguous to be shown; with `"seen"` not even that.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.core.task import Batches, Score, pick_device
from hardgap.nn.seq2seq import Seq2Seq, build_seq2seq
from hardgap.worlds.chains.chains import Examples
from hardgap.worlds.chains.gap import Sets
from hardgap.worlds.chains.operators import Words
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.tokens import Codec

EXAMPLES_PER_PIECE = 128
"""A batch is trained in pieces of about this many examples, so that activations stay in cache."""
DECODED_AT_ONCE = 1024

Judged = dict[str, NDArray[np.float64]]


class SymbolicTask:
    """Examples as tokens, the teacher-forced loss, and scores of freely decoded derivations.

    Nothing is drawn before it is asked for, so that a network can be built for its weights alone.
    """

    def __init__(self, run: SymbolicRun, *, decoy: bool = False) -> None:
        self.run, self.gap, self.device = run, run.gap.decoy() if decoy else run.gap, pick_device(run.device)
        self.codec = Codec(self.gap.arithmetic, run.condition, run.seed)

    @cached_property
    def sets(self) -> Sets:
        run = self.run
        sizes = {"train": run.train_examples, "evaluate": run.eval_examples, "test": run.test_examples}
        return self.gap.sets(**sizes, seen=run.seen_examples, seed=run.seed)

    @cached_property
    def _train(self) -> tuple[Tensor, Tensor]:
        """Input tokens and whole output sequences."""
        examples = self.sets.train
        return self._tensor(examples.inputs), self._tensor(self.codec.encode(examples))

    @cached_property
    def _batch_examples(self) -> Batches:
        return Batches(len(self._train[0]), self.run.optimiser.batch, self.run.seed, self.device)

    def check(self) -> None:
        assert len(self.sets.train)  # drawing them refuses what cannot be drawn

    def _tensor(self, tokens: Words) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(tokens)).to(self.device)

    def model(self) -> nn.Module:
        arithmetic, outputs = self.gap.arithmetic, 1 + len(self.codec.layout)
        shape = {"vocabulary": self.codec.vocabulary, "inputs": len(arithmetic.input_names), "outputs": outputs}
        return build_seq2seq(self.run.model, **shape, seed=self.run.seed).to(self.device)

    def restart(self, attempt: int) -> nn.Module:
        return self.model()  # never asked for: a SymbolicRun with `restart_at` is refused

    def contradicted(self, model: nn.Module) -> bool:
        return False

    def chooses_by(self) -> bytes:
        seen = self.sets.eval_seen
        return seen.inputs.tobytes() + self.codec.encode(seen).tobytes()

    def shown(self, step: int) -> bytes:
        chosen = self._batch_examples(step)
        return b"".join(tokens[chosen].cpu().numpy().tobytes() for tokens in self._train)

    def losses(self, model: nn.Module, step: int) -> Iterator[Tensor]:
        """Mean cross-entropy over all tokens of the batch, each predicted from the true ones before it."""
        chosen = self._batch_examples(step)
        inputs, sequences = self._train[0][chosen], self._train[1][chosen]
        if type(model) is Seq2Seq and (whole := model.native_loss(inputs, sequences)) is not None:
            yield whole
            return
        weight = sequences[:, 1:].numel()
        for piece in torch.arange(len(chosen), device=self.device).chunk(max(1, len(chosen) // EXAMPLES_PER_PIECE)):
            logits = model(inputs[piece], sequences[piece, :-1])
            yield F.cross_entropy(logits.flatten(0, 1), sequences[piece, 1:].flatten(), reduction="sum") / weight

    def score(self, model: nn.Module, step: int) -> Score:
        assert isinstance(model, Seq2Seq)
        sets = self.sets
        judged = {name: self.judge(model, getattr(sets, name)) for name in ("test_seen", "test_holdout")}
        detail: dict[str, Any] = {name.removeprefix("test_"): _means(found) for name, found in judged.items()}
        evaluated = {name: self.judge(model, getattr(sets, f"eval_{name}"))["exact"] for name in ("seen", "holdout")}
        detail["eval"] = {name: _mean(exact) for name, exact in evaluated.items()}
        detail["chains"] = self._by_chain(sets.test_seen, judged["test_seen"]["exact"])
        return Score(detail["seen"]["exact"], detail["holdout"]["exact"], detail)

    def judge(self, model: Seq2Seq, examples: Examples) -> Judged:
        """Decode freely; for each example, what is right about the answer."""
        truth = self.codec.encode(examples)[:, 1:]
        tokens, _ = decode_freely(model, self.codec, examples.inputs, draft=truth)
        return judge_tokens(self.codec, examples, tokens)

    def _by_chain(self, examples: Examples, exact: NDArray[np.float64]) -> dict[str, float]:
        """The exact accuracy of each seen chain, by its symbols."""
        arithmetic = self.gap.arithmetic
        chain = arithmetic.index_of(examples.ops)
        count, hits = np.bincount(chain), np.bincount(chain, weights=exact)
        present = np.flatnonzero(count)
        texts = [arithmetic.chain_text(ops) for ops in arithmetic.ops_of(present)]
        return {text: round(float(hits[i] / count[i]), 4) for text, i in zip(texts, present, strict=True)}


def decode_freely(
    model: Seq2Seq, codec: Codec, inputs: Words, *, draft: Words | None = None
) -> tuple[Words, NDArray[np.float32]]:
    """The greedy answer to each input without its `<begin>`, and each token's probability: `[n, places]`.

    A draft does not change the answer. Where it is the answer, one pass over all tokens confirms it; the truth is a
    good draft for a trained network.
    """
    was_training, device = model.training, next(model.parameters()).device
    model.eval()
    given = [inputs] if draft is None else [inputs, draft]
    asked = [torch.from_numpy(np.ascontiguousarray(tokens)).to(device) for tokens in given]
    starts = range(0, len(inputs), DECODED_AT_ONCE)
    found = [_decode_piece(model, codec, *(one[i : i + DECODED_AT_ONCE] for one in asked)) for i in starts]
    model.train(was_training)
    tokens, confidence = (torch.cat([one[i] for one in found]).cpu().numpy() for i in (0, 1))
    return tokens, confidence


def _decode_piece(model: Seq2Seq, codec: Codec, inputs: Tensor, draft: Tensor | None = None) -> tuple[Tensor, Tensor]:
    if draft is None:
        return model.greedy(inputs, codec.begin, len(codec.layout))
    tokens, confidence, confirmed = model.confirm(inputs, codec.begin, draft)
    if not confirmed.all():
        tokens[~confirmed], confidence[~confirmed] = model.greedy(inputs[~confirmed], codec.begin, len(codec.layout))
    return tokens, confidence


def judge_tokens(codec: Codec, examples: Examples, tokens: Words) -> Judged:
    """For each example and each measure of this module: 1 if the answer is right, else 0; `ops` has a column each."""
    right = tokens == codec.encode(examples)[:, 1:]
    answer = codec.decode(tokens)
    named = answer.labels == examples.ops
    found = {
        "exact": right.all(axis=1),
        "pair": named.all(axis=1),
        "ops": named,
        "valid": is_valid(codec, examples.inputs, answer.labels, tokens),
        "tokens": right.mean(axis=1),
    }
    if answer.values is not None:
        found["f"] = answer.values[:, -1] == examples.values[:, -1]
    return {name: values.astype(np.float64) for name, values in found.items()}


def is_valid(codec: Codec, inputs: Words, ops: Words, tokens: Words) -> NDArray[np.bool_]:
    """Whether tokens are the derivation of the operators they name, and these explain the evidence."""
    named = (ops >= 0).all(axis=1)
    claimed = codec.arithmetic.examples(np.maximum(ops, 0), inputs[:, :-2], inputs[:, -1])
    explains = claimed.inputs[:, -2] == inputs[:, -2]
    follows = (codec.encode(claimed)[:, 1:] == tokens).all(axis=1)
    return np.asarray(named & explains & follows)


def _means(judged: Judged) -> dict[str, Any]:
    """The mean of each measure; of `ops` one for each operator, in the order of the chain."""
    return {name: [*map(_mean, values.T)] if values.ndim > 1 else _mean(values) for name, values in judged.items()}


def _mean(values: NDArray[np.float64]) -> float:
    return round(float(values.mean()), 6)
