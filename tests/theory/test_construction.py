"""Constructed weights compute their rule exactly, whatever the rule, the radius or the network around them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.nn.spec import EncoderSpec
from hardgap.theory import block_theorems
from hardgap.theory.construction import Construction, construct, detected_patterns, minimal_spec
from hardgap.theory.verification import (
    certified_margin,
    check_rows,
    check_widths,
    detectors_fire,
    every_row,
    random_rows,
    routing,
)
from hardgap.worlds.automaton.rule import Rule, parse_rule

PAPER = EncoderSpec()


def test_the_smallest_block_is_the_papers() -> None:
    spec = minimal_spec(radius=1)
    assert (spec.dim, spec.heads, spec.layers, spec.ffn) == (12, 2, 1, 8)
    assert (minimal_spec(2).dim, minimal_spec(2).heads, minimal_spec(2).ffn) == (16, 4, 32)


def test_all_256_rules_on_every_row_up_to_width_12() -> None:
    assert block_theorems.theorem_14().holds


def test_a_wrong_table_is_noticed() -> None:
    tables = [Rule(1, number ^ (1 << 5)) if number == 77 else Rule(1, number) for number in range(256)]
    assert not block_theorems.theorem_14(widths=[6], tables=tables).holds


@pytest.mark.parametrize("number", [0, 30, 54, 110, 150, 255])
def test_one_rule_through_the_whole_network(number: int) -> None:
    checks = check_widths(lambda width: construct(Rule(1, number), width))
    assert all(check.exact for check in checks)
    assert min(check.margin for check in checks) > 9.999


@pytest.mark.slow
@pytest.mark.parametrize("number", range(256))
def test_each_rule_through_the_whole_network(number: int) -> None:
    """The same as the shared check of Theorem 14, without its shortcut."""
    assert all(check.exact for check in check_widths(lambda width: construct(Rule(1, number), width)))


def test_only_the_output_weights_depend_on_the_rule() -> None:
    one, other = (construct(Rule(1, number), 7).model.state_dict() for number in (30, 110))
    assert {name for name in one if not torch.equal(one[name], other[name])} == {"layers.0.ffn.contract.weight"}


def test_left_and_right_are_not_exchanged() -> None:
    construction = construct(Rule(1, 110), 9)
    mirrored = Construction((Rule(1, 124),), 9, construction.spec, construction.model)
    assert check_rows(construction, every_row(9)).exact
    assert check_rows(mirrored, every_row(9)).wrong > 0


def test_a_blunt_head_is_noticed() -> None:
    construction = construct(Rule(1, 150), 9)
    with torch.no_grad():
        dict(construction.model.named_parameters())["layers.0.attention.qkv.weight"][:24] *= 0.1
    assert check_rows(construction, every_row(9)).wrong > 0
    assert certified_margin(construction) == 0


def test_rule_150_with_four_hidden_units() -> None:
    assert block_theorems.corollary_rule_150().holds
    assert [f"{p:03b}" for p in detected_patterns(parse_rule("150"))] == ["001", "010", "100", "111"]


@given(st.integers(0, 255), st.integers(3, 9))
@settings(max_examples=30, deadline=None)
def test_compact_circuits_use_the_rarer_output(number: int, width: int) -> None:
    rule = Rule(1, number)
    construction = construct(rule, width, compact=True)
    ones = int(rule.table.sum())
    assert construction.spec.ffn == max(1, min(ones, 8 - ones))
    assert check_rows(construction, every_row(width)).exact


@pytest.mark.parametrize("name", ["110", "D", "G"])
def test_padded_into_the_papers_architecture(name: str) -> None:
    construction = construct(parse_rule(name), 8, spec=PAPER)
    assert (construction.spec, construction.parameters) == (
        PAPER,
        sum(p.numel() for p in construction.model.parameters()),
    )
    assert check_rows(construction, every_row(8)).exact
    assert check_rows(construct(parse_rule(name), 101, spec=PAPER), random_rows(101, 32, seed=1)).exact


@pytest.mark.parametrize("name", ["D", "G", "r2:0x6996966a", "L3 ^ (C | R3)"])
def test_wider_rules_on_every_row_up_to_width_12(name: str) -> None:
    checks = check_widths(lambda width: construct(parse_rule(name), width))
    assert [check.width for check in checks] == [*range(3, 13), 101]
    assert all(check.exact for check in checks)


@pytest.mark.parametrize("radius", [1, 2])
def test_every_detector_fires_on_its_own_pattern_alone(radius: int) -> None:
    construction = construct(Rule(radius, 5), 11)
    assert detectors_fire(construction, every_row(11))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_any_radius_2_rule(number: int) -> None:
    assert check_rows(construct(Rule(2, number), 9), every_row(9)).exact


def test_the_bound_for_all_rows_is_below_what_is_measured() -> None:
    construction = construct(Rule(1, 30), 101, dtype=torch.float64)
    measured = check_rows(construction, random_rows(101, 64, seed=2)).margin
    assert 9.99 < certified_margin(construction) <= measured + 1e-9
    assert routing(construction).min() > 1 - 1e-12


def test_it_is_the_trained_class_and_can_be_trained_on() -> None:
    state = torch.get_rng_state()
    construction = construct(Rule(1, 30), 9)
    assert torch.equal(state, torch.get_rng_state())  # building draws nothing from the global generator
    loss = construction.model(torch.rand(4, 9, generator=torch.Generator().manual_seed(0))).square().mean()
    loss.backward()
    assert all(p.grad is not None for p in construction.model.parameters())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (EncoderSpec(dim=10, heads=2), "dim 10 is too small for this construction: it needs 12"),
        (EncoderSpec(heads=1), "heads 1 is too small for this construction: it needs 2"),
        (EncoderSpec(ffn=7), "ffn 7 is too small for this construction: it needs 8"),
        (EncoderSpec(dim=12, heads=12), "a head needs 2"),
    ],
)
def test_a_network_that_is_too_small_is_refused(spec: EncoderSpec, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        construct(Rule(1, 30), 9, spec=spec)


def test_rows_are_compared_with_the_automaton() -> None:
    check = check_rows(construct(Rule(1, 30), 5), np.zeros((1, 5), dtype=np.uint8))
    assert (check.rows, check.wrong, check.exact) == (1, 0, True)
