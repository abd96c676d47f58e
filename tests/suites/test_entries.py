"""Who is judged: every reference, a network of one's own, a recipe of one's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from hardgap.core.errors import BadInput
from hardgap.nn.build import build_model, check_model
from hardgap.suites.entries import NETWORKS, RECIPES, Entry
from hardgap.suites.gaps import load_suite
from hardgap.suites.judging import plan
from hardgap.worlds import parse_run

V1 = load_suite("v1")
RECIPE = """
def colder(run):
    return run.changed(unrolling__temperature={"start": 2.0, "end": 2.0})
def longer(run):
    return run.changed(budget__steps=9000)
def lucky(run):
    return run.changed(budget__solved_at=0.7)
def easier(run):
    return run.changed(hide=[0])
def nothing(run):
    return None
def sure(run):
    return run.changed(unrolling__own_loss="ownrecipe:surer")
def surer(logits, targets, visible):
    return (logits * (0.5 - targets) * visible).sum() + (logits**2).mean()
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ownrecipe.py").write_text(RECIPE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ownrecipe", raising=False)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_reference_is_a_network_like_any_other(name: str) -> None:
    model = build_model(NETWORKS[name][0], width=11, seed=0)  # type: ignore[arg-type]
    check_model(model, width=11, name=name)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_stored_run_of_a_reference_is_read_as_itself(name: str) -> None:
    (run, *_) = Entry(name).runs(V1.gaps[3])
    assert parse_run(run.asked()) == run


@pytest.mark.parametrize("name", ["conv", "relative", "gru"])
def test_a_network_without_positions_answers_a_turned_row_with_its_answer_turned(name: str) -> None:
    """Gru: as far as the cells beyond the row's ends reach."""
    model = build_model(NETWORKS[name][0], width=11, seed=0).eval()  # type: ignore[arg-type]
    rows = torch.rand(4, 21, generator=torch.Generator().manual_seed(0)).round()
    close = 0.2 if name == "gru" else 1e-4
    assert (model(rows.roll(3, 1)) - model(rows).roll(3, 1)).abs().max() < close


def test_recipes_differ_in_temperature_and_restart_alone() -> None:
    cold, tempered = (Entry("encoder", name).runs(V1.gaps[0])[0] for name in RECIPES)
    assert cold.budget.steps == tempered.budget.steps == 1570
    assert (cold.unrolling.temperature.start, cold.budget.restart_at) == (1.0, None)
    assert cold.but(unrolling=tempered.unrolling, budget=tempered.budget) == tempered


@pytest.mark.usefixtures("own")
def test_a_recipe_of_ones_own_changes_the_regime_and_nothing_that_is_fixed() -> None:
    (run, *_) = Entry("encoder", "ownrecipe:colder").runs(V1.gaps[0])
    assert run.unrolling.temperature.start == 2.0
    for name, why in (
        ("longer", "asks for more than 1570 training steps and 4 unrolled ones"),
        ("lucky", "changes budget.solved_at, which the suite fixes"),  # or it could end where hidden cells look best
        ("easier", "changes hide, which the suite fixes"),
        ("nothing", "gave a NoneType: return the run, changed"),
    ):
        with pytest.raises(BadInput, match=why):
            Entry("encoder", f"ownrecipe:{name}").runs(V1.gaps[3])


@pytest.mark.usefixtures("own")
def test_a_loss_of_ones_own_is_judged_as_a_recipe() -> None:
    entry = Entry("encoder", "ownrecipe:sure")
    entry.check(V1.gaps[:1], "smoke")
    (run, *_) = entry.runs(V1.gaps[0], "smoke")
    assert run.plugins().keys() == {"ownrecipe:surer"}
    assert entry.digest(V1.gaps[0]) != Entry("encoder").digest(V1.gaps[0])


def test_what_cannot_be_judged_is_refused_before_training() -> None:
    for entry, why in (
        (Entry("enkoder"), r"there is no reference 'enkoder' \(did you mean encoder\?\)"),
        (Entry("encoder", "hot"), "recipe hot: choose untempered, tempered, or your own"),
        (Entry("no.such.module:net"), "cannot be imported"),
    ):
        with pytest.raises(BadInput, match=why):
            plan(V1, entry, quick=True)
    for wrong, why in (({"seeds": 4}, "seeds 4: the suite has 3"), ({"seed": -1}, "seed -1: a seed is not negative")):
        with pytest.raises(BadInput, match=why):
            plan(V1, Entry("linear"), quick=True, **wrong)


def test_the_private_part_belongs_to_the_network_if_no_seed_is_given() -> None:
    linear, again, mlp = (plan(V1, Entry(name), quick=True) for name in ("linear", "linear", "mlp"))
    assert linear.seed == again.seed != mlp.seed
    assert [run.id for run in linear.configs] == [run.id for run in again.configs]
    seeds = [run.seed for run in linear.configs]
    assert seeds == sorted(seeds)  # one seed of everything before a second of anything


def test_another_recipe_gets_another_private_part(own: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the recipe's code makes of a run counts, not what it is called."""
    warm = Entry("encoder", "ownrecipe:colder").digest(V1.gaps[0])
    assert warm == Entry("encoder", "ownrecipe:colder").digest(V1.gaps[0])
    module = sys.modules["ownrecipe"]
    monkeypatch.setattr(module, "colder", lambda run: run.changed(unrolling__temperature={"start": 3.0, "end": 3.0}))
    assert warm != Entry("encoder", "ownrecipe:colder").digest(V1.gaps[0])


def test_the_first_run_that_the_page_tells_is_one_that_can_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """`cd examples && hardgap suite run own_model:make --quick`, as far as its plan."""
    root = Path(__file__).parents[2]
    assert "cd examples && hardgap suite run own_model:make --quick" in (root / "docs" / "suite.md").read_text()
    monkeypatch.syspath_prepend(root / "examples")
    monkeypatch.delitem(sys.modules, "own_model", raising=False)
    asked = plan(V1, Entry("own_model:make"), quick=True, seed=0, scale="smoke")
    assert len(asked.runs) == asked.planned == 69
    monkeypatch.delitem(sys.modules, "own_model", raising=False)
