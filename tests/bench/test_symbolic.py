"""The benchmark of Experiment 2: both sides do the same work, and ratios are taken within a round."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from hardgap.bench import ours, plain_symbolic, symbolic, symbolic_step
from hardgap.core.specs import Budget
from hardgap.nn.seq2seq import build_seq2seq
from hardgap.nn.spec import Seq2SeqSpec
from hardgap.worlds.chains.chains import Arithmetic
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.tokens import Codec

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_plain_script_does_what_ours_does() -> None:
    """The same vocabulary (and padding), lengths, batch and size of network."""
    codec = Codec(Arithmetic())
    assert codec.vocabulary + 1 == plain_symbolic.VOCABULARY
    assert codec.begin == plain_symbolic.BEGIN
    assert 1 + len(codec.layout) == plain_symbolic.TOKENS
    batch = SymbolicRun(holdout="^|", budget=Budget(steps=1)).optimiser.batch
    assert batch == plain_symbolic.BATCH == symbolic.BATCH
    own = build_seq2seq(Seq2SeqSpec(), vocabulary=76, inputs=5, outputs=16, seed=0)
    plain = plain_symbolic.Model()
    assert sum(p.numel() for p in plain.parameters()) == sum(p.numel() for p in own.parameters())


def test_padding_changes_nothing_but_the_time() -> None:
    model = plain_symbolic.Model(longest=20).eval()
    inputs, outputs = torch.randint(0, 64, (3, 5)), torch.randint(0, 75, (3, 16))
    padded = torch.nn.functional.pad(outputs, (0, 4), value=plain_symbolic.PAD)
    with torch.no_grad():
        torch.testing.assert_close(model(inputs, padded)[:, :16], model(inputs, outputs))


def test_its_answers_begin_and_end_where_ours_do() -> None:
    answers = plain_symbolic.answer(plain_symbolic.Model().eval(), torch.randint(0, 64, (2, 5)))
    assert answers.shape == (2, 16)
    assert set(answers[:, 0].tolist()) == {plain_symbolic.BEGIN}


def test_every_kind_of_work_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_symbolic, "BATCH", 8)
    assert plain_symbolic.train(1, 18) > 0
    assert plain_symbolic.decode(3, 2) > 0
    assert all(ours.WORK[what]("3") > 0 for what in ("decode", "confirm"))


def test_one_core_has_every_engine_and_the_plain_script_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (plain_symbolic, symbolic_step):
        monkeypatch.setattr(module, "BATCH", 8)
    found = symbolic_step.measure_one_core(updates=1, rounds=1)
    assert found.keys() == {"training", "decoding"}
    for rows in found.values():
        names = [row["name"] for row in rows]
        assert names[-2:] == ["eager", "plain"]
        assert all(
            row["cpu_ms"] > 0 and row.get("times eager", 1) > 0 and row.get("times plain", 1) > 0 for row in rows
        )


def test_ratios_are_taken_within_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is half as fast in the second round; ours is always 4 times as fast as the plain script."""
    asked: list[tuple[str, int]] = []

    def seconds(arguments: list[str], copies: int, environment: dict[str, str]) -> list[float]:
        asked.append((arguments[0], copies))
        slowness = 1 if len(asked) <= 11 else 2
        return [slowness * (1.0 if arguments[0] == symbolic.OURS else 4.0)] * copies

    monkeypatch.setattr(symbolic, "run_copies", seconds)
    monkeypatch.setattr(symbolic, "usable_cores", lambda: 3)
    found: dict[str, Any] = symbolic.measure(updates=2, examples=640, rounds=2)
    assert [copies for _, copies in asked[:5]] == [3, 3, 1, 1, 3]
    assert [module for module, _ in asked[:5]] == [symbolic.OURS] * 2 + [symbolic.PLAIN] * 3
    native, eager, padded, _, spread = found["training"]
    assert native["per_second"] == 3 * 1024 * 0.75
    assert (native["ratio"], eager["ratio"], padded["ratios"], spread["ratios"]) == (1, 1, [12, 12], [4, 4])
    assert [row["ratio"] for row in found["decoding"]] == [1, 1, 1, 12, 4, 256]
