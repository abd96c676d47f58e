"""Experiment 2 through the same loop, store, resume and leak certificate as Experiment 1."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch

from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer
from hardgap.core.run import validated
from hardgap.nn.native import engine
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.runs.certificate import Certificate
from hardgap.runs.execute import Execution, build_trainer, load_model
from hardgap.runs.store import Store
from hardgap.worlds import build_task, parse_run
from hardgap.worlds.chains.chains import Arithmetic, Examples
from hardgap.worlds.chains.gap import ChainGap, Sets
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.selection import select_point
from hardgap.worlds.chains.task import SymbolicTask, decode_freely, judge_tokens
from hardgap.worlds.chains.tokens import Codec, Condition

pytestmark = pytest.mark.usefixtures("one_thread")
Certify = Callable[..., Certificate]


def tiny(**changes: Any) -> SymbolicRun:
    base = {
        "holdout": "^&",
        "operators": ["^", "|", "&", "R"],
        "bits": 4,
        "train_examples": 150,
        "eval_examples": 4,
        "test_examples": 6,
        "optimiser": {"batch": 64},
        "budget": {"steps": 7, "evaluate_every": 3},
        "model": {"dim": 8, "heads": 2, "layers": 1, "ffn": 16},
    }
    return validated(SymbolicRun, base | changes)


def learning() -> SymbolicRun:
    """Three operators on two bits, label-only: seen chains are learned within seconds."""
    return tiny(operators=["^", "|", "R"], holdout="^|", bits=2, condition="label-only", ambiguity="any",
                optimiser={"batch": 64, "learning_rate": 3e-3}, budget={"steps": 80, "evaluate_every": 40},
                model={"dim": 16, "heads": 2, "layers": 1, "ffn": 32})  # fmt: skip


def task_of(run: SymbolicRun) -> SymbolicTask:
    task = build_task(run)
    assert isinstance(task, SymbolicTask)
    return task


def trained(run: SymbolicRun, *, decoy: bool = False) -> list[dict[str, Any]]:
    trainer = build_trainer(run, decoy=decoy)
    trainer.run()
    return [point.as_dict() for point in trainer.curve]


def test_identity_of_a_config_and_the_way_back() -> None:
    run = tiny()
    assert parse_run(run.model_dump(mode="json")) == run
    assert parse_run(run.model_dump(mode="json")).id == run.id
    assert tiny(operators=["XOR", "or", "&", "RSHIFT"]).id == run.id
    ids = {tiny(**change).id for change in ({}, {"holdout": "&^"}, {"condition": "opaque"}, {"ambiguity": "seen"})}
    assert len(ids) == 4
    assert "^& XOR→AND held out, familiar" in run.describe()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"holdout": "^?"}, "write symbols side by side, out of ^ | & R"),
        ({"holdout": "^"}, "holdout '^': write 2 operators side by side"),
        ({"holdout": "^&|"}, "write 2 operators side by side"),
        ({"operators": ["^", "%"]}, "operator '%' is not known"),
        ({"operators": ["^", "&"]}, "at least 3 are needed"),
        ({"bits": 9}, "words of 1 to 8 bits"),
        ({"condition": "silent"}, "condition"),
        ({"train_examples": 0}, "train_examples"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_sentence(change: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        tiny(**change)
    assert words in str(caught.value)


@pytest.mark.parametrize("ambiguity", ["unambiguous", "seen", "any"])
def test_no_training_example_holds_the_pair_and_no_evidence_is_in_two_parts(ambiguity: str) -> None:
    run = tiny(ambiguity=ambiguity, operators=["^", "&", "R"], length=3, test_examples=2, eval_examples=1)
    gap, sets = run.gap, task_of(run).sets
    for name in ("train", "eval_seen", "test_seen"):
        texts = {gap.arithmetic.chain_text(ops) for ops in getattr(sets, name).ops}
        assert not any("^&" in text for text in texts)
    for name in ("eval_holdout", "test_holdout"):
        texts = {gap.arithmetic.chain_text(ops) for ops in getattr(sets, name).ops}
        assert len(texts) == int(gap.hidden.sum()) == 6
    rows = [
        {tuple(row) for one in parts for row in one.evidence.tolist()}
        for parts in ([sets.train], [sets.eval_seen, sets.eval_holdout], [sets.test_seen, sets.test_holdout])
    ]
    assert not (rows[0] & rows[1]) | (rows[0] & rows[2]) | (rows[1] & rows[2])


def test_what_each_ambiguity_keeps() -> None:
    fits = {}
    for ambiguity in ("unambiguous", "seen", "any"):
        run = tiny(ambiguity=ambiguity)
        fitting = run.gap.arithmetic.fits(task_of(run).sets.train.evidence)
        fits[ambiguity] = (fitting.sum(1).max(), fitting[:, ~run.gap.hidden].sum(1).max())
    assert fits["unambiguous"] == (1, 1)
    assert fits["seen"] == (2, 1)
    assert fits["any"][1] > 1


def test_the_loss_is_the_mean_over_all_tokens_and_pieces_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    task = task_of(tiny())
    model = task.model()
    whole = sum(float(loss.detach()) for loss in task.losses(model, 1))
    monkeypatch.setattr("hardgap.worlds.chains.task.EXAMPLES_PER_PIECE", 10)
    with engine.using("eager"):  # the native engine takes all at once
        pieces = [float(loss.detach()) for loss in task.losses(model, 1)]
    assert len(pieces) == 6
    assert sum(pieces) == pytest.approx(whole, rel=1e-5)
    assert 2.0 < whole < 5.0  # about log(24) before training


def test_an_epoch_shows_every_example_once() -> None:
    task = task_of(tiny())
    batches = [task._batch_examples(step).tolist() for step in range(6)]
    assert [len(batch) for batch in batches] == [64, 64, 22] * 2
    for epoch in (batches[:3], batches[3:]):
        assert sorted(index for batch in epoch for index in batch) == list(range(150))
    assert batches[0] != batches[3]
    assert batches == [task_of(tiny())._batch_examples(step).tolist() for step in range(6)]


@pytest.mark.parametrize("condition", get_args(Condition))
def test_true_answers_are_right_by_every_measure(condition: Condition) -> None:
    arithmetic = Arithmetic()
    sets = ChainGap(arithmetic, "^|").sets(train=84, evaluate=1, test=1, seed=0)
    codec = Codec(arithmetic, condition)
    judged = judge_tokens(codec, sets.train, codec.encode(sets.train)[:, 1:])
    assert all(values.min() == 1 for values in judged.values())
    assert ("f" in judged) == (condition != "label-only")


def test_each_measure_sees_its_own_mistake() -> None:
    """12 & 7 = 4, 4 | 5 = 5: both `&|` and `&^` explain d; the second is valid, though not the true one."""
    arithmetic = Arithmetic()
    codec = Codec(arithmetic)
    ops = np.array([arithmetic.parse_chain("&|")])
    example = arithmetic.examples(ops, np.array([[12, 7, 1]]), np.array([9]))
    assert example.inputs.tolist() == [[12, 7, 1, 5, 9]]

    def judge(text: str) -> list[float]:
        judged = judge_tokens(codec, example, np.array([[codec.texts.index(word) for word in text.split()]]))
        return [*(float(judged[name][0]) for name in ("exact", "pair", "f", "valid")), *judged["ops"][0].tolist()]

    assert judge("12 & 7 = 4 ; 4 | 9 = 13 ; & | <end>") == [1, 1, 1, 1, 1, 1]
    assert judge("12 & 7 = 4 ; 4 ^ 9 = 13 ; & ^ <end>") == [0, 0, 1, 1, 1, 0]
    assert judge("12 & 7 = 4 ; 4 | 9 = 12 ; & | <end>") == [0, 1, 0, 0, 1, 1]
    assert judge("12 & 7 = 4 ; 4 | 9 = 13 ; & ^ <end>") == [0, 0, 1, 0, 1, 0]
    assert judge("12 & 7 = 4 ; 4 | 9 = 13 ; 3 ^ <end>") == [0, 0, 1, 0, 0, 0]
    assert judge("12 & 7 = 4 ; 4 & 9 = 0 ; & & <end>") == [0, 0, 0, 0, 1, 0]


def test_a_draft_never_changes_the_answer() -> None:
    """Right, half right and random drafts; what is right is answered without decoding."""
    task = task_of(tiny())
    model = task.model()
    assert isinstance(model, Seq2Seq)
    inputs = task.sets.test_seen.inputs
    tokens, confidence = decode_freely(model, task.codec, inputs)
    dice = np.random.default_rng(0).integers(0, task.codec.vocabulary, tokens.shape)
    for share in (0.0, 0.5, 1.0):
        draft = np.where((np.arange(len(inputs)) < share * len(inputs))[:, None], tokens, dice)
        again, sure = decode_freely(model, task.codec, inputs, draft=draft)
        assert np.array_equal(again, tokens)
        np.testing.assert_allclose(sure, confidence, atol=1e-5)


@pytest.mark.parametrize("holdout", ["^|", "^|&"])
def test_longer_chains_are_certified_too(certify_here: Certify, holdout: str) -> None:
    run = tiny(operators=["^", "|", "&"], holdout=holdout, bits=3, length=3, ambiguity="any")
    assert certify_here(run, 3).passed


@pytest.mark.parametrize("ambiguity", ["unambiguous", "seen", "any"])
def test_a_world_that_is_wrong_about_the_held_out_pair_changes_nothing_but_its_score(
    certify_here: Certify, ambiguity: str
) -> None:
    run = tiny(ambiguity=ambiguity)
    assert certify_here(run, 6).passed
    true, dice = trained(run), trained(run, decoy=True)
    for name in ("step", "loss", "visible"):
        assert [point[name] for point in true] == [point[name] for point in dice]
    for name in ("seen", "chains"):
        assert [point["detail"][name] for point in true] == [point["detail"][name] for point in dice]


def test_the_choice_by_seen_chains_does_not_hear_of_held_out_ones() -> None:
    run = learning()
    true, dice = trained(run), trained(run, decoy=True)
    seen = [point["detail"]["eval"]["seen"] for point in true]
    assert len(set(seen)) > 1  # there is something to choose from
    assert seen == [point["detail"]["eval"]["seen"] for point in dice]
    assert select_point(true, "eval-seen")["step"] == select_point(dice, "eval-seen")["step"] > 0


@pytest.mark.parametrize("into", ["train", "eval_seen"])
def test_a_single_leaked_example_is_caught(certify_here: Certify, monkeypatch: pytest.MonkeyPatch, into: str) -> None:
    honest = ChainGap.sets

    def leaking(self: ChainGap, **sizes: int) -> Sets:
        sets = honest(self, **sizes)
        both = (getattr(sets, into), sets.test_holdout[:1])
        parts = (np.concatenate([getattr(one, name) for one in both]) for name in ("ops", "inputs", "values"))
        return dataclasses.replace(sets, **{into: Examples(*parts)})

    monkeypatch.setattr(ChainGap, "sets", leaking)
    assert not certify_here(tiny(), 3).passed


def test_resumed_in_the_middle_it_ends_bitwise_the_same() -> None:
    run = tiny(condition="opaque")
    straight, first, second = (build_trainer(run) for _ in range(3))
    straight.run()
    first.run(Observer(should_stop=lambda: first.step >= 4))
    second.restore(*first.state())
    second.run()
    assert [p.as_dict() for p in second.curve] == [p.as_dict() for p in straight.curve]
    assert all(torch.equal(second.weights()[name], tensor) for name, tensor in straight.weights().items())


def test_through_the_store_and_back_as_a_network(tmp_path: Path) -> None:
    store, run = Store(tmp_path), tiny(condition="label-only")
    store.add([run])
    assert store.claim([run.id], "me") == run.id
    assert Execution(store, run, "me", Observer())() == "budget"
    curve = store.curve(run.id)
    assert [point["step"] for point in curve] == [0, 3, 6, 7]
    model, again = load_model(store, run.id)
    assert again == run
    assert isinstance(model, Seq2Seq)
    task = task_of(run)
    assert task.score(model, run.budget.steps).detail == curve[-1]["detail"]
    assert "sets" not in task_of(run).__dict__  # a network is built without drawing its examples


def test_it_learns() -> None:
    curve = trained(learning())
    assert curve[-1]["loss"] < 0.9 * curve[1]["loss"]
    assert curve[-1]["detail"]["seen"]["tokens"] > curve[0]["detail"]["seen"]["tokens"] + 0.3


def point(step: int, seen: float, holdout: float, tested: float) -> dict[str, Any]:
    return {"step": step, "holdout": tested, "detail": {"eval": {"seen": seen, "holdout": holdout}}}


def test_selection_looks_at_the_evaluation_set_alone() -> None:
    curve = [point(0, 0.1, 0.0, 0.9), point(10, 0.8, 0.7, 0.5), point(20, 0.9, 0.6, 0.2), point(30, 0.9, 0.1, 0.3)]
    assert select_point(curve, "eval-holdout")["step"] == 10
    assert select_point([*curve, point(40, 0.8, 0.7, 0.1)], "eval-holdout")["step"] == 10
    assert select_point([*curve, point(40, 0.85, 0.7, 0.1)], "eval-holdout")["step"] == 40
    assert select_point(curve, "eval-seen")["step"] == 20
    assert select_point(curve, "final")["step"] == 30
    never = [point(step, seen, 0.0, 0.0) for step, seen in ((0, 0.0), (10, 0.3), (20, 0.2))]
    assert select_point(never, "eval-holdout")["step"] == 10  # not the untrained network
    with pytest.raises(BadInput, match="no evaluation to choose from"):
        select_point([], "final")
    with pytest.raises(BadInput, match="not evaluated on a separate set"):
        select_point([{"step": 0, "detail": {}}], "eval-seen")


def test_fewer_seen_examples_leave_the_other_sets_as_they_are() -> None:
    gap = ChainGap(Arithmetic(), "^|")
    full = gap.sets(train=480, evaluate=2, test=3, seed=0)
    few = gap.sets(train=480, evaluate=2, test=3, seed=0, seen=1)
    assert (len(few.eval_seen), len(few.test_seen)) == (48, 48)
    for name in ("train", "eval_holdout", "test_holdout"):
        assert np.array_equal(getattr(full, name).inputs, getattr(few, name).inputs)


def test_the_source_of_an_operator_goes_with_the_operator() -> None:
    own = {"operators": ["^", "|", "my_ops:add"], "sources": {"my_ops:add": "a" * 64}}
    run = validated(SymbolicRun, {"holdout": "^|", "budget": {"steps": 2}, **own})
    without = run.but(operators=("^", "|", "&"))
    assert without.sources == {}
    assert without.id == run.but(operators=("^", "|", "&"), sources={}).id
    with pytest.raises(BadInput, match="my_ops:add is not among the operators"):
        run.but(operators=("^", "|", "&"), sources=own["sources"])
