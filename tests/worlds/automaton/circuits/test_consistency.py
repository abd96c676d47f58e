"""Is a wrong table consistent with what is visible? On networks for which the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from hardgap.nn.encoder import Encoder
from hardgap.worlds.automaton.circuits.consistency import check_consistency
from hardgap.worlds.automaton.circuits.marks import distance_to, find_marks
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.regime import Temperature, Unrolling
from hardgap.worlds.automaton.rollout import rollout
from hardgap.worlds.automaton.rule import Rule
from hardgap.worlds.automaton.unrolling import give_temperature

from .conftest import XOR, Nameless, Whisperer, built


def test_the_true_rule_is_consistent_however_it_is_fed(xor: Encoder, rows: NDArray[np.uint8]) -> None:
    found = check_consistency(xor, XOR, rows[:40])
    assert found.verdict == "the true rule"
    assert (found.damaged, found.repaired, found.marks, found.rounded_at) == (0.0, None, (), {})
    assert all(fed.visible == (1.0,) * 4 for fed in found.fed.values())


def test_rule_151_is_contradicted_by_visible_cells_from_the_second_step_on(rows: NDArray[np.uint8]) -> None:
    gap = Gap(Rule(1, 150), (0,))
    found = check_consistency(built(151), gap, rows)
    truth = gap.trajectory(rows, 4)
    right = rollout(Rule(1, 151), rows, 4)[1:] == truth.targets
    expected = [right[t][~truth.hidden[t]].mean() for t in range(4)]
    assert found.verdict == "an alternative rule that visible cells contradict"
    assert found.rule == "151"
    assert found.fed["rounded"].visible == pytest.approx(expected)
    assert found.fed["recovered rule"] == found.fed["rounded"]
    assert expected[0] == 1.0
    assert expected[1] == pytest.approx(1 - found.damaged)
    assert found.damaged > 0.1
    assert found.repaired == 0.0  # its answers are all certain, so nothing can be read back
    assert found.fed["hidden corrected"].visible == (1.0,) * 4
    assert found.fed["rounded"].holdout[0] == 0.0
    # Its errors at step 2 stand where a neighbour was hidden at step 1.
    near = sum(np.roll(truth.hidden[0], shift, axis=1) for shift in (-1, 0, 1)) > 0
    assert found.fed["rounded"].downstream[1] == pytest.approx(right[1][~truth.hidden[1] & near].mean())
    assert found.fed["rounded"].downstream[1] < expected[1]


def test_graded_values_have_the_temperature_of_their_step(rows: NDArray[np.uint8]) -> None:
    falling = Unrolling(temperature=Temperature(start=40, end=1, over=100))
    constant = {T: check_consistency(Whisperer(), XOR, rows, regime=regime(T)).fed["graded"] for T in (1.0, 40.0)}
    assert constant[1.0] != constant[40.0]
    for step, T in ((0, 40.0), (100, 1.0), (None, 1.0)):
        assert check_consistency(Whisperer(), XOR, rows, regime=falling, step=step).fed["graded"] == constant[T]
    learning = Unrolling(temperature=Temperature(start=40, shape="learned"))
    learned = give_temperature(Whisperer(), learning)
    assert check_consistency(learned, XOR, rows, regime=learning).fed["graded"] == constant[40.0]
    with torch.no_grad():
        learned.get_parameter("log_temperature").zero_()
    assert check_consistency(learned, XOR, rows, regime=learning).fed["graded"] == constant[1.0]


def regime(temperature: float) -> Unrolling:
    return Unrolling(temperature=Temperature(start=temperature, end=temperature))


def test_a_wrong_table_can_be_consistent(rows: NDArray[np.uint8]) -> None:
    """Rule 204 keeps every cell. Forgetting lone 1s (Rule 200) never shows at a visible cell."""
    found = check_consistency(Nameless(Rule(1, 200)), Gap(Rule(1, 204), (2,)), rows)
    assert found.verdict == "a consistent alternative rule"
    assert found.fed["rounded"].visible == (1.0,) * 4
    assert found.fed["rounded"].holdout[0] == 0.0


def test_graded_answers_that_are_read_back_are_found_out(rows: NDArray[np.uint8]) -> None:
    found = check_consistency(Whisperer(), XOR, rows)
    assert found.verdict == "an alternative rule, consistent only through graded values"
    assert found.rule == "146"
    assert found.repaired == 1.0
    assert found.fed["graded"].visible == found.fed["visible rounded"].visible == (1.0,) * 4
    # The message sits in the hidden cells: rounding these does the damage of rounding everything.
    assert found.fed["hidden rounded"].visible[:2] == found.fed["rounded"].visible[:2]
    assert found.rounded_at[0] == pytest.approx(1 - found.damaged)
    assert all(found.rounded_at[distance] == 1.0 for distance in (1, 2, 3, 4))


def test_a_network_without_one_table_is_called_so(rows: NDArray[np.uint8]) -> None:
    wider = Nameless(Rule.from_table([(p >> 4) & 1 for p in range(32)]))
    assert check_consistency(wider, XOR, rows[:40]).verdict == "no local rule"


def test_a_mark_is_found_at_its_pattern_and_on_its_side(rows: NDArray[np.uint8]) -> None:
    """Cells of pattern 6 are unsure exactly if the cell two to their right is wrong."""
    gap = Gap(Rule(1, 150), (0,))
    patterns = gap.trajectory(rows, 1).patterns[0]
    wrong = patterns == 0
    probabilities = np.full(rows.shape, 0.01, dtype=np.float32)
    probabilities[(patterns == 6) & np.roll(wrong, -2, axis=-1)] = 0.2
    best = find_marks(probabilities, wrong, patterns, gap)[0]
    assert (best.cells, best.offset, best.auc) == ("110", 2, 1.0)
    assert (best.near, best.far) == pytest.approx((0.2, 0.01))


def test_distance_goes_around_the_ring() -> None:
    cells = np.zeros((1, 9), dtype=bool)
    cells[0, 8] = True
    assert distance_to(cells, 3).tolist() == [[1, 2, 3, 3, 3, 3, 2, 1, 0]]
    assert (distance_to(np.zeros((1, 5), dtype=bool), 2) == 2).all()
