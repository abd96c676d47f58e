"""A config either trains or is refused in one sentence, and its identity never moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer
from hardgap.core.run import validated
from hardgap.core.specs import Budget, Optimiser
from hardgap.runs.execute import build_trainer
from hardgap.worlds import parse_run
from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]


# Identity


def test_ids_of_measured_runs_never_change() -> None:
    """Stores and results in the world are found again by these; see CONFIG_VERSION."""
    paper = AutomatonRun(rule="150", hide=(2,), budget=Budget(steps=7850, evaluate_every=157))
    assert (paper.id, paper.family) == ("fc4ad17e6e82", "43e7a162a17b")
    desk = AutomatonRun(
        rule="D",
        hide=(1, 4, 12, 17, 18, 24, 27, 29),
        width=13,
        test_rows=500,
        unrolling=Unrolling(feedback="hard"),
        optimiser=Optimiser(batch=64, clip=1.0),
        budget=Budget(steps=800, stop_after_solved=3),
        seed=7,
    )
    assert (desk.id, desk.family) == ("aff93f212853", "7702434b680c")


def test_saying_a_default_aloud_changes_nothing() -> None:
    brief: dict[str, Any] = {"rule": "30", "hide": [3], "budget": {"steps": 5}}
    run = validated(AutomatonRun, brief)
    assert validated(AutomatonRun, run.model_dump()).id == run.id
    assert validated(AutomatonRun, run.model_dump(mode="json")).id == run.id
    for field, value in run.model_dump(mode="json").items():
        assert validated(AutomatonRun, brief | {field: value}).id == run.id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"rule": "30"}, {"rule": "L1 ^ (C | R1)"}),
        ({"rule": "30"}, {"rule": "r1:0x1e"}),
        ({"rule": "30"}, {"rule": " 30 "}),
        ({"hide": [1, 5]}, {"hide": (5, 1)}),
        ({"hide": [1, 5]}, {"hide": {5, 1}}),
        ({"hide": [1]}, {"hide": [1.0]}),
        ({"rule": "30"}, {"rule": 30}),
        ({"hide": [3]}, {"hide": 3}),
        ({"hide": [3]}, {"hide": "011"}),
        ({"hide": [3, 5]}, {"hide": ["011", "5"]}),
        ({"hide": [3, 5]}, {"hide": "5, 011"}),
        ({"width": 9}, {"width": 9.0}),
    ],
)
def test_the_same_question_in_other_words_is_the_same_run(tiny: Tiny, one: Any, other: Any) -> None:
    assert tiny(**one).id == tiny(**other).id


@pytest.mark.parametrize(
    "change",
    [
        {"rule": "110"}, {"hide": [4]}, {"masking": "first"}, {"width": 8}, {"train_rows": 17}, {"test_rows": 17},
        {"seed": 1}, {"unrolling": {"feedback": "hard", "steps": 3}}, {"optimiser": {"batch": 7}},
        {"budget": {"steps": 8, "evaluate_every": 3}}, {"model": {"kind": "conv"}}, {"device": "auto"},
    ],
    ids=str,
)  # fmt: skip
def test_any_other_question_is_another_run(tiny: Tiny, change: dict[str, Any]) -> None:
    assert tiny(**change).id != tiny().id
    assert tiny().but(**change) == tiny(**change)


def test_networks_of_different_kinds_never_share_an_identity(tiny: Tiny) -> None:
    kinds = [{"kind": "encoder"}, {"kind": "conv"}, {"kind": "encoder", "layers": 3}, {"kind": "conv", "layers": 3}]
    assert len({tiny(model=kind).id for kind in kinds}) == 4
    assert len({tiny(model=kind).family for kind in kinds}) == 4


@pytest.mark.parametrize("kind", [{"kind": "encoder"}, {"kind": "conv"}, {"kind": "encoder", "layers": 3}], ids=str)
def test_what_was_asked_makes_the_same_config(tiny: Tiny, kind: dict[str, Any]) -> None:
    run = tiny(model=kind)
    assert parse_run(run.asked()) == run
    assert "masking" not in run.asked()


def test_a_family_differs_in_length_alone(tiny: Tiny) -> None:
    longer = tiny(budget={"steps": 99, "evaluate_every": 3})
    assert longer.family == tiny().family
    assert tiny(budget={"steps": 7, "evaluate_every": 4}).family != tiny().family
    assert tiny(seed=1).family != tiny().family


def test_under_a_learning_rate_schedule_a_run_has_no_family(tiny: Tiny) -> None:
    short, long = (tiny(optimiser={"schedule": "cosine"}, budget={"steps": n}) for n in (10, 20))
    assert short.family == short.id != long.family


def test_a_copy_knows_its_own_id(tiny: Tiny) -> None:
    run = tiny()
    assert run.id  # looked up, and so kept with the run
    copied = run.model_copy(update={"seed": 5})
    assert (copied.id, copied.family) == (tiny(seed=5).id, tiny(seed=5).family)
    assert copied.id != run.id


def test_a_config_cannot_be_changed(tiny: Tiny) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        tiny().seed = 4  # type: ignore[misc]


# Refusals


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"rule": "banana"}, "unknown rule 'banana'"),
    ({"rule": "256"}, "out of range"),
    ({"rule": True}, "rule: input should be a valid string, not True"),
    ({"rule": 256}, "rule number 256 is out of range"),
    ({"hide": []}, "at least one pattern must be hidden"),
    ({"hide": [8]}, "hide: Rule 30 has patterns 0 to 7, not 8"),
    ({"hide": {9}}, "hide: Rule 30 has patterns 0 to 7, not 9"),
    ({"hide": ["a"]}, "hide: Rule 30 has patterns 0 to 7, not 'a'"),
    ({"hide": True}, "hide: write a list"),
    ({"hide": {"a": 1}}, "hide: write a list"),
    ({"hide": [[1]]}, r"hide\.0: "),
    ({"hide": [1, None]}, r"hide\.1: "),
    ({"hide": [0.5]}, r"hide\.0: "),
    ({"hide": 8}, "hide: Rule 30 has patterns 0 to 7, not 8"),
    ({"hide": 10**5000}, "hide: "),
    ({"hide": list(range(8))}, "all 8 patterns"),
    ({"width": 0}, "width: input should be greater than 0, not 0"),
    ({"width": 2}, "width 2: a radius-1 rule needs at least 3 cells"),
    ({"rule": "D", "width": 4}, "width 4: a radius-2 rule needs at least 5 cells"),
    ({"train_rows": 10**9, "width": 101}, "more than the 2,147,483,648 that are allowed"),
    ({"seed": -1}, "seed: "),
    ({"seed": 2**31}, "seed: "),
    ({"optimiser": {"learning_rate": float("nan")}}, r"optimiser\.learning_rate: .*finite"),
    ({"optimiser": {"learning_rate": float("inf")}}, r"optimiser\.learning_rate: .*finite"),
    ({"optimiser": {"learning_rate": 0}}, r"optimiser\.learning_rate: .*greater than 0, not 0"),
    ({"optimiser": {"learning_rate": 1e300}}, r"optimiser\.learning_rate: .*less than or equal to 1000000"),
    ({"optimiser": {"clip": -1}}, r"optimiser\.clip"),
    ({"optimiser": {"batch": 0}}, r"optimiser\.batch"),
    ({"optimiser": {"momentum": 0.9}}, r"optimiser\.momentum is not known; there is learning_rate, batch, clip"),
    ({"budget": {}}, r"budget\.steps is missing"),
    ({"budget": {"steps": 0}}, r"budget\.steps"),
    ({"budget": {"steps": 5, "solved_at": 1.5}}, r"budget\.solved_at"),
    ({"unrolling": {"feedback": "none", "steps": 4}}, "without unrolling there is one step, not 4"),
    ({"unrolling": {"feedback": "hard", "temperature": {"start": 2, "end": 2}}}, "temperature belongs to soft"),
    ({"unrolling": {"temperature": {"start": 2}}}, "needs `over` > 0 steps"),
    ({"unrolling": {"steps": 2, "weights": [1]}}, "weights must be 2 numbers"),
    ({"unrolling": {"steps": 2, "weights": [0, 0]}}, "not all 0"),
    ({"unrolling": {"feedback": "sotf"}}, r"unrolling\.feedback: .*'soft', 'hard' or 'none', not 'sotf'"),
    ({"model": {"kind": "encoder", "dim": 10, "heads": 4}}, "dim 10 is not divisible by heads 4"),
    (
        {"model": {"kind": "encoder", "dim": 10**9, "heads": 1}},
        "a network of this size has more than the 268,435",
    ),
    ({"model": {"kind": "encoder", "layers": 10**900}}, "more than the 268,435,456 weights that are allowed"),
    ({"model": {"kind": "conv", "channels": 10**6}}, "more than the 268,435,456 weights that are allowed"),
    ({"model": {"kind": "lstm"}}, "model.kind lstm: choose encoder, conv, reference or plugin"),
    ({"model": {"kind": "plugin", "factory": "os.system"}}, "factory"),
    ({"rule": "D", "model": {"kind": "conv"}}, "a convolution of radius 1 cannot see a radius-2 neighbourhood"),
    ({"experiment": "nothing"}, "experiment 'nothing' is not known; there is automaton"),
    ({"experiment": ["automaton"]}, "is not known"),
    ({"epochs": 3}, "epochs is not known; there is"),
    ({"model": {"kind": "encoder", "dmi": 8}}, r"model\.encoder\.dmi is not known \(did you mean dim\?\)"),
    ({"model": 3}, "model has parts of its own, not 3"),
    ({"seed": 10**5000}, "seed: input should be less than 2147483648, not a number of thousands of digits"),
    ({"seed": -(10**5000)}, "seed: "),
    ({"width": 10**5000}, "width: a number of more than a thousand digits is too large"),
    ({"optimiser": {"warmup": 10**5000}}, r"optimiser\.warmup: a number of more than a thousand digits"),
    ({"budget": {"steps": 5, "restart_at": 10**5000}}, r"budget\.restart_at: a number of more than a thousand digits"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_trained_is_refused_in_one_sentence(tiny: Tiny, change: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words) as refused:
        parse_run(tiny().model_dump() | change)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=range(len(REFUSED)))
def test_python_gets_the_same_sentence(tiny: Tiny, change: dict[str, Any], words: str) -> None:
    if "experiment" in change:
        return
    with pytest.raises(BadInput, match=words):
        AutomatonRun(**(tiny().model_dump() | change))
    with pytest.raises(BadInput, match=words):
        AutomatonRun.model_validate(tiny().model_dump() | change)


def test_a_part_is_refused_by_itself_as_well() -> None:
    with pytest.raises(BadInput, match=r"^steps: input should be greater than 0, not 0$"):
        Budget(steps=0)
    with pytest.raises(BadInput, match=r"^budget\.steps: input should be greater than 0, not 0$"):
        AutomatonRun(rule="30", hide=(3,), budget={"steps": 0})


@pytest.mark.parametrize("data", [None, [], "rule", 3, {}, {"rule": "30"}])
def test_what_is_not_a_config_is_refused(data: Any) -> None:
    with pytest.raises(BadInput):
        parse_run(data)


# Any config at all


@pytest.mark.parametrize(
    "change",
    [
        {"optimiser": {"learning_rate": 1e6}},
        {"optimiser": {"learning_rate": 5e-324, "clip": 5e-324}},
        {"optimiser": {"clip": 1e300, "warmup": 10**400, "batch": 10**30}},
        {"budget": {"steps": 10**400, "evaluate_every": 10**400}},
        {"unrolling": {"steps": 2, "weights": [1e308, 1e308]}},
        {"unrolling": {"steps": 2, "temperature": {"start": 1e-300, "end": 1e-300}}},
        {"unrolling": {"steps": 2, "temperature": {"start": 1e300, "end": 1e-300, "over": 10**400}}},
        {"model": {"kind": "encoder", "dim": 2, "heads": 1, "position_std": 1e308}},
        {"train_rows": 1},
        {"width": 63, "train_rows": 2},
    ],
    ids=str,
)
def test_extreme_values_train_without_an_exception(tiny: Tiny, change: dict[str, Any]) -> None:
    trainer = build_trainer(tiny(**change))
    trainer.run(Observer(should_stop=lambda: trainer.step >= 3))
    assert 0 <= trainer.step <= 7


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**20), st.floats(), st.text(max_size=5), st.lists(st.integers())
)


def mostly(good: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Nearly always a value that makes sense, now and then anything."""
    return st.integers(0, 19).flatmap(lambda n: ODD if n == 0 else good)


RULES = st.one_of(
    st.integers(-1, 260).map(str),
    st.sampled_from(["D", "G", "150", "r2:0xfe", "r3:0x12345678", "L2 ^ R1", "~C", "L1 ^", "rule 30", ""]),
)
RATES = st.one_of(st.floats(1e-6, 1.0), st.floats(min_value=0, allow_nan=False))
UNROLLING = st.fixed_dictionaries(
    {"feedback": mostly(st.sampled_from(["soft", "hard", "none"])), "steps": mostly(st.integers(1, 4))},
    optional={
        "temperature": st.fixed_dictionaries(
            {}, optional={"start": mostly(RATES), "end": mostly(RATES), "over": mostly(st.integers(0, 9))}
        ),
        "weights": mostly(st.lists(RATES, min_size=1, max_size=4)),
    },
)
MODELS = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("encoder"), "dim": mostly(st.sampled_from([1, 4, 6, 8])), "heads": mostly(st.integers(1, 4)),
         "layers": mostly(st.integers(1, 2)), "ffn": mostly(st.integers(1, 9))},
        optional={"position_std": mostly(RATES)},
    ),
    st.fixed_dictionaries(
        {"kind": st.just("conv"), "channels": mostly(st.integers(1, 9)), "layers": mostly(st.integers(1, 3)),
         "radius": mostly(st.integers(1, 4))}
    ),
    st.fixed_dictionaries({"kind": st.just("plugin"), "factory": st.sampled_from(["no.such:net", "os:getcwd", "x"])}),
)  # fmt: skip
CONFIGS = st.fixed_dictionaries(
    {
        "rule": mostly(RULES),
        "hide": mostly(st.lists(st.integers(0, 9), min_size=1, max_size=4)),
        "width": mostly(st.integers(1, 9)),
        "train_rows": mostly(st.integers(1, 20)),
        "test_rows": mostly(st.integers(1, 20)),
        "budget": st.fixed_dictionaries(
            {"steps": mostly(st.integers(1, 3))},
            optional={"evaluate_every": mostly(st.integers(1, 4)), "stop_after_solved": mostly(st.integers(1, 2))},
        ),
    },
    optional={
        "masking": mostly(st.sampled_from(["every", "first"])),
        "seed": mostly(st.integers(0, 2**31 - 1)),
        "unrolling": UNROLLING,
        "model": MODELS,
        "optimiser": st.fixed_dictionaries(
            {},
            optional={
                "learning_rate": mostly(RATES), "clip": mostly(RATES), "batch": mostly(st.integers(1, 30)),
                "schedule": st.sampled_from(["constant", "linear", "cosine"]), "warmup": mostly(st.integers(0, 5)),
            },
        ),
    },
)  # fmt: skip


def too_big_to_try(run: AutomatonRun) -> bool:
    """Valid, but more than a test should train."""
    sizes = [run.width, run.train_rows, run.test_rows, run.unrolling.steps, *run.model.model_dump().values()]
    return any(isinstance(size, int) and size > 200 for size in sizes)


@given(CONFIGS)
@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_any_config_trains_or_is_refused(data: dict[str, Any]) -> None:
    try:
        run = parse_run(data)
        assert isinstance(run, AutomatonRun)
        assert parse_run(run.model_dump(mode="json")) == run
        assert run.describe()
        if too_big_to_try(run):
            return
        trainer = build_trainer(run)
        trainer.run(Observer(should_stop=lambda: trainer.step >= 2))
    except BadInput:
        return
    assert trainer.curve[0].step == 0
    assert 0 <= trainer.curve[-1].score.holdout <= 1
