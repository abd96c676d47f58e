"""Every statement with its check, in the order of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hardgap.nn.build import build_model
from hardgap.nn.encoder import Encoder
from hardgap.nn.spec import EncoderSpec
from hardgap.theory import block_theorems, embedding, kernel_machines, kernel_ridge, lemmas, similarity, trees
from hardgap.theory.construction import construct
from hardgap.theory.statement import Statement
from hardgap.worlds.automaton.rule import Rule


def fresh_encoder() -> Encoder:
    """The paper's encoder before training."""
    model = build_model(EncoderSpec(), width=101, seed=0)
    assert isinstance(model, Encoder)
    return model


CHECKS: tuple[Callable[[], Statement], ...] = (
    similarity.parity_distance_identity,
    similarity.theorem_1,
    similarity.theorem_1_knn,
    similarity.theorem_1_strict,
    similarity.result_1_any_n,
    similarity.theorem_2,
    similarity.corollary_rbf,
    kernel_ridge.theorem_4_spectrum,
    kernel_ridge.theorem_4_solved,
    kernel_ridge.mean_removed,
    kernel_ridge.zero_one_labels,
    trees.lemma_trees,
    trees.lemma_constant_fallback,
    trees.lemma_bootstrapped_forests,
    trees.lemma_full_support,
    kernel_machines.svm_wrong,
    kernel_machines.fits_visible_so_wrong,
    trees.scikit_learn_agrees,
    lambda: embedding.proposition(fresh_encoder(), name="fresh encoder"),
    lambda: embedding.corollary(fresh_encoder(), name="fresh encoder"),
    lambda: embedding.proposition(construct(Rule(1, 150), 101).model, name="constructed"),
    lambda: embedding.corollary(construct(Rule(1, 150), 101).model, name="constructed"),
    lemmas.lemma_routing,
    lemmas.lemma_margin,
    lemmas.lemma_layer_norm,
    lemmas.lemma_detectors,
    lemmas.lemma_update_and_clear,
    block_theorems.theorem_14,
    block_theorems.corollary_rule_150,
    block_theorems.theorem_14_padded,
    block_theorems.any_radius,
    block_theorems.proposition_depth,
    lambda: block_theorems.proposition_depth("circle"),
    block_theorems.float_limits,
)


def prove_each() -> Iterator[Statement]:
    """One verdict after the other, so that a caller can show them as they come."""
    for check in CHECKS:
        yield check()
