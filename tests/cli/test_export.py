"""`hardgap runs export`: tables with every field of the config; runs for trackers, read back with their packages."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import hardgap as hg
from hardgap.cli import main
from hardgap.runs.digest import COLUMNS, Record, row_digest
from hardgap.runs.results import import_runs
from hardgap.runs.store import DATABASE, Store

RESULTS = Path(__file__).parents[2] / "results"
SOFT, HARD = "00283248d523", "005bff3516cd"
CHAIN = next((RESULTS / "symbolic" / "runs").glob("*.json")).stem


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose store has three finished runs: two of the main table, one of Experiment 2."""
    for name in (f"main/{SOFT}", f"main/{HARD}", f"symbolic/runs/{CHAIN}"):
        (tmp_path / "few").mkdir(exist_ok=True)
        shutil.copy(RESULTS / f"{name}.json", tmp_path / "few")
    import_runs(Store(tmp_path / "hardgap-runs"), tmp_path / "few")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HARDGAP_STORE", raising=False)
    return tmp_path


def call(line: str, code: int = 0) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["runs", "export", *line.split()])
    assert (ended.value.code or 0) == code


def curve(run_id: str) -> list[dict[str, Any]]:
    (path,) = RESULTS.rglob(f"{run_id}.json")
    return list(json.loads(path.read_text())["curve"])


def read(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_two_tables_have_every_field_of_every_config(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("out --csv")
    evaluations = sum(len(curve(run_id)) for run_id in (SOFT, HARD, CHAIN))
    said = ["out/runs.csv written, 3 rows", f"out/points.csv written, {evaluations} rows"]
    assert capsys.readouterr().err.splitlines()[-2:] == said
    runs = {row["run"]: row for row in read(home / "out" / "runs.csv")}
    assert runs[SOFT]["unrolling.feedback"] == "soft"  # the default
    assert runs[HARD]["unrolling.feedback"] == "hard"
    assert runs[SOFT]["hide"] == "0,4,12,15,21,24,28,30"
    assert runs[CHAIN]["unrolling.feedback"] == ""
    assert float(runs[HARD]["final_holdout"]) == curve(HARD)[-1]["holdout"]
    points = [row for row in read(home / "out" / "points.csv") if row["run"] == HARD]
    assert [float(row["holdout"]) for row in points] == [point["holdout"] for point in curve(HARD)]
    assert {row["unrolling.feedback"] for row in points} == {"hard"}


def test_fields_that_an_old_store_does_not_know_have_their_defaults(home: Path) -> None:
    with closing(sqlite3.connect(home / "hardgap-runs" / DATABASE)) as db, db:
        db.execute("UPDATE runs SET config = json_remove(config, '$.unrolling.feedback')")
        for row in db.execute(f"SELECT {COLUMNS} FROM runs").fetchall():
            db.execute("UPDATE runs SET digest = ? WHERE id = ?", [row_digest(Record(*row)), row[0]])
    frame, points = hg.results(rule="G").frame(), hg.results(rule="G").points()
    assert frame["unrolling.feedback"].tolist() == ["soft"]
    assert frame["run"].tolist() == [SOFT]
    assert set(points["unrolling.feedback"]) == {"soft"}


def test_parquet_keeps_kinds_of_values(home: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    call("out --parquet --where rule=G --where rule=D")
    runs = {row["run"]: row for row in parquet.read_table(home / "out" / "runs.parquet").to_pylist()}
    assert runs.keys() == {SOFT, HARD}
    assert runs[SOFT]["hide"] == [0, 4, 12, 15, 21, 24, 28, 30]
    assert runs[SOFT]["optimiser.fused"] is False
    points = parquet.read_table(home / "out" / "points.parquet").to_pylist()
    assert [one["loss"] for one in points if one["run"] == SOFT] == [one["loss"] for one in curve(SOFT)]


def test_latex_says_once_what_all_rows_share(home: Path) -> None:
    call("out --latex --where experiment=automaton")
    text = (home / "out" / "runs.tex").read_text()
    head = text.partition("\\midrule")[0]
    assert "\\caption{" in head
    assert "width 11" in head.partition("\\begin{tabular}")[0]
    assert "unrolling.feedback &" in head
    assert len(re.findall(r"^0\w{11} &", text, re.M)) == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("out --csv --to mlflow", "--csv and --to mlflow: write tables, or runs for a tracker"),
        ("out --to wandb", 'Invalid value "wandb" for --to'),
        ("few/x.json/out --csv", "cannot be made"),
        ("out --csv --where rulle=3", "runs have no field 'rulle'; did you mean rule?"),
        ("out --csv --where rule", "--where rule: write FIELD=VALUE"),
    ],
)
def test_what_cannot_be_exported_is_said_in_a_sentence(
    home: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    (home / "few" / "x.json").write_text("")
    call(line, 2)
    assert said in capsys.readouterr().err
    assert not (home / "out").exists()


@pytest.mark.parametrize(
    ("line", "module", "extra"),
    [
        ("--parquet", "pyarrow", "parquet"),
        ("--to tensorboard", "tensorboard", "tensorboard"),
        ("--to mlflow", "mlflow", "mlflow"),
        ("--to wandb-offline", "wandb", "wandb"),
        ("--to trackio", "trackio", "trackio"),
    ],
)
def test_a_missing_extra_names_the_command_that_installs_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    call(f"out {line}", 2)
    assert f"needs {module}: pip install 'hardgap[{extra}]'" in capsys.readouterr().err


def export(home: Path, to: str) -> str:
    """Export in a process of its own, which is watched for calls over a network where strace is at hand."""
    command = [sys.executable, "-m", "hardgap", "runs", "export", "out", "--to", to]
    calls = home / "calls.txt"
    if shutil.which("strace"):
        command = ["strace", "--follow-forks", "--seccomp-bpf", "--trace=connect,sendto", f"--output={calls}", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"HOME": str(home)})
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    if calls.exists():
        outside = [line for line in calls.read_text().splitlines() if "sin_addr" in line or "sin6_addr" in line]
        assert [line for line in outside if "127.0.0.1" not in line and '"::1"' not in line] == []
    return done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_tensorboard_reads_what_was_exported(home: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import plugin_data_pb2

    folder = home / "out" / "main" / "rule-g-soft" / SOFT
    (folder.parent / f".{SOFT}.part").mkdir(parents=True)  # as a killed export leaves it
    (folder.parent / f".{SOFT}.part" / "events.out.tfevents.0").write_bytes(b"half")
    assert export(home, "tensorboard") == "3 runs written to out for tensorboard, 0 were there"
    assert folder.is_dir(), sorted((home / "out").rglob("events*"))
    board = EventAccumulator(str(folder)).Reload()
    assert [(one.step, pytest.approx(one.value)) for one in board.Scalars("holdout")] == [
        (point["step"], point["holdout"]) for point in curve(SOFT)
    ]
    content = board.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    told = plugin_data_pb2.HParamsPluginData.FromString(content).session_start_info.hparams
    assert told["unrolling.feedback"].string_value == "soft"
    assert export(home, "tensorboard") == "0 runs written to out for tensorboard, 3 were there"


@pytest.mark.slow
def test_mlflow_reads_what_was_exported(home: Path) -> None:
    pytest.importorskip("mlflow")
    assert export(home, "mlflow") == "3 runs written to out for mlflow, 0 were there"
    assert export(home, "mlflow") == "0 runs written to out for mlflow, 3 were there"
    reading = """
from mlflow.tracking import MlflowClient
client = MlflowClient(tracking_uri="sqlite:///out/mlflow.db")
(run,) = client.search_runs([client.get_experiment_by_name("main/rule-g-soft").experiment_id])
history = client.get_metric_history(run.info.run_id, "holdout")
told = [run.info.run_name, run.data.tags["hardgap.run"], run.data.params["unrolling.feedback"]]
import json; print(json.dumps([*told, [[one.step, one.value] for one in history]]))
"""
    offline = os.environ | {"MLFLOW_DISABLE_TELEMETRY": "true"}
    said = subprocess.run(
        [sys.executable, "-c", reading], capture_output=True, text=True, check=True, env=offline
    ).stdout
    assert json.loads(said) == [SOFT, SOFT, "soft", [[point["step"], point["holdout"]] for point in curve(SOFT)]]


@pytest.mark.slow
def test_wandb_reads_what_was_exported(home: Path) -> None:
    pytest.importorskip("wandb")
    from wandb.proto.wandb_internal_pb2 import Record

    assert export(home, "wandb-offline") == "3 runs written to out for wandb-offline, 0 were there"
    assert export(home, "wandb-offline") == "0 runs written to out for wandb-offline, 3 were there"
    (path,) = (home / "out").glob(f"wandb/offline-run-*-{SOFT}/run-{SOFT}.wandb")
    records = [Record.FromString(one) for one in log_records(path.read_bytes())]
    (run,) = (one.run for one in records if one.WhichOneof("record_type") == "run")
    config = {one.key: json.loads(one.value_json) for one in run.config.update}
    assert (run.run_id, run.run_group, config["unrolling.feedback"]) == (SOFT, "main/rule-g-soft", "soft")
    logged = [{one.key or one.nested_key[0]: json.loads(one.value_json) for one in record.history.item}
              for record in records if record.WhichOneof("record_type") == "history"]  # fmt: skip
    assert [(one["_step"], one["holdout"]) for one in logged] == [(one["step"], one["holdout"]) for one in curve(SOFT)]
    assert not [*home.glob(".*/wandb"), *home.glob(".netrc")]  # nothing at home


def log_records(data: bytes) -> list[bytes]:
    """The records of a LevelDB log, which a .wandb file is behind seven bytes of its own."""
    found, place, held = [], 7, b""
    while place + 7 <= len(data):
        if (left := 32768 - place % 32768) < 7:  # nothing begins in what is left of a block
            place += left
            continue
        _, size, kind = struct.unpack("<IHB", data[place : place + 7])
        held, place = held + data[place + 7 : place + 7 + size], place + 7 + size
        if kind in (1, 4):  # whole, or the last part
            found, held = [*found, held], b""
    return found


@pytest.mark.slow
def test_trackio_reads_what_was_exported(home: Path) -> None:
    """It wants an older pillow than the rest, so CI does not have it (docs/exports.md)."""
    pytest.importorskip("trackio", reason="trackio is not installed beside the pinned versions")
    assert export(home, "trackio") == "3 runs written to out for trackio, 0 were there"
    assert export(home, "trackio") == "0 runs written to out for trackio, 3 were there"
    reading = """
import json, trackio
from trackio.sqlite_storage import SQLiteStorage
(run,) = [one for one in trackio.Api().runs("hardgap") if one.name == "RUN"]
logs = SQLiteStorage.get_logs("hardgap", run.name, run_id=run.id)
told = [run.config["unrolling.feedback"], run.config["_Group"]]
print(json.dumps([*told, [[one["step"], one["holdout"]] for one in logs]]))
""".replace("RUN", SOFT)
    here = os.environ | {"TRACKIO_DIR": str(home / "out")}
    said = subprocess.run([sys.executable, "-c", reading], capture_output=True, text=True, check=True, env=here).stdout
    assert json.loads(said) == [
        "soft",
        "main/rule-g-soft",
        [[point["step"], point["holdout"]] for point in curve(SOFT)],
    ]
