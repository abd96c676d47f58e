"""The worked example opens a run in nnsight; skipped where nnsight is not installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hardgap.runs.execute import Execution
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

pytest.importorskip("nnsight", reason="the interoperability example needs nnsight", exc_type=ImportError)
EXAMPLE = Path(__file__).parents[4] / "examples" / "nnsight_run.py"


@pytest.mark.slow
def test_nnsight_finds_what_the_hooks_find(tmp_path: Path, tiny: Callable[..., AutomatonRun]) -> None:
    run, store, owner = tiny(), Store(tmp_path), me()
    store.add([run])
    store.claim([run.id], owner)
    Execution(store, run, owner)()
    store.close()
    command = [sys.executable, str(EXAMPLE), run.id, "--store", str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "differs by 0e+00" in told
    in_nnsight, here = told.partition("without head 1 of layer 0: ")[2].splitlines()[0].split(", ")
    assert in_nnsight.split()[0] == here.split()[0]
