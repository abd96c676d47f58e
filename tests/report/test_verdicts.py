"""The rules for verdicts, on made-up data where the right one is known (docs/verdicts.md states them)."""

from __future__ import annotations

import numpy as np
import pytest

from hardgap.report.settling import LEVEL, MEAN_MARGIN, RATE_MARGIN, settled
from hardgap.report.statistics import Sample, rate_difference, same_rate_p, sample_of
from hardgap.report.verdicts import (
    Verdict,
    corrected,
    judge_count,
    judge_majority,
    judge_mean,
    judge_number,
    judge_pairs,
    judge_parts,
    judge_range,
    judge_statement,
    judge_within,
    summed_up,
)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ((0, 0), (10, 10), "not run"),
        ((10, 10), (10, 10), "reproduced"),
        ((0, 10), (0, 10), "reproduced"),
        ((6, 6), (10, 10), "inconclusive"),  # no difference to be seen, and 31 points left open
        ((9, 10), (10, 10), "inconclusive"),
        ((5, 10), (5, 10), "inconclusive"),
        ((47, 60), (47, 60), "reproduced"),
        ((0, 10), (10, 10), "differs (lower)"),
        ((10, 10), (0, 10), "differs (higher)"),
        ((0, 3), (10, 10), "differs (lower)"),  # few runs can show a difference, never that there is none
        ((18, 80), (8, 80), "inconclusive"),  # within the margin, but the interval leaves zero out
    ],
)
def test_counts(ours: tuple[int, int], theirs: tuple[int, int], verdict: str) -> None:
    assert judge_count(ours, theirs).verdict == verdict


@pytest.mark.parametrize("n", [10, 30, 80])
def test_reproduced_keeps_its_promise(n: int) -> None:
    """Of all pairs of counts that are called reproduced, no interval of the difference reaches beyond the margin."""
    for ours in range(0, n + 1, max(1, n // 10)):
        for theirs in range(0, n + 1, max(1, n // 10)):
            found = settled((ours, n), (theirs, n))
            low, high = rate_difference(ours, n, theirs, n, confidence=0.9)
            assert (found == "reproduced") == (low <= 0 <= high and max(-low, high) <= RATE_MARGIN)
            assert found != "differs" or same_rate_p(ours, n, theirs, n) < LEVEL


def test_true_rates_that_far_apart_are_rarely_called_reproduced() -> None:
    """Simulated with a seed: two rates that are the margin apart pass for the same in about 5 % of cases."""
    rng = np.random.default_rng(1)
    ours, theirs = rng.binomial(60, 0.40, 2_000), rng.binomial(60, 0.40 + RATE_MARGIN, 2_000)
    called = [settled((int(a), 60), (int(b), 60)) for a, b in zip(ours, theirs, strict=True)]
    assert 0.03 < called.count("reproduced") / 2_000 < 0.07


def test_the_n_that_would_settle_it_does() -> None:
    found = judge_count((6, 6), (10, 10))
    assert found.needed == 10
    assert judge_count((8, 8), (10, 10)).word == "inconclusive"
    assert judge_count((10, 10), (10, 10)).word == "reproduced"
    assert "about 10 runs would settle it" in found.note


def test_some_questions_320_runs_cannot_settle() -> None:
    found = judge_count((4, 10), (1, 10))
    assert (found.word, found.needed) == ("inconclusive", None)
    assert judge_count((4_000, 10_000), (1, 10)).word == "inconclusive"
    assert "the paper has 10: 320 runs here would not settle it" in found.note


OURS = dict(enumerate((0, 3, 10, 0, 2, 2, 1, 0)))  # Rule 150 in 50 epochs, seeds of ten by pattern
PAPER = dict(enumerate((0, 0, 4, 0, 0, 4, 0, 0)))


def of_ten(counts: dict[int, int]) -> dict[int, tuple[int, int]]:
    return {pattern: (successes, 10) for pattern, successes in counts.items()}


def test_a_total_cannot_hide_that_single_patterns_differ() -> None:
    found = judge_parts(of_ten(OURS), of_ten(PAPER))
    assert found.verdict == "differs (higher)"
    assert found.why.startswith("pattern 2: 10/10 against 4/10 (all patterns tested at once")
    assert judge_count((10, 10), (4, 10)).p == pytest.approx(0.011, abs=5e-4)  # by itself, it fails among many rows


def test_parts_that_cancel_out_are_found() -> None:
    crossed = judge_parts(of_ten({0: 10, 1: 0}), of_ten({0: 0, 1: 10}))
    assert crossed.verdict == "differs (both ways)"
    assert judge_count((20, 40), (20, 40)).word == "reproduced"  # what a total like that would say by itself


def test_parts_that_agree_leave_the_total_alone() -> None:
    assert judge_parts(of_ten(PAPER), of_ten(PAPER)).word == "reproduced"
    assert judge_parts(of_ten(dict.fromkeys(range(8), 0)), of_ten(dict.fromkeys(range(8), 0))).word == "reproduced"
    assert judge_parts({}, of_ten(PAPER)).word == "not run"


def test_patterns_that_are_not_measured_do_not_count_on_the_papers_side() -> None:
    """Two recovered runs of patterns 2 and 5 stand beside the paper's 8 of 20 there, not its 8 of 80."""
    some = judge_parts({2: (1, 1), 5: (1, 1)}, of_ten(PAPER))
    assert some.basis == ((2, 2), (8, 20))
    assert some.note.startswith("of patterns 2 and 5 alone, where the paper has 8/20; ")
    assert judge_parts({3: (0, 10)}, of_ten(PAPER)).why == "of pattern 3 alone, where the paper has 0/10"
    assert judge_parts({2: (10, 10), 5: (0, 10)}, of_ten(PAPER)).why.startswith("of patterns 2 and 5 alone, where ")


@pytest.mark.parametrize(
    ("values", "theirs", "verdict"),
    [
        ([], [0.7, 0.74, 0.75], "not run"),
        ([0.7, 0.71], [0.7, 0.74, 0.75], "inconclusive"),
        ([0.7, 0.74, 0.75], [0.7, 0.74, 0.75], "reproduced"),
        ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5], "reproduced"),  # all equal, on both sides
        ([0.2, 0.21, 0.22], [0.7, 0.74, 0.75], "differs (lower)"),
        ([0.9, 0.91, 0.92], [0.7, 0.74, 0.75], "differs (higher)"),
        ([0.3, 0.5, 0.9], [0.37, 0.476, 0.786], "inconclusive"),  # such a spread says nothing about the mean
    ],
)
def test_means(values: list[float], theirs: list[float], verdict: str) -> None:
    assert judge_mean(values, sample_of(theirs)).verdict == verdict


def test_a_published_mean_without_spread_is_taken_as_exact() -> None:
    assert judge_mean([1.0] * 10, Sample(1.0)).word == "reproduced"
    assert judge_mean([0.98, 0.99, 1.0, 0.97], Sample(0.98)).word == "reproduced"
    assert judge_mean([0.98, 0.99, 1.0, 0.97], Sample(0.5)).verdict == "differs (higher)"
    assert judge_mean([0.4, 0.6, 0.5], Sample(0.5)).word == "inconclusive"
    assert judge_mean([0.4, 0.6, 0.5], Sample(0.5)).needed == 6
    assert judge_mean([0.4, 0.6, 0.5] * 2, Sample(0.5)).word == "reproduced"
    assert MEAN_MARGIN == 0.1


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(None, "not run"), (1.0, "reproduced"), (0.96, "reproduced"), (1.1, "differs (higher)"), (0.9, "differs (lower)")],
)
def test_a_computed_number_is_held_to_its_tolerance(value: float | None, verdict: str) -> None:
    assert judge_number(value, 1.0, 0.05).verdict == verdict


@pytest.mark.parametrize(
    ("found", "published", "verdict"),
    [
        (None, (0, 0), "not run"),
        ((0, 0), (0, 0), "reproduced"),
        ((0, 96), (0, 100), "reproduced"),
        ((40, 60), (0, 100), "inconclusive"),  # inside, but not the same range
        ((5, 8), (15, 30), "inconclusive"),  # they do not overlap, and are less than the margin apart
        ((60, 80), (0, 0), "differs (higher)"),
        ((0, 10), (34, 42), "differs (lower)"),
    ],
)
def test_ranges(found: tuple[float, float] | None, published: tuple[float, float], verdict: str) -> None:
    judged = judge_range(found, published, 10)
    assert judged.verdict == verdict
    assert judged.why == ("neither the same nor apart by more than 10 points" if verdict == "inconclusive" else "")


def test_more_runs_do_not_settle_a_range_and_that_is_said() -> None:
    found = judge_range((40, 60), (0, 100), 10)
    assert (found.needed, "values behind the published range" in found.settles) == (None, True)


@pytest.mark.parametrize(
    ("count", "most", "verdict"),
    [((0, 0), True, "not run"), ((9, 12), True, "inconclusive"), ((18, 24), True, "holds"),
     ((18, 24), False, "does not hold as written"), ((2, 20), False, "holds")],
)  # fmt: skip
def test_a_majority_has_to_leave_out_one_half(count: tuple[int, int], most: bool, verdict: str) -> None:
    assert judge_majority(count, most, "9 of 12").verdict == verdict


def test_the_n_that_would_settle_a_majority_is_told_or_that_none_would() -> None:
    few = judge_majority((9, 12), True, "9 of 12")
    assert (few.why, few.needed) == ("9 of 12", 30)
    assert judge_majority((6, 12), True, "").settles == "320 runs here would not settle it"  # one half, for ever


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [((0.4, 0.6), "holds"), ((0.1, 0.3), "differs (lower)"), ((0.7, 0.9), "differs (higher)"),
     ((0.21, 0.35), "inconclusive"), ((0.2, 0.8), "inconclusive")],
)  # fmt: skip
def test_a_number_is_within_bounds_if_its_interval_is(interval: tuple[float, float], verdict: str) -> None:
    found = judge_within(interval, sum(interval) / 2, (1 / 3, 2 / 3), 6, "seeds")
    assert found.verdict == verdict
    assert (found.settles != "") == (verdict == "inconclusive")


def test_on_the_very_bound_no_number_of_seeds_settles_it() -> None:
    assert judge_within((0.2, 0.4), 0.3, (0.3, 0.6), 6, "seeds").settles == "320 seeds would not settle it"


def test_two_samples_of_ours_grow_together() -> None:
    """What 320 more runs of one side would not settle, a few more of both may; and nobody blames the paper's six."""
    ours, other = [0.1, 0.5, 0.2, 0.4, 0.3, 0.35], Sample(0.33, 0.15, 6)
    alone, both = judge_mean(ours, other), judge_mean(ours, other, both=True, of="runs of each")
    assert alone.settles == "the paper has 6: 320 runs here would not settle it"
    assert both.settles == f"about {both.needed} runs of each would settle it"
    few = judge_mean([0.5, 0.6, 0.7], Sample(0.5, 0.1, 2), both=True)
    assert few.note == "2 so far; at least 3 runs are needed to judge it"


def test_whatever_is_inconclusive_says_what_would_settle_it() -> None:
    made = [
        judge_count((4, 10), (1, 10)), judge_count((6, 6), (10, 10)), judge_mean([0.5, 0.9, 0.1], Sample(0.6)),
        judge_mean([0.5], Sample(0.6)), judge_range((40, 60), (0, 100), 10), judge_pairs(0.3, "lower", 10, "higher"),
        judge_pairs(None, "lower", 3, "higher"), judge_parts(of_ten({0: 3, 1: 4}), of_ten({0: 0, 1: 1})),
        *corrected([judge_count((9, 10), (3, 10)), Verdict("differs", "higher", 0.03, why="pattern 2")] * 4),
    ]  # fmt: skip
    assert {one.word for one in made} == {"inconclusive"}
    assert all(one.settles for one in made)
    assert all(one.as_dict()["settles"] == one.settles for one in made)
    assert Verdict("differs", needed=3).settles == ""


def test_pairs() -> None:
    assert judge_pairs(None, "higher", 0, "higher").word == "not run"
    assert judge_pairs(0.002, "higher", 10, "higher").word == "reproduced"
    assert judge_pairs(0.002, "lower", 10, "higher").verdict == "differs (lower)"
    few = judge_pairs(0.0625, "higher", 5, "higher")
    assert (few.word, few.needed) == ("inconclusive", 6)
    assert judge_pairs(None, "lower", 10, "higher").word == "inconclusive"  # no pair differs


def test_statements() -> None:
    assert judge_statement(True).verdict == "holds"
    assert judge_statement(True, "", "n = 12").verdict == "holds (as far as n = 12)"
    refuted = judge_statement(False, "n = 4: weights (1,1,0,0) vote +2")
    assert (refuted.verdict, refuted.why) == ("does not hold as written", "n = 4: weights (1,1,0,0) vote +2")


def test_one_of_many_rows_that_differs_by_chance_is_not_told() -> None:
    chance = judge_count((4, 6), (0, 10))
    assert chance.verdict == "differs (higher)"
    calm = [judge_count((6, 6), (10, 10)) for _ in range(15)]
    first, *others = corrected([chance, *calm])
    assert first.verdict == "inconclusive"
    assert first.why.startswith("p = 0.0082 alone, 0.13 among 16 rows")
    assert first.needed is not None
    assert first.needed > 6
    assert {one.word for one in others} == {"inconclusive"}
    assert corrected([chance])[0].word == "differs"


def test_what_differs_clearly_survives_the_correction() -> None:
    rows = [judge_count((0, 10), (10, 10)), *(judge_count((10, 10), (10, 10)) for _ in range(6))]
    assert [one.word for one in corrected(rows)] == ["differs"] + ["reproduced"] * 6


def test_the_word_carries_the_scale() -> None:
    assert Verdict("reproduced", scale="desk").verdict == "reproduced at desk scale"
    assert Verdict("differs", "lower", scale="desk", so_far=True).verdict == "differs (lower) so far at desk scale"
    assert Verdict("not run", scale="desk").verdict == "not run"


def test_a_claim_of_several_parts_is_called_by_its_worst() -> None:
    good, bad, open_ = Verdict("reproduced"), Verdict("differs", "lower"), Verdict("inconclusive", needed=20)
    assert summed_up([good, good]).verdict == "reproduced"
    assert summed_up([good, open_]).word == "inconclusive"
    found = summed_up([good, bad, open_, Verdict("paper is silent")])
    assert (found.verdict, found.why) == ("differs (lower, 1 of 3)", "of 3: differs 1, inconclusive 1, reproduced 1")
    assert summed_up([]).word == "paper is silent"
    assert summed_up([Verdict("no test"), Verdict("paper is silent")]).word == "no test"
    assert summed_up([Verdict("no test"), good]).word == "reproduced"
    assert summed_up([Verdict("not run"), Verdict("not run")]).word == "not run"


def test_a_claim_says_what_would_settle_its_open_parts() -> None:
    many, few, never = (Verdict("inconclusive", needed=20), Verdict("inconclusive", needed=8),
                        Verdict("inconclusive", settle="nothing would"))  # fmt: skip
    assert summed_up([many, few]).settles == "about 20 runs would settle it"
    assert summed_up([many, few, never]).settles == "about 20 runs of each would settle 2 of 3; 1 of 3: nothing would"
    assert summed_up([never, never]).settles == "nothing would"
    assert summed_up([never, Verdict("differs", "lower")]).settles == ""
