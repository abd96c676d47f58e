"""The command line as a user meets it: data on stdout, one sentence on stderr, exit code 2, nothing lost."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hardgap.cli.app import COMMANDS
from hardgap.runs.store import MIGRATIONS, Store

from .conftest import Call

SMOKE = ["train", "30", "--hide", "3", "--scale", "smoke"]


def refused(answer: tuple[int, str, str]) -> str:
    """The one sentence of a refusal."""
    code, out, err = answer
    assert (code, out) == (2, ""), err
    assert err.startswith("hardgap: ")
    assert len(err.splitlines()) == 1
    return err


# Help


def test_help_loads_nothing_heavy_and_is_quick() -> None:
    code = """
import resource, sys
from hardgap.cli import main
for line in ("--help", "train --help", "runs --help", "sweep --help", "--version", "rule 30"):
    try:
        main(line.split())
    except SystemExit as ended:
        assert ended.code == 0, ended.code
    heavy = [name for name in ("torch", "sklearn", "scipy", "matplotlib") if name in sys.modules]
    print(line, heavy, resource.getrusage(resource.RUSAGE_SELF).ru_utime, file=sys.stderr, sep="|")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = [line.split("|") for line in done.stderr.splitlines()]
    assert len(lines) == 6
    assert {line[1] for line in lines} == {"[]"}
    assert float(lines[0][2]) < _seconds_of_torch() / 2  # about a fifth of them
    assert all(command in done.stdout for command in COMMANDS)


def _seconds_of_torch() -> float:
    """What one of the heavy modules costs on this machine, in seconds of CPU, to compare with."""
    code = "import resource, torch; print(resource.getrusage(resource.RUSAGE_SELF).ru_utime)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(call: Call, command: str) -> None:
    code, out, err = call(command, "--help")
    assert (code, err) == (0, "")
    assert "Usage" in out


def test_the_version_is_told(call: Call) -> None:
    import hardgap

    assert call("--version") == (0, f"{hardgap.__version__}\n", "")


# Refusals


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "banana", "--hide", "3"], "unknown rule 'banana'"),
        (["train", "256", "--hide", "3"], "rule number 256 is out of range"),
        (["rule", "rule 30"], "did you mean '30'?"),
        (["train", "30"], "say what to hide"),
        (["train", "30", "--hide", "8"], "--hide 8: Rule 30 has patterns 0 to 7"),
        (["train", "30", "--hide=-1"], "--hide -1: Rule 30 has patterns 0 to 7"),
        (["train", "30", "--hide", "x"], "--hide x"),
        (
            ["identify", "D", "--hide", "011"],
            "--hide 011: 011 could be pattern 11 or the cells 00011: write 11 or 00011",
        ),
        (["train", "150", "--hide", "9" * 5000], "patterns 0 to 7, not '99999"),
        (["train", "30", "--hide", ""], "--hide"),
        (["train", "30", "--hide", "1,1"], "named twice"),
        (["train", "30", "--hide", "0,1,2,3,4,5,6,7"], "all 8 patterns"),
        (["train", "30", "--hide-random", "8"], "--hide-random 8: Rule 30 can hide 1 to 7"),
        (["train", "30", "--hide", "3", "--hide-random", "2"], "say what to hide"),
        ([*SMOKE, "--width", "0"], "--width: input should be greater than 0, not 0"),
        ([*SMOKE, "--dropout", "1.5"], "--dropout: input should be less than 1, not 1.5"),
        ([*SMOKE, "--position-std", "-1"], "--position-std: input should be greater than or equal to 0, not -1.0"),
        ([*SMOKE, "--width", "2"], "width 2: a radius-1 rule needs at least 3 cells"),
        ([*SMOKE, "--width", "wide"], "--width"),
        (["identify", "30", "--hide", "3", "--seed=-1"], "--seed -1: a seed is not negative"),
        (["circuits", "9dcd", "--seed=-1"], "--seed -1: a seed is not negative"),
        (["baselines", "--rule", "30", "--hide", "3", "--seed=-1"], "--seed -1: a seed is not negative"),
        (["baselines", "--rule", "30", "--hide", "3", "--figure", "levels.gif"], "the name must end in"),
        ([*SMOKE, "--steps", "1.5"], "--steps: 1.5 is not a whole number"),
        (["symbolic", "train", "^|", "--bits", "2.5"], "--bits: 2.5 is not a whole number"),
        ([*SMOKE, "--model", "conv", "--positions", "waves"], "--positions waves belongs to the encoder"),
        ([*SMOKE, "--model", "conv", "--position-std", "2"], "--position-std 2.0 belongs to the encoder"),
        ([*SMOKE, "--learning-rate", "nan"], "--learning-rate: input should be a finite number, not nan"),
        ([*SMOKE, "--learning-rate", "-1"], "--learning-rate: input should be greater than 0"),
        ([*SMOKE, "--steps", "0"], "--steps: input should be greater than 0"),
        ([*SMOKE, "--batch", "0"], "--batch: input should be greater than 0"),
        ([*SMOKE, "--seed", "-1"], "--seed: input should be greater than or equal to 0"),
        ([*SMOKE, "--clip", "-1"], "--clip: input should be greater than 0"),
        ([*SMOKE, "--unroll", "none", "--unroll-steps", "3"], "without unrolling there is one step, not 3"),
        ([*SMOKE, "--unroll", "hard", "--temperature", "2"], "temperature belongs to soft feedback"),
        ([*SMOKE, "--temperature", "hot"], "--temperature hot"),
        ([*SMOKE, "--temperature", "4:1"], "write a number, or FROM:TO:STEPS"),
        ([*SMOKE, "--step-weights", "1,2"], "weights must be 4 numbers"),
        ([*SMOKE, "--model", "resnet"], "choose encoder, conv, or your own"),
        ([*SMOKE, "--model", "no.such:net"], "no.such:net cannot be imported"),
        ([*SMOKE, "--model", "no such:net!"], "--model: string should match pattern"),
        ([*SMOKE, "--scale", "huge"], "--scale"),
        (["reproduce", "main", "tempered/target", "--figure", "both.svg"], "these studies are several figures"),
        (["reproduce", "main", "--figure", "main.doc"], "the name must end in"),
        ([*SMOKE, "--init", "nowhere.safetensors"], "--init nowhere.safetensors: there is no such file"),
        (["runs", "list"], "there is no store at hardgap-runs"),
        (["runs", "show", "abc"], "there is no store at hardgap-runs"),
        (["runs", "import", "nowhere"], "there is no folder nowhere"),
        (["runs", "list", "--status", "don"], "--status don: choose queued, running, done, failed"),
        (["sweep", "nowhere.toml"], "cannot read nowhere.toml: No such file or directory"),
        (["rule", "30", "--width", "0"], "--width must be 1 to 10000"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_bad_input_gets_one_sentence(call: Call, arguments: list[str], words: str) -> None:
    assert words in refused(call(*arguments))


def test_a_formula_that_breaks_off_is_shown_with_the_place(call: Call) -> None:
    code, out, err = call("train", "L1 ^ (C |", "--hide", "3")
    assert (code, out) == (2, "")
    first, formula, pointer = err.splitlines()
    assert first.startswith("hardgap: cannot read the formula at column 10")
    assert formula.index("L1") + 9 == pointer.index("^")


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["train", "30", "--hid", "3"], "--hide"),
        ([*SMOKE, "--learnin-rate", "1"], "--learning-rate"),
        (["trian", "30"], "train"),
        (["runs", "lst"], "list"),
    ],
)
def test_a_slip_of_the_pen_gets_a_suggestion(call: Call, arguments: list[str], suggestion: str) -> None:
    said = refused(call(*arguments))
    assert f"Did you mean {suggestion}?" in said.replace('"', "")


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["reproduce", "mian"], "there is no study 'mian' (did you mean main?)"),
        (["reproduce", "main/rule-d-sfot"], "(did you mean main/rule-d-soft?)"),
        (["reproduce", "tempered/tagret"], "there is no study 'tempered/tagret' (did you mean tempered/target?)"),
    ],
)
def test_a_name_that_is_nearly_right_gets_a_suggestion(call: Call, arguments: list[str], suggestion: str) -> None:
    assert suggestion in refused(call(*arguments))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tempered", "reproduce --list tempered"),
        ("tempered dial --seeds 1", "reproduce tempered/dial --seeds 1"),
        ("tempered document page.md", "document page.md"),
        ("symbolic document page.md", "document page.md"),
        ("symbolic coverage --keep here --seeds 1", "reproduce symbolic/coverage --baselines here --seeds 1"),
        ("symbolic baselines --keep here", "symbolic baselines --baselines here"),
    ],
)
def test_a_command_that_has_gone_says_what_stands_in_its_place(call: Call, old: str, new: str) -> None:
    assert refused(call(*old.split())) == f"hardgap: `hardgap {old}` is `hardgap {new}` now\n"


def test_a_refused_training_leaves_no_trace(call: Call, tmp_path: Path) -> None:
    refused(call("train", "banana", "--hide", "3"))
    refused(call("train", "30", "--hide", "99"))
    refused(call(*SMOKE, "--width", "0"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [SMOKE, ["runs", "import"]])
def test_a_folder_that_cannot_be_made_is_refused(call: Call, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "file").write_text("a file, not a folder")
    assert "cannot open a store in file/store" in refused(call(*command, "--store", "file/store"))


# A store that is not what it should be


def spoil_newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")


def spoil_foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE birds (name TEXT)")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.write_bytes(b"anything but a database, for certain" * 99), "is not a usable store"),
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), "is not a usable store"),
        (spoil_foreign, "is a database of some other program"),
        (spoil_newer, "was written by a newer hardgap"),
    ],
    ids=["garbage", "cut", "foreign", "newer"],
)
@pytest.mark.parametrize("command", [["runs", "list"], SMOKE, ["runs", "export", "out"]], ids=lambda c: " ".join(c[:2]))
def test_a_store_that_cannot_be_used_is_refused_and_left_alone(
    call: Call, tmp_path: Path, command: list[str], spoil: Callable[[Path], Any], words: str
) -> None:
    Store(tmp_path / "hardgap-runs").close()
    path = tmp_path / "hardgap-runs" / "runs.sqlite"
    spoil(path)
    before = path.read_bytes()
    said = refused(call(*command))
    assert "runs.sqlite" in said
    assert words in said
    assert path.read_bytes() == before
    assert not (tmp_path / "out").exists()


# The ordinary way


def test_train_then_look_then_export_then_import_then_remove(call: Call, tmp_path: Path) -> None:
    code, out, err = call(*SMOKE, "--json")
    assert code == 0
    trained = json.loads(out)
    run = trained["run"]
    assert trained["status"] == "done"
    assert trained["stopped"] == "budget"
    assert len(trained["patterns"]) == 8
    assert trained["config"]["hide"] == [3]
    assert "Rule 30, pattern 011 hidden, soft×4, width 9, seed 0" in err
    assert "step 2/2: visible" in err

    code, out, err = call(*SMOKE, "--json")
    assert json.loads(out) == trained
    assert "step" not in err  # answered from the store

    (listed,) = json.loads(call("runs", "list", "--json")[1])
    assert listed.pop("differs") == ""  # there is nothing else
    assert {key: trained[key] for key in listed} == listed
    table = call("runs", "show", run)[1]
    assert "unrolling.feedback" in table
    assert not set("{}[]'") & set(table.partition("Curve")[0])  # a config as its user writes it
    shown = json.loads(call("runs", "show", run[:5], "--json")[1])
    assert [point["step"] for point in shown["curve"]] == [0, 2]
    assert shown["versions"]["threads"] == 1

    assert "1 file written to results" in call("runs", "export", "results")[2]
    assert "1 run taken in, 0 already here" in call("runs", "import", "results", "--store", "other")[2]
    again = json.loads(call("runs", "show", run, "--json", "--store", "other")[1])
    assert again["curve"] == shown["curve"]
    assert "the curve is the same, bit for bit" in call("runs", "retrain", run, "--store", "other")[2]

    assert f"removed {run}" in call("runs", "rm", run)[2]
    assert json.loads(call("runs", "list", "--json")[1]) == []
    assert not (tmp_path / "hardgap-runs" / "checkpoints" / run).exists()
    assert f"there is no run {run}" in refused(call("runs", "show", run))


def test_retraining_says_whose_weights_are_here(call: Call, tmp_path: Path) -> None:
    run = json.loads(call(*SMOKE, "--json")[1])["run"]
    call("runs", "export", "results")
    file = tmp_path / "results" / f"{run}.json"
    result = json.loads(file.read_text())
    result["curve"][-1]["loss"] = 0.125  # as if another machine had measured it
    file.write_text(json.dumps(result))
    call("runs", "import", "results", "--store", "other")
    for _ in range(2):
        code, _, err = call("runs", "retrain", run, "--store", "other")
        assert (code, "It is kept as a replica; commands that open the run open it" in err) == (1, True)
        assert f"{run}: the curve differs (another machine or version): it ended at step 2 with" in err


def test_tables_are_for_people_and_show_the_hidden_pattern(call: Call) -> None:
    code, out, _ = call(*SMOKE)
    assert code == 0
    (hidden,) = [line for line in out.splitlines() if "hidden" in line and "011" in line and "│" in line]
    assert [cell.strip() for cell in hidden.strip("│").split("│")][:4] == ["3", "011", "1", "hidden"]
    for arguments in (["runs", "list"], ["runs", "show", _only_run()]):
        code, out, err = call(*arguments)
        assert (code, err) == (0, "")
        assert "Rule 30, pattern 011 hidden" in out


def _only_run() -> str:
    (row,) = Store(Path("hardgap-runs")).rows()
    return row.id


def test_the_store_can_be_named_by_the_environment(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDGAP_STORE", str(tmp_path / "elsewhere"))
    Store(tmp_path / "elsewhere").close()
    assert json.loads(call("runs", "list", "--json")[1]) == []


def test_a_rule_as_json(call: Call) -> None:
    code, out, err = call("rule", "D", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert (facts["rule"], facts["radius"], len(facts["table"])) == ("D", 2, 32)


def test_a_certificate_as_json_and_a_leak_as_exit_code(call: Call) -> None:
    for masking, code in (("every", 0), ("first", 1)):
        trained = json.loads(call(*SMOKE, "--masking", masking, "--json")[1])
        answer = call("runs", "certify", trained["run"], "--json")
        assert answer[0] == code
        assert answer[2].startswith("2 of 2 steps, in two processes side by side, about ")
        told = json.loads(answer[1])
        assert told["passed"] is (code == 0) is (told["true"] == told["decoy"])
        assert told.get("differs") == (None if code == 0 else "the batch, step 1")
        assert "masks of later steps" in told["not covered"]


def test_a_damaged_checkpoint_is_refused_by_name(call: Call, tmp_path: Path) -> None:
    trained = json.loads(call(*SMOKE, "--json")[1])
    (state,) = (tmp_path / "hardgap-runs").glob("checkpoints/*/state-*.safetensors")
    data = bytearray(state.read_bytes())
    data[len(data) // 2] ^= 4
    state.write_bytes(bytes(data))
    for command in ([*SMOKE, "--init", state], ["circuits", trained["run"]]):
        assert f"{state.name} does not match its checksum: the file is damaged" in refused(call(*command))
    assert state.read_bytes() == bytes(data)


def test_a_sweep_file_is_checked_before_anything_is_trained(call: Call, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        '[base]\nrule = "30"\nhide = [3]\nbudget = { steps = 2 }\n[grid]\nwidth = [9, 0]\n'
    )
    assert "s.toml: width: input should be greater than 0, not 0" in refused(call("sweep", "s.toml"))
    (tmp_path / "s.toml").write_text('[base]\nrule = "30"\nhide = [3]\nbudget = { steps = 2 }\n')
    assert "--workers 0: at least one worker is needed" in refused(call("sweep", "s.toml", "--workers", "0"))
    assert not (tmp_path / "hardgap-runs").exists()
    assert "--budget soon: write a time" in refused(call("sweep", "s.toml", "--budget", "soon"))
