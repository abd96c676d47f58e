"""The seven operators on every pair of 6-bit integers, and a user's own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hardgap.core.errors import BadInput
from hardgap.core.plugins import trust
from hardgap.worlds.chains.operators import PAPER_OPERATORS, Operator, operator, parse_operator

PLAIN: dict[str, Callable[[int, int], int]] = {
    "XOR": lambda a, b: a ^ b,
    "OR": lambda a, b: a | b,
    "AND": lambda a, b: a & b,
    "NOR": lambda a, b: 63 - (a | b),
    "NAND": lambda a, b: 63 - (a & b),
    "LSHIFT": lambda a, b: a * 2 % 64,
    "RSHIFT": lambda a, b: a // 2,
}


@operator("x", "XNOR")
def xnor(a: np.ndarray, b: np.ndarray, mask: int) -> np.ndarray:
    return ~(a ^ b) & mask


@operator("+", "PLUS")
def unmasked_sum(a: np.ndarray, b: np.ndarray, mask: int) -> np.ndarray:
    return a + b


@pytest.mark.parametrize("one", PAPER_OPERATORS, ids=lambda one: one.name)
def test_all_64_by_64_results(one: Operator) -> None:
    expected = [[PLAIN[one.name](a, b) for b in range(64)] for a in range(64)]
    assert one.table(6).tolist() == expected


def test_symbols_are_the_compact_labels_of_the_paper() -> None:
    assert "".join(one.symbol for one in PAPER_OPERATORS) == "^|&rdLR"


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_results_stay_within_any_word(bits: int) -> None:
    for one in PAPER_OPERATORS:
        table = one.table(bits)
        assert table.shape == (2**bits, 2**bits)
        assert 0 <= table.min() <= table.max() < 2**bits


def test_a_users_operator_joins_by_its_import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    module = types.ModuleType("mine")
    module.xnor, module.bare = xnor, abs  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mine", module)
    trust(["mine:xnor", "mine:bare"])
    assert parse_operator("mine:xnor").table(2).tolist()[1] == [2, 3, 0, 1]
    with pytest.raises(BadInput, match="decorate the function with @operator"):
        parse_operator("mine:bare")


@pytest.mark.parametrize(
    ("provoke", "message"),
    [
        (lambda: parse_operator("%"), "choose ^ (XOR)"),
        (lambda: parse_operator("nowhere:thing"), "nowhere:thing is named by a stored run, not by you"),
        (lambda: unmasked_sum.table(6), "PLUS leaves the range 0 to 63"),
        (lambda: operator("1", "ONE"), "not a digit"),
        (lambda: Operator("h", "HALF", lambda a, b, mask: a / 2).table(3), "HALF must give one integer"),
        (lambda: Operator("s", "SUM", lambda a, b, mask: a.sum()).table(3), "SUM must give one integer"),
        (lambda: Operator("e", "ERROR", lambda a, b, mask: 1 // 0).table(3), "ERROR fails"),
    ],
)
def test_what_is_no_operator_is_refused(provoke: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        provoke()
    assert message in str(caught.value)
