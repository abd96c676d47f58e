"""What the machine refuses (permissions, long names, a full disk) is told in one sentence, and a store can be read
where it cannot be written.
"""

from __future__ import annotations

import gc
import json
import math
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from hardgap.cli import main
from hardgap.core.checkpoint import save_tensors
from hardgap.core.errors import BadInput
from hardgap.runs import local, watching
from hardgap.runs.driver import run_sweep
from hardgap.runs.execute import Execution
from hardgap.runs.owner import me
from hardgap.runs.stackable import stacking
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

Call = Callable[..., tuple[int, str, str]]
NOBODY = 65534


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder that anybody may enter, and write where its files allow it."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o777)
    monkeypatch.chdir(path)
    monkeypatch.delenv("HARDGAP_STORE", raising=False)
    yield path
    for one in (path, *path.rglob("*")):
        if one.is_dir():
            one.chmod(0o755)
    shutil.rmtree(path)


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


@contextmanager
def without_privileges() -> Iterator[None]:
    """As a user whom permissions bind; the superuser is not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    paths = [folder, *folder.rglob("*")]
    before = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with without_privileges():
            yield
    finally:
        for path, mode in before.items():
            path.chmod(mode)


@pytest.fixture
def trained(folder: Path, tiny: Callable[..., AutomatonRun]) -> str:
    """A run in `hardgap-runs`, whose database is closed."""
    run, store, owner = tiny(test_rows=40), Store(folder / "hardgap-runs"), me()
    store.add([run])
    store.claim([run.id], owner)
    Execution(store, run, owner)()
    store.close()
    return run.id


# A store that cannot be written


READERS = [
    ["runs", "list", "--json"],
    ["runs", "show", "RUN", "--json"],
    ["reproduce", "main", "--no-run", "--json"],
    ["circuits", "RUN", "--only", "rule", "--json"],
]


def test_a_store_that_can_only_be_read_is_read(
    call: Call, folder: Path, trained: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "PLAIN_SECONDS", math.inf)  # nor does a slow machine say how far it is
    monkeypatch.setattr(watching, "QUIET_SECONDS", math.inf)
    commands = [[word.replace("RUN", trained) for word in command] for command in READERS]
    before = [call(*command) for command in commands]  # this also loads every module
    assert [code for code, _, _ in before] == [0] * len(commands)
    gc.collect()  # closes what they opened
    assert not (folder / "hardgap-runs" / "runs.sqlite-wal").exists()
    with read_only(folder / "hardgap-runs"):
        after = [call(*command) for command in commands]
    assert after == before


def test_a_store_that_somebody_writes_is_read_with_what_they_wrote(call: Call, folder: Path, trained: str) -> None:
    call("runs", "list")
    store = Store(folder / "hardgap-runs")  # an open connection keeps its log beside the database
    store.add([store.get(trained).config.but(seed=5)])
    with read_only(folder / "hardgap-runs"):
        code, out, _ = call("runs", "list", "--json")
    assert (code, len(json.loads(out))) == (0, 2)
    store.close()


def test_a_log_that_cannot_be_taken_in_is_not_passed_over(call: Call, folder: Path, trained: str) -> None:
    store = Store(folder / "hardgap-runs")
    store.add([store.get(trained).config.but(seed=5)])
    copy = folder / "copy"
    copy.mkdir()
    for name in ("runs.sqlite", "runs.sqlite-wal"):
        shutil.copy(folder / "hardgap-runs" / name, copy / name)
    store.close()
    with read_only(copy):
        code, out, err = call("runs", "list", "--store", copy)
    assert (code, out) == (2, "")
    assert "runs.sqlite-wal is not yet part of the store, which cannot be written here: copy the folder first" in err
    assert len(json.loads(call("runs", "list", "--store", copy, "--json")[1])) == 2


def test_an_older_store_that_cannot_be_written_is_refused(call: Call, folder: Path, trained: str) -> None:
    db = sqlite3.connect(folder / "hardgap-runs" / "runs.sqlite")
    db.execute("PRAGMA user_version = 0")
    db.close()
    with read_only(folder / "hardgap-runs"):
        code, out, err = call("runs", "list")
    assert (code, out) == (2, "")
    assert "is of an older hardgap and cannot be written here" in err


def test_what_writes_is_refused_where_nothing_can_be_written(call: Call, folder: Path, trained: str) -> None:
    call("runs", "list")
    with read_only(folder / "hardgap-runs"):
        for command in (["runs", "rm", trained], ["train", "30", "--hide", "3", "--scale", "smoke"]):
            code, out, err = call(*command)
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert "readonly database" in err
    assert [row.id for row in Store(folder / "hardgap-runs").rows()] == [trained]


def test_removing_a_run_says_which_files_stay(call: Call, folder: Path, trained: str) -> None:
    checkpoints = folder / "hardgap-runs" / "checkpoints" / trained
    for path in (folder / "hardgap-runs", *(folder / "hardgap-runs").glob("runs*")):
        path.chmod(0o777)
    with read_only(checkpoints):
        code, out, err = call("runs", "rm", trained)
    assert (code, out) == (1, "")
    assert f"removed {trained}" in err
    assert f"its checkpoints stay in hardgap-runs/checkpoints/{trained}: Permission denied" in err
    assert list(checkpoints.iterdir())


# Names, permissions, numbers, nesting


LONG = "x" * 300


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["runs", "list", "--store", LONG], "cannot open a store in xxx.*: File name too long"),
        (["runs", "import", LONG, "--store", "other"], "xxx: File name too long"),
        (["train", "30", "--hide", "3", "--init", LONG], "xxx: File name too long"),
        (["sweep", LONG], "cannot read xxx.*: File name too long"),
        (["construct", "30", "--width", "5", "--output", ""], "--output '.': name a file"),
        (["construct", "30", "--width", "5", "--output", "/"], "--output '/': name a file"),
        (["construct", "30", "--width", "5", "--output", LONG], "--output xxx.* cannot be written: File name too long"),
        (["prove", "--weights", "/"], "is missing or empty"),
        (["runs", "show", "\udcff"], r"'.udcff' cannot be written as text"),
        (["runs", "rm", "\udcff"], r"'.udcff' cannot be written as text"),
        (["circuits", "\udcff"], r"'.udcff' cannot be written as text"),
        (["train", "30", "--hide", "3", "--steps", "9" * 5000], 'unable to convert "9{50,70}… into int'),
        (
            ["train", "30", "--hide", "3", "--steps", "0x" + "9" * 5000],
            "steps: a number of more than a thousand digits",
        ),
        (["baselines", "RUN", "--sizes", "9" * 5000], "--sizes 9+…"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
def test_what_no_file_or_number_can_be_is_refused_in_one_sentence(
    call: Call, trained: str, command: list[str], words: str
) -> None:
    code, out, err = call(*(word.replace("RUN", trained) for word in command))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.search(words, err), err
    assert len(err) < 700


@pytest.mark.parametrize("meta", [[], 3, None, "x", {"config": 3}, {"config": [1]}, {"model": 3, "width": "x"}])
def test_weights_with_odd_metadata_are_refused(call: Call, folder: Path, meta: object) -> None:
    save_tensors(folder / "w.safetensors", {"a": torch.zeros(2)}, meta)  # type: ignore[arg-type]
    code, out, err = call("train", "30", "--hide", "3", "--init", "w.safetensors")
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_a_bug_is_told_as_one_and_shown_to_who_asks(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise KeyError("the cat")

    monkeypatch.setattr("hardgap.worlds.automaton.rule.parse_rule", broken)
    code, out, err = call("rule", "30")
    assert (code, out) == (70, "")
    assert err == "hardgap: a bug: KeyError: 'the cat'; HARDGAP_DEBUG=1 shows where, please report it\n"
    monkeypatch.setenv("HARDGAP_DEBUG", "1")
    with pytest.raises(KeyError, match="the cat"):
        main(["rule", "30"])


# A full disk


def at_most(size: int) -> Callable[[], None]:
    """Lets a process write so much into any one file, as if the disk were full then."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_output_to_a_full_disk_is_told() -> None:
    command = [sys.executable, "-m", "hardgap", "rule", "30"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "hardgap: cannot write: No space left on device\n")


def test_a_worker_that_cannot_write_says_so_and_leaves(folder: Path, tiny: Callable[..., AutomatonRun]) -> None:
    store = Store(folder / "hardgap-runs")
    store.add([tiny()])
    order = {
        "store": str(store.folder),
        "runs": [tiny().id],
        "checkpoint_seconds": 1,
        "grace_seconds": 60,
        "trusted": [],
    }
    with subprocess.Popen(
        [sys.executable, "-m", "hardgap.runs.worker"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=at_most(0),
    ) as worker:
        assert worker.stdin is not None
        assert worker.stderr is not None
        worker.stdin.write(json.dumps(order) + "\n")
        worker.stdin.flush()  # and left open: a worker leaves when its driver hangs up
        said = worker.stderr.read()
    assert worker.returncode == 1
    assert said.startswith("hardgap: a worker cannot go on: ")
    assert said.count("\n") == 1
    assert store.progress([tiny().id])[tiny().id] == ("queued", 0)


@pytest.mark.parametrize("stacked", [False, True])
def test_a_disk_that_takes_no_checkpoints_is_no_runs_fault(
    folder: Path, tiny: Callable[..., AutomatonRun], monkeypatch: pytest.MonkeyPatch, stacked: bool
) -> None:
    """The store can be written, the folder beside it cannot: no run fails, and the sweep says why."""
    monkeypatch.setattr(local, "POLL_SECONDS", 0.05)
    store, runs = Store(folder / "hardgap-runs"), [tiny(seed=seed) for seed in range(3)]
    (store.folder / "checkpoints").write_text("in the way")
    why = "the worker processes cannot start or go on"
    with stacking(runs, 8 if stacked else None, 1) as (ordered, workers), pytest.raises(BadInput, match=why):
        run_sweep(store, ordered, workers=workers)
    assert store.claim([run.id for run in runs], me()) == runs[0].id  # given back, or held by who is dead
    assert "failed" not in [store.get(run.id).status for run in runs]
