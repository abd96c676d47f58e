"""The public names, as a researcher uses them."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hardgap as hg
from hardgap.cli import main
from hardgap.runs.store import Store
from hardgap.runs.tidy import POINT

RESULTS = Path(__file__).parents[2] / "results"
NETWORK = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, rows):
        return self.linear(rows)

def fails(width):
    raise RuntimeError("no luck")

class Holder:
    class Inner(Net):
        pass
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A user's own module, in a folder that only this process knows of."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "my_nets.py").write_text(NETWORK)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "my_nets", raising=False)
    return importlib.import_module("my_nets")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> hg.Result:
    return hg.train(hg.Automaton(30, hide=3, scale="smoke"), tmp_path_factory.mktemp("store"), watch=False)


def test_a_table_with_a_factory_is_a_network_of_ones_own(nets: Any) -> None:
    run = hg.Automaton(30, hide=3, scale="smoke", model={"factory": "my_nets:Net"})
    assert run == hg.Automaton(30, hide=3, scale="smoke", model=nets.Net)
    assert hg.grid(hg.Automaton(30, hide=3, scale="smoke"), model=[{"factory": "my_nets:Net"}, {"layers": 1}])[0] == run


def test_every_public_name_is_there_and_completes() -> None:
    assert {name for name in hg.__all__ if getattr(hg, name) is None} == set()
    assert set(hg.__all__) <= set(dir(hg))
    with pytest.raises(AttributeError, match="has no attribute 'Automata'"):
        _ = hg.Automata  # type: ignore[attr-defined]


# Runs


@pytest.mark.parametrize("hide", [5, "101", [5], ["101"], {5}, range(5, 6), (5,)])
def test_what_is_hidden_can_be_said_in_any_way(hide: Any) -> None:
    assert hg.Automaton(150, hide).id == hg.Automaton("150", hide=[5]).id


def test_arrays_are_as_good_as_lists() -> None:
    import numpy as np

    assert hg.Automaton(np.int64(150), np.array([3, 5]), seed=np.int64(2)).id == hg.Automaton(150, [3, 5], seed=2).id


@pytest.mark.parametrize("recipe", ["paper", "tempered"])
def test_a_run_is_the_one_that_the_command_line_would_train(recipe: Any, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--hide", "5", "--recipe", recipe, "--scale", "smoke", "--steps", "4", "--batch", "4", "--model", "conv"]
    with pytest.raises(SystemExit, match="0"):
        main(["train", "120", *asked, "--seed", "3", "--store", "runs"])
    capsys.readouterr()
    run = hg.Automaton("L1 ^ (C & R1)", "101", recipe=recipe, scale="smoke", model="conv", seed=3,
                       budget__steps=4, optimiser={"batch": 4})  # fmt: skip
    assert [one.id for one in hg.results("runs")] == [run.id]


def test_chains_are_those_of_the_command_line() -> None:
    from hardgap.cli.symbolic_options import configure

    same = configure("desk", "&L", {"condition": "opaque", "bits": 4, "steps": 3000})
    assert hg.Chains("&L", condition="opaque", bits=4, budget__steps=3000).id == same.id
    alone = hg.Chains("&L", condition="label-only")
    assert (alone.optimiser.batch, alone.id) == (192, configure("desk", "&L", {"condition": "label-only"}).id)
    with pytest.raises(hg.BadInput, match="condition: input should be 'familiar', 'opaque' or 'label-only'"):
        hg.Chains("&L", condition=["opaque"])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: hg.Automaton(150, 9), "hide: Rule 150 has patterns 0 to 7, not 9"),
        (lambda: hg.Automaton(150, 3, recipe="hot"), "recipe 'hot': choose paper, tempered"),
        (lambda: hg.Automaton(150, 3, scale="huge"), "scale 'huge': choose smoke, desk, paper"),
        (lambda: hg.Automaton(150, 3, widht=9), r"widht is not known \(did you mean width\?\)"),
        (lambda: hg.Automaton(150, 3, unrolling__feedbak="hard"), r"unrolling.feedbak is not known .did you mean feed"),
        (lambda: hg.Automaton(150, 3, model="convv"), "model convv: choose encoder, conv, or your own"),
        (lambda: hg.Automaton(150, 3, model=lambda width: None), "cannot be imported from"),
        (lambda: hg.Chains("^"), "holdout|operators|chain"),
        (lambda: hg.Chains("^|", hide=3), "hide is not known"),
        (lambda: hg.grid(hg.Automaton(150, 3), seed=3), r"seed: give a list of values, \[3\]"),
        (lambda: hg.grid(hg.Automaton(150, 3), model="conv"), "model: give a list of values, .'conv'."),
        (lambda: hg.study("main"), "main is several studies, name one: main/rule-d-soft"),
        (lambda: hg.study("mian"), "did you mean main"),
        (lambda: hg.results("nowhere"), "there is no store at nowhere"),
        (lambda: hg.study("main/rule-d-soft").measure("nowhere"), "there is no store at nowhere"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(hg.BadInput, match=sentence):
        make()


def test_a_field_that_changes_takes_along_what_depends_on_it() -> None:
    run = hg.Automaton(150, 5, recipe="tempered")
    hard, none = hg.grid(run, unrolling__feedback=["hard", "none"])
    assert hard.unrolling.temperature.start == 1.0
    assert none.unrolling.steps == 1
    (soft,) = hg.grid(none, unrolling__feedback=["soft"])
    assert soft.unrolling.steps == 4
    (shorter,) = hg.grid(run, budget__steps=[785])
    assert shorter.budget.restart_at == 300
    (cooler,) = hg.grid(run, unrolling=[{"temperature": {"start": 4, "end": 4}}])
    assert (cooler.unrolling.temperature.start, cooler.unrolling.steps) == (4.0, 4)


def test_a_grid_keeps_order_and_drops_what_is_the_same() -> None:
    runs = hg.grid(hg.Automaton(150, 5), hide=[[3], [1, 4]], seed=[0, 1, 1])
    assert [(run.hide, run.seed) for run in runs] == [((3,), 0), ((3,), 1), ((1, 4), 0), ((1, 4), 1)]


# A network of one's own


def test_a_class_is_a_network_and_its_code_belongs_to_the_run(nets: Any) -> None:
    run = hg.Automaton(30, 3, scale="smoke", model=nets.Net)
    assert run.id == hg.Automaton(30, 3, scale="smoke", model="my_nets:Net").id
    assert len(run.plugins()["my_nets:Net"] or "") == 64
    assert type(hg.train(run).model()).__name__ == "Net"
    runs = hg.grid(hg.Automaton(30, 3, scale="smoke"), model=["encoder", "conv", nets.Net])
    assert runs[2].id == run.id
    assert hg.grid(run, model=[nets.Net, "conv"])[0] == run  # named again, its code still belongs to it


def test_changed_code_is_a_new_run_and_is_said(nets: Any, capsys: pytest.CaptureFixture[str]) -> None:
    first = hg.train(hg.Automaton(30, 3, scale="smoke", model=nets.Net))
    path = Path(nets.__file__)
    path.write_text(path.read_text() + "# better\n")
    run = hg.Automaton(30, 3, scale="smoke", model=nets.Net)
    assert run.id != first.id
    with pytest.raises(hg.BadInput, match="the code changed after it was imported; start Python again"):
        hg.train(run)
    assert f"the code of my_nets:Net changed since run {first.id}; this is a new run" in capsys.readouterr().err


def test_a_class_that_no_other_process_finds_is_refused(nets: Any) -> None:
    class Local(nets.Net):  # type: ignore[misc, name-defined]
        pass

    for code in (Local, nets.Holder.Inner, nets.Net(9)):
        with pytest.raises(hg.BadInput, match=r"cannot be imported from|has no name to import it by"):
            hg.Automaton(30, 3, model=code)


def test_a_class_of_a_script_is_refused_with_what_to_do() -> None:
    script = "import hardgap as hg\nclass Net: pass\ntry:\n    hg.Automaton(30, 3, model=Net)\n"
    script += "except hg.BadInput as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Net is defined in this session or script" in done.stdout
    assert "write it to a file, such as nets.py, and say `from nets import Net`" in done.stdout


def test_a_stored_run_does_not_name_code_by_being_varied(nets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from hardgap.core import plugins

    hg.train(hg.Automaton(30, 3, scale="smoke", model=nets.Net))
    monkeypatch.setattr(plugins, "_trusted", set())  # another session
    (result,) = hg.results()
    (other,) = hg.grid(result.run, seed=[1])
    for use in (lambda: hg.train(other), result.model):
        with pytest.raises(hg.BadInput, match=r"is named by a stored run, not by you.*trust it if"):
            use()
    hg.trust("my_nets:Net")
    assert hg.train(other).run.seed == 1


# Results


def test_training_again_answers_at_once(trained: hg.Result) -> None:
    seen: list[dict[str, Any]] = []
    again = hg.train(trained.run, trained.store, watch=seen.append)
    assert (again.curve, seen) == (trained.curve, [])


def test_a_function_is_told_every_evaluation() -> None:
    seen: list[dict[str, Any]] = []
    result = hg.train(hg.Automaton(30, 3, scale="smoke"), watch=seen.append)
    assert seen == result.curve


def test_the_threads_of_the_session_stay(trained: hg.Result) -> None:
    import torch

    before = torch.get_num_threads()
    hg.train(hg.Automaton(30, 3, scale="smoke", seed=5), trained.store)
    assert torch.get_num_threads() == before


def test_a_result_tells_its_numbers(trained: hg.Result) -> None:
    assert (trained.holdout, trained.visible) == (trained.curve[-1]["holdout"], trained.curve[-1]["visible"])
    assert trained.summary.steps == trained.run.budget.steps == 2
    assert trained.stopped == "budget"
    assert trained.snapshots[-1] == 2
    assert "<td>hidden</td>" in trained._repr_html_()
    assert str(trained.table()).startswith("Rule 30, pattern 011 hidden")
    assert trained.table().frame().shape == (8, 5)
    assert trained.table().latex().startswith(r"\begin{table}")


def test_a_certificate_of_nothing_is_refused(trained: hg.Result) -> None:
    with pytest.raises(hg.BadInput, match="steps 0: at least one training step is needed"):
        trained.certify(steps=0)


def test_a_network_is_opened_by_name(trained: hg.Result) -> None:
    found = trained.open("probes", "rule", seed=1)
    assert list(found) == ["rule", "probes"]
    assert found["rule"].data["entries"][3]["hidden"]
    assert len(found["rule"].table().rows) == 8
    assert found._repr_html_().count("<table>") == 2
    with pytest.raises(hg.BadInput, match=r"rul: there is no such analysis \(did you mean rule\?\)"):
        trained.open("rul")


def test_what_does_not_apply_says_why() -> None:
    result = hg.train(hg.Automaton(30, 3, scale="smoke", model="conv"))
    found = result.open("rule", "heads")
    assert list(found) == ["rule"]
    assert "heads" not in found
    with pytest.raises(hg.BadInput, match="heads does not apply: "):
        _ = found["heads"]
    with pytest.raises(hg.BadInput, match=r"attention|encoder|heads"):
        result.open("heads")


def test_only_chains_can_be_asked(trained: hg.Result) -> None:
    with pytest.raises(hg.BadInput, match="a network of cellular automata cannot be asked integers"):
        trained.ask(1, 2, 3)
    chain = hg.train(hg.Chains("^|", scale="smoke"), trained.store)
    assert len(chain.ask(12, 7, 33, 43, 21).tokens) > 5
    with pytest.raises(hg.BadInput, match="give 5 integers from 0 to 63"):
        chain.ask(12)
    lens = chain.open("lens")["lens"]
    assert lens.table().rows[0][1] == next(iter(next(iter(lens.data["holdout"].values())).values()))


def test_finished_runs_are_found_by_their_config(trained: hg.Result) -> None:
    for seed in (1, 2):
        hg.train(hg.Automaton(110, [3, 5], scale="smoke", seed=seed))
    hg.train(hg.Automaton(30, 3, scale="smoke"))
    assert [one.run.seed for one in hg.results(rule=110, seed=[1, 2, 3], unrolling__feedback="soft")] == [1, 2]
    assert len(hg.results(hide=[3, 5])) == 2
    assert len(hg.results(hide=3)) == 1
    with pytest.raises(hg.BadInput, match="runs have no field 'sede'; did you mean seed"):
        hg.results(sede=1)


def test_results_are_frames() -> None:
    for run in hg.grid(hg.Automaton(30, 3, scale="smoke"), seed=range(2), unrolling__feedback=["soft", "none"]):
        hg.train(run)
    found = hg.results()
    frame = found.frame()
    assert frame.shape[0] == 4
    assert {"run", "rule", "unrolling.feedback", "budget.steps", "final_holdout", "seconds"} <= set(frame.columns)
    points = found.points()
    assert tuple(points.columns[: len(POINT)]) == POINT
    assert {"seed", "unrolling.feedback", "unrolling.temperature.start"} < set(
        points.columns
    )  # what does not vary, too
    assert len(points) == sum(len(one.curve) for one in found)
    assert len(found.table().rows) == 4
    assert len(found[1:3].frame()) == 2


def test_held_out_pairs_and_accuracy_on_them_are_two_columns() -> None:
    for holdout in ("^|", "&L"):
        hg.train(hg.Chains(holdout, scale="smoke"))
    points = hg.results().points()
    assert set(points["config.holdout"]) == {"^|", "&L"}
    assert points["holdout"].between(0, 1).all()


@pytest.mark.slow
def test_a_sweep_finds_code_where_its_driver_does_and_names_what_failed(nets: Any) -> None:
    runs = hg.grid(hg.Automaton(30, 3, scale="smoke"), seed=range(2), model=["conv", nets.fails, nets.Net])
    found = hg.sweep(runs, "runs", workers=1, watch=False)
    failing = [run.id for run in runs if "fails" in run.describe()]
    assert [one.id for one in found] == [run.id for run in runs if run.id not in failing]
    assert sorted(found.failed) == sorted(failing)
    assert all("no luck" in why for why in found.failed.values())
    assert repr(found) == "4 runs in runs, 2 failed"
    assert not found.left
    twice = hg.sweep([runs[0], runs[0]], "runs", workers=1, watch=False)
    assert [one.id for one in twice] == [runs[0].id]  # a run is one run, however often it is named
    assert found[1].certify(steps=1).passed  # its processes find the code, too
    with pytest.raises(hg.BadInput, match="workers 0: at least one is needed"):
        hg.sweep(runs, "runs", workers=0)


def test_without_pandas_it_says_how_to_have_it(trained: hg.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = hg.results(trained.store)
    with pytest.raises(hg.BadInput, match=r"pip install 'hardgap\[pandas\]'"):
        found.frame()
    assert found.rows()[0]["run"] == trained.id


# Claims


def test_a_claim_has_a_verdict_from_what_a_store_holds() -> None:
    from hardgap.runs.results import import_runs

    import_runs(Store(Path("runs")), RESULTS / "main")
    found = hg.study("main/rule-150-long").measure("runs")
    assert found.verdict.startswith("differs (lower) at desk scale")
    assert found.frame()["recovered"].tolist() == [14]
    assert found.tables()[0].rows[0][0] == "main/rule-150-long"
    assert "differs (lower) at desk scale" in found._repr_html_()
    assert hg.study("main/rule-150-long").measure("runs", "smoke").verdict == ""
    assert hg.study("gf2").measure("runs").arms[0].comparison.verdict == "reproduced"
    with pytest.raises(hg.BadInput, match="scale 'big'"):
        hg.study("gf2").measure("runs", "big")  # type: ignore[arg-type]
    assert hg.list_studies()["main/rule-150-long"].startswith("Given 4.4 times as long")
