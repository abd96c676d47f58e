"""The rank over GF(2), against FLINT, which shares no code with it."""

from __future__ import annotations

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.identify.linear import gf2_rank, pack

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
    for system, rank in zip(systems, gf2_rank(systems), strict=True):
        assert rank == flint.nmod_mat(equations, unknowns, system.ravel().tolist(), 2).rank()


@given(MATRICES)
def test_the_rank_is_what_the_homogeneous_systems_solutions_leave(matrix: np.ndarray) -> None:
    unknowns = matrix.shape[1]
    every = (np.arange(1 << unknowns)[:, None] >> np.arange(unknowns)) & 1
    solutions = int((every @ matrix.T % 2 == 0).all(axis=1).sum())
    assert solutions == 1 << (unknowns - gf2_rank(matrix).item())


def test_the_first_unknown_is_the_lowest_bit_of_the_first_word() -> None:
    bits = np.zeros((1, 65), dtype=np.uint8)
    bits[0, [0, 64]] = 1
    assert pack(bits).tolist() == [[1, 1]]


def test_a_batch_gives_what_its_systems_give_alone() -> None:
    systems = random_systems(20, 7, 9, seed=3)
    together = gf2_rank(systems.reshape(4, 5, 7, 9))
    assert together.ravel().tolist() == [gf2_rank(system).item() for system in systems]


def test_no_equations_have_no_rank() -> None:
    assert gf2_rank(np.zeros((2, 0, 3), dtype=np.uint8)).tolist() == [0, 0]


@pytest.mark.parametrize("system", [np.array([[2, 0]]), np.array([[0.0, 1.0]])])
def test_other_numbers_are_refused(system: np.ndarray) -> None:
    with pytest.raises(BadInput, match="only 0 and 1"):
        gf2_rank(system)
