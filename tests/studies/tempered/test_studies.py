"""The studies of the tempered recipe, as declared."""

from collections.abc import Callable

import pytest

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.core.run import only
from hardgap.core.specs import SCALES, Scale
from hardgap.runs.certificate import Certificate
from hardgap.studies.study import STUDIES, Arm, choose, limited, most_informative_first
from hardgap.studies.tempered.dial import FACTORS
from hardgap.studies.tempered.explain import HEALTHY, STUCK
from hardgap.worlds.automaton.recipes import RECIPES, TEN_EPOCHS, tempered, untempered
from hardgap.worlds.automaton.regime import temperature_at
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.scales import base

NAMES = [one.name for one in choose(["tempered"])]


def arms_of(name: str, scale: Scale = "desk") -> list[Arm]:
    return STUDIES[f"tempered/{name}"].arms(scale)


def runs_of(arm: Arm) -> list[AutomatonRun]:
    return only(AutomatonRun, arm.runs)


@pytest.mark.parametrize("name", NAMES)
def test_every_study_has_a_claim_and_arms_of_its_own_at_every_scale(name: str) -> None:
    study = STUDIES[name]
    assert study.ours
    assert study.claim.endswith(".")
    for scale in SCALES:
        arms = study.arms(scale)
        assert len({tuple(arm.labels.items()) for arm in arms}) == len(arms)
        assert all(arm.runs and len({run.id for run in arm.runs}) == len(arm.runs) for arm in arms)


def test_the_target_is_240_runs_within_ten_of_the_papers_epochs() -> None:
    arms = arms_of("target")
    runs = [run for arm in arms for run in runs_of(arm)]
    assert len({run.id for run in runs}) == 240
    assert {(run.rule, run.hide, run.seed) for run in runs} == {
        (rule, (pattern,), seed) for rule in ("150", "30", "106") for pattern in range(8) for seed in range(10)
    }
    assert {run.budget.steps for run in runs} == {1570}
    assert len({run.unrolling.model_dump_json() + run.optimiser.model_dump_json() for run in runs}) == 1  # one recipe
    assert sum(arm.published.count[0] for arm in arms if arm.published and arm.published.count) == 104


def test_the_control_is_the_papers_regime_on_the_same_seeds_without_a_restart() -> None:
    for arm, control in zip(arms_of("target"), arms_of("control"), strict=True):
        for run, other in zip(runs_of(arm), runs_of(control), strict=True):
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
    arms = {tuple(arm.labels.values()): runs_of(arm)[0].unrolling.temperature for arm in arms_of("explain")}
    failing, healthy = arms["left alone", "T = 1"], arms["left alone", "T = 8"]
    rescued = arms["T = 1, then T = 8", f"from step {STUCK}"]
    spoiled = arms[f"T = 8, then colder from step {HEALTHY}", "T = 1"]
    for step in range(0, TEN_EPOCHS, 10):
        assert temperature_at(rescued, step) == temperature_at(failing if step < STUCK else healthy, step)
        assert temperature_at(spoiled, step) == temperature_at(healthy if step < HEALTHY else failing, step)


def test_every_factor_of_the_dial_holds_what_it_departs_from() -> None:
    """So that each comparison has its base on the same seeds."""
    arms = arms_of("dial")
    unchanged = {run.id for arm in arms if tuple(arm.labels.values()) == ("cells tempered", "all") for run in arm.runs}
    for factor in FACTORS:
        assert unchanged <= {run.id for arm in arms if arm.labels["factor"] == factor for run in arm.runs}


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", ["target", "dial", "phases", "explain", "wide", "spread"])
def test_no_arm_learns_anything_of_a_hidden_target(name: str, certify_here: Callable[..., Certificate]) -> None:
    """The leak certificate of one run of every arm, at smoke size."""
    seen = set()
    for arm in arms_of(name, "smoke"):
        run = runs_of(arm)[0]
        if run.unrolling.model_dump_json() not in seen:
            seen.add(run.unrolling.model_dump_json())
            assert certify_here(run, 2).passed, arm.labels


def test_one_seed_of_everything_comes_first() -> None:
    seeds = [run.seed for run in most_informative_first(choose(["tempered/target"]), "desk")]
    assert seeds == sorted(seeds)


def test_seeds_are_counted_by_their_rank() -> None:
    """`unstopped` has seed 5 alone: its first seed is that one."""
    arms = limited(STUDIES["tempered/unstopped"], 1).arms("desk")
    assert {tuple(run.seed for run in arm.runs) for arm in arms} == {(5,)}
    assert {tuple(run.seed for run in arm.runs) for arm in limited(STUDIES["tempered/target"], 2).arms("desk")} == {
        (0, 1)
    }
    both = most_informative_first(choose(["tempered/target", "tempered/unstopped"]), "desk")
    assert {run.seed for run in both[:48]} == {0, 5}
    assert both[48].seed == 1
