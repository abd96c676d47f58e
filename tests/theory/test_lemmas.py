"""The lemmas behind the construction, and the same with a hypothesis removed."""

from __future__ import annotations

from fractions import Fraction

from hardgap.theory import lemmas


def test_all_hold() -> None:
    checks = (
        lemmas.lemma_routing,
        lemmas.lemma_margin,
        lemmas.lemma_layer_norm,
        lemmas.lemma_detectors,
        lemmas.lemma_update_and_clear,
    )
    assert all(check().holds for check in checks)


def test_a_larger_margin_is_refused() -> None:
    assert not lemmas.lemma_margin(bound_factor=2).holds


def test_no_threshold_at_the_excluded_ratio() -> None:
    assert not lemmas.lemma_detectors(ratio=Fraction(2)).holds
    assert not lemmas.lemma_update_and_clear(clearing=0).holds
    assert lemmas.lemma_detectors(cells=(3,), ratio=Fraction(199, 100)).holds
    assert not lemmas.lemma_detectors(cells=(5,), ratio=Fraction(3, 2)).holds


def test_routing_falls_short_without_its_scale() -> None:
    assert lemmas.circle_mass(20, 0.1, 1) < 0.9 <= lemmas.circle_mass(20, 0.9, 1)
