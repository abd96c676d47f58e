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

from hardgap.nn.encoder import AttentionParts, FeedForward, Named
from hardgap.nn.native import seq2seq as native
from hardgap.nn.native.fitting import is_hooked
from hardgap.nn.spec import Seq2SeqSpec


class Heads(AttentionParts):
    """What all attentions here share."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__(dim, heads)
        self.dim, self.scale = dim, (dim // heads) ** -0.5

    def split(self, x_BTD: Tensor) -> Tensor:
        """`[B, T, n·D]` to `[n, B, H, T, E]`."""
        B, T, _ = x_BTD.shape
        return x_BTD.view(B, T, -1, self.heads, self.dim // self.heads).permute(2, 0, 3, 1, 4)

    def named_split(self, x_BTD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of the same tokens."""
        q_BHTE, k_BHTE, v_BHTE = self.split(self.qkv(x_BTD))
        return self.q(q_BHTE), self.k(k_BHTE), self.v(v_BHTE)

    def attend(self, q_BHQE: Tensor, k_BHKE: Tensor, v_BHKE: Tensor) -> Tensor:
        """Every query to every key. A softmax over few keys is several times faster where keys are not innermost."""
        scores_BHKQ = k_BHKE @ (q_BHQE * self.scale).transpose(-1, -2)
        scores_BHQK: Tensor = self.scores(scores_BHKQ.transpose(-1, -2))
        pattern_BHKQ = scores_BHQK.transpose(-1, -2).softmax(-2)
        return self.mix(pattern_BHKQ.transpose(-1, -2), v_BHKE)

    def attend_causally(self, q_BHTE: Tensor, k_BHTE: Tensor, v_BHTE: Tensor) -> Tensor:
        """Every query to its own key and those before it. Scores that do not count are -inf."""
        B, H, T, E = q_BHTE.shape
        later_TT = q_BHTE.new_full((T, T), -torch.inf).triu(1)
        q_NTE, k_NTE = q_BHTE.reshape(B * H, T, E), k_BHTE.reshape(B * H, T, E)
        scores_NTT = torch.baddbmm(later_TT, q_NTE, k_NTE.transpose(1, 2), alpha=self.scale)
        return self.mix(self.scores(scores_NTT.view(B, H, T, T)).softmax(-1), v_BHTE)

    def mix(self, pattern_BHQK: Tensor, v_BHKE: Tensor) -> Tensor:
        mixed_BHQE = self.mixed(self.pattern(pattern_BHQK) @ v_BHKE)
        out: Tensor = self.out(self.output(mixed_BHQE.transpose(1, 2).flatten(2)))
        return out

    def attend_once(self, q_BH1E: Tensor, k_KBHE: Tensor, v_KBHE: Tensor) -> Tensor:
        """One query an example, keys outermost: matrices of one row are slower than sums over whole arrays."""
        scores_KBH = (k_KBHE * (q_BH1E.squeeze(2) * self.scale)).sum(-1)
        scores_BH1K: Tensor = self.scores(scores_KBH.permute(1, 2, 0).unsqueeze(2))
        pattern_KBH = scores_BH1K.squeeze(2).permute(2, 0, 1).softmax(0)
        pattern_BH1K: Tensor = self.pattern(pattern_KBH.permute(1, 2, 0).unsqueeze(2))
        mixed_BHE = (v_KBHE * pattern_BH1K.permute(3, 0, 1, 2)).sum(0)
        mixed_BH1E = self.mixed(mixed_BHE.unsqueeze(2))
        out: Tensor = self.out(self.output(mixed_BH1E.transpose(1, 2).flatten(2)))
        return out


class SelfAttention(Heads):
    """Attention among the input's tokens, without masking."""

    def forward(self, x_BSD: Tensor) -> Tensor:
        return self.attend(*self.named_split(x_BSD))


class CausalAttention(Heads):
    """Self-attention in which a token sees itself and what came before; with a cache, one new token at a time."""

    def forward(self, x_BTD: Tensor, cache: Cache | None = None) -> Tensor:
        q_BHTE, k_BHTE, v_BHTE = self.named_split(x_BTD)
        if cache is None:
            return self.attend_causally(q_BHTE, k_BHTE, v_BHTE)
        return self.attend_once(q_BHTE, *cache.append(k_BHTE, v_BHTE))


class CrossAttention(Heads):
    """Attention of output tokens to the encoded input, whose keys and values are computed once."""

    def keys_values(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        weight, bias = self.qkv.weight[self.dim :], self.qkv.bias[self.dim :]
        k_BHSE, v_BHSE = self.split(nn.functional.linear(memory_BSD, weight, bias))
        return self.k(k_BHSE), self.v(v_BHSE)

    def forward(self, x_BTD: Tensor, past: Past) -> Tensor:
        weight, bias = self.qkv.weight[: self.dim], self.qkv.bias[: self.dim]
        (q_BHTE,) = self.split(nn.functional.linear(x_BTD, weight, bias))
        attend = self.attend if past.tokens is None else self.attend_once
        return attend(self.q(q_BHTE), *past.encoded)


@dataclass
class Cache:
    """The keys and values `[T, B, H, E]` of one layer, of which the first `length` tokens are there."""

    keys: Tensor
    values: Tensor
    length: int = 0

    def append(self, k_BH1E: Tensor, v_BH1E: Tensor) -> tuple[Tensor, Tensor]:
        """Add one token's; all so far."""
        self.keys[self.length], self.values[self.length] = k_BH1E.squeeze(2), v_BH1E.squeeze(2)
        self.length += 1
        return self.keys[: self.length], self.values[: self.length]


@dataclass
class Past:
    """All that one layer remembers while it decodes: the encoded input and the tokens so far.

    The encoded input's keys and values are `[B, H, S, E]`, and `[S, B, H, E]` once tokens are remembered.
    """

    encoded: tuple[Tensor, Tensor]
    tokens: Cache | None = None

    def one_at_a_time(self, steps: int) -> Past:
        """The same with room for `steps` tokens that come one after another."""
        keys, values = (one.permute(2, 0, 1, 3).contiguous() for one in self.encoded)
        return Past((keys, values), Cache(*keys.new_empty(2, steps, *keys.shape[1:])))


class EncoderLayer(nn.Module):
    """One post-LN block as in `encoder.py`, with this module's attention, which is faster where tokens are few."""

    def __init__(self, dim: int, heads: int, ffn: int, dropout: float) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.attention, self.norm1 = SelfAttention(dim, heads), nn.LayerNorm(dim)
        self.ffn, self.norm2 = FeedForward(dim, ffn), nn.LayerNorm(dim)
        self.residual1, self.residual2 = Named(), Named()
        self.normed1, self.normed2 = Named(), Named()

    def forward(self, x_BSD: Tensor) -> Tensor:
        x_BSD = self.normed1(self.norm1(self.residual1(x_BSD + self.drop(self.attention(x_BSD)))))
        out: Tensor = self.normed2(self.norm2(self.residual2(x_BSD + self.drop(self.ffn(x_BSD)))))
        return out


class DecoderLayer(nn.Module):
    """One post-LN block: causal attention, cross-attention, feed forward, each added and normalised."""

    def __init__(self, dim: int, heads: int, ffn: int, dropout: float) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.causal, self.cross = CausalAttention(dim, heads), CrossAttention(dim, heads)
        self.ffn = FeedForward(dim, ffn)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.residual1, self.residual2, self.residual3 = Named(), Named(), Named()
        self.normed1, self.normed2, self.normed3 = Named(), Named(), Named()

    def forward(self, x_BTD: Tensor, past: Past) -> Tensor:
        x_BTD = self.normed1(self.norm1(self.residual1(x_BTD + self.drop(self.causal(x_BTD, past.tokens)))))
        x_BTD = self.normed2(self.norm2(self.residual2(x_BTD + self.drop(self.cross(x_BTD, past)))))
        out: Tensor = self.normed3(self.norm3(self.residual3(x_BTD + self.drop(self.ffn(x_BTD)))))
        return out


class Seq2Seq(nn.Module):
    """Token embeddings shared by both sides, learned positions, a norm after each stack, a logit a token.

    `outputs` counts every token of an output sequence, begin and end included. Paper is silent: positions, dropout
    and initial weights. The matrices of the layers start as in `torch.nn.Transformer` (Xavier, attention
    biases 0), embeddings and positions as N(0, embedding_std²) and N(0, position_std²).
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
        embedding_std: float = 1.0,
        position_std: float = 1.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.embed = nn.Embedding(vocabulary, dim)
        self.embed.weight.data.mul_(embedding_std)
        self.input_positions = nn.Parameter(torch.randn(inputs, dim) * position_std)
        self.output_positions = nn.Parameter(torch.randn(outputs, dim) * position_std)
        self.encoder = nn.ModuleList(EncoderLayer(dim, heads, ffn, dropout) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(dim, heads, ffn, dropout) for _ in range(layers))
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
        x_BSD = self.input_embedding(self.drop(self.embed(inputs_BS) + self.input_positions))
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
        x_BTD = self.output_embedding(self.drop(self.embed(tokens_BT) + self.output_positions[first : first + T]))
        for layer, past in zip(self.decoder, pasts, strict=True):
            x_BTD = layer(x_BTD, past)
        logits_BTV: Tensor = self.logits(self.readout(self.final(self.decoder_norm(x_BTD))))
        return logits_BTV

    def forward(self, inputs_BS: Tensor, tokens_BT: Tensor) -> Tensor:
        """Teacher forcing: the logits after every true token, `[B, T, V]`."""
        network = self.native_network()
        found = None if network is None else native.logits(network, inputs_BS, tokens_BT)
        return self.decode(tokens_BT, self.remember(self.encode(inputs_BS))) if found is None else found

    def native_network(self) -> native.Network | None:
        """This network as the native engine takes it, where it can stand in for what PyTorch computes."""
        return native.network_of(self, PARTS) if type(self) is Seq2Seq else None

    def native_loss(self, inputs_BS: Tensor, sequences_BT: Tensor) -> Tensor | None:
        """The mean cross-entropy of all tokens but the first in one call, or None where PyTorch has to do it."""
        network = None if is_hooked(self) else self.native_network()
        return None if network is None else native.loss(network, inputs_BS, sequences_BT)

    @torch.no_grad()
    def greedy(self, inputs_BS: Tensor, begin: int, steps: int) -> tuple[Tensor, Tensor]:
        """The likeliest token, one after another, and its probability: both `[B, steps]`.

        The input is encoded once and every token passes through the decoder once.
        """
        network = self.native_network()
        found = None if network is None else native.greedy(network, inputs_BS, begin, steps)
        return self._greedy(inputs_BS, begin, steps) if found is None else found

    def _greedy(self, inputs_BS: Tensor, begin: int, steps: int) -> tuple[Tensor, Tensor]:
        pasts = [past.one_at_a_time(steps) for past in self.remember(self.encode(inputs_BS))]
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


PARTS = frozenset({
    Named, SelfAttention, CausalAttention, CrossAttention, FeedForward, EncoderLayer, DecoderLayer, nn.Linear,
    nn.LayerNorm, nn.ModuleList, nn.Embedding, nn.Dropout,
})  # fmt: skip
"""What it is made of."""


def build_seq2seq(spec: Seq2SeqSpec, *, vocabulary: int, inputs: int, outputs: int, seed: int) -> Seq2Seq:
    """A fresh network whose initial weights are a pure function of the arguments."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape = spec.model_dump(exclude={"kind"})
        return Seq2Seq(vocabulary=vocabulary, inputs=inputs, outputs=outputs, **shape)
