"""The two processes of a leak certificate. What it catches is in `tests/core/test_planted_leaks.py`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hardgap.core.errors import BadInput
from hardgap.core.run import named
from hardgap.runs.certificate import leak_certificate
from hardgap.worlds.automaton.run import AutomatonRun

Own = Callable[[str], AutomatonRun]
NETS = """
import os
from pathlib import Path
from torch import nn

class Leaving(nn.Linear):
    def forward(self, x):
        if len(x) == 6:  # a batch of training
            raise SystemExit(0)
        return super().forward(x)

def leaving(width):
    print('{"step": 0}')
    return Leaving(width, width)

def plain(width):
    with Path("processes").open("a") as file:
        print(os.getpid(), file=file)
    return nn.Linear(width, width)
"""


@pytest.fixture
def own(tmp_path: Path, tiny: Callable[..., AutomatonRun], monkeypatch: pytest.MonkeyPatch) -> Own:
    """A run with one of these networks, by its name."""
    (tmp_path / "process_nets.py").write_text(NETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return lambda name: named(tiny(model={"kind": "plugin", "factory": f"process_nets:{name}"}))


@pytest.mark.slow
def test_each_world_has_a_process_of_its_own(own: Own) -> None:
    steps: list[int] = []
    found = leak_certificate(own("plain"), on_step=steps.append)
    assert (found.passed, found.steps) == (True, 3)  # one epoch
    assert sorted(set(steps)) == [0, 1, 2, 3]
    processes = set(Path("processes").read_text().split())
    assert len(processes - {str(os.getpid())}) == len(processes) == 2


@pytest.mark.slow
def test_a_training_that_leaves_in_the_middle_is_not_certified(own: Own) -> None:
    """It leaves at the same step in both worlds, after saying what looks like an answer."""
    with pytest.raises(BadInput, match="training fails: SystemExit"):
        leak_certificate(own("leaving"), steps=7)


def test_code_that_nobody_named_is_refused_before_anything_starts(tiny: Callable[..., AutomatonRun]) -> None:
    with pytest.raises(BadInput, match="plug-in pydoc:pipepager is named by a stored run, not by you"):
        leak_certificate(tiny(model={"kind": "plugin", "factory": "pydoc:pipepager", "args": {"cmd": "true"}}))
