"""Which engine trained a run is written down, and a run goes on with its own unless another is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from hardgap.cli import main
from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer
from hardgap.nn.native import engine, library
from hardgap.runs.certificate import leak_certificate
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.execute import Execution
from hardgap.runs.owner import me
from hardgap.runs.results import export_runs, import_runs
from hardgap.runs.retrain import retrain_run
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.skipif(not engine.state_of(None).startswith("ready"), reason=engine.state_of(None)),
]


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Asks for an engine as `--engine` does; forgotten after the test."""
    monkeypatch.setenv(engine.VARIABLE, "auto")
    return lambda name: monkeypatch.setenv(engine.VARIABLE, name)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def trained(store: Store, run: AutomatonRun, stop_after: int | None = None) -> Any:
    store.add([run])
    assert store.claim([run.id], me()) == run.id
    seen: list[int] = []
    watcher = Observer(on_step=seen.append, should_stop=lambda: stop_after is not None and len(seen) >= stop_after)
    return Execution(store, run, me(), watcher, checkpoint_seconds=0.0)()


def state(store: Store, run: AutomatonRun) -> tuple[dict[str, Tensor], dict[str, Any]]:
    found = Checkpoints(store.folder, run.id).latest()
    assert found is not None
    return found


def same(one: tuple[dict[str, Tensor], dict[str, Any]], other: tuple[dict[str, Tensor], dict[str, Any]]) -> bool:
    return one[1]["curve"] == other[1]["curve"] and all(torch.equal(one[0][name], other[0][name]) for name in one[0])


def test_the_record_names_the_engine_and_the_processor(store: Store, tiny: Tiny, asked: Callable[[str], None]) -> None:
    run = tiny()
    trained(store, run)
    native = store.get(run.id).versions
    assert native["engine"].startswith("native ")
    assert native["processor"]
    assert native["instructions"]
    asked("eager")
    trained(store, other := tiny(seed=1))
    assert store.get(other.id).versions["engine"] == "eager"
    conv = tiny(model={"kind": "conv", "channels": 4})
    asked("native")
    trained(store, conv)
    assert store.get(conv.id).versions["engine"] == "eager", "the native engine has no convolution"


@pytest.mark.parametrize("began", ["eager", "native"])
def test_a_run_goes_on_with_the_engine_that_began_it(
    tmp_path: Path, tiny: Tiny, asked: Callable[[str], None], regime: dict[str, Any], began: str
) -> None:
    run = tiny(unrolling=regime)
    whole, stopped = Store(tmp_path / "whole"), Store(tmp_path / "stopped")
    asked(began)
    trained(whole, run)
    assert trained(stopped, run, stop_after=2) == "interrupted"
    asked("auto")
    trained(stopped, run)
    assert same(state(whole, run), state(stopped, run))
    assert stopped.get(run.id).versions["engine"] == whole.get(run.id).versions["engine"]


def test_engines_differ_in_bits_but_not_in_what_they_compute(
    tmp_path: Path, tiny: Tiny, asked: Callable[[str], None]
) -> None:
    run = tiny()
    stores = {name: Store(tmp_path / name) for name in ("native", "eager")}
    for name, store in stores.items():
        asked(name)
        trained(store, run)
    native, eager = (state(store, run)[0] for store in stores.values())
    for name in eager:
        torch.testing.assert_close(native[name], eager[name], atol=1e-3, rtol=1e-2)


def test_another_engine_takes_over_only_if_asked_and_says_so(
    store: Store, tiny: Tiny, asked: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    run = tiny()
    asked("eager")
    trained(store, run, stop_after=2)
    asked("native")
    trained(store, run)
    assert f"run {run.id} was begun with eager, goes on with native" in capsys.readouterr().err
    assert store.get(run.id).versions["engine"].startswith("eager, then native ")


def test_a_state_of_before_there_were_engines_is_eager(store: Store, tiny: Tiny, asked: Callable[[str], None]) -> None:
    run = tiny()
    asked("eager")
    trained(store, run, stop_after=2)
    checkpoints = Checkpoints(store.folder, run.id)
    tensors, meta = state(store, run)
    checkpoints.remove()
    checkpoints.save_state(tensors, {key: value for key, value in meta.items() if key != "engines"})
    asked("auto")
    trained(store, run)
    assert store.get(run.id).versions["engine"] == "eager"


def test_an_engine_that_is_not_here_is_refused_in_a_sentence_and_nothing_is_lost(
    store: Store, tiny: Tiny, asked: Callable[[str], None]
) -> None:
    run = tiny()
    trained(store, run, stop_after=2)
    checkpoints = Checkpoints(store.folder, run.id)
    tensors, meta = state(store, run)
    checkpoints.remove()
    checkpoints.save_state(tensors, meta | {"engines": ["native avx512, kernel 0, g++ 1.0"]})
    asks = "HARDGAP_ENGINE=native or eager takes another"
    with pytest.raises(BadInput, match=rf"cannot go on as it began: the engine .*kernel 0.* {asks}"):
        trained(store, run)
    store.release(run.id, me())
    asked("eager")
    trained(store, run)
    assert store.get(run.id).versions["engine"] == "native avx512, kernel 0, g++ 1.0, then eager"


def test_a_shorter_run_of_an_engine_that_is_gone_is_passed_over_and_named(
    store: Store, tiny: Tiny, asked: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    short, long = (tiny(budget={"steps": steps, "evaluate_every": 3}) for steps in (6, 9))
    trained(store, short)
    checkpoints = Checkpoints(store.folder, short.id)
    tensors, meta = state(store, short)
    checkpoints.remove()
    checkpoints.save_state(tensors, meta | {"engines": ["native avx512, kernel 0, g++ 1.0"]})
    trained(store, long, stop_after=2)
    told = f"run {short.id} has the first 6 steps, made with native avx512, kernel 0, g++ 1.0, which is not here"
    assert told in capsys.readouterr().err
    assert store.get(long.id).step == 2
    Checkpoints(store.folder, long.id).remove()
    asked("eager")
    trained(store, long)
    assert store.get(long.id).versions["engine"] == "native avx512, kernel 0, g++ 1.0, then eager"


def test_retraining_takes_the_engine_of_the_result(tmp_path: Path, tiny: Tiny, asked: Callable[[str], None]) -> None:
    run, made, read = tiny(), Store(tmp_path / "made"), Store(tmp_path / "read")
    asked("eager")
    trained(made, run)
    export_runs(made, [made.get(run.id)], tmp_path / "results")
    import_runs(read, tmp_path / "results")
    asked("auto")
    assert retrain_run(read, read.get(run.id), Observer()).same


@pytest.mark.parametrize("masking", ["every", "first"])
def test_the_leak_certificate_holds_natively_and_catches_the_leaky_control(
    tiny: Tiny, asked: Callable[[str], None], masking: str
) -> None:
    asked("native")
    assert leak_certificate(tiny(masking=masking), steps=5).passed == (masking == "every")


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.mark.parametrize("what", [("train", "30", "--hide", "3"), ("symbolic", "train", "^|")], ids=str)
def test_commands_take_an_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str], what: tuple[str, ...]) -> None:
    smoke = [*what, "--scale", "smoke", "--store", str(tmp_path), "--json"]
    code, out, _ = call(capsys, *smoke, "--engine", "eager")
    assert code == 0
    shown = call(capsys, "runs", "show", json.loads(out)["run"], "--store", str(tmp_path), "--json")[1]
    assert json.loads(shown)["versions"]["engine"] == "eager"
    code, _, err = call(capsys, *smoke, "--engine", "fast")
    assert (code, len(err.splitlines())) == (2, 1)


def test_an_engine_that_is_not_there_is_refused_before_anything_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, asked: Callable[[str], None]
) -> None:
    asked("fast")
    code, _, err = call(capsys, "train", "30", "--hide", "3", "--store", str(tmp_path / "new"))
    allowed = "choose auto, native, eager, stacked, avx512, avx2 or portable"
    assert (code, err) == (2, f"hardgap: HARDGAP_ENGINE=fast: {allowed}\n")
    monkeypatch.setattr(library, "library_path", lambda build, folder=None: tmp_path / f"kernel-{build}.so")
    for cached in (engine._asked, library.load):
        cached.cache_clear()
    try:
        asked("auto")
        assert engine.current() is None, "without a library PyTorch computes"
        code, out, _ = call(capsys, "checks", "--json")
        assert (code, json.loads(out)["engine"].startswith("eager: kernel-portable.so was not built")) == (0, True)
        code, _, err = call(
            capsys, "train", "30", "--hide", "3", "--store", str(tmp_path / "new"), "--engine", "native"
        )
        assert code == 2
        assert err.startswith("hardgap: the native engine is not available: kernel-portable.so was not built")
    finally:
        for cached in (engine._asked, library.load):
            cached.cache_clear()
    assert not (tmp_path / "new").exists()


def test_checks_says_what_computes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "checks", "--json")
    assert (code, json.loads(out)["engine"]) == (0, engine.current_name())
    assert call(capsys, "checks")[0] == 0
