"""Blocks that apply one rule after another."""

from __future__ import annotations

import numpy as np
import pytest

from hardgap.core.errors import BadInput
from hardgap.nn.spec import EncoderSpec
from hardgap.theory import block_theorems
from hardgap.theory.composition import compose
from hardgap.theory.construction import Construction
from hardgap.theory.verification import check_rows, every_row, random_rows
from hardgap.worlds.automaton.rule import Rule, parse_rule


@pytest.mark.parametrize("code", ["one-hot", "circle"])
def test_random_rules_up_to_depth_5_on_every_row_up_to_width_10(code: str) -> None:
    assert block_theorems.proposition_depth(code, seed=1).holds  # type: ignore[arg-type]


def test_the_papers_dimensions() -> None:
    spec = compose([Rule(1, 30), Rule(1, 110)], 10).spec
    assert (spec.dim, spec.heads, spec.layers, spec.ffn) == (26, 2, 2, 14)


def test_the_order_of_the_rules_matters() -> None:
    construction = compose([Rule(1, 30), Rule(1, 110)], 8)
    swapped = Construction((Rule(1, 110), Rule(1, 30)), 8, construction.spec, construction.model)
    assert check_rows(construction, every_row(8)).exact
    assert check_rows(swapped, every_row(8)).wrong > 0


@pytest.mark.parametrize("code", ["one-hot", "circle"])
def test_depth_does_not_wear_the_margin_down(code: str) -> None:
    numbers = np.random.default_rng(4).integers(0, 256, 40)
    construction = compose([Rule(1, int(number)) for number in numbers], 7, code=code)  # type: ignore[arg-type]
    assert check_rows(construction, every_row(7)).margin > 9.99


def test_two_steps_in_the_papers_architecture() -> None:
    rules = [parse_rule("30"), parse_rule("110")]
    construction = compose(rules, 101, code="circle", spec=EncoderSpec())
    assert check_rows(construction, random_rows(101, 32, seed=0)).exact


def test_wider_rules_compose_too() -> None:
    for code in ("one-hot", "circle"):
        construction = compose([parse_rule("D"), parse_rule("G")], 8, code=code)  # type: ignore[arg-type]
        assert check_rows(construction, every_row(8)).exact


def test_refusals() -> None:
    with pytest.raises(BadInput, match=r"radius \[1, 2\] cannot be composed"):
        compose([parse_rule("30"), parse_rule("D")], 8)
    with pytest.raises(BadInput, match="layers 2 is too small for this construction: it needs 3"):
        compose([Rule(1, 30)] * 3, 8, code="circle", spec=EncoderSpec())
