"""What the driver does where jobs are refused, wait in the queue, or leave half a folder behind; no job runs here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hardgap.core.errors import BadInput
from hardgap.runs.cluster.on_slurm import SlurmPool
from hardgap.runs.driver import run_sweep
from hardgap.runs.owner import me
from hardgap.runs.store import MOST_ATTEMPTS, Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
REFUSE = 'echo "sbatch: error: invalid partition specified: nowhere" >&2; exit 1'
ACCEPT = 'echo "Submitted batch job 17"'


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Commands of SLURM of which sbatch does as it is told, and the others note what they were asked."""

    def command(does: str) -> None:
        (tmp_path / "bin").mkdir(exist_ok=True)
        for name in ("sbatch", "srun", "scancel", "sacct"):
            line = does if name == "sbatch" else f'echo {name} "$@" >> {tmp_path / "called"}'
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
            (tmp_path / "bin" / name).chmod(0o755)

    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return command


def attempts(store: Store) -> list[tuple[str, int]]:
    return [tuple(row) for row in store._db.execute("SELECT status, attempts FROM runs ORDER BY id")]


def test_what_sbatch_says_is_told_and_the_runs_are_given_back(
    store: Store, tiny: Tiny, sbatch: Callable[[str], None]
) -> None:
    sbatch(REFUSE)
    runs = [tiny(seed=seed) for seed in range(3)]
    for _ in range(2):
        with pytest.raises(
            BadInput, match=r"^on slurm: the jobs cannot be submitted: sbatch: error: invalid partition"
        ):
            run_sweep(store, runs, on="slurm", workers=2)
        assert attempts(store) == [("queued", 0)] * 3
    assert not list(store.folder.glob("slurm/*/"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("timeout_min=2h", "submitit refuses these settings: .*timeout_min"),
        ("cpus_per_task=0", "cpus_per_task=0: a job needs at least one"),
        ("slurm_cpus_per_task=two", "cpus_per_task=two: a job needs at least one"),
    ],
)
def test_settings_of_a_wrong_kind_are_refused(
    store: Store, tiny: Tiny, sbatch: Callable[[str], None], settings: str, said: str
) -> None:
    sbatch(REFUSE)
    with pytest.raises(BadInput, match=f"^on slurm: {said}"):
        run_sweep(store, [tiny()], on=f"slurm:{settings}")
    assert not store.rows()


def test_a_job_trains_as_many_runs_at_a_time_as_it_asks_for_processors(
    store: Store, tiny: Tiny, sbatch: Callable[[str], None]
) -> None:
    sbatch(ACCEPT)
    store.add([run := tiny()])
    pool = SlurmPool(store, [run.id], 1, 15.0, "slurm_cpus_per_task=8,mem_gb=1.5,name=2024")
    pool.tend(1)
    (path,) = store.folder.glob("slurm/*/order.json")
    assert json.loads(path.read_text())["workers"] == 8
    pool.end()


def test_a_run_that_cannot_be_sent_fails_alone(store: Store, tiny: Tiny, sbatch: Callable[[str], None]) -> None:
    sbatch(ACCEPT)
    runs = [tiny(), tiny(initial="0" * 64)]
    store.add(runs)
    pool = SlurmPool(store, [run.id for run in runs], 2, 15.0)
    pool.tend(2)
    (order,) = [json.loads(path.read_text()) for path in store.folder.glob("slurm/*/order.json")]
    assert [one["run"] for one in order["runs"]] == [runs[0].id]
    assert [store.get(run.id).status for run in runs] == ["running", "failed"]
    pool.end()


def with_a_job(store: Store, tiny: Tiny, sbatch: Callable[[str], None]) -> tuple[AutomatonRun, SlurmPool]:
    """A run, and a pool that has submitted a job for it."""
    sbatch(ACCEPT)
    run = tiny()
    store.add([run])
    pool = SlurmPool(store, [run.id], 1, 15.0)
    pool.tend(1)
    return run, pool


def test_jobs_that_never_began_are_no_deaths(
    store: Store, tiny: Tiny, sbatch: Callable[[str], None], tmp_path: Path
) -> None:
    run, pool = with_a_job(store, tiny, sbatch)
    dead = f"{me().rsplit(':', 2)[0]}:{2**22 + 1}:1"
    (path,) = store.folder.glob("slurm/*/job.json")
    for _ in range(MOST_ATTEMPTS + 1):  # drivers that are killed while their job waits
        path.write_text(json.dumps(json.loads(path.read_text()) | {"driver": dead}))
        store._db.execute("UPDATE runs SET owner = ?", [dead])
        pool = SlurmPool(store, [run.id], 1, 15.0)
    assert attempts(store) == [("running", 1)]
    pool.end()
    assert attempts(store) == [("queued", 0)]
    assert "scancel 17" in (tmp_path / "called").read_text()


def test_a_silent_job_is_cancelled(
    store: Store, tiny: Tiny, sbatch: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, pool = with_a_job(store, tiny, sbatch)
    (path,) = store.folder.glob("slurm/*/job.json")
    (path.parent / "beat.json").write_text(json.dumps({"beat": 1, "life": "running"}))
    monkeypatch.setattr("hardgap.runs.cluster.on_slurm.LEASE", -1.0)
    pool.tend(1)
    assert "scancel 17" in (tmp_path / "called").read_text()
    pool.end()


def test_a_folder_that_is_half_removed_is_no_job(
    store: Store, tiny: Tiny, sbatch: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, pool = with_a_job(store, tiny, sbatch)

    def killed(folder: Path, ignore_errors: bool) -> None:
        (folder / "order.json").unlink()

    monkeypatch.setattr("shutil.rmtree", killed)
    pool.end()
    SlurmPool(store, [run.id], 1, 15.0).end()


def test_a_worker_leaves_the_signal_before_the_time_limit_to_its_job() -> None:
    with subprocess.Popen([sys.executable, "-m", "hardgap.runs.worker"], stdin=subprocess.PIPE) as worker:
        status, bit = Path(f"/proc/{worker.pid}/status"), 1 << (signal.SIGUSR2 - 1)
        give_up = time.monotonic() + 600
        while not int(status.read_text().partition("SigIgn:")[2].split()[0], 16) & bit:
            assert worker.poll() is None
            assert time.monotonic() < give_up
            time.sleep(0.05)
        worker.send_signal(signal.SIGUSR2)
        assert worker.stdin is not None
        worker.stdin.close()
        assert worker.wait(600) == 0


def test_the_job_of_a_driver_before_a_reboot_is_taken_over_and_that_of_a_living_one_elsewhere_is_not(
    store: Store, tiny: Tiny, sbatch: Callable[[str], None]
) -> None:
    sbatch(ACCEPT)
    store.add([run := tiny()])
    first = SlurmPool(store, [run.id], 1, 15.0)
    first.tend(1)
    (path,) = store.folder.glob("slurm/*/job.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"driver": "this-host:before:1:1"}))
    store._db.execute("UPDATE runs SET owner = 'this-host:before:1:1'")
    os.utime(path, (0, 0))
    first.tend(1)  # it lives
    SlurmPool(store, [run.id], 1, 15.0).end()
    assert path.exists()
    os.utime(path, (0, 0))
    SlurmPool(store, [run.id], 1, 15.0).end()
    assert not path.exists()
    assert attempts(store) == [("queued", 0)]
