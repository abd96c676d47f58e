"""Criterion `gf2` by elimination, against the paper's table and against trying every value."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.linear import affine_form, paper_systems
from hardgap.worlds.automaton.identify.strict import strict_cells
from hardgap.worlds.automaton.rollout import rollout
from hardgap.worlds.automaton.rule import Rule, parse_rule

# Appendix "GF(2) Constraint Solver Results": steps, identified, unknowns, constraints, rank.
PAPER = [(1, 0.0, 12.5, 0.0, 0.0), (2, 1.0, 12.5, 31.4, 12.5), (3, 1.0, 12.5, 58.8, 12.5), (4, 1.0, 12.5, 101.2, 12.5)]
AFFINE = [rule for rule in (Rule(1, n) for n in range(256)) if affine_form(rule) is not None]


def random_rows(count: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (count, width), dtype=np.uint8)


@pytest.mark.parametrize(("steps", "identified", "unknowns", "constraints", "rank"), PAPER)
@pytest.mark.parametrize("pattern", [2, 5])
def test_the_papers_table(
    pattern: int, steps: int, identified: float, unknowns: float, constraints: float, rank: float
) -> None:
    got = paper_systems(Gap(parse_rule("150"), (pattern,)), random_rows(1000, 101), steps)
    assert got.identified.mean() == identified
    assert got.unknowns.mean() == pytest.approx(unknowns, rel=0.02)
    assert got.constraints.mean() == pytest.approx(constraints, rel=0.02)
    assert got.rank.mean() == pytest.approx(rank, rel=0.02)


@pytest.mark.parametrize("pattern", [0, 1, 3, 4, 6, 7])
def test_the_papers_counts_tell_which_patterns_were_hidden(pattern: int) -> None:
    got = paper_systems(Gap(parse_rule("150"), (pattern,)), random_rows(500, 101), 2)
    assert abs(got.constraints.mean() / 31.4 - 1) > 0.05


@pytest.mark.parametrize("pattern", [0, 7])
def test_quiescent_patterns_need_a_third_step(pattern: int) -> None:
    gap, rows = Gap(parse_rule("150"), (pattern,)), random_rows(1000, 101)
    assert 0.60 < paper_systems(gap, rows, 2).identified.mean() < 0.74
    assert 0.95 < paper_systems(gap, rows, 3).identified.mean() < 1.0


def determined_by_trying_everything(gap: Gap, row: np.ndarray, steps: int) -> bool:
    """Whether every hidden cell of step 1 has one value, when the true rule is run from each possible step 1."""
    truth = gap.trajectory(row[None], steps)
    unknown = np.flatnonzero(truth.hidden[0, 0])
    first = np.tile(truth.states[1, 0], (1 << len(unknown), 1))
    first[:, unknown] = list(itertools.product([0, 1], repeat=len(unknown)))
    later = rollout(gap.rule, first, steps - 1)[1:]
    fits = ((later == truth.states[2:]) | truth.hidden[1:]).all(axis=(0, 2))
    return int(fits.sum()) == 1


@pytest.mark.parametrize("rule", AFFINE, ids=str)
def test_elimination_agrees_with_trying_every_value(rule: Rule) -> None:
    for pattern, steps in itertools.product(range(8), (2, 3)):
        gap, rows = Gap(rule, (pattern, (pattern + 3) % 8)), random_rows(4, 9, seed=pattern)
        expected = [determined_by_trying_everything(gap, row, steps) for row in rows]
        assert paper_systems(gap, rows, steps).identified.tolist() == expected


def test_strict_and_paper_agree_while_no_cell_is_downstream_of_a_hidden_one() -> None:
    gap, rows = Gap(parse_rule("150"), (0,)), random_rows(100, 101)
    assert paper_systems(gap, rows, 2).identified.tolist() == strict_cells(gap, rows, 2).identified.tolist()
    assert strict_cells(gap, rows, 3).identified.mean() < paper_systems(gap, rows, 3).identified.mean()


def test_one_step_determines_nothing() -> None:
    gap, rows = Gap(parse_rule("150"), (2,)), random_rows(10, 101)
    systems = paper_systems(gap, rows, 1)
    assert not systems.identified.any()
    assert systems.unknowns.sum() > 0


def test_sixteen_elementary_rules_are_affine_and_others_are_refused() -> None:
    assert len(AFFINE) == 16
    with pytest.raises(BadInput, match="Rule 30 is not an XOR"):
        paper_systems(Gap(parse_rule("30"), (2,)), random_rows(1, 9), 2)
    with pytest.raises(BadInput, match="steps 0"):
        paper_systems(Gap(parse_rule("150"), (2,)), random_rows(1, 9), 0)
