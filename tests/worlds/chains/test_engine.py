"""Experiment 2 through the native engine: written down, gone on with bit by bit, and as free of leaks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from hardgap.core.loop import Observer
from hardgap.core.run import validated
from hardgap.nn.native import engine
from hardgap.runs.certificate import Certificate
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.execute import Execution
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.worlds.chains.run import SymbolicRun

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.skipif(not engine.state_of(None).startswith("ready"), reason=engine.state_of(None)),
]


def tiny(**changes: Any) -> SymbolicRun:
    base = {
        "holdout": "^&", "operators": ["^", "|", "&"], "bits": 3, "train_examples": 90, "eval_examples": 2,
        "test_examples": 2, "optimiser": {"batch": 32, "fused": True, "clip": 1.0},
        "budget": {"steps": 6, "evaluate_every": 3}, "model": {"dim": 8, "heads": 2, "layers": 1, "ffn": 16},
    }  # fmt: skip
    return validated(SymbolicRun, base | changes)


def train(store: Store, run: SymbolicRun, asked: str, stop_after: int | None = None) -> Any:
    """Train as `--engine` asks; the tensors and the curve of the state at the end, and the engine on record."""
    store.add([run])
    store.claim([run.id], me())
    seen: list[int] = []
    watcher = Observer(on_step=seen.append, should_stop=lambda: stop_after is not None and len(seen) >= stop_after)
    Execution(store, run, me(), watcher, checkpoint_seconds=0.0, engine=asked)()
    found = Checkpoints(store.folder, run.id).latest()
    assert found is not None
    return found[0], found[1]["curve"], store.get(run.id).versions and store.get(run.id).versions["engine"]


@pytest.mark.parametrize("began", ["eager", "native"])
def test_a_stopped_run_goes_on_with_its_engine_to_the_same_bits(tmp_path: Path, began: str) -> None:
    whole, stopped = Store(tmp_path / "whole"), Store(tmp_path / "stopped")
    weights, curve, recorded = train(whole, tiny(), began)
    train(stopped, tiny(), began, stop_after=2)
    again, same_curve, same_record = train(stopped, tiny(), "auto")
    assert recorded.startswith(began)
    assert (same_curve, same_record) == (curve, recorded)
    assert all(torch.equal(again[name], weights[name]) for name in weights)


def test_engines_differ_in_bits_but_not_in_what_they_compute(tmp_path: Path) -> None:
    native, eager = (train(Store(tmp_path / name), tiny(), name)[0] for name in ("native", "eager"))
    assert not all(torch.equal(native[name], eager[name]) for name in eager)
    for name in eager:
        torch.testing.assert_close(native[name], eager[name], atol=1e-3, rtol=1e-2)


def test_dropout_is_left_to_eager_and_so_recorded(tmp_path: Path) -> None:
    run = tiny(model={"dim": 8, "heads": 2, "layers": 1, "ffn": 16, "dropout": 0.1})
    assert train(Store(tmp_path), run, "native")[2] == "eager"


def test_the_leak_certificate_holds_natively(certify_here: Callable[[SymbolicRun, int], Certificate]) -> None:
    with engine.using("native"):
        assert certify_here(tiny(ambiguity="seen"), 4).passed
