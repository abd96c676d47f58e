"""`--stack N`: workers train several runs as one network; each is claimed, saved, finished and marked by itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hardgap as hg
from hardgap.cli import main
from hardgap.core.loop import Observer
from hardgap.core.plugins import trust
from hardgap.nn.native import engine
from hardgap.runs import stackable
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.execute import Execution
from hardgap.runs.groups import groups
from hardgap.runs.owner import me
from hardgap.runs.retrain import retrain_run
from hardgap.runs.stacked import work_stacked
from hardgap.runs.store import Store
from hardgap.runs.train import train_here
from hardgap.studies.measure import measure
from hardgap.studies.study import STUDIES
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.chains.run import SymbolicRun

Tiny = Callable[..., AutomatonRun]
pytestmark = pytest.mark.usefixtures("one_thread")

SWEEP = """
[base]
rule = "30"
hide = [3]
width = 7
train_rows = 16
test_rows = 16
optimiser = { batch = 6 }
budget = { steps = 7, evaluate_every = 3 }
model = { kind = "encoder", dim = 8, heads = 2, layers = 1, ffn = 16 }

[grid]
seed = [0, 1, 2]
"""


NETWORKS = """
import torch
from torch import nn

class Net(nn.Linear):
    def forward(self, cells):
        return super().forward(cells)

def plain(width):
    return Net(width, width)

def dropping(width):
    return nn.Sequential(Net(width, width), nn.Dropout(0.5))

def counting(width):
    net = Net(width, width)
    net.register_buffer("seen", torch.zeros(()))
    return net

def frozen(width):
    net = Net(width, width)
    net.bias.requires_grad_(False)
    return net

class Failing(Net):
    steps = 0
    def forward(self, cells):
        if self.training and len(cells) > 6:  # padded, so in a stack
            Failing.steps += 1
            if Failing.steps > 40:
                raise RuntimeError("no more")
        return super().forward(cells)

def failing(width):
    return Failing(width, width)

def unmade(width):
    raise RuntimeError("no such width")
"""


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engine.VARIABLE, "auto")


def trained(store: Store, runs: list[Any], rows: int, stop: threading.Event | None = None) -> Store:
    """What a worker does, in this process."""
    store.add(runs)
    with store.wanted((run.id, 0) for run in runs) as wanted:
        work_stacked(store, wanted, me(), stop or threading.Event(), 15.0, rows)
    return store


def results(store: Store, runs: list[Any]) -> dict[str, Any]:
    """Every curve and every last weight."""
    found = {}
    for run in runs:
        state = Checkpoints(store.folder, run.id).latest()
        assert state is not None
        found[run.id] = store.curve(run.id), {name: tensor.tolist() for name, tensor in state[0].items()}
    return found


def test_places_are_taken_again_and_shapes_kept_apart(tiny: Tiny, tmp_path: Path) -> None:
    lengths = [{"steps": steps, "evaluate_every": 3} for steps in (4, 9, 6)]
    runs = [tiny(width=width, seed=seed, budget=lengths[seed]) for width in (7, 9) for seed in range(3)]
    few, many = trained(Store(tmp_path / "few"), runs, 2), trained(Store(tmp_path / "many"), runs[::-1], 8)
    assert results(few, runs) == results(many, runs)
    assert {row.versions["engine"] for row in few.rows()} == {"stacked"}
    alone = Store(tmp_path / "alone")
    alone.add(runs)
    assert alone.claim([runs[0].id], me()) == runs[0].id
    Execution(alone, runs[0], me(), engine=engine.STACKED)()
    assert results(alone, runs[:1]) == results(few, runs[:1])


def test_a_run_stopped_in_a_stack_goes_on_in_one_bitwise_and_alone_if_asked(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [tiny(seed=seed) for seed in range(3)]
    whole, store = trained(Store(tmp_path / "whole"), runs, 3), Store(tmp_path / "stopped")
    stop, steps = threading.Event(), iter(range(100))
    beat = store.add_points
    monkeypatch.setattr(store, "add_points", lambda *given: (stop.set() if next(steps) == 4 else None, beat(*given))[1])
    trained(store, runs, 3, stop)
    assert {status for status, _ in store.progress(run.id for run in runs).values()} == {"queued"}
    for run in runs[:2]:  # one goes on as it began, the other as asked
        chosen = {} if run is runs[0] else {"engine": engine.EAGER}
        assert store.claim([run.id], me()) == run.id
        Execution(store, run, me(), **chosen)()
    trained(store, runs, 3)
    engines = [store.get(run.id).versions["engine"] for run in runs]
    assert engines == ["stacked", "stacked, then eager", "stacked"]
    same = [results(store, [run]) == results(whole, [run]) for run in runs]
    assert same == [True, False, True]
    assert "was begun with stacked, goes on with eager" in capsys.readouterr().err


def test_a_stacked_run_is_retrained_to_the_bit(tiny: Tiny, tmp_path: Path) -> None:
    runs = [tiny(seed=seed) for seed in range(2)]
    store = trained(Store(tmp_path), runs, 2)
    assert retrain_run(store, store.get(runs[0].id), Observer()).same


@pytest.fixture
def own_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """Networks of a user's own, by name."""
    (tmp_path / "own_networks.py").write_text(NETWORKS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(stackable, "_tried", {})
    trust(f"own_networks:{name}" for name in ("dropping", "counting", "frozen", "plain", "failing", "unmade"))
    return lambda name: {"kind": "plugin", "factory": f"own_networks:{name}"}


def test_what_cannot_be_stacked_is_said_and_trained_by_itself(
    tiny: Tiny, tmp_path: Path, own_networks: Callable[[str], dict[str, Any]], capfd: pytest.CaptureFixture[str]
) -> None:
    runs = {name: tiny(model=own_networks(name)) for name in ("dropping", "counting", "frozen", "plain")}
    runs["dropout"] = tiny(model={"kind": "encoder", "dim": 8, "heads": 2, "dropout": 0.1})
    sizes = {"train_examples": 64, "eval_examples": 8, "test_examples": 8}
    chains = SymbolicRun(holdout="^|", budget={"steps": 2, "evaluate_every": 2}, **sizes)
    store = trained(Store(tmp_path / "store"), [*runs.values(), chains], 4)
    engines = {name: store.get(run.id).versions["engine"] for name, run in runs.items()}
    assert engines.pop("dropout") != "stacked"
    assert engines == dict.fromkeys(("dropping", "counting", "frozen"), "eager") | {"plain": "stacked"}
    assert "stacked" not in store.get(chains.id).versions["engine"]
    said = capfd.readouterr().err
    for run, why in (
        (runs["dropping"], "its network fails in a stack: RuntimeError: vmap"),
        (runs["dropout"], "its network fails in a stack: RuntimeError: vmap"),
        (runs["counting"], "its network has buffers, which a stack does not keep apart"),
        (runs["frozen"], "its network has parameters that are not trained"),
        (chains, "there are no stacks of chains of operators"),
    ):
        assert f"hardgap: run {run.id}, and others like it, are trained without a stack: {why}" in said


def test_a_network_that_fails_on_the_way_fails_alone(
    tiny: Tiny, tmp_path: Path, own_networks: Callable[[str], dict[str, Any]], capfd: pytest.CaptureFixture[str]
) -> None:
    """It does so in its third step, with others or by itself; its neighbour has no such step."""
    runs = [tiny(seed=seed, model=own_networks("failing"), budget={"steps": steps, "evaluate_every": 1})
            for seed, steps in ((0, 30), (1, 2))]  # fmt: skip
    store = trained(Store(tmp_path / "store"), runs, 2)
    assert [row.status for row in store.rows()] == ["failed", "done"]
    assert "RuntimeError: no more" in str(store.get(runs[0].id).error)
    assert "a stack of 1 failed, its runs go on one by one: RuntimeError: no more" in capfd.readouterr().err


def test_a_network_that_cannot_be_made_fails_alone(
    tiny: Tiny, tmp_path: Path, own_networks: Callable[[str], dict[str, Any]]
) -> None:
    runs = [tiny(model=own_networks(name)) for name in ("unmade", "plain")]
    store = trained(Store(tmp_path / "store"), runs, 2)
    assert [store.get(run.id).status for run in runs] == ["failed", "done"]
    assert "no such width" in str(store.get(runs[0].id).error)


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, said.out, said.err


def test_a_sweep_in_stacks_is_marked_wherever_it_is_shown(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sweep.toml").write_text(SWEEP)
    code, out, _ = call(capsys, "sweep", "sweep.toml", "--stack", "2", "--workers", "1", "--json")
    assert (code, [(one["status"], one["engine"]) for one in json.loads(out)]) == (0, [("done", "stacked")] * 3)
    assert (engine.asked(), stackable.asked()) == ("auto", 0)  # later commands of this process are as before
    store = Store(Path("hardgap-runs"))
    separate = store.rows()[0].config.but(seed=3)
    train_here(store, separate)
    assert call(capsys, "runs", "list")[1].count("stacked") == 3
    assert len(json.loads(call(capsys, "runs", "list", "--where", "engine=stacked", "--json")[1])) == 3
    assert groups(store)[1][0].about.endswith(", 3 of 4 stacked")
    found = hg.results(store)
    assert sorted(row["versions.engine"] == "stacked" for row in found.rows()) == [False, True, True, True]
    assert str(found.table().rows).count("stacked") == 3


def test_a_study_says_how_many_of_its_runs_were_stacked(tiny: Tiny, tmp_path: Path) -> None:
    runs = STUDIES["main/rule-d-none"].runs("smoke")[:3]
    store = trained(Store(tmp_path), runs[:2], 2)
    train_here(store, runs[2])
    found = measure(STUDIES["main/rule-d-none"], "smoke", store)
    assert found.tables()[0].title.endswith("(2 of 3 runs stacked)")
    assert found.as_dict()["arms"][0]["stacked"] == "2 of 3 stacked"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--stack", "0"], "--stack 0: at least one run has to be in it"),
        (
            ["--stack", "2", "--on", "ray"],
            "--stack 2: runs are stacked on this machine, not on ray; leave one of the two",
        ),
        (["--stack", "2", "--engine", "native"], "--stack 2: the engine native trains one run at a time; leave one"),
    ],
)
def test_a_stack_that_cannot_be_is_refused_before_anything_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sweep.toml").write_text(SWEEP)
    code, _, err = call(capsys, "sweep", "sweep.toml", *options)
    assert (code, f"hardgap: {words}" in err) == (2, True)
    assert not Path("hardgap-runs").exists()
