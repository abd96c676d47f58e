"""What the tests of the spine share: tiny runs that train in milliseconds, always on one thread."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from hardgap.core import plugins
from hardgap.core.run import Run, validated
from hardgap.worlds.automaton.run import AutomatonRun

if TYPE_CHECKING:
    from hardgap.runs.certificate import Certificate, Seen

# A busy machine is slow, not wrong. At a desk every call tries other examples; where it is decided whether a change
# lands (.ci/run) it is the same ones each time, so that the answer is about the change.
settings.register_profile("hardgap", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "hardgap"))

REGIMES: dict[str, dict[str, Any]] = {
    "soft": {"feedback": "soft", "steps": 3},
    "hard": {"feedback": "hard", "steps": 3},
    "none": {"feedback": "none", "steps": 1},
    "tempered": {
        "feedback": "soft",
        "steps": 2,
        "temperature": {"start": 4.0, "end": 1.0, "over": 5, "shape": "cosine"},
        "weights": [1.0, 0.5],
    },
    "learned": {"feedback": "soft", "steps": 2, "temperature": {"start": 2.0, "shape": "learned"}},
    "noisy": {
        "feedback": "soft",
        "steps": 3,
        "temperature": {"start": 8.0, "end": 8.0},
        "cells": "hidden",
        "noise": 0.5,
        "backward": 4.0,
    },
    "drawn": {
        "feedback": "soft",
        "steps": 3,
        "temperature": {"start": 8.0, "end": 0.5, "shape": "random"},
        "rounded": 0.5,
    },
}


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard() -> None:
    """Tests press Ctrl-C, also of their children, who inherit what is ignored: `nohup make test &` ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def nothing_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test begins as a process does: no plug-in has been named."""
    monkeypatch.setattr(plugins, "_trusted", set())


@pytest.fixture(scope="session")
def certify_here() -> Callable[[Run, int], Certificate]:
    """A leak certificate of so many steps with both trainings in this process, where a leak can be planted."""
    from hardgap.runs.certificate import compare
    from hardgap.runs.witness import witness

    def certify(run: Run, steps: int) -> Certificate:
        seen: tuple[list[Seen], list[Seen]] = ([], [])
        for decoy in (False, True):
            witness(run, seen[decoy].append, decoy=decoy, steps=steps)
        return compare(run, *seen)

    return certify


@pytest.fixture(scope="session")
def one_thread() -> None:
    """Bitwise equality holds for a fixed number of threads; workers use one."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(params=list(REGIMES))
def regime(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Every training regime in turn."""
    return REGIMES[request.param]


def tiny_run(**changes: Any) -> AutomatonRun:
    base = {
        "rule": "30",
        "hide": [3],
        "width": 7,
        "train_rows": 16,
        "test_rows": 16,
        "unrolling": REGIMES["soft"],
        "optimiser": {"batch": 6},
        "budget": {"steps": 7, "evaluate_every": 3},
        "model": {"kind": "encoder", "dim": 8, "heads": 2, "layers": 1, "ffn": 16},
    }
    return validated(AutomatonRun, base | changes)


@pytest.fixture(scope="session")
def tiny() -> Callable[..., AutomatonRun]:
    """A factory of configs: width 7, 16 rows, 7 steps, evaluated every 3, a network of 8 dimensions."""
    return tiny_run
