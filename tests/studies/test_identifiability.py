"""The identifiability study: cheap parts are measured again, and the figures are drawn from what is committed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardgap.runs.store import Store
from hardgap.studies.identifiability import TRAINED_50, TRAINED_150_220, main, refuting_shares, rows_needed
from hardgap.studies.study import STUDIES
from hardgap.worlds.automaton.gap import Gap, draw_hidden
from hardgap.worlds.automaton.identify.answers import identify
from hardgap.worlds.automaton.identify.completions import completions
from hardgap.worlds.automaton.identify.evidence import every_row
from hardgap.worlds.automaton.rule import parse_rule

FIGURES = Path(__file__).parents[2] / "docs" / "figures"


@pytest.fixture(scope="module")
def numbers() -> dict[str, Any]:
    result: dict[str, Any] = json.loads((FIGURES / "identifiability.json").read_text())
    return result


def test_the_published_counts_add_up_to_the_published_totals() -> None:
    assert [sum(TRAINED_50[name]) for name in ("150", "30", "106")] == [8, 41, 55]
    assert sum(count for count in TRAINED_150_220 if count is not None) == 47


def test_quiescent_patterns_are_the_quietest_of_rule_150() -> None:
    caught = [refuting_shares(Gap(parse_rule("150"), (p,)), 2)[0] for p in range(8)]
    assert [Fraction(share).limit_denominator(112) for share in caught] == [
        Fraction(5, 28), Fraction(9, 28), Fraction(1, 4), Fraction(9, 28),
        Fraction(9, 28), Fraction(1, 4), Fraction(9, 28), Fraction(5, 28),
    ]  # fmt: skip


def test_the_committed_sweep_is_what_is_measured(numbers: dict[str, Any]) -> None:
    for name, k in (("D", 16), ("D", 28), ("G", 16), ("G", 26)):
        row = numbers["sweep"][name][k - 1]
        assert row["k"] == k
        for seed in range(3):
            gap = Gap(parse_rule(name), draw_hidden(parse_rule(name), k, seed=seed))
            for steps in (2, 4):
                found = completions(every_row(gap, steps), limit=2)
                assert len(found.determined) == row["determined"][str(steps)][seed]


@pytest.mark.parametrize(("place", "shares"), [(0, (94.0, 94.0)), (1, (94.0, 99.6)), (2, (94.0, 99.99))])
def test_the_page_shows_how_far_the_next_step_falls_short(
    place: int, shares: tuple[float, float], numbers: dict[str, Any]
) -> None:
    """Rule 150, pattern 0: the cells of step 1 that `next-step` and `strict` determine, by committed numbers."""
    committed = numbers["single"][0]["answers"][place]
    rows = np.random.default_rng(0).integers(0, 2, (1000, 101), dtype=np.uint8)
    found = identify(Gap(parse_rule("150"), (0,)), rows, committed["steps"], ("next-step", "strict")).as_dict()
    assert (found["next_step"], found["strict"]) == (committed["next_step"], committed["strict"])
    known = [100 * committed[name]["first_known"] for name in ("next_step", "strict")]
    assert known == pytest.approx(shares, abs=0.05)


def test_committed_witnesses_prove_that_information_is_lost(numbers: dict[str, Any]) -> None:
    for found in numbers["frontier"]:
        if found["lost"]:
            gap = Gap(parse_rule(found["rule"]), tuple(found["lost"]))
            assert len(gap.hidden) == found["size"]
            assert completions(every_row(gap, found["steps"]), limit=2).witness is not None


def test_a_few_rows_of_the_papers_width_are_enough() -> None:
    assert rows_needed("D", 8, sets=2) == [1, 1]


def test_figures_are_drawn_from_the_committed_numbers(numbers: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "identifiability.json").write_text(json.dumps(numbers))
    main(["draw", str(tmp_path)])
    drawn = sorted(tmp_path.glob("*.png"))
    assert [path.name for path in drawn] == ["identifiability-patterns.png", "identifiability-sweep.png"]
    assert all(path.stat().st_size > 20_000 for path in drawn)


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(SystemExit, match="measure or draw"):
        main(["paint"])


def test_two_steps_determine_every_hidden_cell_of_pattern_2_but_not_of_every_pattern(tmp_path: Path) -> None:
    *numbers, whichever = (result := STUDIES["gf2"].measure(Store(tmp_path))).arms
    assert {arm.comparison.word for arm in numbers} == {"reproduced"}
    assert whichever.comparison.word == "does not hold as written"
    assert whichever.comparison.why == "of rows: pattern 0 69 % and pattern 7 64 %"
    (table,) = result.tables()
    assert table.rows[-1][:5] == [2, "whichever pattern is hidden", "", "", "does not hold as written"]
