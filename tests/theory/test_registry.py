"""All statements together: no surprise, and the sentences that do not hold are exactly the documented ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardgap.studies.theorems import OURS, STATEMENTS
from hardgap.theory.registry import CHECKS, prove_each
from hardgap.theory.statement import Statement

DOCS = Path(__file__).parents[2] / "docs" / "theory.md"


@pytest.fixture(scope="module")
def statements() -> list[Statement]:
    return list(prove_each())


def test_no_verdict_is_a_surprise(statements: list[Statement]) -> None:
    assert [s.name for s in statements if s.surprising] == []
    assert len({s.name for s in statements}) == len(statements)


def test_the_study_has_an_arm_for_every_check() -> None:
    assert len(CHECKS) == STATEMENTS


def test_the_study_knows_which_statements_are_the_papers(statements: list[Statement]) -> None:
    assert tuple(place for place, one in enumerate(statements) if not one.published) == OURS


def test_what_does_not_hold_is_documented(statements: list[Statement]) -> None:
    refuted = {s.name for s in statements if not s.holds}
    assert refuted == {
        "Result 1 (votes, n = 3)",
        "Result 1 (votes, any n)",
        "Conclusion (Random Forests)",
        "Theorem 4 (0/1 targets)",
        "Lemma (fixed default)",
    }
    text = " ".join(DOCS.read_text().split())
    assert [s.name for s in statements if s.name not in text] == []


def test_a_statement_is_one_line_and_plain_data(statements: list[Statement]) -> None:
    for statement in statements:
        assert "\n" not in statement.claim + statement.cases + statement.detail
        assert statement.as_json()["verdict"] == statement.verdict


def test_the_kept_statements_are_what_is_proved(statements: list[Statement]) -> None:
    """`hardgap report` reads them from the results; details hold floats, which may differ between machines."""
    kept = json.loads((DOCS.parents[1] / "results" / "theorems" / "theorems.json").read_text())["statements"]
    told = ("name", "claim", "holds", "as_far_as", "published", "verdict")
    assert [[one[key] for key in told] for one in kept] == [[s.as_json()[key] for key in told] for s in statements]
