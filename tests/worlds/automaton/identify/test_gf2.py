"""Elimination over GF(2), against FLINT, which shares no code with it."""

from __future__ import annotations

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.identify import gf2

MATRICES = arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9), elements=st.integers(0, 1))


def random_systems(count: int, equations: int, unknowns: int, seed: int) -> np.ndarray:
    """Systems of every rank: dense, sparse, and with repeated equations."""
    rng = np.random.default_rng(seed)
    density = rng.uniform(0.02, 0.6, (count, 1, 1))
    systems = (rng.random((count, equations, unknowns)) < density).astype(np.uint8)
    copies = rng.integers(0, equations, (count, equations))
    repeated = np.take_along_axis(systems, copies[:, :, None], axis=1)
    return np.where(rng.random((count, 1, 1)) < 0.3, repeated, systems)


@pytest.mark.parametrize(
    ("count", "equations", "unknowns"), [(6000, 8, 6), (3000, 6, 13), (900, 40, 25), (90, 70, 65), (10, 90, 140)]
)
def test_agrees_with_flint_on_ten_thousand_systems(count: int, equations: int, unknowns: int) -> None:
    systems = random_systems(count, equations, unknowns, seed=equations)
    reduced = gf2.reduce(systems)
    for system, rank, echelon in zip(systems, reduced.rank, reduced.rref, strict=True):
        expected, expected_rank = flint.nmod_mat(equations, unknowns, system.ravel().tolist(), 2).rref()
        assert rank == expected_rank
        assert echelon.ravel().tolist() == [int(entry) for entry in expected.entries()]


@given(MATRICES)
def test_determined_unknowns_are_those_that_no_solution_of_the_homogeneous_system_changes(matrix: np.ndarray) -> None:
    unknowns = matrix.shape[1]
    every = (np.arange(1 << unknowns)[:, None] >> np.arange(unknowns)) & 1
    kernel = every[(every @ matrix.T % 2 == 0).all(axis=1)]
    assert gf2.reduce(matrix).determined.tolist() == (~kernel.any(axis=0)).tolist()


@given(MATRICES, st.data())
def test_solve_finds_a_solution_exactly_when_there_is_one(matrix: np.ndarray, data: st.DataObject) -> None:
    values = data.draw(arrays(np.uint8, matrix.shape[0], elements=st.integers(0, 1)))
    every = (np.arange(1 << matrix.shape[1])[:, None] >> np.arange(matrix.shape[1])) & 1
    solvable = (every @ matrix.T % 2 == values).all(axis=1).any()
    solution = gf2.solve(matrix, values)
    assert (solution is not None) == solvable
    if solution is not None:
        assert (matrix @ solution % 2 == values).all()


@settings(max_examples=30)
@given(st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_packing_is_undone_by_unpacking(unknowns: int, seed: int) -> None:
    bits = np.random.default_rng(seed).integers(0, 2, (3, unknowns), dtype=np.uint8)
    words = gf2.pack(bits)
    assert words.shape == (3, -(-unknowns // 64))
    assert np.array_equal(gf2.unpack(words, unknowns), bits)


def test_the_first_unknown_is_the_lowest_bit_of_the_first_word() -> None:
    bits = np.zeros((1, 65), dtype=np.uint8)
    bits[0, [0, 64]] = 1
    assert gf2.pack(bits).tolist() == [[1, 1]]


def test_a_batch_gives_what_its_systems_give_alone() -> None:
    systems = random_systems(20, 7, 9, seed=3)
    together = gf2.reduce(systems.reshape(4, 5, 7, 9))
    alone = [gf2.reduce(system) for system in systems]
    assert together.rank.ravel().tolist() == [one.rank.item() for one in alone]
    assert np.array_equal(together.determined.reshape(20, 9), np.stack([one.determined for one in alone]))


def test_no_equations_leave_everything_free() -> None:
    empty = gf2.reduce(np.zeros((2, 0, 3), dtype=np.uint8))
    assert empty.rank.tolist() == [0, 0]
    assert not empty.determined.any()


@pytest.mark.parametrize("system", [np.array([[2, 0]]), np.array([[0.0, 1.0]])])
def test_other_numbers_are_refused(system: np.ndarray) -> None:
    with pytest.raises(BadInput, match="only 0 and 1"):
        gf2.reduce(system)
