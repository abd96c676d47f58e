"""The studies of Experiment 2 as declared: every published number, and the order in which runs come."""

from __future__ import annotations

import re
from statistics import fmean, pstdev

import pytest

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.core.run import only
from hardgap.core.specs import SCALES
from hardgap.studies.published import Seeds
from hardgap.studies.study import STUDIES, Study, choose, most_informative_first
from hardgap.studies.symbolic.coverage import all_pairs, baseline_runs
from hardgap.studies.symbolic.published import BASELINES, BY_SEED, CASES, NETWORK, SEEDS
from hardgap.studies.symbolic.table import study_name
from hardgap.worlds.chains.chains import Arithmetic
from hardgap.worlds.chains.gap import ChainGap
from hardgap.worlds.chains.run import SymbolicRun

PRINTED = {
    "^|": ("73.2 2.0", "73.0 5.1", "29.1 0.8"),
    "&L": ("55.3 3.9", "65.9 1.9", "14.5 2.5"),
    "R^": ("28.2 6.6", "24.6 7.0", "6.1 3.2"),
    "d|": ("54.4 17.7", "56.3 14.2", "33.3 9.8"),
}
"""Table 3: mean and spread."""


def test_the_seeds_have_the_means_and_spreads_that_are_printed_apart_from_them() -> None:
    """The printed spread is the standard deviation of the three seeds themselves, not an estimate from them."""
    found = {
        pair: tuple(f"{fmean(values):.1f} {pstdev(values):.1f}" for values in conditions.values())
        for pair, conditions in BY_SEED.items()
    }
    assert found == PRINTED
    assert {pair: round(fmean(BY_SEED[pair]["familiar"]), 1) for pair in CASES} == {p: NETWORK[p] for p in CASES}
    assert BASELINES.keys() == NETWORK.keys()


def cells() -> list[Study]:
    return [one for one in choose(["symbolic"]) if one.name not in ("symbolic/coverage", "symbolic/baselines")]


@pytest.mark.parametrize("scale", SCALES)
def test_twelve_studies_of_six_seeds_that_differ_only_where_they_say(scale: str) -> None:
    studies = cells()
    assert len(studies) == 12
    runs = [run for one in studies for run in one.runs(scale)]  # type: ignore[arg-type]
    assert len({run.id for run in runs}) == 72
    for one in studies:
        (arm,) = one.arms(scale)  # type: ignore[arg-type]
        assert isinstance(arm.published, Seeds)
        assert tuple(arm.published.seeds) == SEEDS
        assert one.claim.endswith(".")
        assert re.fullmatch(r"symbolic/[a-z]+-[a-z]+/[a-z-]+", one.name)
    first = runs[0]
    for run in runs:
        assert isinstance(run, SymbolicRun)
        assert run.optimiser == first.optimiser or (run.condition, scale) == ("label-only", "desk")
        assert run.but(holdout="^|", condition="familiar", seed=SEEDS[0], optimiser=first.optimiser) == first


def test_a_study_is_about_the_pair_and_condition_of_its_name() -> None:
    run = STUDIES[study_name("R^", "label-only")].runs("desk")[0]
    assert isinstance(run, SymbolicRun)
    assert (study_name("R^", "label-only"), run.holdout, run.condition) == (
        "symbolic/rshift-xor/label-only",
        "R^",
        "label-only",
    )


def test_the_weaker_filter_is_all_that_the_ambiguity_studies_change() -> None:
    studies = choose(["ambiguity"])
    names = ["ambiguity/xor-or", "ambiguity/and-lshift", "ambiguity/rshift-xor", "ambiguity/nand-or"]
    assert [one.name for one in studies] == names
    for one in studies:
        table = STUDIES[one.name.replace("ambiguity/", "symbolic/") + "/familiar"]
        assert one.arms("desk")[0].published == table.arms("desk")[0].published
        assert [run.but(ambiguity="unambiguous") for run in one.runs("desk")] == table.runs("desk")[: len(SEEDS)]


@pytest.mark.parametrize("holdout", CASES)
def test_a_few_seen_examples_fit_the_held_out_pair_unless_they_are_dropped(holdout: str) -> None:
    shares = {}
    for ambiguity in ("unambiguous", "seen"):
        gap = ChainGap(Arithmetic(), holdout, ambiguity)  # type: ignore[arg-type]
        train = gap.sets(train=5_000, evaluate=1, test=1, seed=42).train
        shares[ambiguity] = gap.arithmetic.fits(train.inputs[:, :-1])[:, gap.hidden].any(axis=1).mean()
    assert shares["unambiguous"] == 0
    assert 0.015 < shares["seen"] < 0.035


def test_one_seed_of_everything_comes_before_a_second_of_anything() -> None:
    runs = most_informative_first(choose([]), "smoke")
    symbolic = [place for place, run in enumerate(runs) if isinstance(run, SymbolicRun)]
    second = [place for place, run in enumerate(runs) if run.seed in (1, SEEDS[1])]
    firsts = [place for place in symbolic if runs[place].seed == SEEDS[0]]
    assert len(firsts) == 12 + 45  # the coverage shares four of the twelve
    assert max(firsts) < min(second)


def test_coverage_is_every_pair_once_a_seed_the_printed_ones_first() -> None:
    pairs = all_pairs()
    assert len(set(pairs)) == 49
    assert set(pairs[:7]) == set(NETWORK)
    runs = most_informative_first(choose(["symbolic/coverage"]), "desk")
    assert [run.holdout for run in only(SymbolicRun, runs)] == pairs * 3
    assert [run.seed for run in runs] == [seed for seed in SEEDS for _ in pairs]
    assert baseline_runs("desk") == runs[:49]
    table = {run.id for one in cells() if one.name.endswith("familiar") for run in one.runs("desk")}
    assert len(table & {run.id for run in runs}) == 12  # nothing is trained twice
