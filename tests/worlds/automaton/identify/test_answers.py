"""The three criteria asked together, as the command line does."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.answers import identify
from hardgap.worlds.automaton.rule import parse_rule

ROWS = np.random.default_rng(0).integers(0, 2, (60, 101), dtype=np.uint8)


def test_rule_150_is_determined_at_every_level_from_two_steps_on() -> None:
    one, two = (identify(Gap(parse_rule("150"), (2,)), ROWS, steps) for steps in (1, 2))
    assert one.gf2 is not None
    assert one.strict is not None
    assert one.rule is not None
    assert (one.gf2.rows_identified, one.strict.rows_identified, one.rule.rows_identified) == (0, 0, 0)
    assert one.rule.best.witness == parse_rule("146")
    assert two.gf2 is not None
    assert two.strict is not None
    assert two.rule is not None
    assert (two.gf2.rows_identified, two.strict.rows_identified, two.rule.rows_identified) == (1, 1, 1)
    assert two.rule.best.identified


def test_the_levels_are_ordered_for_a_quiescent_pattern() -> None:
    answer = identify(Gap(parse_rule("150"), (0,)), ROWS, 3)
    assert answer.gf2 is not None
    assert answer.strict is not None
    assert answer.rule is not None
    assert answer.strict.rows_identified < answer.gf2.rows_identified
    assert answer.strict.rows_identified_with_mask == 1
    assert answer.rule.rows_identified == 1


def test_a_nonlinear_rule_has_no_xor_system_and_the_rest_is_answered() -> None:
    answer = identify(Gap(parse_rule("D"), (1, 4, 9)), ROWS[:5], 2)
    assert answer.gf2 is None
    assert answer.strict is not None
    assert answer.strict.cells_known > 0.5
    plain = json.loads(json.dumps(answer.as_dict()))
    assert plain["rule_level"]["every_row"]["identified"] is True
    assert plain["gf2"] is None


def test_steps_beyond_what_can_be_listed_are_answered_from_the_rows() -> None:
    answer = identify(Gap(parse_rule("D"), (1,)), ROWS[:3], 7, criteria=("rule",))
    assert answer.rule is not None
    assert answer.rule.limit is None
    assert answer.rule.best.identified


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(BadInput, match="leaky"):
        identify(Gap(parse_rule("150"), (2,), masking="first"), ROWS, 2)
    with pytest.raises(BadInput, match="shape"):
        identify(Gap(parse_rule("150"), (2,)), ROWS[0], 2)
