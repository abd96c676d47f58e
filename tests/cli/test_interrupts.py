"""Ctrl-C, and networks that exit: what was done is kept, and what is said of it is true."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

from hardgap.runs.store import Store

from .conftest import Call

SMOKE = ["train", "30", "--hide", "3", "--scale", "smoke"]
LEAVING = """
import sys
from torch import nn

class Leaving(nn.Linear):
    def __init__(self, width, calls):
        super().__init__(width, width)
        self.calls = calls

    def forward(self, x):
        self.calls -= 1
        return super().forward(x) if self.calls else sys.exit(0)

def late(width):
    return Leaving(width, 30)

def soon(width):
    return Leaving(width, 1)
"""
STOPPING = """
import os, signal
from sklearn.dummy import DummyClassifier

class Stopping(DummyClassifier):
    def fit(self, x, y):
        os.kill(os.getpid(), signal.SIGINT)
        return super().fit(x, y)
"""


def test_ctrl_c_keeps_what_was_done_and_the_same_command_goes_on(call: Call, tmp_path: Path) -> None:
    command = [*SMOKE, "--steps", "100000", "--width", "7"]

    def interrupt_when_training(seen: int) -> None:
        give_up = time.monotonic() + 240
        while _evaluations(tmp_path / "hardgap-runs") < seen + 3 and time.monotonic() < give_up:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    reached = []
    while len(reached) < 2:
        helper = threading.Thread(target=interrupt_when_training, args=[_evaluations(tmp_path / "hardgap-runs")])
        helper.start()
        code, out, err = call(*command)
        helper.join()
        assert (code, out) == (130, "")
        assert "stopped; what was finished is kept, and the same command goes on from there" in err
        (state,) = (tmp_path / "hardgap-runs").glob("checkpoints/*/state-*.safetensors")
        reached.append(int(state.stem.removeprefix("state-")))
    assert 0 < reached[0] < reached[1]
    assert [row.status for row in Store(tmp_path / "hardgap-runs").rows()] == ["queued"]


def test_a_network_that_exits_fails_its_run_and_the_command(call: Call, tmp_path: Path) -> None:
    (tmp_path / "leaving.py").write_text(LEAVING)
    for name, words in (("late", "SystemExit: 0"), ("soon", "fails on rows of shape")):
        code, out, err = call(*SMOKE, "--steps", "50", "--model", f"leaving:{name}", "--json")
        assert (code, out) == (2, "")
        assert words in err.splitlines()[-1]
    (row,) = Store(tmp_path / "hardgap-runs").rows()
    assert (row.status, row.error) == ("failed", "SystemExit: 0")


def _evaluations(folder: Path) -> int:
    """How many evaluations a store holds, if there is one."""
    if not (folder / "checkpoints").exists():
        return 0
    with closing(sqlite3.connect(folder / "runs.sqlite")) as db:
        return int(db.execute("SELECT count(*) FROM points").fetchone()[0])


def test_ctrl_c_promises_nothing_where_nothing_is_kept(call: Call, tmp_path: Path) -> None:
    (tmp_path / "stopping.py").write_text(STOPPING)
    code, out, err = call("baselines", "--rule", "30", "--hide", "3", "--method", "stopping:Stopping")
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "hardgap: stopped"
