"""Data runs no code: a store, results and weights that name a module of the current folder import nothing."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hardgap.core import plugins
from hardgap.core.run import Run, validated
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.store import Store
from hardgap.worlds import parse_run
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.chains.run import SymbolicRun

from .conftest import Call

pytestmark = pytest.mark.usefixtures("one_thread")
Tiny = Callable[..., AutomatonRun]
numbers = itertools.count()

PLANTED = """
from pathlib import Path
from torch import nn
from hardgap.worlds.chains.operators import operator

Path("imported").touch()

def make(width):
    return nn.Linear(width, width)

@operator("x", "XNOR")
def xnor(a, b, mask):
    return ~(a ^ b) & mask
"""


@pytest.fixture
def call(call: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Each time as a new process would."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(plugins, "_trusted", set())
        monkeypatch.setattr(plugins, "_imported", {})
        for name in [name for name in sys.modules if name.startswith("planted_")]:
            del sys.modules[name]
        return call(*arguments)

    return run


@dataclass(frozen=True)
class Planted:
    """A module of the current folder, and finished runs in a store that name it."""

    module: str
    network: str
    chain: str

    @property
    def imported(self) -> bool:
        return Path("imported").exists()


def finish(store: Store, run: Run, like: Run) -> str:
    """A run of the store that was never trained: it has the result and the weights of another one."""
    from hardgap.runs.execute import build_trainer

    trainer = build_trainer(like)
    trainer.run()
    store.put_all_done([(run, [point.as_dict() for point in trainer.curve], "budget", {}, 1.0)])
    kept = Checkpoints(store.folder, run.id)
    kept.save_state(*trainer.state())
    for step in (0, trainer.step):
        kept.save_snapshot(trainer.weights(), step, run.model_dump(mode="json"))
    return run.id


@pytest.fixture
def planted(call: Call, tiny: Tiny) -> Planted:
    module = f"planted_{next(numbers)}"
    Path(f"{module}.py").write_text(PLANTED)
    store = Store(Path("hardgap-runs"))
    network = tiny(model={"kind": "plugin", "factory": f"{module}:make"})
    sizes = {"bits": 2, "ambiguity": "any", "train_examples": 30, "eval_examples": 2, "test_examples": 2}
    shape = {"budget": {"steps": 2, "evaluate_every": 2}, "model": {"dim": 8, "heads": 2, "layers": 1, "ffn": 16}}
    like = validated(SymbolicRun, {"holdout": "^|", "operators": ["^", "|", "&"], **sizes, **shape})
    chain = like.but(holdout="x|", operators=["|", "&", f"{module}:xnor"])
    return Planted(module, finish(store, network, tiny()), finish(store, chain, like))


LOOKS = [
    "runs list", "runs list --json", "runs show NETWORK", "runs show CHAIN --json", "runs export results",
    "runs import results", "reproduce main --no-run --scale smoke",
    "reproduce symbolic/coverage --no-run --scale smoke",
    "baselines --solved 30", "train 30 --hide 3 --scale smoke", "runs rm NETWORK", "runs rm CHAIN",
]  # fmt: skip
OPENS = [
    "runs retrain NETWORK", "runs retrain CHAIN", "runs certify NETWORK", "circuits NETWORK",
    "circuits NETWORK --over-time", "baselines NETWORK", "symbolic ask CHAIN 1 2 3 1 2", "symbolic analyse CHAIN",
]  # fmt: skip


def spell(line: str, planted: Planted) -> list[str]:
    return line.replace("NETWORK", planted.network).replace("CHAIN", planted.chain).split()


def test_looking_at_a_run_imports_nothing(call: Call, planted: Planted) -> None:
    for line in LOOKS:
        code, _, err = call(*spell(line, planted))
        assert code in (0, 2), err  # --solved finds none that is
        assert not planted.imported, line
        assert "--trust" not in err


def test_opening_a_run_that_names_code_is_refused_with_the_way_to_do_it(call: Call, planted: Planted) -> None:
    for line in OPENS:
        code, out, err = call(*spell(line, planted))
        assert (code, out) == (2, ""), line
        said = "is named by a stored run, not by you, and is not run: trust it if you know its code (--trust)"
        assert said in err.splitlines()[-1], line
        assert not planted.imported, line


@pytest.mark.parametrize("line", ["runs retrain NETWORK", "runs retrain CHAIN", "circuits NETWORK --only rule"])
def test_trusted_code_runs(call: Call, planted: Planted, line: str) -> None:
    _, _, err = call(*spell(line, planted), "--trust")
    assert "named by a stored run" not in err
    assert planted.imported


def test_weights_never_bring_a_network(call: Call, planted: Planted) -> None:
    weights = Checkpoints(Path("hardgap-runs"), planted.network).snapshots()[0]
    smoke = ["train", "30", "--hide", "3", "--scale", "smoke", "--init", weights]
    code, out, err = call(*smoke)
    assert (code, out) == (2, "")
    assert "its weights are for a network of somebody's own; name it with --model, too" in err
    assert not planted.imported
    # Named by the user, it is theirs; these weights are an encoder's and do not fit it.
    code, _, err = call(*smoke, "--model", f"{planted.module}:make")
    assert code == 2
    assert "name it with --model" not in err
    assert planted.imported
    own = Checkpoints(Path("hardgap-runs"), train(call, planted.module)[0]).snapshots()[2]
    assert call(*smoke[:-1], own)[0] == 2
    assert call(*smoke[:-1], own, "--model", f"{planted.module}:make")[0] == 0


# An edited file


def train(call: Call, module: str, *more: object) -> tuple[str, str, Any]:
    """A run with its own network, what was said, and how that network was recorded."""
    command = ["train", "30", "--hide", "3", "--scale", "smoke", "--model", f"{module}:make", "--json", *more]
    code, out, err = call(*command)
    assert code == 0, err
    return json.loads(out)["run"], err, json.loads(out)["config"]["model"]


def test_edited_code_is_another_run_and_both_results_stay(call: Call, planted: Planted) -> None:
    file = Path(f"{planted.module}.py")
    first, said, model = train(call, planted.module)
    assert "this is a new run" in said  # of the stored run it is not known with which code it was made
    assert train(call, planted.module)[::2] == (first, model)
    file.write_text(PLANTED.replace("nn.Linear(width, width)", "nn.Sequential(nn.Linear(width, width), nn.ReLU())"))
    second, said, edited = train(call, planted.module, "--steps", "4")
    assert edited["source"] != model["source"]
    assert f"the code of {planted.module}:make changed since run {first}; this is a new run" in said
    assert {row["run"] for row in json.loads(call("runs", "list", "--json")[1])} >= {first, second}
    for line in ("runs retrain", "runs certify", "circuits"):
        code, _, err = call(*line.split(), first, "--trust")
        assert code == 2
        assert f"source {model['source'][:8]} then, {edited['source'][:8]} now" in err
    file.write_text(PLANTED)
    assert train(call, planted.module)[0] == first
    assert "the curve is the same" in call("runs", "retrain", first, "--trust")[2]


def test_a_run_in_progress_does_not_go_on_with_other_code(call: Call, planted: Planted) -> None:
    """A longer run of the family begins anew, too: the family has the source in it."""
    first, _, _ = train(call, planted.module)
    Path(f"{planted.module}.py").write_text(PLANTED + "\n")
    second, _, _ = train(call, planted.module, "--steps", "4")
    store = Store(Path("hardgap-runs"))
    assert not store.shorter(store.get(second).config)
    assert store.get(first).status == store.get(second).status == "done"


def test_a_users_sweep_file_is_trusted_and_records_the_source(call: Call, planted: Planted) -> None:
    from hardgap.runs.sweep import read_sweep

    Path("own.toml").write_text(
        f'[base]\nrule = "30"\nhide = [3]\nbudget = {{steps = 2}}\n'
        f'model = {{kind = "plugin", factory = "{planted.module}:make"}}\n[grid]\nseed = [0, 1]\n'
    )
    runs = read_sweep(Path("own.toml"))
    source = plugins.source_of(f"{planted.module}:make")
    assert [run.plugins() for run in runs] == 2 * [{f"{planted.module}:make": source}]
    assert plugins.trusted() == [f"{planted.module}:make"]
    assert [parse_run(run.asked()) for run in runs] == runs
    assert not planted.imported
