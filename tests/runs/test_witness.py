"""The two processes of a leak certificate. What it catches is in `tests/training/test_planted_leaks.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hardgap.errors import BadInput
from hardgap.runs.certificate import leak_certificate
from hardgap.runs.config import AutomatonRun, named

Own = Callable[[str], AutomatonRun]
NETS = """
from torch import nn

made = []

class Leaving(nn.Linear):
    def forward(self, x):
        made.append(x)
        if len(made) > 30:
            raise SystemExit(0)
        return super().forward(x)

def leaving(width):
    print('{"step": 0}')
    return Leaving(width, width)

def counting(width):
    made.append(width)
    net = nn.Linear(width, width)
    nn.init.constant_(net.bias, len(made))
    return net
"""


@pytest.fixture
def own(tmp_path: Path, tiny: Callable[..., AutomatonRun], monkeypatch: pytest.MonkeyPatch) -> Own:
    """A run with one of these networks, by its name."""
    (tmp_path / "process_nets.py").write_text(NETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return lambda name: named(tiny(model={"kind": "plugin", "factory": f"process_nets:{name}"}))


@pytest.mark.slow
def test_nothing_global_carries_over_from_one_world_to_the_other(own: Own) -> None:
    steps: list[int] = []
    found = leak_certificate(own("counting"), on_step=steps.append)
    assert (found.passed, found.steps) == (True, 3)  # one epoch
    assert sorted(set(steps)) == [0, 1, 2, 3]


@pytest.mark.slow
def test_a_training_that_leaves_in_the_middle_is_not_certified(own: Own) -> None:
    """It leaves at the same step in both worlds, after saying what looks like an answer."""
    with pytest.raises(BadInput, match="training fails: SystemExit"):
        leak_certificate(own("leaving"), steps=7)


def test_code_that_nobody_named_is_refused_before_anything_starts(tiny: Callable[..., AutomatonRun]) -> None:
    with pytest.raises(BadInput, match="plug-in pydoc:pipepager is named by a stored run, not by you"):
        leak_certificate(tiny(model={"kind": "plugin", "factory": "pydoc:pipepager", "args": {"cmd": "true"}}))
