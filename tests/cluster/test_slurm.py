"""Shards as batch jobs, on submitit's local executor: real processes, real signals, real kills."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hardgap.core.errors import BadInput
from hardgap.core.run import Run, named
from hardgap.runs.driver import run_sweep
from hardgap.runs.execute import build_trainer
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
Start = Callable[..., subprocess.Popen[str]]
pytestmark = pytest.mark.usefixtures("one_thread")
SECONDS = 900
ON = "slurm:cluster=local,timeout_min=30"

DRIVER = """
import json, sys
from pathlib import Path
from hardgap.core.plugins import trust
from hardgap.runs.cluster import on_slurm
from hardgap.runs.driver import run_sweep
from hardgap.runs.store import Store
from hardgap.worlds import parse_run
on_slurm.LEASE = 20.0  # a job that was killed is missed sooner than usual
order = json.loads(Path(sys.argv[1]).read_text())
runs = [parse_run(data) for data in order["runs"]]
trust([path for run in runs for path in run.plugins()])
print(run_sweep(Store(Path(order["store"])), runs, on=order["on"], workers=2, checkpoint_seconds=0.2))
"""
NET = """
import time, torch
from pathlib import Path

class Gated(torch.nn.Linear):
    calls = 0

    def forward(self, cells):
        self.calls += 1
        while self.calls > 1500 and not Path(self.gate).exists():
            time.sleep(0.02)
        return super().forward(cells)

def make(width, gate):
    net = Gated(width, width)
    net.gate = gate
    return net
"""
"""However quick the machine, it is not trained to the end before a file is there."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts drivers; none of them, and none of their jobs, outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start_driver(store: Store, runs: list[Run], on: str = ON) -> subprocess.Popen[str]:
        order = tmp_path / f"order-{len(started)}.json"
        order.write_text(json.dumps({"store": str(store.folder), "runs": [run.asked() for run in runs], "on": on}))
        process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(order)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start_driver
    for process in started:
        process.kill()
        process.communicate()
    for pid in jobs(tmp_path):
        os.kill(pid, signal.SIGKILL)


def jobs(folder: Path, module: bytes = b"submitit") -> list[int]:
    """The processes of jobs that read their orders below a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        if module in line and str(folder).encode() in line:
            found.append(int(path.parent.name))
    return found


@pytest.fixture
def gated(tmp_path: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Run]:
    """A run by its seed, of 31 evaluations: after the first few it waits until `gate` is there."""
    (code := tmp_path / "code").mkdir()
    (code / "hg_gated.py").write_text(NET)
    monkeypatch.syspath_prepend(str(code))
    monkeypatch.setenv("PYTHONPATH", f"{code}:{os.environ.get('PYTHONPATH', '')}")
    model = {"kind": "plugin", "factory": "hg_gated:make", "args": {"gate": str(tmp_path / "gate")}}
    return lambda seed: named(tiny(seed=seed, model=model, budget={"steps": 1500, "evaluate_every": 50}))


def heard(store: Store) -> bool:
    """Whether a job has heard the signal before the time limit."""
    return any("Caught signal SIGUSR2" in path.read_text() for path in store.folder.glob("slurm/*_log.*"))


def wait_until(true: Callable[[], object], what: str) -> None:
    give_up = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < give_up, f"waited {SECONDS} s for {what}"
        time.sleep(0.05)


def assert_bitwise(store: Store, runs: list[Run]) -> None:
    for run in runs:
        trainer = build_trainer(run)
        trainer.run()
        assert store.curve(run.id) == [point.as_dict() for point in trainer.curve]


@pytest.mark.slow
def test_shards_survive_the_time_limit_a_kill_and_the_death_of_the_driver(
    start: Start, tmp_path: Path, tiny: Tiny, gated: Callable[[int], Run]
) -> None:
    store = Store(tmp_path / "store")
    runs = [gated(0), gated(1)]  # one is the first of each job
    runs += [tiny(seed=seed, budget={"steps": 1500, "evaluate_every": 50}) for seed in range(2)]
    runs += [tiny(seed=seed, budget={"steps": 20, "evaluate_every": 5}) for seed in range(6)]
    driver = start(store, runs)
    wait_until(lambda: all(len(store.curve(run.id)) > 2 for run in runs[:2]), "two jobs at work")
    first, second = jobs(tmp_path, b"submitit.core._submit")[:2]

    os.kill(second, signal.SIGKILL)
    os.kill(first, signal.SIGUSR2)  # as SLURM does before the time limit
    wait_until(lambda: heard(store), "the job to hear it")
    (tmp_path / "gate").touch()
    wait_until(lambda: first not in jobs(tmp_path), "the job to save and be queued again")
    driver.kill()
    driver.communicate()
    so_far = {run.id: len(store.curve(run.id)) for run in runs[:2]}
    driver = start(store, runs)
    told, said = driver.communicate(timeout=SECONDS)
    assert (driver.returncode, told) == (0, "finished\n"), said
    assert {row.status for row in store.rows()} == {"done"}
    assert any(2 < number < 31 for number in so_far.values())
    assert_bitwise(store, runs)
    assert not list(store.folder.glob("slurm/*/order.json"))


CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort=16917
SlurmdPort=16918
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A SLURM of one node, this machine, with all of its files in one folder; only root can start it."""
    if os.getuid() or not all(map(shutil.which, ("munged", "slurmctld", "slurmd", "sbatch"))):
        pytest.skip(
            "SLURM is not installed here, or this is not root: apt-get install munge slurmctld slurmd slurm-client"
        )
    folder = Path(tempfile.mkdtemp(prefix="hg-"))
    folder.chmod(0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "key").write_bytes(os.urandom(1024))
    (folder / "key").chmod(0o400)
    conf = folder / "slurm.conf"
    conf.write_text(CONF.format(host=socket.gethostname().partition(".")[0], folder=folder))
    monkeypatch.setenv("SLURM_CONF", str(conf))
    munge = [f"--{name}-file={folder}/{name}" for name in ("key", "pid", "log", "seed")]
    commands = [["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *munge],
                ["slurmctld", "-D"], ["slurmd", "-D"]]  # fmt: skip
    started = []
    for command in commands:
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_until((folder / "munge.socket").exists, "munged")
    wait_until(lambda: "idle" in subprocess.run(["sinfo"], capture_output=True, text=True).stdout, "the node")
    yield
    subprocess.run(["scancel", "--user=root"], check=True)
    for process in reversed(started):
        process.terminate()
        process.wait()
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("slurm")
def test_a_real_slurm_trains_shards_and_queues_them_again_at_the_time_limit(
    start: Start, tmp_path: Path, tiny: Tiny, gated: Callable[[int], Run]
) -> None:
    store = Store(tmp_path / "store")
    runs = [gated(0), gated(1)]
    runs += [tiny(seed=seed, budget={"steps": 20, "evaluate_every": 5}) for seed in range(6)]
    driver = start(store, runs, "slurm:timeout_min=30")
    wait_until(lambda: any(len(store.curve(run.id)) > 2 for run in runs[:2]), "a job at work")
    subprocess.run(["scancel", "--signal=USR2", "--user=root"], check=True)
    wait_until(lambda: heard(store), "a job to hear it")
    (tmp_path / "gate").touch()
    told, said = driver.communicate(timeout=SECONDS)
    assert (driver.returncode, told) == (0, "finished\n"), said
    assert_bitwise(store, runs)
    assert "Requeued job" in "".join(path.read_text() for path in store.folder.glob("slurm/*_log.out"))


def test_settings_that_submitit_does_not_know_and_a_machine_without_slurm_are_refused(
    tmp_path: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for on, said in {
        "slurm": "on slurm: there is no sbatch here",
        "slurm:partition": "on slurm:partition: write settings as name=value",
        "slurm:cluster=local,colour=red": "on slurm: submitit refuses these settings: .*colour",
    }.items():
        with pytest.raises(BadInput, match=said):
            run_sweep(Store(tmp_path / "store"), [tiny()], on=on)
    assert not Store(tmp_path / "store").rows()
