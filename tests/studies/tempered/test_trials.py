"""The trials of the tempered recipe, as declared."""

from collections.abc import Callable

import pytest

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.core.errors import BadInput
from hardgap.core.schedule import temperature_at
from hardgap.core.specs import SCALES
from hardgap.runs.certificate import Certificate
from hardgap.studies.tempered.dial import FACTORS
from hardgap.studies.tempered.explain import HEALTHY, STUCK
from hardgap.studies.trial import TRIALS, choose_trial, in_order, limited
from hardgap.worlds.automaton.recipes import RECIPES, TEN_EPOCHS, tempered, untempered
from hardgap.worlds.automaton.scales import base


@pytest.mark.parametrize("name", TRIALS)
def test_every_trial_has_a_claim_and_arms_of_its_own_at_every_scale(name: str) -> None:
    trial = TRIALS[name]
    assert trial.claim.endswith(".")
    for scale in SCALES:
        arms = trial.arms(scale)
        assert len({(arm.factor, arm.value) for arm in arms}) == len(arms)
        assert all(arm.runs and len({run.id for run in arm.runs}) == len(arm.runs) for arm in arms)


def test_the_target_is_240_runs_within_ten_of_the_papers_epochs() -> None:
    arms = TRIALS["target"].arms("desk")
    runs = [run for arm in arms for run in arm.runs]
    assert len({run.id for run in runs}) == 240
    assert {(run.rule, run.hide, run.seed) for run in runs} == {
        (rule, (pattern,), seed) for rule in ("150", "30", "106") for pattern in range(8) for seed in range(10)
    }
    assert {run.budget.steps for run in runs} == {1570}
    assert len({run.unrolling.model_dump_json() + run.optimiser.model_dump_json() for run in runs}) == 1  # one recipe
    assert sum(arm.paper[0] for arm in arms if arm.paper) == 104  # what the paper reports


def test_the_control_is_the_papers_regime_on_the_same_seeds_without_a_restart() -> None:
    for arm, control in zip(TRIALS["target"].arms("desk"), TRIALS["control"].arms("desk"), strict=True):
        for run, other in zip(arm.runs, control.runs, strict=True):
            assert other.unrolling == base("desk", run.rule, run.hide).unrolling
            assert other.but(unrolling=run.unrolling, budget=run.budget) == run
            assert other.budget.restart_at is None
            assert other.budget.steps >= run.budget.steps


def test_the_recipe_halves_its_temperature_when_it_starts_again() -> None:
    run = tempered("desk", "150", (3,))
    assert (run.budget.steps, run.budget.restart_at, run.optimiser.clip) == (TEN_EPOCHS, 600, 1.0)
    spec = run.unrolling.temperature
    assert [temperature_at(spec.halved(attempt), 100) for attempt in (0, 1)] == [8.0, 4.0]
    paper = base("desk", "150", (3,))
    assert RECIPES["paper"]("desk", "150", (3,)) == paper
    assert untempered(run).unrolling.temperature == paper.unrolling.temperature


def test_an_intervention_is_the_run_it_intervenes_on_until_then() -> None:
    arms = {(arm.factor, arm.value): arm.runs[0].unrolling.temperature for arm in TRIALS["explain"].arms("desk")}
    failing, healthy = arms["left alone", "T = 1"], arms["left alone", "T = 8"]
    rescued = arms["T = 1, then T = 8", f"from step {STUCK}"]
    spoiled = arms[f"T = 8, then colder from step {HEALTHY}", "T = 1"]
    for step in range(0, TEN_EPOCHS, 10):
        assert temperature_at(rescued, step) == temperature_at(failing if step < STUCK else healthy, step)
        assert temperature_at(spoiled, step) == temperature_at(healthy if step < HEALTHY else failing, step)


def test_every_factor_of_the_dial_holds_what_it_departs_from() -> None:
    """So that each comparison has its base on the same seeds."""
    arms = TRIALS["dial"].arms("desk")
    unchanged = {run.id for arm in arms if (arm.factor, arm.value) == ("cells tempered", "all") for run in arm.runs}
    for factor in FACTORS:
        assert unchanged <= {run.id for arm in arms if arm.factor == factor for run in arm.runs}


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", ["target", "dial", "phases", "explain", "wide"])
def test_no_arm_learns_anything_of_a_hidden_target(name: str, certify_here: Callable[..., Certificate]) -> None:
    """The leak certificate of one run of every arm, at smoke size."""
    seen = set()
    for arm in TRIALS[name].arms("smoke"):
        run = arm.runs[0]
        if run.unrolling.model_dump_json() not in seen:
            seen.add(run.unrolling.model_dump_json())
            assert certify_here(run, 2).passed, (arm.factor, arm.value)


def test_one_seed_of_everything_comes_first() -> None:
    seeds = [run.seed for run in in_order(TRIALS["target"].arms("desk"))]
    assert seeds == sorted(seeds)


def test_seeds_are_counted_by_their_rank() -> None:
    """`unstopped` has seed 5 alone: its first seed is that one."""
    arms = limited(TRIALS["unstopped"], 1).arms("desk")
    assert {tuple(run.seed for run in arm.runs) for arm in arms} == {(5,)}
    assert {tuple(run.seed for run in arm.runs) for arm in limited(TRIALS["target"], 2).arms("desk")} == {(0, 1)}
    mixed = [*TRIALS["target"].arms("desk")[:1], *arms[:1]]
    assert [run.seed for run in in_order(mixed)][:3] == [0, 5, 1]


def test_an_unknown_trial_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"there is no trial 'dail'; there is .*dial"):
        choose_trial("dail")
