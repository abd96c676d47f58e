"""Cards: made from a store, read again, refused when altered, compared gap by gap. Smoke runs, real processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardgap.core.errors import BadInput
from hardgap.core.plugins import Untrusted
from hardgap.runs.driver import run_sweep
from hardgap.runs.store import Store
from hardgap.suites import checking
from hardgap.suites.card import Card, Outcome, PartScore, drawn_apart, parts_of, read_card
from hardgap.suites.computed import computed_card
from hardgap.suites.document import beside_the_papers, needs_words
from hardgap.suites.entries import NETWORKS, Entry
from hardgap.suites.gaps import GROUPS, SIMILARITIES, Suite, load_suite
from hardgap.suites.judging import make_card, plan
from hardgap.suites.references import as_text, in_short, load_references, read_cards, standing
from hardgap.suites.tables import remarks

V1 = load_suite("v1")
RESULTS = Path(__file__).parents[2] / "results" / "suite"


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


def test_two_cards_are_paired_gap_by_gap(conv: Card) -> None:
    other = with_outcomes(conv, [1.0, 0.0, 1.0]).model_copy(update={"recipe": "untempered"})
    mine = with_outcomes(conv, [1.0, 1.0, 0.0])
    found = checking.compare(mine, other)[0]
    assert (found.both, found.first, found.second, found.neither, found.p) == (1, 1, 1, 0, 1.0)
    assert [one["recovered by"] for one in checking.differing(mine, other)] == ["conv, tempered", "conv, untempered"]
    with pytest.raises(BadInput, match="they share no gaps"):
        checking.compare(mine, other.model_copy(update={"suite": "v0"}))


def test_a_gap_is_recovered_if_most_of_its_runs_are(conv: Card) -> None:
    run = conv.runs[0].model_copy(update={"curve": ((0, 1.0, 0.9),)})
    failed = run.model_copy(update={"curve": ((0, 1.0, 0.1),)})
    for runs, recovered in (((run, run, failed), 1), ((run, failed), 0), ((run,), 1)):
        assert parts_of(conv.model_copy(update={"runs": runs}))["public"].recovered == recovered


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


def test_similarity_is_wrong_where_it_must_be_and_the_solver_is_the_ceiling() -> None:
    cards = {card.network: parts_of(card) for card in read_cards(RESULTS)}
    assert cards["KNN"]["similarity wrong"].recovered == 0
    assert cards["KNN"]["similarity right"].recovered == cards["KNN"]["similarity right"].gaps
    assert all(part.recovered == part.gaps for part in cards["solver"].values())


def test_the_references_that_are_installed_are_the_committed_cards() -> None:
    cards = read_cards(RESULTS)
    written = "python -m hardgap.suites.references results/suite"
    assert as_text(cards) == (Path(checking.__file__).parent / "references.json").read_text(), written
    assert [one.name for one in load_references()] == [card.name for card in cards]
    for card in (card for card in cards if card.network in NETWORKS):
        checking.check_runs(card)


def test_a_card_stands_among_references_over_the_gaps_that_both_have(conv: Card) -> None:
    mine, better = with_outcomes(conv, [1.0, 0.0, 0.0]), with_outcomes(conv, [1.0, 1.0, 1.0])
    assert [item[1:] for item in standing(mine, [in_short(better), in_short(mine)])] == [(3, 3, 1), (3, 1, 1)]


def test_what_the_page_says_of_needs_is_what_the_cards_say() -> None:
    cards = {card.name: PartScore(card.scores) for card in read_cards(RESULTS)}
    wrong = {card.name: parts_of(card)["similarity wrong"].recovered for card in read_cards(RESULTS)}
    assert all(cards[f"{name}, tempered"].recovered == 23 for name in ("conv", "gru"))
    assert all(2 * cards[f"{name}, tempered"].recovered > 23 for name in ("one-layer", "looped"))
    assert wrong["linear, tempered"] == 0 < wrong["mlp, tempered"]


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
