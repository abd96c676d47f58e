"""Real processes that are asked to stop: once, twice, under `nohup`, with a network that hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hardgap.runs.owner import me
from hardgap.runs.signals import TOGETHER_SECONDS
from hardgap.runs.store import Store

NETS = """
import time
from pathlib import Path
from torch import nn

class Late(nn.Linear):
    calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls > 100:  # well behind the check of a plug-in
            Path("late").touch()
            self.late()
        return super().forward(x)

class Sleeping(Late):
    def late(self):
        time.sleep(1000)

class Spinning(Late):
    def late(self):
        while True:
            pass

def sleep(width):
    return Sleeping(width, width)

def spin(width):
    return Spinning(width, width)
"""
SWEEP = """
[base]
rule = "30"
hide = [3]
width = 7
train_rows = 16
test_rows = 16
optimiser = { batch = 6 }
budget = { steps = STEPS, evaluate_every = 50 }
[grid]
model = [MODELS]
"""
ENCODER = '{ kind = "encoder", dim = 8, heads = 2, layers = 1, ffn = 16 }'
PLUGIN = '{ kind = "plugin", factory = "nets:NAME" }'
MAIN = """
from hardgap.runs import local, signals
local.GRACE_SECONDS = {grace}
signals.TOGETHER_SECONDS = {together}
from hardgap.cli import main
main()
"""
NOHUP = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.executable, sys.argv[1:])"
TRAIN = ["train", "30", "--hide", "3", "--scale", "smoke", "--steps", "1000000"]
SECONDS = 300
"""How long to wait for what must happen: a busy machine is slow, not wrong."""


class Started:
    """`hardgap …` as a user starts it, in a process group of its own."""

    def __init__(
        self,
        folder: Path,
        arguments: list[str],
        *,
        grace: float = 2 * SECONDS,
        together: float = TOGETHER_SECONDS,
        nohup: bool = False,
    ) -> None:
        self.folder = folder
        command = [sys.executable, "-c", MAIN.format(grace=grace, together=together), *arguments]
        if nohup:
            command = [sys.executable, "-c", NOHUP, *command]
        self._said = folder / "said"
        with self._said.open("w") as said:
            self.process = subprocess.Popen(
                command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
            )
        self.workers: list[int] = []

    def wait_until(self, true: Callable[[], object], what: str) -> None:
        give_up = time.monotonic() + SECONDS
        while not true():
            assert self.process.poll() is None, self._said.read_text()
            assert time.monotonic() < give_up, f"waited for {what}"
            time.sleep(0.02)

    def wait_until_training(self) -> None:
        self.wait_until(lambda: list(self.folder.glob("*/checkpoints/*/step-*.sha256")), "training")
        self.workers = [int(pid) for pid in children(self.process.pid)]

    def wait_until_late(self) -> None:
        self.wait_until((self.folder / "late").exists, "the network to hang")
        self.workers = [int(pid) for pid in children(self.process.pid)]

    def wait_until_answered(self) -> None:
        """The first signal has been heard, and so long ago that another is another wish; nothing has ended yet."""
        self.wait_until(lambda: "another Ctrl-C ends at once\n" in self._said.read_text(), "the answer to a signal")
        time.sleep(1)
        assert self.process.poll() is None

    def ended(self) -> tuple[int, str]:
        """The exit code and what was said; no worker is left."""
        code, said = self.process.wait(SECONDS), self._said.read_text()
        assert "Traceback" not in said
        assert not [pid for pid in self.workers if is_running(pid)]
        return code, said

    def kill(self) -> None:
        for pid in [self.process.pid, *self.workers]:
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    """None outlives the test."""
    (tmp_path / "nets.py").write_text(NETS)
    started: list[Started] = []

    def begin(*arguments: str, **options: object) -> Started:
        started.append(Started(tmp_path, list(arguments), **options))  # type: ignore[arg-type]
        return started[-1]

    yield begin
    for one in started:
        one.kill()


def sweep(folder: Path, *models: str, steps: int = 1_000_000) -> list[str]:
    path = folder / "sweep.toml"
    path.write_text(SWEEP.replace("STEPS", str(steps)).replace("MODELS", ", ".join(models)))
    return ["sweep", str(path), "--workers", "1"]


def plugin(name: str) -> str:
    return PLUGIN.replace("NAME", name)


def statuses(folder: Path) -> list[str]:
    return sorted(row.status for row in Store(folder / "hardgap-runs").rows())


@pytest.mark.parametrize("hang", ["sleep", pytest.param("spin", marks=pytest.mark.slow)])
def test_the_second_signal_ends_a_training_that_hangs(start: Callable[..., Started], tmp_path: Path, hang: str) -> None:
    train = start(*TRAIN, "--model", f"nets:{hang}")
    train.wait_until_late()
    train.process.send_signal(signal.SIGINT)
    train.wait_until_answered()
    train.process.send_signal(signal.SIGTERM)
    code, said = train.ended()
    assert code == 130
    assert "hardgap: stopping after this step; another Ctrl-C ends at once\n" in said
    assert "hardgap: ended at once; the same command goes on from the last checkpoint" in said
    store = Store(tmp_path / "hardgap-runs")
    assert store.claim([store.rows()[0].id], me()) is not None  # nobody holds it any more


@pytest.mark.slow
@pytest.mark.parametrize("hang", ["sleep", "spin"])
def test_the_second_signal_ends_a_sweep_whose_worker_hangs_and_finished_runs_are_kept(
    start: Callable[..., Started], tmp_path: Path, hang: str
) -> None:
    driver = start(*sweep(tmp_path, ENCODER, plugin(hang), steps=50))
    driver.wait_until_late()
    assert driver.workers
    os.killpg(driver.process.pid, signal.SIGINT)  # as a terminal sends it, to all
    driver.wait_until_answered()
    driver.process.send_signal(signal.SIGINT)
    code, said = driver.ended()
    assert code == 130
    assert "stopping, once every worker has saved what it has; another Ctrl-C ends at once" in said
    assert "stopped; 1 of 2 runs left, and the same command goes on from there" in said
    assert statuses(tmp_path) == ["done", "running"]


@pytest.mark.slow
@pytest.mark.parametrize("hang", ["sleep", "spin"])
def test_a_worker_that_hangs_does_not_outlive_its_driver_for_long(
    start: Callable[..., Started], tmp_path: Path, hang: str
) -> None:
    driver = start(*sweep(tmp_path, plugin(hang)), grace=6)
    driver.wait_until_late()
    (worker,) = driver.workers
    driver.process.kill()
    driver.process.wait()
    time.sleep(0.5)
    assert is_running(worker)
    give_up = time.monotonic() + SECONDS
    while is_running(worker):
        assert time.monotonic() < give_up
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["train", "sweep"])
def test_under_nohup_ctrl_c_is_ignored_and_sigterm_ends_cleanly(
    start: Callable[..., Started], tmp_path: Path, command: str
) -> None:
    started = start(*(TRAIN if command == "train" else sweep(tmp_path, ENCODER)), nohup=True)
    started.wait_until_training()
    for _ in range(3):
        os.killpg(started.process.pid, signal.SIGINT)
        time.sleep(0.5)
    assert started.process.poll() is None
    assert all(is_running(pid) for pid in started.workers)
    assert statuses(tmp_path) == ["running"]
    started.process.send_signal(signal.SIGTERM)
    code, said = started.ended()
    assert code == 130
    assert "stopped; " in said
    assert statuses(tmp_path) == ["queued"]
    assert list(tmp_path.glob("*/checkpoints/*/state-*.sha256"))


@pytest.mark.slow
def test_two_signals_together_are_one_wish(start: Callable[..., Started], tmp_path: Path) -> None:
    """`timeout` sends SIGTERM to its child and then to the whole group: nothing may be lost by that."""
    driver = start(*sweep(tmp_path, ENCODER), together=SECONDS)  # this process may be held up between the two
    driver.wait_until_training()
    os.kill(driver.process.pid, signal.SIGTERM)
    time.sleep(0.05)
    os.killpg(driver.process.pid, signal.SIGTERM)
    assert driver.ended()[0] == 130
    assert statuses(tmp_path) == ["queued"]
    assert list(tmp_path.glob("*/checkpoints/*/state-*.sha256"))
