"""A run that comes out otherwise when it is trained again: its weights open as a replica, and everybody says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hardgap as hg
from hardgap.nn.native import engine
from hardgap.runs.store import Store

from .conftest import Call

pytestmark = pytest.mark.usefixtures("one_thread")
NO_NATIVE = pytest.mark.skipif(not engine.state_of(None).startswith("ready"), reason=engine.state_of(None))
AUTOMATON = ["train", "30", "--hide", "3", "--scale", "smoke", "--steps", "6"]
CHAINS = ["symbolic", "train", "^&", "--operators", "^,|,&,R", "--bits", "4", "--scale", "smoke", "--steps", "6",
          "--evaluate-every", "2"]  # fmt: skip
REPLICA = "opens as a REPLICA"


@pytest.fixture
def call(call: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Each time as if no replica had been named yet."""
    monkeypatch.setenv(engine.VARIABLE, "eager")
    from hardgap.runs import weights

    def run(*arguments: object) -> tuple[int, str, str]:
        weights._told.clear()
        return call(*arguments)

    return run


def measured_elsewhere(call: Call, command: list[str], change: Callable[[dict[str, Any]], object]) -> str:
    """A run in `results/` and in the store `here`, which has no weights of it; its file may be changed before."""
    run = str(json.loads(call(*command, "--store", "elsewhere", "--json")[1])["run"])
    call("runs", "export", "results", "--store", "elsewhere")
    file = Path("results") / f"{run}.json"
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    call("runs", "import", "results", "--store", "here")
    return run


def stopped_earlier(data: dict[str, Any]) -> None:
    data["curve"].pop()
    data["stopped"] = "solved"


def rounded_otherwise(data: dict[str, Any]) -> None:
    data["curve"][-2]["loss"] += 1e-7


@pytest.mark.parametrize("change", [stopped_earlier, rounded_otherwise])
def test_a_run_that_comes_out_otherwise_opens_as_a_replica(call: Call, change: Callable[[Any], None]) -> None:
    run = measured_elsewhere(call, AUTOMATON, change)
    here = ["--store", "here"]
    assert "has no weights" in call("circuits", run, "--only", "rule", *here)[2]
    code, _, err = call("runs", "retrain", run, *here)
    assert code == 1
    assert "the curve differs (another machine or version): it ended at step 6 with" in err

    code, out, err = call("circuits", run, "--only", "rule", "--json", *here)
    assert (code, REPLICA in err, json.loads(out)["replica"]) == (0, True, True)
    assert "a replica" in json.loads(out)["about"]
    code, out, err = call("baselines", run, "--method", "majority", "--size", "20", "--json", *here)
    assert (code, REPLICA in err, "a replica" in json.loads(out)["runs"][0]["about"]) == (0, True, True)
    assert "has no snapshot at step 7; it has 0, " in call("circuits", run, "--step", "7", *here)[2]

    committed = json.loads((Path("results") / f"{run}.json").read_text())["curve"]
    shown = json.loads(call("runs", "show", run, "--json", *here)[1])
    assert shown["curve"] == committed  # the result is as it was
    assert shown["replica"]["curve"] != committed
    assert (shown["replica"]["steps"], "processor" in shown["replica"]["versions"]) == (6, True)
    assert "Curve of its replica" in call("runs", "show", run, *here)[1]

    (result,) = hg.results("here")
    assert result.replica is not None
    assert result.replica.curve == shown["replica"]["curve"]
    assert result.snapshots == result.replica.snapshots != []
    assert result.model() is not None

    call("runs", "rm", run, *here)
    assert list(Path("here").rglob(f"*{run}*")) == []


def test_a_replica_is_followed_over_time(call: Call) -> None:
    run = measured_elsewhere(call, AUTOMATON, stopped_earlier)
    call("runs", "retrain", run, "--store", "here")
    code, out, err = call("circuits", run, "--over-time", "--json", "--store", "here")
    assert (code, err.count(REPLICA), json.loads(out)["replica"]) == (0, 1, True)
    assert "step 6" in err  # the run itself ended at 4


def test_the_same_bits_are_no_replica(call: Call) -> None:
    run = measured_elsewhere(call, AUTOMATON, lambda data: None)
    code, _, err = call("runs", "retrain", run, "--store", "here")
    assert (code, "the same, bit for bit" in err) == (0, True)
    code, out, err = call("circuits", run, "--only", "rule", "--json", "--store", "here")
    assert (code, REPLICA in err, json.loads(out)["replica"]) == (0, False, False)
    assert json.loads(call("runs", "show", run, "--json", "--store", "here")[1])["replica"] is None


@NO_NATIVE
def test_another_engine_makes_a_replica(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    run = measured_elsewhere(call, AUTOMATON, lambda data: None)
    monkeypatch.setenv(engine.VARIABLE, "native")
    assert call("runs", "retrain", run, "--store", "here")[0] == 1
    err = call("circuits", run, "--only", "rule", "--store", "here")[2]
    assert f"{REPLICA} (" in err
    assert "native" in err


def test_weights_with_another_curve_do_not_pass_for_the_runs_own(call: Call) -> None:
    """As a store has them in which an earlier version has retrained."""
    run = measured_elsewhere(call, AUTOMATON, rounded_otherwise)
    shutil.copytree("elsewhere/checkpoints", "here/checkpoints")
    assert "has no weights" in call("circuits", run, "--only", "rule", "--store", "here")[2]
    assert "has no weights" in call("circuits", run, "--only", "rule", "--step", "2", "--store", "here")[2]
    assert call("runs", "retrain", run, "--store", "here")[0] == 1
    assert REPLICA in call("circuits", run, "--only", "rule", "--step", "2", "--store", "here")[2]


def test_a_symbolic_replica_chooses_its_own_checkpoint(call: Call) -> None:
    def chosen_elsewhere(data: dict[str, Any]) -> None:
        for point, merit in zip(data["curve"], (0.0, 1.0, 0.0, 0.0), strict=True):
            point["detail"]["eval"] = {"holdout": merit, "seen": merit}

    run = measured_elsewhere(call, CHAINS, chosen_elsewhere)
    assert call("runs", "retrain", run, "--store", "here")[0] == 1
    own = json.loads(call("runs", "show", run, "--json", "--store", "here")[1])["replica"]["curve"]
    best = max(own, key=lambda p: (p["detail"]["eval"]["holdout"], p["detail"]["eval"]["seen"], -p["step"]))
    code, out, err = call("symbolic", "analyse", run, "--only", "corruption", "--examples", "4", "--json",
                          "--store", "here")  # fmt: skip
    (found,) = json.loads(out)["runs"]
    assert (code, REPLICA in err, found["replica"], found["step"]) == (0, True, True, best["step"])
    code, out, err = call("symbolic", "ask", run, 12, 7, 3, 15, 5, "--json", "--store", "here")
    assert (code, REPLICA in err, json.loads(out)["replica"]) == (0, True, True)


@pytest.mark.parametrize("change", [stopped_earlier, lambda data: None])
def test_kept_weights_open_where_there_is_no_store(call: Call, change: Callable[[Any], None]) -> None:
    run = measured_elsewhere(call, AUTOMATON, change)
    code = call("runs", "retrain", run, "--store", "here")[0]
    call("runs", "weights", "results", run, "--store", "here")
    names = {path.name for path in Path("results/weights").iterdir()}
    network = f"{run}.step-00000006.safetensors"
    assert names == {network, f"{network}.sha256"} | ({f"{run}.replica.json"} if code else set())

    code, out, err = call("circuits", run[:6], "--only", "rule", "--json")  # nothing but results/
    assert (code, f"run {run} and its weights come from results/" in err) == (0, True)
    assert json.loads(out)["replica"] == (REPLICA in err) == (change is stopped_earlier)
    again = call("circuits", run, "--only", "rule", "--json")
    assert (again[0], again[1], "come from" in again[2]) == (0, out, False)
    assert json.loads(call("circuits", run, "--only", "rule", "--json", "--store", "here")[1]) == json.loads(out)
    assert "1 run taken in, 0 already here, weights of 1 run" in call("runs", "import", "results", "--store", "b")[2]
    assert call("circuits", run, "--only", "rule", "--json", "--store", "b")[1] == out

    call("runs", "weights", "film", run, "--film", "--store", "here")
    steps = sorted(path.name.split(".")[1] for path in Path("film/weights").glob("*.safetensors"))
    assert (steps[0], steps[-1], len(steps) > 2) == ("step-00000000", "step-00000006", True)

    solved = call("baselines", "--solved", "30", "--method", "majority", "--size", "20", "--json", "--store", "d")
    assert f"run {run} and its weights come from results/" in solved[2]  # and then it is asked whether it is solved

    Path(f"results/weights/{network}").write_bytes(b"no weights")
    assert "does not match its checksum" in call("circuits", run, "--only", "rule", "--store", "c")[2]


def test_a_longer_run_goes_on_elsewhere_from_a_state_that_came_as_a_file(call: Call) -> None:
    short = json.loads(call(*AUTOMATON, "--store", "here", "--json")[1])["run"]
    longer = [*AUTOMATON[:-1], "10"]
    expected = json.loads(call(*longer, "--store", "at-once", "--json")[1])
    call("runs", "export", "results", "--store", "here")
    assert "2 files written" in call("runs", "weights", "results", short, "--state", "--store", "here")[2]

    call("runs", "import", "results", "--store", "there")
    code, _, err = call(*longer, "--store", "there")
    assert (code, "step 0/10" in err, "step 7/10" in err) == (0, False, True)
    found = json.loads(call(*longer, "--store", "there", "--json")[1])
    assert found | {"seconds": 0} == expected | {"seconds": 0}
    curves = [Store(Path(place)).curve(expected["run"]) for place in ("there", "at-once")]
    assert curves[0] == curves[1]

    call("runs", "weights", "bare", short, "--store", "here")
    call("runs", "export", "bare", "--store", "here")
    call("runs", "import", "bare", "--store", "elsewhere")
    code, _, err = call("runs", "weights", "again", short, "--state", "--store", "elsewhere")
    assert (code, "came to elsewhere without its state: no longer run can go on from it" in err) == (2, True)
    assert not Path("again").exists()
    call("runs", "import", "results", "--store", "elsewhere")  # the state comes after the weights
    assert "step 7/10" in call(*longer, "--store", "elsewhere")[2]


def test_committed_networks_open_from_any_folder(call: Call) -> None:
    assert not Path("results").exists()  # where the command is called
    run = "6b47cd83c3a6"  # docs/tempered.md opens it
    code, _, err = call("circuits", run, "--only", "rule")
    assert (code, f"run {run} and its weights come from results/" in err) == (0, True)


def test_retrained_runs_are_compared_in_one_file(call: Call) -> None:
    same = measured_elsewhere(call, AUTOMATON, lambda data: None)
    other = measured_elsewhere(call, [*AUTOMATON, "--seed", "1"], stopped_earlier)
    both = ["runs", "retrain", same, other, "--compare", "machines.json", "--store", "here"]
    code, out, err = call(*both, "--json")
    assert (code, json.loads(out)) == (1, json.loads(Path("machines.json").read_text()))
    one, two = json.loads(out)["runs"]
    assert (one["run"], one["identical"], two["run"], two["identical"]) == (same, True, other, False)
    assert (two["committed"]["steps"], two["again"]["steps"]) == (4, 6)
    assert err.count("bit for bit") == 1
    code, out, err = call(*both)  # all is there: nothing is trained
    assert (code, "bit for bit" in err, same in out, other in out) == (1, False, True, True)
    assert call("runs", "retrain", same, "--compare", "machines.json", "--store", "here")[0] == 0

    Path("machines.json").write_text("[]")
    code, _, err = call(*both)
    assert (code, "machines.json holds no comparison of retrained runs" in err) == (2, True)
    code, _, err = call("runs", "retrain", "--store", "here")
    assert (code, "which runs?" in err) == (2, True)
