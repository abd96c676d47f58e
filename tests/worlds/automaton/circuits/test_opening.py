"""Any network can be opened as far as it goes, is left as it was, and says what it lacks."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.nn.build import build_model
from hardgap.nn.conv import Conv
from hardgap.nn.encoder import Encoder, activation_names
from hardgap.nn.hooks import as_cells, levels, record, replaced, sites
from hardgap.nn.spec import EncoderSpec
from hardgap.worlds.automaton.circuits.opening import ANALYSES, Subject, open_network
from hardgap.worlds.automaton.circuits.over_time import over_time
from hardgap.worlds.automaton.circuits.probes import linear_probes
from hardgap.worlds.automaton.rule import Rule

from .conftest import WIDTH, XOR, Nameless


def small_encoder(seed: int = 0) -> torch.nn.Module:
    return build_model(EncoderSpec(dim=8, heads=2, layers=2, ffn=6), width=WIDTH, seed=seed).eval()


def test_every_analysis_opens_an_encoder_and_leaves_it_as_it_was(rows: NDArray[np.uint8]) -> None:
    model = small_encoder()
    before = model(as_cells(model, rows))
    heard: list[str] = []
    opening = open_network(Subject(model, XOR, rows, untrained=small_encoder(1)), on_start=heard.append)
    assert heard == list(opening.results) == list(ANALYSES)
    assert opening.does_not_apply == {}
    assert torch.equal(before, model(as_cells(model, rows)))
    assert not any(module._forward_hooks for module in model.modules())


def test_results_are_plain_data_and_the_same_each_time(rows: NDArray[np.uint8]) -> None:
    subject = Subject(small_encoder(), XOR, rows[:60], seed=3)
    first, second = (json.dumps(open_network(subject).as_dict(), allow_nan=False) for _ in range(2))
    assert first == second
    assert set(json.loads(first)) == {*ANALYSES, "does_not_apply"}


def test_a_network_without_names_gets_what_needs_none(rows: NDArray[np.uint8]) -> None:
    opening = open_network(Subject(Nameless(Rule(1, 150)), XOR, rows))
    assert list(opening.results) == ["polynomial", "rule", "consistency", "positions"]
    assert set(opening.does_not_apply) == set(ANALYSES) - set(opening.results)
    assert all("Nameless" in reason for reason in opening.does_not_apply.values())
    assert "hardgap.nn.encoder.Named" in opening.does_not_apply["probes"]


def test_a_convolution_has_levels_and_units_but_no_heads_and_no_stream(rows: NDArray[np.uint8]) -> None:
    torch.manual_seed(0)
    opening = open_network(Subject(Conv(channels=WIDTH, layers=2, radius=1).eval(), XOR, rows))
    assert set(opening.does_not_apply) == {"heads", "lens", "attention"}
    data = opening.as_dict()
    assert [level["site"] for level in data["layers"]["results"][::2]] == ["hidden.0", "hidden.1"]
    assert len(data["neurons"]["best"][0]["by_pattern"]) == 8
    assert {patch["site"] for patch in data["patching"]["patches"]} == {"hidden.0", "hidden.1", "logits"}


def test_a_convolution_with_as_many_channels_as_cells_is_read_by_cell() -> None:
    """[rows, channels, cells]: the shape alone would not tell which axis counts cells."""
    found = {site.name: site.cell_axis for site in sites(Conv(channels=WIDTH, layers=2), WIDTH)}
    assert found == {"hidden.0": 2, "hidden.1": 2, "logits": 1}


def test_repeated_rows_do_not_help_a_probe(rows: NDArray[np.uint8]) -> None:
    """Each row twice is no more evidence than once: the test half must not hold rows of the training half."""
    once, twice = (linear_probes(small_encoder(), XOR, batch) for batch in (rows, np.concatenate([rows, rows])))
    assert once == twice


def test_sites_know_their_cells(rows: NDArray[np.uint8]) -> None:
    model = Encoder(4, dim=8, heads=4, layers=1, ffn=4)  # four of everything: only the name tells the axes apart
    found = {site.name: site.cell_axis for site in sites(model, 4)}
    assert set(found) == set(activation_names(model))
    assert found["layers.0.attention.q"] == found["layers.0.attention.pattern"] == 2
    assert found["layers.0.ffn.post"] == found["embedding"] == found["logits"] == 1
    assert list(levels(model, 4)) == ["embedding", "layers.0.normed1", "layers.0.normed2"]


def test_replacing_a_value_reaches_the_logits_and_ends_with_the_block(rows: NDArray[np.uint8]) -> None:
    model = small_encoder()
    cells = as_cells(model, rows)
    with replaced(model, {"logits": lambda value: value + 1}):
        inside = record(model, cells, ["logits"])["logits"]
    assert torch.allclose(inside - 1, record(model, cells, ["logits"])["logits"], atol=1e-6)


@pytest.mark.parametrize(
    ("only", "message"),
    [(["lenss"], "did you mean lens"), (["probes", "x"], "x: there is no such analysis; choose from poly")],
)
def test_an_unknown_analysis_is_refused(only: list[str], message: str, rows: NDArray[np.uint8]) -> None:
    with pytest.raises(BadInput, match=message):
        open_network(Subject(small_encoder(), XOR, rows), only)


def test_rows_without_a_hidden_cell_are_refused() -> None:
    with pytest.raises(BadInput, match="hold no hidden cell"):
        open_network(Subject(small_encoder(), XOR, np.zeros((4, WIDTH), dtype=np.uint8)))


def test_the_signals_of_the_circuit_appear_when_the_circuit_does(xor: Encoder, rows: NDArray[np.uint8]) -> None:
    blank = build_model(EncoderSpec(dim=12, heads=2, layers=1, ffn=8), width=WIDTH, seed=0)
    timeline = over_time([(0, blank), (10, blank), (20, xor), (30, xor)], XOR, rows)
    appears = timeline.appears
    for signal in (
        "visible",
        "probe neighbours, after layer 0",
        "probe output, after layer 0",
        "attention locality, layer 0",
        "polynomial, share of the rule",
    ):
        assert appears[signal] == 20, signal
    assert timeline.moments[-1].signals["holdout"] == 1.0
    assert json.dumps(timeline.as_dict())


def test_a_lucky_constant_at_the_start_is_not_mistaken_for_the_circuit(xor: Encoder, rows: NDArray[np.uint8]) -> None:
    """Always answering 1 is right on every cell of pattern 010, and always 0 on none."""
    lucky, unlucky = Nameless(Rule(1, 255)), Nameless(Rule(1, 0))
    timeline = over_time([(0, lucky), (10, unlucky), (20, xor), (30, xor)], XOR, rows)
    assert [moment.signals["holdout"] for moment in timeline.moments] == [1.0, 0.0, 1.0, 1.0]
    assert timeline.appears["holdout"] == 20


def test_a_signal_that_falls_back_does_not_count_as_there(xor: Encoder, rows: NDArray[np.uint8]) -> None:
    blank = build_model(EncoderSpec(dim=12, heads=2, layers=1, ffn=8), width=WIDTH, seed=0)
    steps = [(0, blank), (10, xor), (20, blank), (30, xor)]
    assert over_time(steps, XOR, rows).appears["visible"] == 30
    assert over_time([(0, blank), (10, blank)], XOR, rows).appears["visible"] is None
