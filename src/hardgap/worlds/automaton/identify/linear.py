"""Criterion `gf2` of identifiability: does one row's rollout pin down its own hidden cells, by XOR alone?

A cell of step t is *hidden* if the true neighbourhood that produced it is a hidden pattern. Its value is an unknown;
every supervised cell of a later step is an equation. The rule has to be affine over GF(2).

As in the paper (§4.3 and Appendix "GF(2) Constraint Solver Results") only the hidden cells of step 1 are unknown. Later
steps are the rule's own XOR of step 1, also through cells that are hidden themselves, which uses the hidden entry that
is being asked for; docs/identifiability.md says what that assumes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap, Trajectory
from hardgap.worlds.automaton.rule import Rule

# Rows eliminated together: larger batches leave the cache, smaller ones pay for Python.
BATCH = 64


@dataclass(frozen=True)
class Systems:
    """What elimination says of each row, `[rows]` each."""

    unknowns: NDArray[np.int64]  # hidden cells that an equation could mention
    constraints: NDArray[np.int64]  # equations that mention an unknown
    rank: NDArray[np.int64]

    @property
    def identified(self) -> NDArray[np.bool_]:
        """The rows in which every unknown is determined: full rank."""
        return np.asarray(self.rank == self.unknowns)


def affine_form(rule: Rule) -> tuple[NDArray[np.uint8], int] | None:
    """The coefficients of the cells, left to right, and the constant; None if the rule is not affine over GF(2).

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> coefficients, constant = affine_form(parse_rule("L1 ^ R1 ^ 1"))
    >>> coefficients.tolist(), constant
    ([1, 0, 1], 1)
    >>> affine_form(parse_rule("30")) is None
    True
    """
    width = 2 * rule.radius + 1
    constant = int(rule.table[0])
    coefficients = rule.table[1 << np.arange(width)[::-1]] ^ rule.table[0]
    cells = (np.arange(rule.patterns)[:, None] >> np.arange(width)[::-1]) & 1
    affine = (cells @ coefficients + constant) % 2
    return (coefficients, constant) if np.array_equal(affine, rule.table) else None


def paper_systems(gap: Gap, rows: NDArray[np.uint8], steps: int) -> Systems:
    """Criterion `gf2`, the paper's count: unknowns at step 1 only, XOR carried through hidden cells.

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> rows = np.random.default_rng(0).integers(0, 2, (50, 101), dtype=np.uint8)
    >>> paper_systems(Gap(parse_rule("150"), (2,)), rows, steps=2).identified.mean().item()
    1.0
    """
    truth, one_step = _truth(gap, rows, steps), _circulant(gap.rule, rows.shape[1])
    powers = [one_step]
    for _ in range(steps - 2):
        powers.append(one_step @ powers[-1] % 2)
    influence = np.concatenate(powers[: steps - 1]) if steps > 1 else one_step[:0]
    shown = (~truth.hidden[1:]).swapaxes(0, 1).reshape(len(rows), -1)
    return _solve(influence, shown, truth.hidden[0])


def _truth(gap: Gap, rows: NDArray[np.uint8], steps: int) -> Trajectory:
    if affine_form(gap.rule) is None:
        raise BadInput(f"Rule {gap.rule.name} is not an XOR of its cells: `gf2` needs one, such as 150, 90 or 60")
    if steps < 1:
        raise BadInput(f"steps {steps}: give 1 or more", of="steps")
    return gap.trajectory(rows, steps)


def _circulant(rule: Rule, width: int) -> NDArray[np.uint8]:
    """Entry [i, j] says whether cell j enters cell i's next value; a narrow row wraps and may cancel."""
    form = affine_form(rule)
    assert form is not None
    matrix = np.zeros((width, width), dtype=np.uint8)
    cell = np.arange(width)
    for offset, coefficient in zip(range(-rule.radius, rule.radius + 1), form[0], strict=True):
        matrix[cell, (cell + offset) % width] ^= coefficient
    return matrix


def _solve(links: NDArray[np.uint8], shown: NDArray[np.bool_], unknown: NDArray[np.bool_]) -> Systems:
    """Eliminate, for each row, the equations `links[shown]` in the columns `unknown`."""
    starts = range(0, len(shown), BATCH)
    parts = [_solve_batch(links, shown[i : i + BATCH], unknown[i : i + BATCH]) for i in starts]
    return Systems(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _solve_batch(
    links: NDArray[np.uint8], shown: NDArray[np.bool_], unknown: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], ...]:
    # Only a row's own unknowns become columns, padded to the longest list: an eighth of the cells at k=1.
    counts = unknown.sum(axis=1)
    column = np.argsort(~unknown, axis=1, kind="stable")[:, : max(1, counts.max(initial=0))]
    real = np.take_along_axis(unknown, column, axis=1)
    systems = links[:, column].swapaxes(0, 1) & shown[:, :, None] & real[:, None, :]
    return counts, systems.any(axis=2).sum(axis=1), gf2_rank(systems)


Words = NDArray[np.uint64]


def gf2_rank(systems: NDArray[Any]) -> NDArray[np.int64]:
    """How many independent equations each system `[..., M, N]` of 0 and 1 has, 64 unknowns to a machine word.

    A row is an equation and a column an unknown. Equations of all zeros change nothing: they pad a batch of unequal
    systems.

    >>> gf2_rank(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])).item()
    2
    """
    *batch, count, unknowns = systems.shape
    words = pack(systems).reshape(math.prod(batch), count, -(-unknowns // 64))
    free = np.ones(words.shape[:2], dtype=bool)  # equations not yet solved for an unknown
    every = np.arange(len(words))
    for unknown in range(unknowns if count else 0):
        has = (words[:, :, unknown // 64] >> np.uint64(unknown % 64) & np.uint64(1)).astype(bool) & free
        pivot = has.argmax(axis=1)
        free[every, pivot] &= ~has[every, pivot]
        has[every, pivot] = False
        # Words are all ones where the pivot equation is to be added, so that no branch is needed.
        add = np.where(has, ~np.uint64(0), np.uint64(0))
        words ^= add[:, :, None] & words[every, pivot][:, None, :]
    return np.asarray((~free).sum(axis=1).reshape(batch))


def pack(systems: NDArray[Any]) -> Words:
    """Pack `[..., N]` of 0 and 1 into `[..., ceil(N / 64)]` words; unknown `j` is bit `j % 64` of word `j // 64`."""
    if systems.dtype.kind not in "biu" or (systems.size and not 0 <= systems.min() <= systems.max() <= 1):
        raise BadInput("a system over GF(2) holds only 0 and 1, as integers or booleans")
    raw = np.packbits(systems.astype(np.uint8, copy=False), axis=-1, bitorder="little")
    fill = -raw.shape[-1] % 8
    padded = np.pad(raw, [(0, 0)] * (raw.ndim - 1) + [(0, fill)])
    return np.ascontiguousarray(padded).view("<u8").astype(np.uint64, copy=False)
