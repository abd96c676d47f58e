"""The network of Experiment 2 (paper §4.6): a post-LN encoder-decoder from five integers to a derivation.

As in `encoder.py`, every intermediate value passes through a `Named` module, in training and in cached decoding
alike, so a hook on `decoder.0.cross.pattern` sees (or replaces) it in both. Shape suffixes:

    B examples in the batch   S input tokens   T output tokens   V vocabulary   D model dimension
    H attention heads         E dimensions of one head (D = H·E)   Q, K query and key positions
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from hardgap.nn.encoder import FeedForward, Layer, Named
from hardgap.nn.spec import Seq2SeqSpec


class Heads(nn.Module):
    """What both attentions of the decoder share: projections, softmax attention, output."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.dim, self.heads = dim, heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)
        self.q, self.k, self.v = Named(), Named(), Named()
        self.scores, self.pattern, self.mixed, self.out = Named(), Named(), Named(), Named()

    def split(self, x_BTD: Tensor) -> Tensor:
        """`[B, T, n·D]` to `[n, B, H, T, E]`."""
        B, T, _ = x_BTD.shape
        return x_BTD.view(B, T, -1, self.heads, self.dim // self.heads).permute(2, 0, 3, 1, 4)

    def attend(self, q_BHQE: Tensor, k_BHKE: Tensor, v_BHKE: Tensor, blocked_QK: Tensor | None = None) -> Tensor:
        scores_BHQK = self.scores((q_BHQE * (self.dim // self.heads) ** -0.5) @ k_BHKE.transpose(-1, -2))
        if blocked_QK is not None:
            scores_BHQK = scores_BHQK.masked_fill(blocked_QK, -torch.inf)
        pattern_BHQK = self.pattern(scores_BHQK.softmax(-1))
        mixed_BHQE = self.mixed(pattern_BHQK @ v_BHKE)
        out: Tensor = self.out(self.output(mixed_BHQE.transpose(1, 2).flatten(2)))
        return out


class CausalAttention(Heads):
    """Self-attention in which a token sees itself and what came before; with a cache, one new token at a time."""

    def forward(self, x_BTD: Tensor, cache: Cache | None = None) -> Tensor:
        q_BHTE, k_BHTE, v_BHTE = self.split(self.qkv(x_BTD))
        q_BHTE, k_BHTE, v_BHTE = self.q(q_BHTE), self.k(k_BHTE), self.v(v_BHTE)
        if cache is not None:
            return self.attend(q_BHTE, *cache.append(k_BHTE, v_BHTE))
        T = x_BTD.shape[1]
        blocked_QK = torch.ones(T, T, dtype=torch.bool, device=x_BTD.device).triu(1)
        return self.attend(q_BHTE, k_BHTE, v_BHTE, blocked_QK)


class CrossAttention(Heads):
    """Attention of output tokens to the encoded input, whose keys and values are computed once."""

    def keys_values(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        weight, bias = self.qkv.weight[self.dim :], self.qkv.bias[self.dim :]
        k_BHSE, v_BHSE = self.split(nn.functional.linear(memory_BSD, weight, bias))
        return self.k(k_BHSE), self.v(v_BHSE)

    def forward(self, x_BTD: Tensor, keys_values: tuple[Tensor, Tensor]) -> Tensor:
        weight, bias = self.qkv.weight[: self.dim], self.qkv.bias[: self.dim]
        (q_BHTE,) = self.split(nn.functional.linear(x_BTD, weight, bias))
        return self.attend(self.q(q_BHTE), *keys_values)


@dataclass
class Cache:
    """The keys and values `[B, H, T, E]` of one layer, of which the first `length` tokens are there."""

    keys: Tensor
    values: Tensor
    length: int = 0

    def append(self, k_BHTE: Tensor, v_BHTE: Tensor) -> tuple[Tensor, Tensor]:
        """Add one token's; all so far."""
        self.keys[:, :, self.length : self.length + 1] = k_BHTE
        self.values[:, :, self.length : self.length + 1] = v_BHTE
        self.length += 1
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]


@dataclass
class Past:
    """All that one layer remembers while it decodes: the encoded input and the tokens so far."""

    encoded: tuple[Tensor, Tensor]
    tokens: Cache | None = None


class DecoderLayer(nn.Module):
    """One post-LN block: causal attention, cross-attention, feed forward, each added and normalised."""

    def __init__(self, dim: int, heads: int, ffn: int) -> None:
        super().__init__()
        self.causal, self.cross = CausalAttention(dim, heads), CrossAttention(dim, heads)
        self.ffn = FeedForward(dim, ffn)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.residual1, self.residual2, self.residual3 = Named(), Named(), Named()
        self.normed1, self.normed2, self.normed3 = Named(), Named(), Named()

    def forward(self, x_BTD: Tensor, past: Past) -> Tensor:
        x_BTD = self.normed1(self.norm1(self.residual1(x_BTD + self.causal(x_BTD, past.tokens))))
        x_BTD = self.normed2(self.norm2(self.residual2(x_BTD + self.cross(x_BTD, past.encoded))))
        out: Tensor = self.normed3(self.norm3(self.residual3(x_BTD + self.ffn(x_BTD))))
        return out


class Seq2Seq(nn.Module):
    """Token embeddings shared by both sides, learned positions, a norm after each stack, a logit a token.

    `outputs` counts every token of an output sequence, begin and end included. Paper is silent: positions, dropout
    (none here) and initial weights. The matrices of the layers start as in `torch.nn.Transformer` (Xavier, attention
    biases 0), embeddings and positions as N(0, 1) and N(0, position_std²).
    """

    def __init__(
        self,
        *,
        vocabulary: int,
        inputs: int,
        outputs: int,
        dim: int = 64,
        heads: int = 4,
        layers: int = 2,
        ffn: int = 128,
        position_std: float = 1.0,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.input_positions = nn.Parameter(torch.randn(inputs, dim) * position_std)
        self.output_positions = nn.Parameter(torch.randn(outputs, dim) * position_std)
        self.encoder = nn.ModuleList(Layer(dim, heads, ffn) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(dim, heads, ffn) for _ in range(layers))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.readout = nn.Linear(dim, vocabulary)
        self.input_embedding, self.output_embedding = Named(), Named()
        self.memory, self.final, self.logits = Named(), Named(), Named()
        self._start()

    def _start(self) -> None:
        for stack in (self.encoder, self.decoder):
            for name, parameter in stack.named_parameters():
                if parameter.dim() > 1:
                    nn.init.xavier_uniform_(parameter)
                elif name.endswith(("qkv.bias", "output.bias")):
                    nn.init.zeros_(parameter)

    def encode(self, inputs_BS: Tensor) -> Tensor:
        x_BSD = self.input_embedding(self.embed(inputs_BS) + self.input_positions)
        for layer in self.encoder:
            x_BSD = layer(x_BSD)
        memory_BSD: Tensor = self.memory(self.encoder_norm(x_BSD))
        return memory_BSD

    def remember(self, memory_BSD: Tensor) -> list[Past]:
        """What each decoder layer needs of the encoded input."""
        return [Past(layer.cross.keys_values(memory_BSD)) for layer in self.decoder]  # type: ignore[union-attr, operator]

    def decode(self, tokens_BT: Tensor, pasts: list[Past], first: int = 0) -> Tensor:
        """Logits of the tokens after these, the first of which stands at place `first` of its sequence."""
        T = tokens_BT.shape[1]
        x_BTD = self.output_embedding(self.embed(tokens_BT) + self.output_positions[first : first + T])
        for layer, past in zip(self.decoder, pasts, strict=True):
            x_BTD = layer(x_BTD, past)
        logits_BTV: Tensor = self.logits(self.readout(self.final(self.decoder_norm(x_BTD))))
        return logits_BTV

    def forward(self, inputs_BS: Tensor, tokens_BT: Tensor) -> Tensor:
        """Teacher forcing: the logits after every true token, `[B, T, V]`."""
        return self.decode(tokens_BT, self.remember(self.encode(inputs_BS)))

    @torch.no_grad()
    def greedy(self, inputs_BS: Tensor, begin: int, steps: int) -> tuple[Tensor, Tensor]:
        """The likeliest token, one after another, and its probability: both `[B, steps]`.

        The input is encoded once and every token passes through the decoder once.
        """
        pasts = self.remember(self.encode(inputs_BS))
        for past in pasts:
            B, H, _, E = past.encoded[0].shape
            past.tokens = Cache(*past.encoded[0].new_empty(2, B, H, steps, E))
        token_B1 = torch.full_like(inputs_BS[:, :1], begin)
        tokens, confidences = [], []
        for step in range(steps):
            best = self.decode(token_B1, pasts, first=step).softmax(-1).max(-1)
            token_B1 = best.indices
            tokens.append(token_B1)
            confidences.append(best.values)
        return torch.cat(tokens, dim=1), torch.cat(confidences, dim=1)

    @torch.no_grad()
    def confirm(self, inputs_BS: Tensor, begin: int, draft_BT: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Where a draft is what `greedy` would answer, known from a single pass over all its tokens at once.

        The likeliest token after every token of the draft and its probability, and `[B]` whether these are the
        draft again: then, token after token, greedy decoding could not have left it.
        """
        begins_B1 = torch.full_like(inputs_BS[:, :1], begin)
        best = self(inputs_BS, torch.cat([begins_B1, draft_BT[:, :-1]], dim=1)).softmax(-1).max(-1)
        return best.indices, best.values, (best.indices == draft_BT).all(dim=1)


def build_seq2seq(spec: Seq2SeqSpec, *, vocabulary: int, inputs: int, outputs: int, seed: int) -> Seq2Seq:
    """A fresh network whose initial weights are a pure function of the arguments."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape = spec.model_dump(exclude={"kind"})
        return Seq2Seq(vocabulary=vocabulary, inputs=inputs, outputs=outputs, **shape)
