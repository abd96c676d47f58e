"""What notebooks show of a rule, a gap, a result and a store: whole, escaped, and bounded."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import hardgap as hg
from hardgap.api.result import SHOWN
from hardgap.core.drawing import HIDDEN, curves_picture
from hardgap.worlds.automaton.rule import parse_rule


def parsed(html: str) -> ElementTree.Element:
    """A notebook's HTML, which happens to be XML as well: nothing is left open, nothing unescaped."""
    return ElementTree.fromstring(f"<div>{html.replace('<br>', '<br/>')}</div>")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> hg.Results:
    """Two runs in a folder whose name would be a script."""
    store = tmp_path_factory.mktemp("store") / "<script>&"
    for seed in range(2):
        hg.train(hg.Automaton("L1 ^ (C & R1)", hide=5, scale="smoke", seed=seed), store, watch=False)
    return hg.results(store)


@pytest.mark.parametrize("name", ["110", "D", "r3:0x1"])
def test_a_rule_shows_its_table_and_a_rollout(name: str) -> None:
    rule = parse_rule(name)
    shown = parsed(rule._repr_html_())
    entries = ["".join(one.itertext()) for one in shown.iter("span")]
    assert entries == [f"{rule.pattern_text(p)}{rule.table[p]}" for p in range(rule.patterns)]
    assert shown.find(".//svg[@aria-label]") is not None
    assert repr(rule) == f"Rule(radius={rule.radius}, number={rule.number})"  # in plain text as before


@pytest.mark.parametrize("masking", ["every", "first"])
def test_a_gap_shows_its_masks_and_never_what_is_hidden(masking: str) -> None:
    gap = hg.Automaton(150, hide=[2, 7], masking=masking).gap
    shown = parsed(gap._repr_html_())
    outputs = ["".join(one.itertext())[3:] for one in shown.iter("span")]
    assert [p for p, output in enumerate(outputs) if output == "?"] == [2, 7]
    framed = {(one.get("x"), one.get("y")) for one in shown.iter("rect") if one.get("stroke") == HIDDEN}
    assert framed
    assert ({y for _, y in framed} == {"13"}) == (masking == "first")  # the leaky control masks the first step alone


def test_a_result_shows_its_curve_above_its_table(results: hg.Results) -> None:
    shown = parsed(results[0]._repr_html_())
    lines = [one.get("d") for one in shown.iter("path") if one.get("fill") == "none"]
    assert len(lines) == 2
    assert all(line is not None and line.count("L") == len(results[0].curve) - 1 for line in lines)
    assert shown.find(".//table") is not None


def test_a_line_is_broken_where_another_network_goes_on() -> None:
    drawn = curves_picture([0, 50, 100, 150], {("share", "red"): [0.1, 0.2, 0.1, 1.0]}, "a run", again=[100])
    (line,) = [one.get("d") for one in parsed(drawn).iter("path") if one.get("fill") == "none"]
    assert [letter for letter in line or "" if letter in "ML"] == list("MLML")


def test_a_store_shows_its_runs_and_no_script(results: hg.Results) -> None:
    text = results._repr_html_()
    assert "<script>" not in text
    assert len(list(parsed(text).iter("tr"))) == 1 + len(results)


def test_a_large_store_shows_the_first_runs_and_how_many_more(results: hg.Results) -> None:
    many = hg.Results(results.store, [results[0]] * (SHOWN + 5))
    text = many._repr_html_()
    assert len(list(parsed(text).iter("tr"))) == 1 + SHOWN
    assert "and 5 more" in text


def test_a_formula_cannot_close_the_tag_that_names_it(results: hg.Results, tmp_path: Path) -> None:
    """A run's own words reach the picture's label and the table's caption."""
    result = hg.train(hg.Automaton("L1 & (C | R1)", hide=5, scale="smoke"), tmp_path, watch=False)
    parsed(result._repr_html_())
    assert "L1 &amp; (C | R1)" in result._repr_html_()
