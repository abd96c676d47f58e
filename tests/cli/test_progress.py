"""Progress on stderr where there is no terminal: plain lines, with a time that is left within ten seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hardgap.cli.progress import show_sweep
from hardgap.core.wording import duration
from hardgap.runs import watching as module
from hardgap.runs.driver import SweepProgress
from hardgap.runs.watching import QUIET_SECONDS


def at(done: int, rate: float, failed: int = 0) -> SweepProgress:
    return SweepProgress(
        done=done,
        failed=failed,
        running=2 if done + failed < 10 else 0,
        total=10,
        steps_left=100 * (10 - done - failed),
        steps_per_second=rate,
    )


def test_plain_lines_tell_how_long_it_may_take(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    with show_sweep() as report:
        report(at(0, 0.0))
        clock[0] += QUIET_SECONDS
        report(at(1, 20.0))
        clock[0] += QUIET_SECONDS / 2
        report(at(2, 20.0))  # too soon for another line
        clock[0] += 1.0
        report(at(9, 25.0, failed=1))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "0/10 runs, 2 running, warming up",
        "1/10 runs, 2 running, 20.0 steps/s, at most 45 s left",
        "10/10 runs, 0 running, 1 failed",
    ]
    assert QUIET_SECONDS < 10


def test_a_run_that_goes_on_does_not_promise_to_be_as_fast_as_what_it_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    _, step = module.run_lines(1000, at_once=False)
    for done in range(901, 921):
        clock[0] += 1.0
        step(done)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "step 902/1000, at most 1 min 38 s left"
    assert told[-1] == "step 918/1000, at most 1 min 22 s left"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (90061, "25 h 1 min"),
    ],
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_run_goes_on_when_nobody_reads_its_progress(tmp_path: Path) -> None:
    """`hardgap train … 2>&1 | head -1`: the reader is gone, the run is not failed for it."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "hardgap", "train", "30", "--hide", "3", "--scale", "smoke", "--json"]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    assert json.loads(done.stdout)["status"] == "done"
