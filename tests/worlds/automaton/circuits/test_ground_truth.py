"""On weights that were written by hand, each analysis must find the circuit that is known to be there."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hardgap.nn.encoder import Encoder
from hardgap.worlds.automaton.circuits.ablation import ablate_heads, ablate_layers
from hardgap.worlds.automaton.circuits.attention import attention_maps
from hardgap.worlds.automaton.circuits.lens import logit_lens
from hardgap.worlds.automaton.circuits.neurons import parity_neurons
from hardgap.worlds.automaton.circuits.patching import patch_activations
from hardgap.worlds.automaton.circuits.probes import Probes, Reading, linear_probes
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule, parse_rule

from .conftest import XOR, built


def at(probes: Probes, level: str, bit: str) -> Reading:
    return next(reading for reading in probes.readings if (reading.level, reading.bit) == (level, bit))


def test_the_two_heads_look_one_cell_left_and_one_cell_right(xor: Encoder, rows: NDArray[np.uint8]) -> None:
    maps = attention_maps(xor, XOR, rows)
    assert [head.peak for head in maps.heads] == [-1, +1]
    for head in maps.heads:
        assert head.weights[head.peak] > 0.999
        assert head.agree == 1.0
        assert sum(head.weights.values()) == pytest.approx(1.0)
    assert maps.uniform == pytest.approx(3 / 9)


def test_the_eight_hidden_units_detect_the_eight_patterns(xor: Encoder, rows: NDArray[np.uint8]) -> None:
    neurons = parity_neurons(xor, XOR, rows)
    assert neurons.detectors == {"layers.0.ffn.post": tuple((unit, unit) for unit in range(8))}
    assert neurons.units == {"layers.0.ffn.post": 8}
    for neuron in neurons.best:
        assert np.sign(neuron.difference) == (1 if Rule(1, 150).table[neuron.unit] else -1)


def test_xor_cannot_be_probed_before_the_feed_forward_and_is_exact_after(xor: Encoder, rows: NDArray[np.uint8]) -> None:
    probes = linear_probes(xor, XOR, rows)
    embedding, attended, after = "embedding", "layers.0.normed1", "layers.0.normed2"
    assert at(probes, embedding, "C").accuracy == 1.0
    for cell in ("L1", "R1"):
        assert at(probes, embedding, cell).accuracy < 0.65
        assert at(probes, attended, cell).accuracy == 1.0
    assert at(probes, embedding, "output (XOR)").accuracy < 0.65
    # A threshold on a sum of three bits can agree with their parity on six of eight patterns, never on more.
    assert at(probes, attended, "output (XOR)").accuracy < 0.77
    assert at(probes, after, "output (XOR)").accuracy == 1.0
    assert at(probes, after, "output (XOR)").transfer == 1.0  # taught by visible cells, asked about hidden ones
    assert at(probes, attended, "output (XOR)").transfer == 0.0


def test_the_lens_reads_a_constant_before_the_block_and_the_rule_after(xor: Encoder, rows: NDArray[np.uint8]) -> None:
    before, attended, after = logit_lens(xor, XOR, rows).readings
    assert {before.accuracy.ones, attended.accuracy.ones} <= {0.0, 1.0}
    assert (after.title, after.accuracy.overall, after.accuracy.holdout) == ("after layer 0", 1.0, 1.0)


@pytest.mark.parametrize("kind", ["zero", "mean"])
def test_without_any_part_the_answer_is_a_coin(xor: Encoder, rows: NDArray[np.uint8], kind: str) -> None:
    layers = ablate_layers(xor, XOR, rows)
    assert layers.intact.overall == 1.0
    left = {result.title: result.accuracy for result in layers.results if result.kind == kind}
    assert set(left) == {"layer 0", "attention 0", "feed-forward 0"}
    assert all(0.4 < accuracy.overall < 0.6 for accuracy in left.values())


def test_a_head_matters_exactly_if_the_rule_reads_its_neighbour(rows: NDArray[np.uint8]) -> None:
    """Rule 170 copies the right neighbour: the left head can go, the right one cannot."""
    heads = ablate_heads(built(170), Gap(Rule(1, 170), (2,)), rows)
    left = {(result.head, result.kind): result.accuracy.overall for result in heads.results}
    assert left[0, "zero"] == left[0, "mean"] == 1.0
    assert max(left[1, "zero"], left[1, "mean"]) < 0.65


@pytest.mark.parametrize("number", [170, 240, 150])
def test_a_flipped_neighbour_travels_through_the_values_to_the_target(number: int, rows: NDArray[np.uint8]) -> None:
    """Rules 170 and 240 read one side only, so flipping the other side by mistake would change nothing."""
    patching = patch_activations(built(number), Gap(Rule(1, number), (2,)), rows, targets=60)
    assert (patching.clean, patching.corrupted) == (1.0, 0.0)
    recovery = {(patch.site, patch.where): patch.recovery for patch in patching.patches}
    for site in ("embedding", "layers.0.attention.v"):
        assert (recovery[site, "source"], recovery[site, "target"]) == (1.0, 0.0)
    for site in ("layers.0.attention.mixed", "layers.0.normed1", "layers.0.ffn.post", "layers.0.normed2", "logits"):
        assert (recovery[site, "source"], recovery[site, "target"]) == (0.0, 1.0)
    for site in ("layers.0.attention.q", "layers.0.attention.k", "layers.0.attention.pattern"):
        assert recovery[site, "everywhere"] == 0.0  # heads look at positions, not at cells


def test_a_radius_2_rule_has_four_heads_and_thirty_two_detectors() -> None:
    gap = Gap(parse_rule("D"), (0, 5, 13))
    rows = np.random.default_rng(3).integers(0, 2, (120, 11), dtype=np.uint8)
    model = built(gap.rule, 11)
    assert [head.peak for head in attention_maps(model, gap, rows).heads] == [-2, -1, 1, 2]
    assert parity_neurons(model, gap, rows).detectors["layers.0.ffn.post"] == tuple((p, p) for p in range(32))
    probes = linear_probes(model, gap, rows)
    bits = {reading.bit for reading in probes.readings}
    assert bits == {"L2", "L1", "C", "R1", "R2", "output", "XOR"}
    assert all(at(probes, "layers.0.normed1", cell).accuracy == 1.0 for cell in ("L2", "L1", "C", "R1", "R2"))
