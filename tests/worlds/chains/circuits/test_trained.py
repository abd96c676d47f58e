"""The analyses on a small network that has learned something: what must hold exactly, and what learning must show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hardgap.core.loop import Trainer
from hardgap.core.specs import Budget, Optimiser
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.nn.spec import Seq2SeqSpec
from hardgap.worlds.chains.circuits.opening import open_symbolic
from hardgap.worlds.chains.gap import Sets
from hardgap.worlds.chains.operators import Words
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.task import SymbolicTask, decode_freely
from hardgap.worlds.chains.tokens import Codec

Opened = tuple[Seq2Seq, Codec, Sets, dict[str, Any]]


@pytest.fixture(scope="module")
def opened() -> Opened:
    """Four operators on four bits, operators named only: about 40 % of seen pairs after a few seconds."""
    import torch

    torch.set_num_threads(1)
    optimiser = Optimiser(batch=64, learning_rate=5e-3, clip=1.0)
    sizes = {"train_examples": 2_000, "eval_examples": 10, "test_examples": 20}
    run = SymbolicRun(
        holdout="^|",
        operators=tuple("^|&R"),
        bits=4,
        condition="label-only",
        optimiser=optimiser,
        budget=Budget(steps=350, evaluate_every=350),
        model=Seq2SeqSpec(dim=16, heads=2, layers=1, ffn=32),
        **sizes,
    )
    task = SymbolicTask(run)
    trainer = Trainer(task, optimiser, run.budget, seed=0)
    trainer.run()
    model = trainer.model.eval()
    assert isinstance(model, Seq2Seq)
    found = open_symbolic(model, task.codec, task.sets, only=[], seed=0)
    return model, task.codec, task.sets, found


def named(model: Seq2Seq, codec: Codec, inputs: Words) -> Words:
    return codec.decode(decode_freely(model, codec, inputs)[0]).labels


def test_the_fresh_operand_changes_nothing_and_the_result_much(opened: Opened) -> None:
    changed = opened[3]["corruption"]
    assert max(changed["u"].values()) <= 0.15
    assert changed["d"]["op2"] >= 0.4


def test_a_probe_reads_the_second_operator_at_the_result_and_nothing_at_the_fresh_operand(opened: Opened) -> None:
    read = opened[3]["probes"]
    assert read["d"]["op2"] > 0.4
    assert max(read["u"].values()) < 0.35  # a quarter is chance


def test_the_whole_network_is_scored_as_it_answers(opened: Opened) -> None:
    model, codec, sets, found = opened
    whole = found["heads"][0]
    for part, examples in (("seen", sets.test_seen), ("holdout", sets.test_holdout)):
        right = (named(model, codec, examples.inputs) == examples.ops).all(axis=1)
        assert whole[part] == pytest.approx(right.mean())
    assert whole["seen"] > 0.2
    assert any(head["seen"] < whole["seen"] for head in found["heads"][1:])


def test_the_last_lens_is_the_networks_own_first_answer(opened: Opened) -> None:
    model, codec, sets, found = opened
    for part, examples in (("seen", sets.test_seen), ("holdout", sets.test_holdout)):
        first = named(model, codec, examples.inputs)[:, 0] == examples.ops[:, 0]
        assert found["lens"][part]["after dec-0"]["op1"] == pytest.approx(first.mean())


def test_the_example_of_the_surgery_is_what_the_network_says(opened: Opened) -> None:
    model, codec, _, found = opened
    for row in found["substitution"]["example"]:
        ops = named(model, codec, np.array([row["inputs"]]))[0]
        assert row["named"] == codec.arithmetic.chain_text(ops)
        assert row["derivation"] == " ".join(row["named"])
    assert [one["target"] for one in found["substitution"]["targets"]] == [*"^|&R"] * 2
