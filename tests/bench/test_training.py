"""What the training benchmark reports: every engine that is here, with ratios that fit together."""

from __future__ import annotations

import pytest

from hardgap.bench.step import measure_step
from hardgap.bench.training import GEOMETRIES
from hardgap.nn.native import engine


def test_the_work_of_a_step_is_counted_as_documented() -> None:
    """28.4 GFLOP at the paper's shape: 20.3 in the linear maps, of which the kernel spares 3.8, 8.0 in attention."""
    assert GEOMETRIES["paper"].flops("eager") == pytest.approx(28.4e9, rel=0.01)
    assert GEOMETRIES["desk"].flops("plain") == pytest.approx(1.15e9, rel=0.01)
    assert GEOMETRIES["paper"].flops("native avx512") == pytest.approx(24.5e9, rel=0.01)


def test_every_engine_is_measured_against_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GEOMETRIES, "desk", GEOMETRIES["desk"]._replace(width=5, batch=8, repeats=1))
    found = {row["name"]: row for row in measure_step("desk", updates=1, rounds=2)}
    ready = [build for build in ("avx512", "avx2") if engine.state_of(build).startswith("ready")]
    assert found.keys() == {"eager", "plain", *(f"native {build}" for build in ready)}
    for row in found.values():
        assert row["cpu_ms"] > 0
        assert row["share"] > 0
    assert found["eager"]["times plain"] > 0
