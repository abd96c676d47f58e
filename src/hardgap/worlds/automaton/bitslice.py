"""Rollouts of very many rows at once: 64 rows to a machine word.

The layout is turned on its side: `words[..., i, k]` holds cell `i` of rows `64 k` to `64 k + 63`, one row to
a bit, row `64 k` in the lowest. A rule is then a netlist of whole-word operations (`hardgap.worlds.automaton.gates`),
and a cell's neighbours are the array shifted by one. The last word is filled up with rows of zeros; `unpack`
leaves them out, but anything that counts bits must do so itself.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gates import Netlist, netlist_of
from hardgap.worlds.automaton.rollout import check_steps, checked_rows
from hardgap.worlds.automaton.rule import Rule

ROWS_PER_WORD = 64
_WORD = np.dtype("<u8")  # little-endian: byte `b` of a word holds rows `8 b` to `8 b + 7` on any machine
_LOWEST_BITS = _WORD.type(0x0101010101010101)
_ALL_BITS = _WORD.type(0xFFFFFFFFFFFFFFFF)
_TILE_BYTES = 1 << 18  # of one state; a few of these fit in a second-level cache

Words = NDArray[np.uint64]
_UFUNCS = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}


def pack(rows: NDArray[Any]) -> Words:
    """Turn rows `[..., N, W]` of 0 and 1 into words `[..., W, ceil(N / 64)]`.

    >>> pack(np.array([[0, 1], [1, 1]])).tolist()  # the first row is the lowest bit
    [[2], [3]]
    """
    rows = checked_rows(rows)
    if rows.ndim < 2:
        raise BadInput(f"rows to pack need the shape [rows, width], not {rows.shape}")
    *lead, count, width = rows.shape
    full = -(-count // ROWS_PER_WORD) * ROWS_PER_WORD
    if full != count:
        rows = np.concatenate([rows, np.zeros((*lead, full - count, width), np.uint8)], axis=-2)
    eights = rows.reshape(*lead, full // 8, 8, width)
    octets = eights[..., 7, :].copy()
    for row in range(6, -1, -1):  # adding is a vector instruction for bytes, shifting is not
        octets += octets
        octets += eights[..., row, :]
    return np.ascontiguousarray(octets.swapaxes(-1, -2)).view(_WORD)


def unpack(words: Words, count: int) -> NDArray[np.uint8]:
    """Turn words `[..., W, K]` back into the first `count` rows, `[..., count, W]` as uint8."""
    *lead, width, per_cell = words.shape
    if not 0 <= count <= per_cell * ROWS_PER_WORD:
        raise BadInput(f"{per_cell} words hold up to {per_cell * ROWS_PER_WORD} rows, not {count}")
    states = words.reshape(prod(lead), width, per_cell)
    rows = np.empty((len(states), per_cell * 8, 8, width), np.uint8)
    for state, eights in zip(states, rows, strict=True):  # one at a time, to stay in the cache
        octets = np.ascontiguousarray(np.ascontiguousarray(state).view(np.uint8).T)
        lanes = octets.reshape(-1).view(_WORD)
        for row in range(8):
            bits = (lanes >> _WORD.type(row)) & _LOWEST_BITS  # bit `row` of each byte, in that byte
            eights[:, row] = bits.view(np.uint8).reshape(octets.shape)
    return rows.reshape(*lead, per_cell * ROWS_PER_WORD, width)[..., :count, :]


def evolve(rule: Rule, words: Words, steps: int) -> Words:
    """Return the words `steps` later, keeping no state in between."""
    _check_words(words)
    check_steps(steps)
    result = np.empty_like(words)
    per_cell, width = words.shape[-1], words.shape[-2]
    tile = max(1, _TILE_BYTES // (8 * width))
    for start in range(0, per_cell, tile):  # each tile goes through all steps while it is in the cache
        part = words[:, start : start + tile]
        machine = _Machine(rule, width, part.shape[-1])
        states = np.empty((2, width + 2 * rule.radius, part.shape[-1]), _WORD)
        machine.load(states[0], part)
        for t in range(steps):
            machine.step(states[t % 2], states[(t + 1) % 2])
        result[:, start : start + tile] = machine.inside(states[steps % 2])
    return result


def rollout(rule: Rule, words: Words, steps: int) -> Words:
    """Return every state from the given one on, `[steps + 1, W, K]`."""
    _check_words(words)
    check_steps(steps)
    width, per_cell = words.shape
    machine = _Machine(rule, width, per_cell)
    states = np.empty((steps + 1, width + 2 * rule.radius, per_cell), _WORD)
    machine.load(states[0], words)
    for t in range(steps):
        machine.step(states[t], states[t + 1])
    return states[:, rule.radius : rule.radius + width]


def _check_words(words: Words) -> None:
    if words.dtype != _WORD or words.ndim != 2 or words.shape[0] < 1:
        raise BadInput(f"expected packed words [width, words] of uint64, not {words.dtype} {words.shape}")


class _Machine:
    """A netlist and its buffers; a state is `[W + 2 radius, K]`, its ends repeated across the seam."""

    def __init__(self, rule: Rule, width: int, per_cell: int) -> None:
        self.radius, self.width = rule.radius, width
        self.netlist = netlist_of(rule.radius, rule.number)
        self.homes, buffers = _homes(self.netlist)
        self.buffers = np.empty((buffers, width, per_cell), _WORD)
        near = np.arange(self.radius)
        self.left_of = self.radius + (near - self.radius) % width
        self.right_of = self.radius + (near + width) % width

    def load(self, state: Words, words: Words) -> None:
        self.inside(state)[...] = words
        self.wrap(state)

    def inside(self, state: Words) -> Words:
        return state[self.radius : self.radius + self.width]

    def wrap(self, state: Words) -> None:
        state[: self.radius] = state[self.left_of]
        state[self.radius + self.width :] = state[self.right_of]

    def step(self, state: Words, following: Words) -> None:
        """Write the state that follows `state` into `following`."""
        values: list[Any] = [state[i : i + self.width] for i in range(2 * self.radius + 1)]
        values.append(_ALL_BITS)
        result = self.inside(following)
        for gate, home in zip(self.netlist.gates, self.homes, strict=True):
            out = result if home is None else self.buffers[home]
            _UFUNCS[gate.operation](values[gate.left], values[gate.right], out=out)
            values.append(out)
        if not self.netlist.gates:  # the rule is a cell or the constant itself
            result[...] = values[self.netlist.output]
        self.wrap(following)


def _homes(netlist: Netlist) -> tuple[list[int | None], int]:
    """Return the buffer that each gate writes to (None: the result) and how many buffers that takes.

    A buffer is free again once its last reader has run; a gate may write over its own operand.
    """
    last_use = {side: i for i, gate in enumerate(netlist.gates) for side in (gate.left, gate.right)}
    homes: list[int | None] = []
    free: list[int] = []
    buffers = 0
    for i, gate in enumerate(netlist.gates):
        read = {side - netlist.inputs for side in (gate.left, gate.right) if last_use[side] == i}
        free += [home for g in read if g >= 0 and (home := homes[g]) is not None]
        if i == netlist.output - netlist.inputs:
            homes.append(None)
        elif free:
            homes.append(free.pop())
        else:
            homes.append(buffers)
            buffers += 1
    return homes, buffers
