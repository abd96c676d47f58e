"""Which chains of operators are held out, how often the others are drawn, and from which part of the inputs.

Balanced (paper, Appendix F): in every slot each operator occurs equally often, although one pair is missing, so that
no operator is rarer for being held out. Among all such weights these are the closest to uniform.

Training, evaluation and test never share evidence: the part to which (a, b, c, d) belongs is a pure function of it.

Ambiguity. Most evidence fits several operator pairs (paper is silent; docs/fidelity.md has the shares).
    unambiguous   keep an example if no chain but its own fits: then there is one right answer
    seen          in training, look at the chains that training shows only. Nothing about the held-out one enters
                  then, not even by what is left out; held-out examples are unambiguous among all
    any           keep everything
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.chains.chains import Arithmetic, Examples, Mask
from hardgap.worlds.chains.operators import Words

Ambiguity = Literal["unambiguous", "seen", "any"]
Part = Literal["train", "eval", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
MOST_TRIES = 100_000
MOST_AT_ONCE = 2**21
"""Candidates of all chains together in one round of drawing: more would not fit in memory."""


def held_out_chains(arithmetic: Arithmetic, holdout: tuple[int, ...]) -> Mask:
    """For each chain of operators, whether it contains the held-out operators side by side, in any slots.

    >>> held_out_chains(Arithmetic(), (0, 1)).sum(), held_out_chains(Arithmetic(length=3), (0, 1)).sum()
    (np.int64(1), np.int64(14))
    """
    ops = arithmetic.ops_of(np.arange(arithmetic.chains))
    windows = np.lib.stride_tricks.sliding_window_view(ops, len(holdout), axis=1)
    return np.asarray((windows == np.array(holdout)).all(axis=-1).any(axis=-1))


def balanced_weights(arithmetic: Arithmetic, allowed: Mask, tolerance: float = 1e-12) -> NDArray[np.float64]:
    """The share of each allowed chain, by fitting the slots' frequencies in turn (iterative proportional fitting)."""
    weights: NDArray[np.float64] = (allowed / allowed.sum()).reshape([len(arithmetic.operators)] * arithmetic.length)
    for _ in range(10_000):
        worst = 0.0
        for slot in range(arithmetic.length):
            others = tuple(axis for axis in range(arithmetic.length) if axis != slot)
            share = weights.sum(axis=others, keepdims=True)
            target = (share > 0) / max(1, int((share > 0).sum()))
            worst = max(worst, float(np.abs(share - target).max()))
            weights = weights * np.divide(target, share, out=np.zeros_like(share), where=share > 0)
        if worst < tolerance:
            break
    return weights.ravel()


def allocate(weights: NDArray[np.float64], total: int) -> Words:
    """Whole numbers that add up to `total`, each within one of its share (largest remainders)."""
    exact = weights * total
    counts = np.floor(exact + 1e-9).astype(np.int64)
    short = total - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    return counts


def part_of(arithmetic: Arithmetic, evidence: Words, seed: int) -> Words:
    """To which part each evidence belongs, an index into PARTS: one eighth eval, one eighth test, the rest train."""
    key = (evidence @ (arithmetic.size ** np.arange(evidence.shape[1]))).astype(np.uint64)
    mixed = key + np.uint64(((seed + 1) * 0x9E3779B97F4A7C15) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # SplitMix64
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    eighth = (mixed ^ (mixed >> np.uint64(31))) & np.uint64(7)
    return np.select([eighth == 0, eighth == 1], [PARTS.index("test"), PARTS.index("eval")], PARTS.index("train"))


def draw(arithmetic: Arithmetic, counts: Words, part: Part, *, rivals: Mask | None, seed: int, stream: int) -> Examples:
    """`counts[chain]` examples of every chain, shuffled, from one part of the evidence.

    With `rivals`, only those that fit no rival chain but their own. A pure function of the arguments; streams are
    independent, so what is drawn for one set does not change another.
    """
    rng = np.random.default_rng([seed, 11, stream])
    needed, tried, pieces = counts.copy(), np.zeros_like(counts), []
    while needed.any():
        rate = (counts - needed + 4) / (tried + 8)
        most = max(1, min(2**15, MOST_AT_ONCE // int((needed > 0).sum())))
        asked = np.minimum(np.ceil(1.2 * needed / rate), most).astype(np.int64)
        found = _candidates(arithmetic, asked, part, rivals, rng, seed)
        chain = arithmetic.index_of(found.ops)
        kept = found[_rank_within(chain) < needed[chain]]
        pieces.append(kept)
        needed -= np.bincount(arithmetic.index_of(kept.ops), minlength=arithmetic.chains)
        tried += asked
        _check_possible(arithmetic, needed == counts, needed > 0, tried, part)
    together = Examples(*(np.concatenate([getattr(p, name) for p in pieces]) for name in ("ops", "inputs", "values")))
    return together[rng.permutation(len(together))]


def _candidates(
    arithmetic: Arithmetic, asked: Words, part: Part, rivals: Mask | None, rng: np.random.Generator, seed: int
) -> Examples:
    ops = arithmetic.ops_of(np.repeat(np.arange(arithmetic.chains), asked))
    numbers = rng.integers(0, arithmetic.size, (len(ops), arithmetic.length + 2))
    found = arithmetic.examples(ops, numbers[:, :-1], numbers[:, -1])
    found = found[np.asarray(part_of(arithmetic, found.evidence, seed) == PARTS.index(part))]
    return found if rivals is None else found[arithmetic.is_alone(found, rivals)]


def _rank_within(groups: Words) -> Words:
    """For each element, how many of its group came before it."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(groups) else groups
    ranks = np.empty_like(groups)
    ranks[order] = np.arange(len(groups)) - np.repeat(starts, np.diff(np.r_[starts, len(groups)]))
    return ranks


def _check_possible(arithmetic: Arithmetic, untouched: Mask, unfinished: Mask, tried: Words, part: Part) -> None:
    hopeless = untouched & unfinished & (tried > MOST_TRIES)
    if hopeless.any():
        text = arithmetic.chain_text(arithmetic.ops_of(np.flatnonzero(hopeless)[:1])[0])
        raise BadInput(
            f"the operators {text} have no {part} example that could be kept with {arithmetic.bits}-bit words; "
            "use ambiguity any if it is not in use, more bits, or operators that are less alike"
        )
