"""Cards: made from a store, read again, refused when altered, compared gap by gap. Smoke runs, real processes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.box import HEAVY_HEAD

from hardgap.cli.tables import table_lines
from hardgap.core.errors import BadInput
from hardgap.core.plugins import Untrusted
from hardgap.report.statistics import same_rate_p, wilson
from hardgap.runs.driver import run_sweep
from hardgap.runs.store import Store
from hardgap.suites import checking
from hardgap.suites.card import Card, Outcome, PartScore, drawn_apart, parts_of, read_card
from hardgap.suites.computed import computed_card
from hardgap.suites.document import WIDE, beside_the_papers, cards_table, needs_words, suite_words, whole_words
from hardgap.suites.entries import NETWORKS, Entry
from hardgap.suites.gaps import GROUPS, SIMILARITIES, Suite, SuiteGap, load_suite
from hardgap.suites.judging import check_same, make_card, plan
from hardgap.suites.references import as_text, in_short, load_references, read_cards, standing, widest
from hardgap.suites.tables import card_table, interval, reference_table, remarks, standing_table

V1 = load_suite("v1")
RESULTS = Path(__file__).parents[2] / "results" / "suite"
PAGE = " ".join((Path(__file__).parents[2] / "docs" / "suite.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def conv(tmp_path_factory: pytest.TempPathFactory) -> Card:
    """A network that can be asked at any width, on three gaps, one seed, two steps."""
    store = Store(tmp_path_factory.mktemp("store"))
    asked = plan(V1, Entry("conv"), quick=True, seed=3, seeds=1, scale="smoke")
    run_sweep(store, asked.configs[:3], workers=1)
    return make_card(asked, store, certify=False)


def with_outcomes(card: Card, shares: list[float]) -> Card:
    runs = [run.model_copy(update={"curve": ((0, 1.0, share),)}) for run, share in zip(card.runs, shares, strict=True)]
    return card.model_copy(update={"runs": tuple(runs)})


def test_a_card_comes_back_from_its_file(conv: Card, tmp_path: Path) -> None:
    conv.save(tmp_path / "card.json")
    assert read_card(tmp_path / "card.json") == conv
    assert (len(conv.runs), conv.planned, conv.parameters) == (3, 69, 4737)
    assert all(set(run.asked) == {"21", "101"} and None not in run.asked.values() for run in conv.runs)
    assert "3 of 69 runs are finished; the rest is not measured yet." in list(remarks(conv))


def test_the_runs_of_a_card_are_the_suites(conv: Card) -> None:
    assert len(checking.chosen_runs(conv, 0.1, seed=0)) == 1
    with pytest.raises(BadInput, match="the card has no runs"):
        checking.chosen_runs(conv.model_copy(update={"runs": ()}), 0.1, seed=0)
    first, *rest = conv.runs
    for alter, why in (
        ({"run": "0" * 12}, "is none that v1 asks of conv, tempered"),
        ({"config": first.config | {"seed": 9}}, "its config or its gap is another one"),
        ({"gap": rest[0].gap}, "its config or its gap is another one"),
    ):
        altered = conv.model_copy(update={"runs": (first.model_copy(update=alter), *rest)})
        with pytest.raises(BadInput, match=why):
            checking.check_runs(altered)
    for altered, why in (
        (conv.model_copy(update={"runs": (first, first, *rest)}), "it counts a run more than once"),
        (conv.model_copy(update={"planned": 3}), "v1 plans 69 runs of it, not 3"),
    ):
        with pytest.raises(BadInput, match=why):
            checking.check_runs(altered)
    with pytest.raises(BadInput, match="is none that v1 asks"):
        checking.check_runs(conv.model_copy(update={"recipe": "untempered"}))


def test_a_card_runs_nobodys_code_unless_it_is_trusted(conv: Card) -> None:
    with pytest.raises(Untrusted):
        checking.check_runs(conv.model_copy(update={"network": "somebody.elses:net"}))


def test_what_is_trained_again_is_compared_bit_by_bit_where_it_was_made(conv: Card, tmp_path: Path) -> None:
    store = Store(tmp_path)
    chosen = list(conv.runs[:2])
    run_sweep(store, checking.runs_of(chosen), workers=1)
    again = checking.rerun(conv, chosen, store)
    assert [run.verdict for run in again] == ["same curve"] * 2
    assert checking.is_confirmed(again)
    step, visible, _ = chosen[0].curve[-1]
    lied = [chosen[0].model_copy(update={"curve": ((step, visible, 1.0),)}), chosen[1]]
    assert not checking.is_confirmed(checking.rerun(conv, lied, store))
    elsewhere = conv.model_copy(update={"versions": ({"processor": "another"},)})
    told = checking.rerun(elsewhere, lied, store)
    assert [run.same_machine for run in told] == [False, False]
    assert checking.is_confirmed(told)  # one run that ends otherwise on another machine is no proof


def rerun(outcome: Outcome, card: float, here: float) -> checking.Rerun:
    ended = outcome.model_copy(update={"curve": ((0, 1.0, card),)})
    return checking.Rerun(ended, here, same_curve=False, same_machine=False)


def test_outcomes_that_are_turned_over_do_not_cancel_out(conv: Card) -> None:
    first = conv.runs[0]
    turned = [rerun(first, 1.0, 0.0)] * 4 + [rerun(first, 0.0, 1.0)] * 3
    assert not checking.is_confirmed(turned)
    assert checking.is_confirmed([*turned[:1], *[rerun(first, 1.0, 1.0)] * 6])
    assert not checking.is_confirmed([rerun(first, 1.0, 0.0)] * 6 + [rerun(first, 1.0, 1.0)] * 20)  # all one way
    own = [replace(run, same_machine=True, same_curve=True) for run in [rerun(first, 1.0, 1.0)] * 20]
    assert not checking.is_confirmed([*own, *turned[:3]])  # runs that cannot differ say nothing of those that can
    assert (checking.can_refute(turned[:2]), checking.can_refute(turned[2:5])) == (False, True)


def test_how_many_outcomes_another_machine_changes_is_measured() -> None:
    compared = json.loads((RESULTS.parent / "machines.json").read_text())["runs"]
    cells = [one for one in compared if one["experiment"] == "automaton" and not one["identical"]]
    changed = sum(one["committed"]["recovered"] != one["again"]["recovered"] for one in cells)
    assert (changed, len(cells)) == (2, 26)
    assert round(wilson(changed, len(cells))[1], 2) == checking.CHANGED


def test_a_card_is_added_to_only_if_all_its_runs_are_the_suites(conv: Card) -> None:
    asked = plan(V1, Entry("conv"), quick=True, seed=3, seeds=1, scale="smoke")
    check_same(asked, conv)
    stranger = conv.runs[0].model_copy(update={"run": "0" * 12})
    with pytest.raises(BadInput, match="is none that v1 asks of conv, tempered"):
        check_same(asked, conv.model_copy(update={"runs": (*conv.runs, stranger)}))


def test_two_cards_are_paired_gap_by_gap(conv: Card) -> None:
    other = with_outcomes(conv, [1.0, 0.0, 1.0]).model_copy(update={"recipe": "untempered"})
    mine = with_outcomes(conv, [1.0, 1.0, 0.0])
    found = checking.compare(mine, other)[0]
    assert (found.both, found.first, found.second, found.neither, found.p) == (1, 1, 1, 0, 1.0)
    assert [one["recovered by"] for one in checking.differing(mine, other)] == ["conv, tempered", "conv, untempered"]
    with pytest.raises(BadInput, match="they share no gaps"):
        checking.compare(mine, other.model_copy(update={"suite": "v0"}))
    with pytest.raises(BadInput, match="one card is at smoke scale, the other at desk"):
        checking.compare(mine, other.model_copy(update={"scale": "desk"}))
    assert checking.compare(mine, computed_card(V1, "solver", quick=True, seed=3))[0].both == 2


def test_a_gap_is_recovered_if_most_of_its_runs_are(conv: Card) -> None:
    run = conv.runs[0].model_copy(update={"curve": ((0, 1.0, 0.9),)})
    failed = run.model_copy(update={"curve": ((0, 1.0, 0.1),)})
    for runs, recovered in (((run, run, failed), 1), ((run, failed), 0), ((run,), 1)):
        assert parts_of(conv.model_copy(update={"runs": runs}))["public"].recovered == recovered


def test_steps_to_recovery_are_those_from_which_on_a_run_is_recovered(conv: Card) -> None:
    """Solved is more than recovered, and what is right before training, or lost again, is no recovery."""
    late = ((0, 0.5, 1.0), (25, 0.6, 0.9), (50, 0.9, 0.1), (75, 0.9, 0.8), (100, 0.9, 0.75))
    lost = ((0, 0.5, 0.0), (25, 0.9, 1.0), (50, 0.9, 0.1))
    at_once = ((0, 0.5, 1.0), (25, 0.6, 0.9))
    ended = [run.model_copy(update={"curve": c}) for run, c in zip(conv.runs, (late, lost, at_once), strict=True)]
    assert [run.recovered_step for run in ended] == [75, None, 25]
    assert PartScore(conv.model_copy(update={"runs": tuple(ended)}).scores).median_steps == 50
    assert PartScore(computed_card(V1, "majority", quick=True, seed=0).scores).median_steps is None


def test_recovered_gaps_whose_visible_cells_are_wrong_are_said(conv: Card) -> None:
    ends = ((25, 0.95, 1.0),), ((25, 0.6, 1.0),), ((25, 1.0, 0.0),)
    runs = tuple(run.model_copy(update={"curve": c}) for run, c in zip(conv.runs, ends, strict=True))
    card = conv.model_copy(update={"runs": runs})
    whole = PartScore(card.scores)
    assert (whole.recovered, whole.fitting) == (2, 1)
    assert any("1 of 2 recovered gaps have 90 % of the visible cells right" in said for said in remarks(card))
    assert "`conv` 1 of 2" in suite_words([card])


def test_a_card_says_whose_seconds_are_the_walls(conv: Card) -> None:
    assert conv.by_wall_clock == 0
    assert "core s" in card_table(conv).columns
    older = conv.model_copy(update={"versions": tuple({"torch": "2.13.0"} for _ in conv.versions)})
    assert older.by_wall_clock == 3
    assert "wall s" in card_table(older).columns
    assert any(said.startswith("The seconds of 3 runs are by the clock on the wall") for said in remarks(older))
    assert "of `conv` by the clock on the wall" in " ".join(suite_words([older, conv]).split())


def test_milliseconds_a_step_are_a_processors_where_some_runs_have_them(conv: Card) -> None:
    """Two runs from before have ten seconds a step by the clock on the wall, one has one second of a processor."""
    curve, times = ((10, 1.0, 1.0),), ((0, 100.0), (0, 100.0), (1, 10.0))
    runs = tuple(
        run.model_copy(update={"curve": curve, "made": made, "seconds": seconds})
        for run, (made, seconds) in zip(conv.runs, times, strict=True)
    )
    mixed = conv.model_copy(update={"versions": ({"torch": "2.13.0"}, {"clock": "processor"}), "runs": runs})
    assert (mixed.by_wall_clock, mixed.seconds_a_step) == (2, 1.0)
    assert mixed.model_copy(update={"runs": runs[:2]}).seconds_a_step == 10.0
    assert "clock on the wall" not in suite_words([mixed])


def test_on_a_narrow_terminal_what_matters_of_a_card_is_shown() -> None:
    for card in read_cards(RESULTS):
        lines = [line for line, _ in table_lines(card_table(card), 80, HEAVY_HEAD)]
        assert all(len(line) <= 80 for line in lines)
        (left_out,) = [line for line in lines if line.startswith("Not shown at this width:")]
        assert left_out.startswith("Not shown at this width: runs recovered. ")


def test_a_gap_asked_again_on_wider_rows_is_counted_there_alone() -> None:
    parts = parts_of(computed_card(Suite("v1", V1.gaps), "majority", quick=False, seed=1))
    narrow = parts["public"].gaps + parts["private"].gaps
    assert parts["width 21"].gaps
    assert sum(parts[group].gaps for group in GROUPS) == narrow
    assert sum(parts[f"similarity {kind}"].gaps for kind in SIMILARITIES) == narrow


def test_a_large_difference_between_public_and_private_is_said() -> None:
    whole = computed_card(Suite("v1", V1.gaps), "majority", quick=False, seed=1)
    tuned = with_outcomes(whole, [float(run.gap.part == "public") for run in whole.runs])
    assert drawn_apart(tuned)["large"]  # type: ignore[index]
    assert any("it may be tuned to the public part" in said for said in remarks(tuned))
    assert not drawn_apart(whole)["large"]  # type: ignore[index]


def test_public_and_private_gaps_are_compared_that_hide_as_many_patterns() -> None:
    """Every public gap recovered that hides a number which no private gap of its cell hides: this tells nothing."""
    whole = computed_card(Suite("v1", V1.gaps), "majority", quick=False, seed=1)
    hidden = {(*run.gap.cell, len(run.gap.hide)) for run in whole.runs if run.gap.part == "private"}
    others = with_outcomes(whole, [float((*run.gap.cell, len(run.gap.hide)) not in hidden) for run in whole.runs])
    assert drawn_apart(others) == {"public": (0, 38), "private": (0, 30), "p": 1.0, "large": False}
    assert drawn_apart(whole.model_copy(update={"runs": whole.runs[:5]})) is None


def test_runs_that_are_solved_before_training_are_said(conv: Card) -> None:
    card = with_outcomes(conv, [1.0, 1.0, 0.0])  # their curves have one point, at step 0
    assert "Solved before any training, at step 0: 2 runs, counted as recovered, without steps." in list(remarks(card))
    for other in (conv, computed_card(V1, "solver", quick=True, seed=0)):
        assert not any("before any training" in said for said in remarks(other))
    untrained = {
        card.network: [(run.gap.key, run.seed) for run in card.runs if run.curve[-1][0] == 0]
        for card in read_cards(RESULTS)
        if card.solved_untrained
    }
    assert untrained == {"gru": [("0:1@11", 1), ("0:1@11", 2)], "rotary": [("0:1@11", 2)]}
    assert "Rule 0 with pattern 001 hidden: `gru` with seeds 1 and 2, `rotary` with seed 2." in PAGE


def test_minutes_are_all_steps_at_the_pace_of_a_step_on_two_cores(conv: Card) -> None:
    ends = (600, 6.0), (1200, 12.0), (1800, 180.0)  # the last one ten times as slow a step: the median is 10 ms
    runs = tuple(
        run.model_copy(update={"curve": ((step, 1.0, 1.0),), "seconds": seconds})
        for run, (step, seconds) in zip(conv.runs, ends, strict=True)
    )
    card = conv.model_copy(update={"runs": runs})
    assert card.minutes_on_two_cores == pytest.approx(3600 * 0.010 / 120)
    table = cards_table([card, computed_card(V1, "solver", quick=True, seed=0)])
    assert table.columns[-1] == "minutes, two cores"
    assert [row[-1] for row in table.rows] == ["0", ""]
    words = " ".join(suite_words([card]).split())
    assert "the median over the runs whose processor time is known, 3 of 3 of a network." in words


def test_five_gaps_against_five_show_only_the_largest_differences() -> None:
    """What docs/suite.md says of the quick part."""
    large = {(a, b) for a in range(6) for b in range(a) if same_rate_p(a, 5, b, 5) < 0.05}
    assert large == {(5, 0), (5, 1), (4, 0)}


def test_a_certificate_ends_before_the_recipes_restart() -> None:
    certified = [card for card in read_cards(RESULTS) if card.certificate is not None]
    assert {card.certificate.steps for card in certified} == {313}  # type: ignore[union-attr]
    restarts = {run.budget.restart_at for run in Entry("encoder").runs(V1.gaps[0])}
    assert restarts == {600}


def test_similarity_is_wrong_where_it_must_be_and_the_solver_is_the_ceiling() -> None:
    cards = {card.network: parts_of(card) for card in read_cards(RESULTS)}
    assert cards["KNN"]["similarity wrong"].recovered == 0
    assert cards["KNN"]["similarity right"].recovered == cards["KNN"]["similarity right"].gaps
    assert all(part.recovered == part.gaps for part in cards["solver"].values())


def test_the_references_that_are_installed_are_the_committed_cards() -> None:
    cards = widest(RESULTS)
    written = "python -m hardgap.suites.references results/suite"
    assert as_text(cards) == (Path(checking.__file__).parent / "references.json").read_text(), written
    assert [one.name for one in load_references()] == [card.name for card in cards]
    for card in (card for card in cards if card.network in NETWORKS):
        checking.check_runs(card)


def test_a_card_stands_among_references_over_the_gaps_that_both_have(conv: Card) -> None:
    mine, better = with_outcomes(conv, [1.0, 0.0, 0.0]), with_outcomes(conv, [1.0, 1.0, 1.0])
    assert [item[1:] for item in standing(mine, [in_short(better), in_short(mine)])] == [(3, 3, 1), (3, 1, 1)]


def test_of_a_reference_with_two_cards_the_whole_is_installed_and_quick_parts_are_shown() -> None:
    names = [one.name for one in load_references()]
    assert len(names) == len(set(names))
    (knn,) = [one for one in load_references() if one.name == "KNN"]
    assert (len(knn.gaps), knn.seeds) == (90, "")
    assert {row[2] for row in reference_table(V1, load_references()).rows} == {18}
    assert all(card.quick for card in read_cards(RESULTS))
    shown = cards_table(read_cards(RESULTS)).rows
    assert len(shown) == len({(row[0], row[1]) for row in shown})
    whole = " ".join(whole_words(read_cards(RESULTS, quick=False)).split())
    assert "`solver`: 105 of 105 gaps" in whole
    assert re.search(
        r"On wider rows, `conv` recovers \d+ of 15 gaps; its 360 runs of 360 took \d+ minutes of a core", whole
    )


def test_the_seeds_of_a_reference_stand_beside_it(conv: Card) -> None:
    again = conv.runs[0].model_copy(update={"seed": 1})
    other = conv.model_copy(update={"runs": (*conv.runs, again)})
    table = standing_table(conv, [in_short(other)])
    assert table is not None
    assert table.title.endswith("(this card: 1)")
    assert table.rows[0][:3] == ["conv, tempered", "1 to 2", 3]


def test_what_the_page_says_of_needs_is_what_the_cards_say() -> None:
    cards = {card.network: card.scores for card in read_cards(RESULTS) if card.recipe == "tempered"}
    wide, wrong = (lambda gap: gap.group in WIDE), (lambda gap: gap.similarity == "wrong")
    told: list[tuple[str, Callable[[SuiteGap], bool], str]] = [
        ("linear", wrong, "`linear` recovers {} gaps ({} %)"),
        ("linear", lambda gap: True, "of all, {} ({} %)"),
        ("conv", lambda gap: True, "`conv` and `gru` have none, and each recovers {} ({} %)"),
        ("gru", lambda gap: True, "`conv` and `gru` have none, and each recovers {} ({} %)"),
        ("one-layer", lambda gap: not wide(gap), "`one-layer` recovers {} ({} %)"),
        ("one-layer", wide, "In radius 2 and 3 it recovers {} ({} %); that this is for want of a layer"),
        ("looped", lambda gap: not wide(gap), "`looped` passes one layer twice and recovers {} ({} %)"),
        ("looped", wide, "In radius 2 and 3 it recovers {} ({} %), the encoder"),
        ("encoder", wide, "the encoder {} ({} %): no difference is shown"),
        ("mixer", lambda gap: True, "`mixer` with {} ({} %)"),
        ("mlp", lambda gap: True, "`mlp` with {} ({} %)"),
        ("mlp", wrong, "`mlp` shares none, and recovers {} ({} %) where similarity must be wrong"),
    ]
    for network, holds, sentence in told:
        part = PartScore([score for score in cards[network] if holds(score.gap)])
        assert sentence.format(f"{part.recovered} of {part.gaps}", interval(part)) in PAGE
    whole = [name for name, scores in cards.items() if all(score.recovered for score in scores)]
    assert whole == ["conv", "gru", "relative"]


def test_what_the_page_says_of_times_is_what_the_cards_say() -> None:
    cards = {card.name: card for card in read_cards(RESULTS) if card.recipe}
    minutes = [card.minutes_on_two_cores or 0 for card in cards.values()]
    assert f"take {min(minutes):.0f} to {max(minutes):.0f} minutes for them" in PAGE
    step = cards["encoder, tempered"].seconds_a_step or 0
    assert f"1,570 steps, {1570 * step:.0f} s of a core at the {1000 * step:.0f} ms a step" in PAGE


def test_what_recovery_needs_is_said_gap_by_gap() -> None:
    """Stand-ins with known answers: the solver recovers all gaps, KNN only those where similarity may be right."""
    cards = {card.network: card for card in read_cards(RESULTS)}
    papers, worse, same = (cards["solver"].model_copy(update={"network": name, "recipe": "tempered"})
                           for name in ("encoder", "linear", "conv"))  # fmt: skip
    worse = worse.model_copy(update={"runs": cards["KNN"].runs})
    assert beside_the_papers([worse, same]) == [], "the paper's encoder is not measured"
    (conv, alike, one), (linear, fewer, p) = beside_the_papers([worse, same, papers])
    assert (conv.network, alike.both, alike.first, one) == ("conv", 23, 0, 1.0)
    assert (linear.network, fewer.both, fewer.first, fewer.second) == ("linear", 9, 14, 0)
    assert p == pytest.approx(2 * 2 * 0.5**14)  # McNemar's, of two rows
    words = " ".join(needs_words([papers, worse, same]).split())
    assert words.startswith("Fewer gaps than `encoder, tempered`: `linear, tempered`. No difference is shown for `conv")
    assert "More gaps: `encoder, untempered`" in needs_words(
        [
            worse.model_copy(update={"network": "encoder"}),
            same.model_copy(update={"network": "encoder", "recipe": "untempered"}),
        ]
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "it holds no table"),
        ("{}", "suite"),
        ('{"suite": "v1", "bidi": "\\u001b[2J"}', "cannot be printed"),
        ("\x00", "card.json is not a card"),
    ],
)
def test_what_is_no_card_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "card.json").write_text(text)
    with pytest.raises(BadInput, match="is not a card of a suite") as refused:
        read_card(tmp_path / "card.json")
    assert why in str(refused.value)


def test_outcomes_are_checked(conv: Card) -> None:
    data = json.loads(conv.runs[0].model_dump_json())
    with pytest.raises(BadInput):
        Outcome(**data | {"curve": [[0, 1.0, 1.5]]})
